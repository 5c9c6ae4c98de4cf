"""A model that does nothing but write frames, and notes when each was closed.

One file per frame, as an atmospheric model writes them: one record of ``VARIABLES`` three-
dimensional float32 fields, classic (64-bit offset; the number of records is written last) or
netCDF-4. ``closed.jsonl`` gets the elapsed model time, the Unix second of the close and the size of
each file. With ``--log`` the close is also printed on standard output. ``--burst`` writes all
frames under other names, then renames them at once: a backlog.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Literal

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"

import netCDF4
import numpy as np

Format = Literal["NETCDF3_64BIT_OFFSET", "NETCDF4"]
FORMATS: dict[str, Format] = {"classic": "NETCDF3_64BIT_OFFSET", "netcdf4": "NETCDF4"}
SPACING_M = 1000.0


def main() -> None:
    """Write the frames asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=10)
    parser.add_argument("--grid", type=int, nargs=3, default=(50, 250, 300), metavar="N")
    parser.add_argument("--variables", type=int, default=10)
    parser.add_argument("--format", choices=FORMATS, default="classic")
    parser.add_argument("--period", type=float, default=1.0, help="seconds from frame to frame")
    parser.add_argument("--start", type=float, default=0.0, help="seconds before the first frame")
    parser.add_argument("--end", type=float, default=0.0, help="seconds of silence at the end")
    parser.add_argument("--nan-from", type=int, help="one NaN in v0 from that frame on")
    parser.add_argument("--log", action="store_true", help="say when a frame is closed")
    parser.add_argument(
        "--burst", action="store_true", help="rename all frames to their final names at once"
    )
    given = parser.parse_args()

    fields = [make_field(given.grid, seed) for seed in range(given.variables)]
    time.sleep(given.start)
    with Path("closed.jsonl").open("w", encoding="utf-8", buffering=1) as notes:
        begin = time.monotonic()
        for number in range(given.frames):
            # An even pace, however long the writing takes.
            time.sleep(max(0.0, begin + number * given.period - time.monotonic()))
            name = f"frame_{number:06d}.nc"
            if number == given.nan_from:
                fields[0][10, 20, 30] = np.nan
            path = Path(f"hidden_{number:06d}" if given.burst else name)
            begun = time.time()
            write_frame(path, number, fields, FORMATS[given.format])
            closed = time.time()
            if given.log and not given.burst:
                print(f"wrote {name}", flush=True)
            note = {
                "elapsed_s": float(number),
                "begun": begun,
                "closed": closed,
                "bytes": _size(path),
            }
            notes.write(json.dumps(note) + "\n")
    if given.burst:
        for number in range(given.frames):
            Path(f"hidden_{number:06d}").rename(f"frame_{number:06d}.nc")
        for number in range(given.frames):
            print(f"wrote frame_{number:06d}.nc", flush=True)
    time.sleep(given.end)
    print("done", flush=True)


def _size(path: Path) -> int | None:
    """None when a reader has read the file too early and deleted it already."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def write_frame(path: Path, number: int, fields: list[np.ndarray], format_: Format) -> None:
    """One record of all fields, each moved a little, so that no two frames are alike."""
    nz, ny, nx = fields[0].shape
    with netCDF4.Dataset(path, "w", format=format_) as data:
        data.createDimension("time", None)
        for axis, size in (("z", nz), ("y", ny), ("x", nx)):
            data.createDimension(axis, size)
            points = data.createVariable(axis, "f4", (axis,))
            points.units, points.axis = "m", axis.upper()
            points[:] = np.arange(size) * (SPACING_M if axis != "z" else 0.4 * SPACING_M)
        clock = data.createVariable("time", "f8", ("time",))
        clock.units = "s"
        clock[0] = float(number)
        for index, field in enumerate(fields):
            variable = data.createVariable(f"v{index}", "f4", ("time", "z", "y", "x"))
            variable.units, variable.long_name = "m s-1", f"velocity {index}"
            variable[0] = np.roll(field, 3 * number, axis=2)


def make_field(shape: tuple[int, int, int], seed: int) -> np.ndarray:
    """Waves of several lengths with noise on them: smooth as a model's field, never constant."""
    nz, ny, nx = shape
    z, y, x = np.ogrid[0:nz, 0:ny, 0:nx]
    noise = np.random.default_rng(seed).normal(0.0, 0.3, shape)
    waves = 8.0 * np.sin(x / 17.0 + seed) * np.cos(y / 23.0) + 4.0 * np.sin((x + y) / 5.0 + z / 7.0)
    return (waves + noise).astype(np.float32)


if __name__ == "__main__":
    main()
