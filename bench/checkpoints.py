"""Checkpoints of awm, beside a raw write of the same bytes that is flushed.

A run writes one after each step, and deletes the one before beside the next step. In turn with it,
the bytes of the one before are written to a new file in the same folder, in one piece. To a disk
and to memory (tmpfs), where there is no disk to wait for. Then frames beside checkpoints, see
:mod:`.checkpoint_latency`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import time
from pathlib import Path

from bench.checkpoint_latency import measure as latency
from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.workflows.awm.checkpoint_files import GLOB, name_of
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.program import Run, compile_kernels, threads
from burstlens.workflows.awm.stretch import Stretch

MOST = 1.2
_TOOK = re.compile(r"wrote checkpoint .* in ([\d.]+) s")


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Ratios of wall time, pair by pair; medians of latencies."""
    nodes, rounds = (60, 4) if quick else (120, 40)
    figures = _figures(scratch.runs, nodes, rounds, "disk", MOST)
    figures += _figures(scratch.buffer, nodes, rounds, "memory", None)
    on_disk = scratch.runs / "buffer"
    on_disk.mkdir()
    figures += latency(Scratch(on_disk, scratch.runs), "buffer on disk", quick=quick)
    return figures + latency(scratch, "buffer in memory", quick=quick)


def _figures(
    folder: Path, nodes: int, rounds: int, where: str, limit: float | None
) -> list[Figure]:
    given = _parameters(nodes, rounds + 1)
    run = Run(given, folder, threads(None), Stretch(every_s=given.time.step_s))
    advance, raw = run.solver.advance, list[float]()

    def advance_and_write_raw() -> None:
        before = folder / name_of(run.solver.steps)
        advance()
        if before.exists():
            raw.append(_write_raw(folder / "raw", before.read_bytes()))

    run.solver.advance = advance_and_write_raw  # type: ignore[method-assign]
    with contextlib.redirect_stdout(io.StringIO()) as log:
        compile_kernels(given)
        run.go()
    taken = [float(took) for took in _TOOK.findall(log.getvalue())][1:]
    ratios = [ours / theirs for ours, theirs in zip(taken, raw, strict=True)]
    size = (folder / "raw").stat().st_size
    for path in (folder / "raw", *folder.glob(GLOB)):
        path.unlink()
    rate = size / median(raw) / 1e6
    name = f"{size / 1e6:.0f} MB to {where}"
    note = f"{spread(ratios)}; least times {min(taken) / min(raw):.3g}"
    return [
        Figure(f"raw write of {name}, flushed", rate, "MB/s", note=spread(raw, " s")),
        Figure(f"checkpoint of {name}: times that", median(ratios), "", limit=limit, note=note),
    ]


def _parameters(nodes: int, steps: int) -> Parameters:
    middle = {"x_m": 50.0 * nodes, "y_m": 50.0 * nodes, "depth_m": 50.0 * nodes}
    return Parameters.model_validate({
        "grid": {"nx": nodes, "ny": nodes, "nz": 2 * nodes // 3, "spacing_m": 100.0},
        "time": {"step_s": 0.008, "steps": steps},
        "material": {"layers": [{"vp_m_s": 5000, "vs_m_s": 2900, "rho_kg_m3": 2700}]},
        "source": middle | {"mxy_n_m": 1e15, "function": "gaussian", "frequency_hz": 2.0},
        "output": {"peaks": True},
        "station": [{"name": "A", "x_m": 500.0, "y_m": 500.0}],
        "checkpoint": {"keep": 1},
    })  # fmt: skip


def _write_raw(path: Path, data: bytes) -> float:
    """Seconds that a new file takes, with its way to the disk."""
    path.unlink(missing_ok=True)
    begin = time.perf_counter()
    with path.open("wb", buffering=0) as stream:
        rest = memoryview(data)
        while rest:
            rest = rest[stream.write(rest) :]
        os.fsync(stream.fileno())
    return time.perf_counter() - begin
