"""Makes a product of each kind twice over, as a program: python every_kind.py FOLDER."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

DATA = Path(__file__).parent / "data" / "wrf"
CYCLONE = DATA / "wrfout_d01_2005-08-28_21_00_00"
SUPERCELL = DATA / "wrfout_d01_0001-01-01_00_08_00"
GROUND = Path("ground.nc")
"""Written to the folder of each product."""
KINDS: dict[str, tuple[str, Path, dict[str, Any]]] = {
    "map": ("map", CYCLONE, {"variable": "T2", "contours": [{"variable": "slp", "interval": 400}]}),
    "values": ("map", SUPERCELL, {"variable": "W", "level": 10}),
    "section": ("section", SUPERCELL, {
        "variable": "W", "start": {"i": 2, "j": 10}, "end": {"i": 30, "j": 10},
    }),
    "sounding": ("sounding", CYCLONE, {"at": {"i": 5, "j": 5}}),
    "profile": ("profile", SUPERCELL, {"variables": ["T"]}),
    "scene": ("scene", SUPERCELL, {"isosurfaces": [{"variable": "W", "value": 1.0}]}),
    "vtk": ("vtk", SUPERCELL, {"variables": ["T", "W"]}),
    "vtk surface": ("vtk", CYCLONE, {"variables": ["PSFC", "HGT"], "surface": "HGT"}),
    "vtkhdf": ("vtk", SUPERCELL, {"variables": ["T", "W"], "format": "vtkhdf"}),
    "netcdf4": ("netcdf", SUPERCELL, {"variables": ["T", "U"]}),
    "classic": ("netcdf", SUPERCELL, {"variables": ["T", "U"], "format": "classic"}),
    "track": ("track", CYCLONE, {"variable": "slp"}),
    "peak": ("peak", GROUND, {}),
    "peak netcdf": ("peak", GROUND, {"format": "netcdf"}),
}  # fmt: skip


def write_ground(path: Path) -> None:
    """A frame of a ground that moves."""
    with netCDF4.Dataset(path, "w") as data:
        for name, size in (("time", 1), ("y", 12), ("x", 16)):
            data.createDimension(name, size)
            axis = data.createVariable(name, "f8", (name,))
            axis[:], axis.units = np.arange(1, size + 1) * 500.0, "m"
        data["time"][:], data["time"].units = 1.0, "s"
        for number, name in enumerate(("vx", "vy")):
            speed = data.createVariable(name, "f4", ("time", "y", "x"))
            speed[0], speed.units = np.hypot(*np.mgrid[:12, :16]) / (9 + number), "m s-1"


def make(names: list[str], folder: Path) -> Iterator[str]:
    """The names of those that were made; each lies in a folder of its own."""
    for name in names:
        kind, path, given = KINDS[name]
        maker = product_kind(kind)
        options = TypeAdapter(maker.options).validate_python(given)
        place = folder / name
        place.mkdir(parents=True)
        time = {CYCLONE: "20050828T210000", GROUND: "t00000001.000"}.get(path, "00010101T000800")
        if path is GROUND:
            write_ground(path := place / path)
        context = Context(
            "run-1", "Storm", name.replace(" ", "-"), "d01", time, folder, version="1",
            values=place, state=place / "state",
        )  # fmt: skip
        with open_frame([path], stream="d01", time=time) as frame:
            made = maker.make(options, frame, place / "product", context)
        yield f"{name}: {made.extension}"


if __name__ == "__main__":
    for line in make(sys.argv[2:] or list(KINDS), Path(sys.argv[1])):
        print(line, flush=True)
