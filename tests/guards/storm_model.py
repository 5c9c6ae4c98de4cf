#!/usr/bin/env python3
"""Stand-in for ``wrf.exe``: writes WRF's frames at a constant rate, from a file of the real model.

Each frame is a copy of the template with its own time; ``--plant`` changes one point from one
frame on, as in a model that goes wrong. Writes logs of two ranks in WRF's format. The file
``closed`` gets the time at which each frame was closed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from pathlib import Path

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"

import netCDF4
import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("template", type=Path)
    parser.add_argument("--frames", type=int, default=12)
    parser.add_argument("--period", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--begin", type=float, default=4.0, metavar="SECONDS", help="first frame")
    parser.add_argument(
        "--plant", nargs="+", action="append", default=[], metavar="FRAME VARIABLE VALUE INDEX"
    )
    parser.add_argument("--say", nargs=2, action="append", default=[], metavar=("FRAME", "FILE"))
    parser.add_argument("--hang-at", type=int, help="stop writing at that frame")
    parser.add_argument("--wait-at", nargs=2, metavar=("FRAME", "FILE"), help="until it exists")
    given = parser.parse_args()
    start = time.monotonic() + given.begin
    ready = Path("made")
    ready.mkdir()
    for number in range(given.frames):
        make(given.template, ready / str(number), number, given.plant)
    for number in range(given.frames):
        if number == given.hang_at:
            time.sleep(3600)
        while (
            given.wait_at
            and number == int(given.wait_at[0])
            and not Path(given.wait_at[1]).exists()
        ):
            time.sleep(0.05)
        pause(start + number * given.period)
        name = f"wrfout_d01_0001-01-01_00_{number:02d}_00"
        shutil.copyfile(ready / str(number), name)
        with open("closed", "a") as file:
            file.write(f"{number} {time.time():.3f}\n")
        log(f"Timing for main: time {stamp(number)} on domain   1:    0.1 elapsed seconds")
        log(f"Timing for Writing {name} for domain        1:    0.01 elapsed seconds")
        for frame, file in given.say:
            if int(frame) == number:
                log(Path(file).read_text().rstrip(), rank=1)
    log("wrf: SUCCESS COMPLETE WRF")
    os._exit(0)  # at once: a stop that is asked for now comes too late


def make(template: Path, path: Path, number: int, plants: list[list[str]]) -> None:
    """The frame of that number."""
    shutil.copyfile(template, path)
    with netCDF4.Dataset(path, "r+") as data:
        data["Times"][0] = np.frombuffer(stamp(number).encode(), dtype="S1")
        for frame, variable, value, *index in plants:
            if int(frame) <= number:
                data[variable][(0, *map(int, index))] = float(value)


def stamp(number: int) -> str:
    return f"0001-01-01_00:{number:02d}:00"


def pause(until: float) -> None:
    time.sleep(max(0.0, until - time.monotonic()))


def log(text: str, rank: int = 0) -> None:
    with open(f"rsl.error.{rank:04d}", "a") as file:
        file.write(text + "\n")


if __name__ == "__main__":
    main()
