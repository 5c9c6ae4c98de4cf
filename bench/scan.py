"""A watcher's first scan of a folder with 100,000 finished frames, as after a resume."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from bench.pipeline import Scratch
from bench.report import Figure, median, spread

MOST_S = 5.0
BEGIN = datetime(2005, 8, 28)
FORM = "%Y-%m-%d_%H:%M:%S"
PROGRAM = """
import resource, sys, time
from pathlib import Path
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.evidence import EvidencePolicy
from burstlens.workflows.frames.listing import WatchedFolder
from burstlens.workflows.frames.watcher import Watcher
from burstlens.workflows.models.wrf import Wrf
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
folder = WatchedFolder.of(Path(sys.argv[1]), ".", Wrf())
watcher = Watcher(folder, "run", 1, Cursor(), EvidencePolicy(folder))
took = []
for _ in range(2):
    begin = time.process_time()
    report = watcher.scan(elapsed_s=1.0, now=time.time(), ended=False)
    took.append(time.process_time() - begin)
    if len(took) == 1:
        assert len(report.frames) == int(sys.argv[2]) - 1
print(*took, 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Classic files of one record, which the next one proves; CPU time of new processes."""
    count = 1_000 if quick else 100_000
    folder = scratch.runs / "scanned"
    _write(folder, count)
    words = [sys.executable, "-c", PROGRAM, str(folder), str(count)]
    said = [subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
            for _ in range(3 if quick else 5)]  # fmt: skip
    first, again, held = ([float(one[at]) for one in said] for at in range(3))
    of = f"{count} files"
    return [
        Figure(f"first scan, {of}", median(first), "s CPU", MOST_S, note=spread(first, " s")),
        Figure(f"... the next one, {of}", median(again), "s CPU", note=spread(again, " s")),
        Figure(f"... memory of its report, {of}", median(held), "B"),
    ]


def _write(folder: Path, count: int) -> None:
    folder.mkdir()
    source = folder.with_suffix(".nc")
    first = BEGIN.strftime(FORM)
    with Dataset(source, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("Time", None)
        file.createDimension("DateStrLen", len(first))
        file.createDimension("x", 10)
        file.createVariable("Times", "S1", ("Time", "DateStrLen"))[0] = np.array([*first], "S1")
        file.createVariable("T2", "f4", ("Time", "x"))[0] = 300.0
    content = source.read_bytes()
    for number in range(count):
        time = (BEGIN + timedelta(minutes=number)).strftime(FORM)
        place = folder / f"wrfout_d01_{time}"
        place.write_bytes(content.replace(first.encode(), time.encode()))
