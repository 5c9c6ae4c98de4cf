"""Runs whose pictures have values: real products of frames on every kind of grid."""

from __future__ import annotations

import shutil
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from made_run import MadeRun

from burstlens.core.run.index import grid_path, values_path
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.product import Beside, Context
from burstlens.viz.registry import product_kind
from burstlens.viz.values.names import VALUES

WRF = Path(__file__).parents[1] / "data" / "wrf"
EARTH_M = 6_370_000.0


def ground(path: Path, time_s: float, west: float = 0.0) -> Path:
    """The surface, 70 x 50 points, 100 m apart."""
    rows, columns = np.mgrid[0:50, 0:70]
    with netCDF4.Dataset(path, "w") as data:
        for name, size in (("time", None), ("y", 50), ("x", 70)):
            data.createDimension(name, size)
        data.createVariable("time", "f8", ("time",)).units = "s"
        data["time"][0] = time_s
        for name, size, first in (("y", 50, 0.0), ("x", 70, west)):
            data.createVariable(name, "f8", (name,)).setncatts({"units": "m", "axis": name.upper()})
            data[name][:] = first + np.arange(size) * 100.0
        data.createVariable("vx", "f8", ("time", "y", "x")).units = "m s-1"
        data["vx"][0] = np.sin(rows / 9 + time_s) * np.cos(columns / 7)
    return path


def publish(
    made: MadeRun,
    kind: str,
    name: str,
    path: Path,
    time_key: str,
    /,
    *,
    beside: Mapping[str, Path] | None = None,
    start: str | None = None,
    facts: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Make a product of a frame, with frames of other streams ``beside`` it at the same time, of a
    model that began at ``start``, and publish it with its values, and with ``facts`` instead of
    some of its own; returns its line."""
    maker = product_kind(kind)
    products = made.run.products
    folder = products.parent / "made"
    folder.mkdir(exist_ok=True)
    out, values = folder / "out.png", folder / "values"
    context = Context(made.run.id, "Made", name, "d01", time_key, folder, start, values=values)
    time_ = time_key if beside else ""
    others = {key: Beside((at,), 0, key, time_key) for key, at in (beside or {}).items()}
    with open_frame([path], 0, stream="d01", time=time_, beside=others) as frame:
        product = maker.make(maker.options(**options), frame, out, context)
    final = products / name / f"{name}_d01_{time_key}.png"
    final.parent.mkdir(exist_ok=True)
    for grid in values.glob("grid-*.js"):
        grid.replace(grid_path(products, grid.stem.removeprefix("grid-")))
    line: dict[str, Any] = {
        "product": name, "stream": "d01", "time": time_key, "attempt": 1,
        "name": str(final.relative_to(products)), "t": time.time(),
        "facts": {**product.facts, **(facts or {})},
    }  # fmt: skip
    if (values / VALUES).is_file():
        target = values_path(final)
        (values / VALUES).replace(target)
        data = target.read_bytes()
        about = {"bytes": len(data), "crc32": zlib.crc32(data)}
        line["values"] = {"name": str(target.relative_to(products)), **about}
    out.replace(final)
    data = final.read_bytes()
    line |= {"bytes": len(data), "crc32": zlib.crc32(data)}
    made.index.append(line)
    made.feed.add(line)
    made.feed.write(force=True)
    return line


@dataclass
class Case:
    """A frame on one kind of grid, the product that shows it, and the file's values as shown."""

    path: Path
    kind: str
    options: dict[str, Any]
    values: Callable[[dict[str, int]], float]
    relative: bool = False
    """Whether half a step is a part of the value (a logarithmic scale)."""


def of_file(path: Path, name: str, **options: Any) -> Case:
    with netCDF4.Dataset(path) as data:
        found = np.asarray(data[name][0], "f8")
        names = data[name].dimensions[1:]
    return Case(
        path, "map", {"variable": name, **options}, lambda at: found[tuple(at[n] for n in names)]
    )


def cf(path: Path, shape: tuple[int, int] = (40, 60), **coordinates: Any) -> Case:
    """A CF file with a field ``t`` on (y, x); ``coordinates`` write the rest into the dataset."""
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]]
    field = (280 + 10 * np.sin(columns / 7) * np.cos(rows / 5) + rows / 9).astype("f4")
    with netCDF4.Dataset(path, "w") as data:
        for name, size in (("time", None), ("y", shape[0]), ("x", shape[1])):
            data.createDimension(name, size)
        moment = data.createVariable("time", "f8", ("time",))
        moment.units = "hours since 2001-02-03 00:00:00"
        moment[0] = 1.0
        t = data.createVariable("t", "f4", ("time", "y", "x"))
        t.setncatts({"units": "K", "standard_name": "air_temperature"})
        t[0] = field
        coordinates["write"](data, t, rows, columns)
    return of_file(path, "t")


def regular(folder: Path) -> Case:
    """Straight longitudes and latitudes, north first, across the seam of 180 degrees."""

    def write(data: Any, t: Any, rows: Any, columns: Any) -> None:
        for name, units, axis, values in (
            ("y", "degrees_north", "Y", 50 - np.arange(40) * 0.5),
            ("x", "degrees_east", "X", 165 + np.arange(60) * 0.5),
        ):
            data.createVariable(name, "f8", (name,)).setncatts({"units": units, "axis": axis})
            data[name][:] = values

    return cf(folder / "regular.nc", write=write)


def lambert(folder: Path) -> Case:
    """A Lambert plane by its grid mapping."""

    def write(data: Any, t: Any, rows: Any, columns: Any) -> None:
        for name in ("y", "x"):
            size = len(data.dimensions[name])
            data.createVariable(name, "f8", (name,)).setncatts(
                {"units": "m", "standard_name": f"projection_{name}_coordinate"}
            )
            data[name][:] = (np.arange(size) - size / 2) * 30e3
        data.createVariable("crs", "i4").setncatts(
            {"grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [30.0, 60.0],
             "longitude_of_central_meridian": -97.0, "latitude_of_projection_origin": 45.0,
             "earth_radius": EARTH_M}
        )  # fmt: skip
        t.grid_mapping = "crs"

    return cf(folder / "lambert.nc", write=write)


def rotated(folder: Path) -> Case:
    """A rotated pole by its grid mapping."""

    def write(data: Any, t: Any, rows: Any, columns: Any) -> None:
        for name, standard, first in (("y", "latitude", -8.0), ("x", "longitude", -12.0)):
            data.createVariable(name, "f8", (name,)).setncatts(
                {"units": "degrees", "standard_name": f"grid_{standard}"}
            )
            data[name][:] = first + np.arange(len(data.dimensions[name])) * 0.4
        data.createVariable("pole", "i4").setncatts(
            {"grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25,
             "grid_north_pole_longitude": -162.0, "earth_radius": EARTH_M}
        )  # fmt: skip
        t.grid_mapping = "pole"

    return cf(folder / "rotated.nc", write=write)


def cylinder(folder: Path) -> Case:
    """A Mercator plane around the whole earth, as of a tropical channel."""
    spacing = 2 * np.pi * EARTH_M / 60

    def write(data: Any, t: Any, rows: Any, columns: Any) -> None:
        for name in ("y", "x"):
            size = len(data.dimensions[name])
            data.createVariable(name, "f8", (name,)).setncatts(
                {"units": "m", "standard_name": f"projection_{name}_coordinate"}
            )
            data[name][:] = (np.arange(size) - (size - 1) / 2) * spacing
        data.createVariable("crs", "i4").setncatts(
            {"grid_mapping_name": "mercator", "standard_parallel": 0.0,
             "longitude_of_projection_origin": 0.0, "earth_radius": EARTH_M}
        )  # fmt: skip
        t.grid_mapping = "crs"

    return cf(folder / "cylinder.nc", shape=(20, 60), write=write)


def curvilinear(folder: Path) -> Case:
    """Longitudes and latitudes on bent rows, as of an ocean model."""

    def write(data: Any, t: Any, rows: Any, columns: Any) -> None:
        for name, units, values in (
            ("lat", "degrees_north", 30 + 0.3 * rows - 0.08 * columns + 0.002 * rows * columns / 4),
            ("lon", "degrees_east", -20 + 0.35 * columns + 0.1 * rows),
        ):
            data.createVariable(name, "f8", ("y", "x")).units = units
            data[name][:] = values
        t.coordinates = "lon lat"

    return cf(folder / "curvilinear.nc", write=write)


def idealised(folder: Path) -> Case:
    """WRF's supercell, without a place on the earth."""
    path = WRF / "wrfout_d01_0001-01-01_00_08_00"
    case = of_file(path, "W", level=10)
    with netCDF4.Dataset(path) as data:
        found = np.asarray(data["W"][0, 10], "f8")
    case.values = lambda at: found[at["south_north"], at["west_east"]]
    return case


def seismic(folder: Path, *, log: bool = True) -> Case:
    """Peak ground velocity on a logarithmic scale, over seven decades and zero."""
    shape = (50, 70)
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]]
    speed = 10.0 ** (-np.hypot(rows - 20, columns - 30) / 8) * 0.3
    speed[:, :2] = 0
    path = folder / "ground.nc"
    with netCDF4.Dataset(path, "w") as data:
        for name, size in (("time", None), ("y", shape[0]), ("x", shape[1])):
            data.createDimension(name, size)
        data.createVariable("time", "f8", ("time",)).units = "s"
        data["time"][0] = 4.0
        for name in ("y", "x"):
            data.createVariable(name, "f8", (name,)).setncatts({"units": "m", "axis": name.upper()})
            data[name][:] = np.arange(len(data.dimensions[name])) * 100.0
        data.createVariable("vx", "f8", ("time", "y", "x")).setncatts(
            {"units": "m s-1", "long_name": "ground velocity, x"}
        )
        data["vx"][0] = speed
    options = {"components": ("vx",), "log": log, "smooth": False}
    return Case(path, "peak", options, lambda at: 100 * speed[at["y"], at["x"]], relative=log)


def moved(path: Path, source: Path, name: str, by: int) -> Path:
    """A copy of a file in which a field lies further on, by so many points and units."""
    shutil.copy(source, path)
    with netCDF4.Dataset(path, "a") as data:
        data[name][0] = np.roll(np.asarray(data[name][0]), by, axis=-1) + by
    return path


GRIDS = {
    made.__name__: made for made in (regular, lambert, rotated, curvilinear, idealised, seismic)
}
