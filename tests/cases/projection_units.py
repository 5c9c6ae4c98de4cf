"""Grids of a projection whose x and y are in other units than metres (CF 5.7, iris, OSI SAF)."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pyproj
import pytest
from cases.fields import place_value
from cases.looked import Case, Looked

X, Y = np.linspace(-3.0e6, 2.0e6, 40), np.linspace(2.5e6, -3.0e6, 30)
LENGTHS = {"kilometers": 1e3, "100 km": 1e5, "nautical_mile": 1852.0}
POLAR = {
    "grid_mapping_name": "polar_stereographic", "straight_vertical_longitude_from_pole": -45.0,
    "latitude_of_projection_origin": 90.0, "standard_parallel": 70.0, "false_easting": 0.0,
    "false_northing": 0.0, "semi_major_axis": 6378273.0, "semi_minor_axis": 6356889.449,
}  # fmt: skip


def write(path: Path, name: str, units: str, metres: float) -> None:
    """A field on the plane around the north pole, in its units."""
    plane = pyproj.Proj("+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +a=6378273 +b=6356889.449")
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("time", None)
        data.createVariable("time", "f8", ("time",)).units = "days since 1978-01-01"
        data["time"][0] = 0
        for axis, values in (("yc", Y), ("xc", X)):
            data.createDimension(axis, values.size)
            variable = data.createVariable(axis, "f8", (axis,))
            variable.units, variable.axis = units, axis[0].upper()
            variable[:] = values / metres
        data.createVariable("grid", "i4").setncatts(POLAR)
        field = data.createVariable(name, "f4", ("time", "yc", "xc"))
        field.grid_mapping, field.units = "grid", "1"
        field[0] = place_value(*plane(*np.meshgrid(X, Y), inverse=True))


def lengths(folder: Path) -> None:
    for number, (units, metres) in enumerate(LENGTHS.items()):
        write(folder / f"{'abc'[number]}_ice.nc", f"ice{number}", units, metres)


def check_lengths(look: Looked) -> None:
    assert look.code == 0, look.said
    for number in range(len(LENGTHS)):
        assert list(look.series(f"ice{number}", "--at", "75,-100").values()) == [
            pytest.approx(174, abs=0.3)
        ]


def unknown(folder: Path) -> None:
    write(folder / "ice.nc", "ice", "furlong", 201.168)


def check_unknown(look: Looked) -> None:
    assert look.code != 0
    assert "xc is in 'furlong'" in look.said


CASES = [Case("lengths", lengths, check_lengths), Case("unknown", unknown, check_unknown)]
