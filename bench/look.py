"""Looking at a run that others started: how long until the link, the first picture, a listing."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from bench.pipeline import Scratch, burstlens, run, writer_argv
from bench.report import Figure, median, spread
from burstlens.core.run.journal import read_records
from burstlens.core.valid_time import elapsed_key

LINK_S, FIRST_S, LISTING_S, IDLE_PERCENT = 1.5, 4.0, 10.0, 1.0
STAT_S = 0.005
"""How long a slow file system takes to answer for one file."""
GIVE_UP_S = 120.0
WHOLE = 110
"""Frames at the end of a long listing that are real files: more than a look takes on arrival."""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Wall times of `burstlens look` at a folder of frames, and of a watcher on 50,000 names."""
    frames, grid = (20, (5, 250, 300)) if quick else (500, (50, 250, 300))
    folder = _folder(scratch.runs / "data" / "frames", frames, grid)
    size = sum(file.stat().st_size for file in folder.iterdir()) / frames / 1e6
    repeats = 2 if quick else 5
    found = [_look(scratch, folder, number) for number in range(repeats + 1)][1:]
    links, firsts = ([pair[at] for pair in found] for at in (0, 1))
    names = 2000 if quick else 50_000
    return [
        Figure("look: command to link", median(links), "s", LINK_S, note=spread(links, " s")),
        Figure(
            "look: command to first picture", median(firsts), "s", FIRST_S,
            note=f"{spread(firsts, ' s')}; {frames} frames of {size:.0f} MB",
        ),
        *_latency(scratch, 8 if quick else 40),
        _listing(scratch.runs / "data" / "names", names),
        _idle(scratch, 20.0 if quick else 60.0),
    ]  # fmt: skip


def _folder(folder: Path, frames: int, grid: tuple[int, int, int]) -> Path:
    """Frames of one file each, named by number: names of one file, so that they fit on a disk."""
    folder.mkdir(parents=True)
    first = folder / "field_000000.nc"
    values = np.random.default_rng(1).standard_normal(grid, dtype=np.float32)
    with netCDF4.Dataset(first, "w", format="NETCDF4") as file:
        for name, length in zip("zyx", grid, strict=True):
            file.createDimension(name, length)
        for number in range(10):
            made = file.createVariable(f"field{number}", "f4", ("z", "y", "x"))
            made.units = "m"
            made[:] = values
    for number in range(1, frames):
        os.link(first, folder / f"field_{number:06d}.nc")
    return folder


@contextlib.contextmanager
def _looking(scratch: Scratch, folder: Path, name: str) -> Iterator[tuple[float, float, Path]]:
    """A look with its page: when it was started, when its link came, its run directory."""
    begin = time.perf_counter()
    with subprocess.Popen(
        burstlens("look", str(folder), "--name", name), env=scratch.environment,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            linked = next(
                time.perf_counter() - begin for line in process.stdout if "token=" in line
            )
            yield begin, linked, scratch.runs / name
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def _look(scratch: Scratch, folder: Path, number: int) -> tuple[float, float]:
    with _looking(scratch, folder, f"look-{number}") as (begin, linked, run):
        index = run / "products" / "index.jsonl"
        while not index.is_file() or not index.stat().st_size:
            if time.perf_counter() - begin > GIVE_UP_S:
                raise RuntimeError(f"no picture in {GIVE_UP_S:.0f} s")
            time.sleep(0.005)
        return linked, time.perf_counter() - begin


def _latency(scratch: Scratch, frames: int) -> list[Figure]:
    """The same writer launched by a recipe, and started by hand beside a look."""
    options = {"frames": frames, "variables": 10, "format": "netcdf4", "period": 1.0}
    launched = run(scratch, "launched", options | {"start": 6.0}).latencies(skip=2)["log"]
    folder = scratch.runs / "data" / "written"
    folder.mkdir(parents=True)
    argv = writer_argv(log=True, **options | {"frames": frames + 12})
    words = ["look", str(folder), "--name", "beside", "--no-page", "--site", "bench-1"]
    words += ["--product", "v0", "--stream", "frame=frame_*.nc", "--log", "model.log"]
    words += ["--written", r"wrote (?P<file>\S+)"]
    with (folder / "model.log").open("wb") as log:
        writer = subprocess.Popen(argv, cwd=folder, stdout=log)
    while not any(folder.glob("frame_*.nc")):
        time.sleep(0.1)
    words += ["--pid", str(writer.pid)]
    done = subprocess.run(
        burstlens(*words), env=scratch.environment, capture_output=True, text=True, check=False
    )
    writer.wait()
    path = scratch.runs / "beside"
    if done.returncode:
        raise RuntimeError(f"look: exit code {done.returncode}: {done.stderr[-2000:]}")
    notes = [json.loads(line) for line in (folder / "closed.jsonl").read_text().splitlines()]
    closed = {elapsed_key(note["elapsed_s"]): float(note["closed"]) for note in notes}
    events = [
        event for event in read_records(path / "journal.jsonl")
        if event["event"] == "product.published"
    ]  # fmt: skip
    looked = [
        float(event["t"]) - closed[event["time"]]
        for event in events[-frames:]
        if event["facts"]["signal"] == "log"
    ]
    note = (
        f"{len(looked)} frames of 150 MB; launched: {median(launched):.3f} s, ratio "
        f"{median(looked) / median(launched):.2f}"
    )
    return [
        Figure("look: frame closed to map published, decided by `log`, p50", median(looked), "s",
               note=note),
    ]  # fmt: skip


def _listing(folder: Path, names: int) -> Figure:
    """The first look of a watcher where each answer about a file takes 5 ms."""
    from burstlens.workflows.frames.arrival import Selection
    from burstlens.workflows.frames.attached import AttachedEvidence
    from burstlens.workflows.frames.cursor import Cursor
    from burstlens.workflows.frames.listing import WatchedFolder
    from burstlens.workflows.frames.watcher import Watcher
    from burstlens.workflows.models.wrf import Wrf

    folder.mkdir(parents=True)
    start, first = datetime(2000, 1, 1), names // 10 - WHOLE
    for number in range(names):
        (folder / f"other_{number:06d}.dat").touch()
        if number % 10 == 0:
            time_of = start + timedelta(hours=number // 10)
            frame = folder / time_of.strftime("wrfout_d01_%Y-%m-%d_%H:%M:%S")
            if number // 10 < first:
                frame.touch()  # passed over by its name
            else:
                _write_wrf(frame, time_of)
    asked = whole = 0
    first_s = 0.0
    stat = os.stat

    def slow(path: str, **keywords: Any) -> os.stat_result:
        nonlocal asked
        asked += 1
        time.sleep(STAT_S)
        return stat(path, **keywords)

    begin = time.perf_counter()
    os.stat = slow  # type: ignore[assignment]
    try:
        place = WatchedFolder.of(folder.parent, folder.name, Wrf())
        policy = AttachedEvidence(place, Selection(), folder.parent / "clock")
        watcher = Watcher(place, "run", 1, Cursor(), policy)
        more = True
        while more:
            report = watcher.scan(elapsed_s=0.0, now=time.time(), ended=False)
            more = bool(report.folder and report.folder.arriving)
            whole += len(report.frames)
            first_s = first_s or (time.perf_counter() - begin) * bool(whole)
    finally:
        os.stat = stat
    took = time.perf_counter() - begin
    note = (
        f"{names * 11 // 10} names, one in eleven a frame; {whole} frames declared, the first "
        f"after {first_s:.1f} s; {asked} stats of 5 ms"
    )
    return Figure("look: arrival at a slow file system", took, "s", LISTING_S, note=note)


def _write_wrf(path: Path, time_of: datetime) -> None:
    with netCDF4.Dataset(path, "w", format="NETCDF4") as file:
        file.createDimension("Time", None)
        file.createDimension("DateStrLen", 19)
        for name in ("south_north", "west_east"):
            file.createDimension(name, 20)
        times = file.createVariable("Times", "S1", ("Time", "DateStrLen"))
        field = file.createVariable("T2", "f4", ("Time", "south_north", "west_east"))
        times[0] = netCDF4.stringtochar(np.array([time_of.strftime("%Y-%m-%d_%H:%M:%S")], "S19"))
        field[0] = 280.0


def _idle(scratch: Scratch, quiet_s: float) -> Figure:
    """CPU of all processes of a look at a folder in which nothing happens."""
    folder = _folder(scratch.runs / "data" / "few", 4, (5, 250, 300))
    with _looking(scratch, folder, "idle") as (_, _, run):
        status = run / "status.json"
        until = time.monotonic() + GIVE_UP_S
        while time.monotonic() < until:
            time.sleep(1.0)
            with contextlib.suppress(OSError, ValueError, KeyError):
                value = json.loads(status.read_text())
                if value["backlog"] == 0 and value["last_product"]:
                    break
        time.sleep(quiet_s)
        processes = _family(run)
        before = _cpu_s(processes)
        time.sleep(quiet_s)
        percent = 100 * (_cpu_s(processes) - before) / quiet_s
    note = f"{len(processes)} processes, over {quiet_s:.0f} s"
    return Figure("look: idle", percent, "% of a core", IDLE_PERCENT, note=note)


def _family(run: Path) -> set[int]:
    """The processes whose command or environment names the run directory, and its server."""
    found = set()
    marker = os.fsencode(run)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                said = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                if marker in said or b"drive\0-" in said:
                    found.add(int(entry.name))
    return found


def _cpu_s(processes: set[int]) -> float:
    ticks = 0
    for number in processes:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
