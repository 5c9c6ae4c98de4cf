"""Guards: what they add to a map, and how soon a bad frame ends the model."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

from bench.cost import OURS, SKIPPED
from bench.latency import WARM_S
from bench.pipeline import MAP, Ran, Scratch, run, writer_argv
from bench.report import Figure, median, percentile, spread

MOST_RATIO = 1.5
"""CPU of a map whose variable is guarded, as a multiple of that of a map without a guard."""
BEFORE_S = 2.0
"""At one frame per second: before the next but one frame is complete."""
BAD = 6
VARIABLES = 10


def guards(count: int, then: str = "alarm") -> str:
    """A recipe's guards, one per variable."""
    table = '[[guard]]\nvariable = "v{}"\nmin = -100.0\nmax = 100.0\nthen = "{}"\n'
    return "".join(table.format(number, then) for number in range(count))


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """The same frames without guards, with one on the shown variable, with one on each."""
    frames, period, repeats = (8, 1.5, 3) if quick else (30, 2.0, 20)
    writer = {"frames": frames, "variables": VARIABLES, "period": period, "start": WARM_S}
    without = run(scratch, "without", writer)
    base = _per_frame(without)
    figures = [
        Figure(
            "CPU per map without a guard", base, "s", note=f"{frames} frames of 150 MB, classic"
        ),
        *_latency(without, "without a guard"),
    ]
    for name, count in (("one guard, on the shown variable", 1), ("a guard on each variable", 10)):
        ran = run(scratch, f"with-{count}", writer, MAP + guards(count))
        cost = _per_frame(ran)
        figures += [
            Figure(f"CPU per map with {name}", cost, "s", note=f"{15 * count} MB are judged"),
            Figure(
                f"CPU with {name}, times that without",
                cost / base,
                "",
                MOST_RATIO if count == 1 else None,
            ),
            *_latency(ran, f"with {name}"),
        ]
    figures += _alone(scratch, repeats)
    return [*figures, *_stop(scratch)]


def _per_frame(ran: Ran) -> float:
    """CPU seconds of all processes per frame, without the first frames."""
    times = [float(event["t"]) for event in ran.published]
    spent = ran.census.cpu_s(*OURS, begin=times[SKIPPED - 1], end=times[-1])
    return spent / (len(times) - SKIPPED)


def _latency(ran: Ran, name: str) -> list[Figure]:
    values = [value for found in ran.latencies(SKIPPED).values() for value in found]
    return [
        Figure(f"latency {name}, p50", median(values), "s"),
        Figure(f"latency {name}, p95", percentile(values, 0.95), "s"),
    ]


def _alone(scratch: Scratch, repeats: int) -> list[Figure]:
    """Only the judging, of a frame in memory, in a warm process."""
    import subprocess

    from burstlens.viz.diagnostics.derived import open_frame
    from burstlens.workflows.guards.field import inspect
    from burstlens.workflows.guards.guard import Guard

    folder = scratch.buffer / "alone"
    folder.mkdir()
    subprocess.run(writer_argv(frames=1, variables=VARIABLES), cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    path = folder / "frame_000000.nc"
    watched = {
        "one variable of 15 MB": [Guard(variable="v0", max=100.0)],
        "ten of 15 MB": [Guard(variable=f"v{n}", max=100.0) for n in range(VARIABLES)],
        "an expression over two of 15 MB": [
            Guard(expression="max(abs(v0)) > 100 and mean(v1) > 50")
        ],
    }
    figures = []
    for name, found in watched.items():
        times = []
        for _ in range(repeats):
            with open_frame([path]) as frame:
                begin = time.perf_counter()
                readings = inspect(frame, found, 1)
                times.append(time.perf_counter() - begin)
            if any(reading.error or reading.breach for reading in readings):
                raise RuntimeError(f"{name}: {readings}")
        figures.append(
            Figure(f"reading and judging {name}", median(times), "s", note=spread(times, " s"))
        )
    return figures


def _stop(scratch: Scratch) -> list[Figure]:
    """From the close of a frame with one NaN to the end of the model, at one frame per second."""
    took, later = [], []
    for trial in range(3):
        writer = {"frames": 20, "variables": 1, "period": 1.0, "start": WARM_S, "nan-from": BAD}
        ran = run(scratch, f"nan-{trial}", writer, MAP + guards(1, "stop"), expected=3)
        closed = ran.closed
        bad = sorted(closed)[BAD]
        took.append(_ended(ran.path) - closed[bad])
        later.append(sum(key > bad for key in closed))
    most = max(later)
    return [
        Figure(
            "a NaN in a frame of 15 MB closed, to the model ended",
            statistics.median(took),
            "s",
            BEFORE_S,
            note=f"{spread(took, ' s')}; a frame each 1 s; frames complete after it: {most}",
        )
    ]


def _ended(run_folder: Path) -> float:
    return os.stat(run_folder / "attempts" / "1" / "ended.json").st_mtime
