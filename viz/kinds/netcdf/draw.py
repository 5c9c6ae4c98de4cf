"""A crop of a frame as a CF netCDF file (CF conventions 1.8), self-describing on its own."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import netCDF4
import numpy as np

from burstlens.core import valid_time
from burstlens.core.calendars import WITH_YEAR_0
from burstlens.core.errors import FrameError
from burstlens.viz.frames import times
from burstlens.viz.geometry import grid, vertical
from burstlens.viz.geometry.cf_plane import mapping_names
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.kinds.full_disk import raise_if_full
from burstlens.viz.kinds.netcdf.read import read_part
from burstlens.viz.product import Context, ProductFrame, whole_file
from burstlens.viz.seams import Variable

_TIME = "time"
_DROPPED = {"_FillValue", "coordinates", "scale_factor", "add_offset", "missing_value"}
"""Attributes that no longer hold: values are unpacked, NaN where missing."""


def write_netcdf(
    frame: ProductFrame, names: tuple[str, ...], crop: Crop, out: Path, context: Context, *,
    units: Mapping[str, str] = MappingProxyType({}), classic: bool = False, compression: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """Write the crop of each variable, on its own (perhaps staggered) points, as one file.

    ``units`` are the requested ones, by variable; the others keep the file's.
    Coordinates come along: 1-D coordinate variables, longitude and latitude, x and y in metres
    for Cartesian WRF cases, heights of WRF's levels, time. The file is built in memory and
    written as it is closed, so that a full disk is one clear StagingError. Its bytes depend on the
    frame alone (netCDF-4 made by netCDF4's ``memory`` would have the time in it). Returns JSON
    facts: the sizes of the dimensions, and the range of each variable. FrameError when a variable
    is missing, all NaN, or cropped differently from another along one dimension.
    """
    with _errors_of_writing(out):
        data: Any = (  # of a classic file netCDF would not say that it was cut short
            netCDF4.Dataset(out.name, "w", format="NETCDF3_64BIT_OFFSET", memory=1)
            if classic
            else netCDF4.Dataset(out, "w", format="NETCDF4", diskless=True, persist=True)
        )
    try:
        made = _fill(data, frame, names, crop, context, units, compression)
    except BaseException as error:
        with contextlib.suppress(OSError, RuntimeError):
            data.close()
        with whole_file(out):
            if isinstance(error, RuntimeError):  # of netCDF4: HDF5 has begun to write
                raise_if_full(out, error)
            raise
    with _errors_of_writing(out):
        content = data.close()
        if classic:
            out.write_bytes(content)
    return made


@contextlib.contextmanager
def _errors_of_writing(out: Path) -> Iterator[None]:
    """Turn errors into StagingError; HDF5 does not say that the disk is full."""
    with whole_file(out):
        try:
            yield
        except (OSError, RuntimeError) as error:
            raise_if_full(out, error)
            raise


def _fill(
    data: Any, frame: ProductFrame, names: tuple[str, ...], crop: Crop, context: Context,
    units: Mapping[str, str], compression: int,
) -> dict[str, Any]:  # fmt: skip
    sizes = {_TIME: 1}
    ranges = {}
    _write_time(data, frame, context)
    for name in names:
        part = read_part(frame, name, crop, units.get(name))
        for dimension, size in zip(part.variable.dimensions, part.values.shape, strict=True):
            if sizes.setdefault(dimension, size) != size:
                raise FrameError(f"the crop gives {dimension} two sizes: {name} differs")
        dimensions = (_TIME, *part.variable.dimensions)
        coordinates = _write_coordinates(data, frame, part.variable, part.window)
        attributes = _attributes(part.variable)
        if name in units:
            attributes["units"] = units[name]
        if coordinates:
            attributes["coordinates"] = " ".join(coordinates)
        # Letters, digits and underscores (CF 2.3), unlike ``wind@0-6km agl``.
        stored = re.sub(r"\W+", "_", name)
        _add(data, stored, dimensions, part.values[None], attributes, compression)
        ranges[name] = part.extent()
    data.setncatts(_provenance(frame, crop, context))
    # Of the index, not of the file: a frame that is computed again gives the same file.
    source = {"file": " ".join(path.name for path in frame.paths), "record": frame.record}
    return {"dimensions": sizes, "variables": ranges, "source": source}


def _add(
    data: Any, name: str, dimensions: tuple[str, ...], values: Array,
    attributes: Mapping[str, Any], compression: int,
) -> None:  # fmt: skip
    for dimension, size in zip(dimensions, values.shape, strict=True):
        if dimension not in data.dimensions:
            data.createDimension(dimension, size)
    values = _storable(values) if data.data_model != "NETCDF4" else values
    packed = "zlib" if compression and values.ndim and data.data_model == "NETCDF4" else None
    fill = np.array(np.nan, values.dtype) if values.dtype.kind == "f" else None
    variable = data.createVariable(
        name, values.dtype, dimensions, compression=packed, complevel=compression, fill_value=fill
    )
    variable.setncatts(attributes)
    variable[...] = values


def _storable(values: Array) -> Array:
    """The values in a type that classic netCDF has: no unsigned and no 64-bit integers."""
    if values.dtype.kind == "f" or (values.dtype.kind == "i" and values.dtype.itemsize <= 4):
        return values
    return values.astype(np.float64 if values.dtype.itemsize >= 4 else np.int32)


def _write_time(data: Any, frame: ProductFrame, context: Context) -> None:
    """The record dimension and its coordinate; a frame without a time has one record without."""
    data.createDimension(_TIME, None)
    if not valid_time.has_time(context.time):
        return
    time = data.createVariable(_TIME, "f8", (_TIME,))
    time.standard_name = "time"
    time.axis = "T"
    start = context.start or times.start(frame) or context.time
    if not valid_time.is_calendar(context.time):
        time.units = "s"
        time.long_name = "time since the start of the simulation"
        time[0] = valid_time.seconds(context.time)
        return
    calendar = context.calendar or times.calendar(frame)
    # WRF counts leap years as Gregorian at all times; "standard" turns Julian before 1582, and has
    # no year 0.
    if (calendar == "standard" and not context.calendar) or calendar in WITH_YEAR_0.values():
        calendar = "proleptic_gregorian"
    since = valid_time.between(start, context.time, calendar)
    if since is None:
        start, since = context.time, 0.0
    time.units = f"seconds since {valid_time.label(start).removesuffix(' UTC')}"
    time.calendar = calendar
    time[0] = since


def _write_coordinates(
    data: Any, frame: ProductFrame, variable: Variable, window: Mapping[str, slice]
) -> list[str]:
    """Write the coordinates that are not there yet; the names of the auxiliary ones."""
    auxiliary: list[str] = []
    directions = grid.axes(frame, variable.name)
    actual = {unstaggered(d, frame): d for d in variable.dimensions}
    for dimension in variable.dimensions:
        if dimension in frame and frame.variable(dimension).dimensions == (dimension,):
            about = _attributes(frame.variable(dimension))
            _add_once(data, dimension, (dimension,), frame.read(dimension, window), about)
    for mapping in filter(frame.__contains__, mapping_names(variable)):
        about = dict(frame.variable(mapping).attributes)
        _add_once(data, mapping, (), np.array(0, np.int32), about)
    if "x" in directions and "y" in directions:
        y, x = actual[directions["y"]], actual[directions["x"]]
        plane = grid.plane(frame, variable.name, window)
        if plane.geographic and plane.x.ndim == 2:
            suffix = "" if (y, x) == (directions["y"], directions["x"]) else f"_{variable.name}"
            for name, values, units in (
                ("longitude", plane.x, "degrees_east"),
                ("latitude", plane.y, "degrees_north"),
            ):
                about = {"units": units, "standard_name": name}
                _add_once(data, name + suffix, (y, x), values, about)
                auxiliary.append(name + suffix)
        elif plane.units == "m":
            for direction, dimension, values in (("x", x, plane.x), ("y", y, plane.y)):
                about = {
                    "units": "m",
                    "axis": direction.upper(),
                    "long_name": f"{direction} from the corner of the domain",
                }
                _add_once(data, dimension, (dimension,), values, about)
    z = directions.get("z")
    if z == "bottom_top" and actual[z] == z and len(variable.dimensions) == 3:
        found = vertical.heights(frame, variable.name, window)
        centred = all(base == stored for base, stored in actual.items())
        if found is not None and found.z.ndim == 3 and centred:
            about = {"units": "m", "standard_name": "altitude", "positive": "up"}
            _add_once(data, "altitude", variable.dimensions, found.z, about)
            auxiliary.append("altitude")
    return auxiliary


def _add_once(
    data: Any, name: str, dimensions: tuple[str, ...], values: Array, attributes: Mapping[str, Any]
) -> None:
    if name not in data.variables:
        _add(data, name, dimensions, values, attributes, compression=0)


def _attributes(variable: Variable) -> dict[str, Any]:
    kept = {k: v for k, v in variable.attributes.items() if k not in _DROPPED}
    return {"long_name": variable.long_name} | kept


def _provenance(frame: ProductFrame, crop: Crop, context: Context) -> dict[str, Any]:
    stated = {key: value for key, value in asdict(crop).items() if value not in (None, {}, 1)}
    return {
        "Conventions": "CF-1.8",
        "title": context.title or context.run,
        "source": str(frame.attributes.get("TITLE", frame.attributes.get("source", ""))).strip(),
        "run": context.run,
        "stream": context.stream,
        **({"valid_time": context.time} if valid_time.has_time(context.time) else {}),
        "crop": json.dumps(stated),
        "software": f"Burstlens {context.version}".rstrip(),
    }
