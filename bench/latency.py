"""Latency: from the close of a frame to the publication of its map, by the deciding signal."""

from __future__ import annotations

from bench.pipeline import POLL_S, Ran, Scratch, run
from bench.report import Figure, median, percentile, spread

WARM_S = 6.0
"""Seconds before the first frame, in which workers import: stands for a model's start."""
TARGET_S, LATER_S, LATE_S = 0.10, 0.2, 0.16
"""Median by an explicit signal, and by a later frame; the slowest in twenty by an explicit one."""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """150 MB frames, one per file; the first two frames are left out."""
    figures = []
    for format_ in ("classic",) if quick else ("classic", "netcdf4"):
        for log in (True,) if quick else (True, False):
            figures += _case(scratch, format_, log, quick)
    return figures


def _case(scratch: Scratch, format_: str, log: bool, quick: bool) -> list[Figure]:
    frames, variables, period = (5, 1, 0.3) if quick else (30, 10, 1.5)
    ran = run(
        scratch,
        f"latency-{format_}-{'log' if log else 'silent'}",
        {"frames": frames, "variables": variables, "format": format_, "period": period}
        | {"start": 1.0 if quick else WARM_S},
        log=log,
    )
    megabytes = variables * 15
    figures = []
    for signal, values in sorted(ran.latencies(skip=2).items()):
        name = f"{megabytes} MB {format_} frame closed to map published, decided by `{signal}`"
        note = f"{len(values)} frames, poll {POLL_S} s, a frame each {period} s"
        # Quiet is waited for by the rule, and the end comes when the model says so.
        limit = {"quiet": None, "ended": None, "later": None}.get(signal, TARGET_S)
        late = LATE_S if limit == TARGET_S else None
        figures += [
            Figure(f"{name}, p50", median(values), "s", limit, note=note),
            Figure(f"{name}, p95", percentile(values, 0.95), "s", late, note=_steps(ran)),
        ]
    late_by = ran.after_the_next(skip=2)
    if late_by:
        # The close alone proves nothing there: what comes before is the writer's pause.
        figures.append(
            Figure(
                f"{megabytes} MB {format_} frame: the next frame begun to map published, p50",
                median(late_by), "s", LATER_S, note=spread(late_by, " s"),
            )
        )  # fmt: skip
    return figures


def _steps(ran: Ran) -> str:
    """Where the time goes: medians between the clocks of each product."""
    clocks = [
        {"closed": ran.closed[event["time"]], **event["clock"], "published": event["t"]}
        for event in ran.published[2:]
    ]
    names = ("closed", "detected", "submitted", "started", "read", "made", "staged", "received")
    steps = zip(names, (*names[1:], "published"), strict=True)
    return ", ".join(
        f"{after} {1000 * median([c[after] - c[before] for c in clocks]):.0f} ms"
        for before, after in steps
    )
