"""Longitudes and latitudes without units: known by their names and values (PyGNOME, RTOFS)."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
from cases.fields import LATITUDES, LONGITUDES, place_value
from cases.looked import Case, Looked

NAMES = {
    "cur": ("lat", "lon"),
    "extract": ("nav_lat", "nav_lon"),
    "plain": ("Latitude", "Longitude"),
}


def several(folder: Path) -> None:
    lon, lat = np.meshgrid(LONGITUDES, LATITUDES)
    for product, (north, east) in NAMES.items():
        bent = product == "extract"
        dimensions = ("j", "i") if bent else (north, east)
        with netCDF4.Dataset(folder / f"{product}.nc", "w") as data:
            for dimension, size in zip(dimensions, lat.shape, strict=True):
                data.createDimension(dimension, size)
            data.createDimension("time", None)
            data.createVariable("time", "f8", ("time",)).units = "hours since 2023-03-04"
            data["time"][0] = 0
            for name, values, straight in ((north, lat, LATITUDES), (east, lon, LONGITUDES)):
                own = data.createVariable(name, "f8", dimensions if bent else (name,))
                own[:] = values if bent else straight
                if product == "plain":
                    own.units = "degrees"
            field = data.createVariable(product, "f4", ("time", *dimensions))
            field.units = "1"
            field[0] = place_value(lon, lat)


def check(look: Looked) -> None:
    assert look.code == 0, look.said
    for product in NAMES:
        assert list(look.series(product, "--at", "46,3").values()) == [
            pytest.approx(146.03, abs=0.01)
        ]


CASES = [Case("several", several, check)]
