"""Logs about I/O: how long it takes to read MPI-IO statistics and Darshan logs."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.workflows.iostats.darshan_log import PROGRAM
from burstlens.workflows.iostats.mpiio_blocks import Blocks
from burstlens.workflows.iostats.mpiio_log import read_mpiio

BLOCKS_S, DARSHAN_S, FRAME_S = 0.5, 0.1, 1e-3
"""CPU for 10 MB of reports, for one Darshan log after the import, for a frame's reports."""
MB = 10_000_000
DATA = Path(__file__).parents[1] / "tests" / "data" / "io"
STEP = "Timing for main: time 2007-04-03_00:00:36 on domain   1:    0.80351 elapsed seconds\n"
THEIRS = """
import sys, time, darshan
begin = time.process_time()
report = darshan.DarshanReport(sys.argv[1], read_all=False)
for module in report.modules:
    if module not in ("HEATMAP", "DXT_POSIX", "DXT_MPIIO"):
        getattr(report, f"mod_read_all_{'lustre_' * (module == 'LUSTRE')}records")(module)
        report.records[module].to_df()
print(time.process_time() - begin)
"""
IMPORT = (
    "import time; begin = time.process_time(); import darshan; print(time.process_time() - begin)"
)


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """CPU seconds; the interpreter's start is not counted."""
    repeats = 3 if quick else 7
    return [*_blocks(scratch.runs, repeats), *_darshan(repeats)]


def _blocks(folder: Path, repeats: int) -> list[Figure]:
    sample = (DATA / "mpiio_stats_wrf.txt").read_text()
    many = (sample * (MB // len(sample) + 1)).splitlines(keepends=True)
    plain = [STEP] * (MB // len(STEP))
    path = folder / "reports.txt"
    path.write_text("".join(many))
    found = [
        Figure("10 MB of reports, parsed", *_timed(lambda: _parse(many), repeats, BLOCKS_S)),
        Figure("... with the labels of srun -l",
               *_timed(lambda: _parse([f"0: {line}" for line in many]), repeats, BLOCKS_S)),
        Figure("... read from the file and added up",
               *_timed(lambda: read_mpiio(path), repeats, BLOCKS_S)),
        Figure("10 MB of a model's own lines", *_timed(lambda: _parse(plain), repeats, None)),
    ]  # fmt: skip
    lines = sample.splitlines(keepends=True)
    frame = _timed(lambda: [_parse(lines) for _ in range(1000)], repeats, None)
    found.append(Figure("two reports of one frame, parsed", frame[0] / 1000, "s", FRAME_S))
    return found


def _parse(lines: list[str]) -> int:
    blocks = Blocks()
    return sum(len(blocks.take(line)) for line in lines)


def _timed(
    work: Callable[[], object], repeats: int, limit: float | None
) -> tuple[float, str, float | None, bool, str]:
    spent = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        spent.append(time.process_time() - begin)
    return median(spent), "s", limit, False, spread(spent, " s")


def _darshan(repeats: int) -> list[Figure]:
    if importlib.util.find_spec("darshan") is None:
        return []
    place = importlib.util.find_spec("darshan")
    assert place is not None
    assert place.origin is not None
    examples = Path(place.origin).parent / "examples" / "example_logs"
    logs = {
        "2 modules, 4 ranks": DATA / "btio_full.darshan",
        "2048 files of one rank each": examples / "sample-badost.darshan",
        "Lustre, 2048 ranks": examples / "example.darshan",
    }
    imports = [float(_output([sys.executable, "-c", IMPORT])) for _ in range(repeats)]
    found = [Figure("import darshan", median(imports), "s", note=spread(imports, " s"))]
    for name, path in logs.items():
        ours = [json.loads(_output([*PROGRAM, str(path)]))["cpu_s"] for _ in range(repeats)]
        theirs = [float(_output([sys.executable, "-c", THEIRS, str(path)])) for _ in range(repeats)]
        ratio = median(ours) / median(theirs)
        note = f"{spread(ours, ' s')}; {ratio:.2f} of PyDarshan's DarshanReport with tables"
        found.append(Figure(f"Darshan log, {name}", median(ours), "s", DARSHAN_S, note=note))
    return found


def _output(words: list[str]) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout
