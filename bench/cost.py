"""Cost: CPU seconds and memory per map, compared with the loop that the talk showed."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from bench import talk_way
from bench.latency import WARM_S
from bench.pipeline import MAP, Ran, Scratch, run, writer_argv
from bench.report import Figure, median, percentile, spread

TIMES_LESS = 7.0
MOST_S, MOST_BARE_S, MOST_POLLING_S = 0.10, 0.08, 0.01
"""CPU per map with values, without; of polling per frame."""
SILENT_S = 20.0
"""How long the pipeline waits for the first frame when it is warm."""
OURS = ("driver", "interchange", "manager", "worker", "supervisor", "other")
SKIPPED = 3
"""First frames, during which workers still import."""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """The same frames at the same pace: the pipeline, then the talk's loop at 1 s and 30 s."""
    frames, variables, period = (8, 1, 1.5) if quick else (35, 10, 2.0)
    writer = {"frames": frames, "variables": variables, "period": period}
    ran = run(scratch, "cost", {**writer, "start": WARM_S + SILENT_S})
    bare = run(scratch, "cost-bare", {**writer, "start": WARM_S}, f"{MAP}values = false\n")
    ours = _per_frame(ran, OURS)
    pace = f"{15 * variables} MB classic frames, one each {period:g} s"
    shares = ", ".join(f"{role} {1000 * _per_frame(ran, (role,)):.0f} ms" for role in OURS)
    figures = [
        Figure(
            "CPU per map and its values, warm, all processes of the pipeline", ours, "s",
            None if quick else MOST_S, note=f"{pace}; {shares}",
        ),
        Figure(
            "CPU per map without values, warm, all processes of the pipeline",
            _per_frame(bare, OURS), "s", None if quick else MOST_BARE_S,
        ),
        Figure(
            "CPU per frame of polling", period * _waiting(ran, "worker"), "s",
            None if quick else MOST_POLLING_S,
            note=f"the watcher, in {SILENT_S:g} s without frames before the first one",
        ),
        Figure(
            "CPU per frame of polling and waiting, all processes", period * _waiting(ran, *OURS),
            "s", note="the same: status, heartbeats and looks for the model's end as well",
        ),
        Figure(
            "CPU of the whole run per map, start and imports included",
            ran.census.cpu_s(*OURS) / len(ran.published),
            "s",
            note=f"{len(ran.published)} maps",
        ),
        Figure("latency, p50", median(_log(ran)), "s"),
        Figure("latency, p95", percentile(_log(ran), 0.95), "s"),
    ]  # fmt: skip
    for role in ("driver", "interchange", "manager", "worker"):
        peak = ran.census.peak_bytes(role) / 1e6
        figures.append(Figure(f"peak memory of a {role}", peak, "MB"))
    for look_s in (1.0,) if quick else (1.0, 30.0):
        figures += _talk(scratch, writer, look_s, ours)
    return figures


def _log(ran: Ran) -> list[float]:
    return [value for values in ran.latencies(SKIPPED).values() for value in values]


def _per_frame(ran: Ran, roles: tuple[str, ...]) -> float:
    """CPU seconds per frame between the publication of the fourth frame and of the final one."""
    times = [float(event["t"]) for event in ran.published]
    spent = ran.census.cpu_s(*roles, begin=times[SKIPPED - 1], end=times[-1])
    return spent / (len(times) - SKIPPED)


def _waiting(ran: Ran, *roles: str) -> float:
    """CPU seconds per second of these processes of a warm pipeline without new frames."""
    first = min(ran.closed.values())
    return ran.census.cpu_s(*roles, begin=first - SILENT_S, end=first - 1.0) / (SILENT_S - 1.0)


def _talk(scratch: Scratch, writer: dict[str, Any], look_s: float, ours: float) -> list[Figure]:
    folder = scratch.buffer / f"talk-{look_s:g}"
    folder.mkdir()
    model = subprocess.Popen(writer_argv(**writer), cwd=folder, stdout=subprocess.DEVNULL)
    begin = time.process_time()
    pictures = talk_way.watch(folder, look_s, more=lambda: model.poll() is None)
    loop_s = time.process_time() - begin
    closed = _closed(folder)
    cpu = [picture.cpu_s for picture in pictures]
    theirs = (sum(cpu) + loop_s) / len(cpu)
    latency = [picture.done - closed[picture.number] for picture in pictures]
    name = f"talk's way, a look each {look_s:g} s"
    return [
        Figure(f"{name}: CPU per map", theirs, "s", note=spread(cpu, " s")),
        Figure(f"{name}: CPU, times ours", theirs / ours, "", TIMES_LESS, at_least=True),
        Figure(f"{name}: latency, p50", median(latency), "s"),
        Figure(f"{name}: latency, p95", percentile(latency, 0.95), "s"),
        Figure(f"{name}: drawn before they were whole", sum(late < 0 for late in latency), ""),
        Figure(
            f"{name}: peak memory of a process", max(p.peak_bytes for p in pictures) / 1e6, "MB"
        ),
    ]


def _closed(folder: Path) -> dict[int, float]:
    lines = (folder / "closed.jsonl").read_text().splitlines()
    return {number: float(json.loads(line)["closed"]) for number, line in enumerate(lines)}
