"""Rotated poles whose grid longitudes go beyond 180 and 360 degrees (the UK's model, CSET)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from cases.fields import place_value
from cases.looked import Case, Looked


def unrotated(pole: tuple[float, float], x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Longitudes and latitudes by spherical trigonometry."""
    x, y = np.meshgrid(np.radians(x), np.radians(y))
    tilt = np.radians(pole[0])
    lat = np.arcsin(np.sin(tilt) * np.sin(y) + np.cos(tilt) * np.cos(y) * np.cos(x))
    north = np.sin(tilt) * np.cos(y) * np.cos(x) - np.cos(tilt) * np.sin(y)
    lon = pole[1] + 180 + np.degrees(np.arctan2(np.cos(y) * np.sin(x), north))
    return lon, np.degrees(lat)


def write(
    path: Path, name: str, pole: tuple[float, float], x: Any, y: Any, *, two_d: bool
) -> None:  # fmt: skip
    """A field on a rotated pole, with 2-D degrees or without."""
    lon, lat = unrotated(pole, x, y)
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("time", None)
        data.createVariable("time", "f8", ("time",)).units = "hours since 2015-08-19"
        data["time"][0] = 16
        for axis, values in (("grid_latitude", y), ("grid_longitude", x)):
            data.createDimension(axis, values.size)
            variable = data.createVariable(axis, "f8", (axis,))
            variable.units, variable.standard_name = "degrees", axis
            variable[:] = values
        data.createVariable("rotated_pole", "i4").setncatts({
            "grid_mapping_name": "rotated_latitude_longitude", "earth_radius": 6371229.0,
            "grid_north_pole_latitude": pole[0], "grid_north_pole_longitude": pole[1],
        })  # fmt: skip
        field = data.createVariable(name, "f4", ("time", "grid_latitude", "grid_longitude"))
        field.grid_mapping, field.units = "rotated_pole", "1"
        field[0] = place_value(lon, lat)
        if two_d:
            field.coordinates = "latitude longitude"
            for degrees, values, units in (
                ("latitude", lat, "degrees_north"), ("longitude", lon, "degrees_east"),
            ):  # fmt: skip
                variable = data.createVariable(degrees, "f8", ("grid_latitude", "grid_longitude"))
                variable.units = units
                variable[:] = values


def several(folder: Path) -> None:
    new_zealand = np.linspace(175, 186, 45), np.linspace(-3, 3, 25)
    write(folder / "uk.nc", "uk", (37.5, 177.5), np.linspace(355, 363, 41), np.linspace(-4, 4, 33),
          two_d=False)  # fmt: skip
    write(folder / "nz.nc", "nz", (49.55, 171.77), *new_zealand, two_d=False)
    write(folder / "of_2d.nc", "of_2d", (49.55, 171.77), *new_zealand, two_d=True)
    write(folder / "plain.nc", "plain", (90.0, 0.0), np.linspace(0, 40, 41),
          np.linspace(-30, 10, 41), two_d=False)  # fmt: skip


def check(look: Looked) -> None:
    assert look.code == 0, look.said
    places = (("uk", 52.3, 0.8), ("nz", -41.0, 178.5), ("of_2d", -41.0, 178.5),
              ("plain", -10.0, -150.0))  # fmt: skip
    for product, lat, lon in places:
        values = list(look.series(product, "--at", f"{lat},{lon}").values())
        assert values == [pytest.approx(place_value(lon, lat), abs=0.15)], product


CASES = [Case("several", several, check)]
