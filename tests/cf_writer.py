#!/usr/bin/env python3
"""Writes CF netCDF as a model of nobody in particular does: one file per frame, or one that grows.

Each field is written in two halves with a pause in between, so that a reader who comes too early
sees half a frame. netCDF4-python opens, locks and closes as it does for everybody.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import netCDF4
import numpy as np

ROWS, COLUMNS = 24, 36


def field(frame: int, offset: float) -> np.ndarray:
    """The field of a frame: a wave that moves on, plus the offset."""
    y, x = np.mgrid[0:ROWS, 0:COLUMNS]
    return (280 + offset + 10 * np.sin((x + frame) / 6) + y / 4).astype("f4")


def begin(path: Path, form: str) -> netCDF4.Dataset:
    """A file with coordinates and without a record."""
    data = netCDF4.Dataset(path, "w", format=form)
    data.Conventions = "CF-1.8"
    data.createDimension("time", None)
    for name, size, units, low, high in (
        ("lat", ROWS, "degrees_north", 40.0, 50.0), ("lon", COLUMNS, "degrees_east", 0.0, 15.0),
    ):  # fmt: skip
        data.createDimension(name, size)
        variable = data.createVariable(name, "f8", (name,))
        variable.units = units
        variable[:] = np.linspace(low, high, size)
    moment = data.createVariable("time", "f8", ("time",))
    moment.units, moment.standard_name = "hours since 2001-02-03 00:00:00", "time"
    t2m = data.createVariable("t2m", "f4", ("time", "lat", "lon"))
    t2m.units, t2m.standard_name, t2m.long_name = "K", "air_temperature", "2 m temperature"
    return data


def add(data: netCDF4.Dataset, record: int, frame: int, offset: float, pause_s: float) -> None:
    """Write a record, half of it first."""
    values, half = field(frame, offset), ROWS // 2
    data["time"][record] = float(frame)
    data["t2m"][record, :half] = values[:half]
    data.sync()
    time.sleep(pause_s)
    data["t2m"][record, half:] = values[half:]
    data.sync()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=0, metavar="FRAME")
    parser.add_argument("--frames", type=int, default=4)
    parser.add_argument("--interval", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--pause", type=float, default=0.0, metavar="SECONDS", help="in a frame")
    parser.add_argument("--offset", type=float, default=0.0, metavar="KELVIN")
    parser.add_argument("--format", default="NETCDF4")
    parser.add_argument("--growing", action="store_true")
    parser.add_argument("--rename", action="store_true", help="under another name until whole")
    parser.add_argument("--name", default="out_{:03d}.nc")
    given = parser.parse_args()
    if given.growing:
        path = given.folder / given.name.format(given.first)
        with begin(path, given.format) as data:
            for record in range(given.frames):
                add(data, record, given.first + record, given.offset, given.pause)
                time.sleep(given.interval)
        return
    for frame in range(given.first, given.first + given.frames):
        path = given.folder / given.name.format(frame)
        new = path.with_name(f".{path.name}.part") if given.rename else path
        with begin(new, given.format) as data:
            add(data, 0, frame, given.offset, given.pause)
        if given.rename:
            os.replace(new, path)
        time.sleep(given.interval)


if __name__ == "__main__":
    main()
