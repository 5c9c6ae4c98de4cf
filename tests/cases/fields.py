"""Writers of small files whose values say their place: 100 + latitude + longitude / 100 + record.

Values beside the pictures are kept in some 4000 steps of their range: a record more is a step that
they show.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

LATITUDES, LONGITUDES = np.linspace(40, 52, 13), np.linspace(-10, 10, 21)


def place_value(lon: Any, lat: Any, record: int = 0) -> np.ndarray:
    """The value at a place of a record."""
    lon, lat = np.asarray(lon, "f8"), np.asarray(lat, "f8")
    return 100 + lat + ((lon + 180) % 360 - 180) / 100 + record


def write_regular(
    path: Path,
    times: Sequence[float],
    units: str | None,
    calendar: str | None = None,
    form: Any = "NETCDF4",
    *,
    compression: Any = None,
) -> netCDF4.Dataset:
    """A file with the field ``tas`` on degrees, one record per time; returned open."""
    data = netCDF4.Dataset(path, "w", format=form)
    data.Conventions = "CF-1.8"
    data.createDimension("time", None)
    time = data.createVariable("time", "f8", ("time",), compression=compression)
    time.standard_name = "time"
    if units is not None:
        time.units = units
    if calendar is not None:
        time.calendar = calendar
    add_degrees(data)
    field = data.createVariable("tas", "f4", ("time", "lat", "lon"), compression=compression)
    field.units, field.long_name = "1", "test field"
    for record, value in enumerate(times):
        time[record] = value
        field[record] = place_value(*np.meshgrid(LONGITUDES, LATITUDES), record)
    return data


def add_degrees(data: netCDF4.Dataset) -> None:
    """Coordinates lat and lon, in degrees."""
    for name, values, units in (
        ("lat", LATITUDES, "degrees_north"), ("lon", LONGITUDES, "degrees_east"),
    ):  # fmt: skip
        data.createDimension(name, values.size)
        variable = data.createVariable(name, "f8", (name,))
        variable.units = units
        variable.standard_name = {"lat": "latitude", "lon": "longitude"}[name]
        variable[:] = values
