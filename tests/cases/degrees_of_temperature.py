"""Temperatures in degree_C beside latitudes in degrees_north, as NEMO and XIOS write them."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
from cases.looked import Case, Looked

LONGITUDES, LATITUDES = np.meshgrid(np.linspace(-60, -1, 60), np.linspace(20, 49, 30))


def nemo(folder: Path) -> None:
    with netCDF4.Dataset(folder / "NEMO_1m_20150101_20150131_grid_T.nc", "w") as data:
        for name, size in (("time_counter", None), ("y", 30), ("x", 60)):
            data.createDimension(name, size)
        for name, values, units in (
            ("nav_lat", LATITUDES, "degrees_north"), ("nav_lon", LONGITUDES, "degrees_east"),
        ):  # fmt: skip
            data.createVariable(name, "f4", ("y", "x"))[:] = values
            data[name].units = units
        time = data.createVariable("time_counter", "f8", ("time_counter",))
        time.units, time.standard_name = "seconds since 2015-01-01 00:00:00", "time"
        time[0] = 1296000.0
        for name, units, values in (("sowaflup", "kg m-2 s-1", 0.01), ("tos", "degree_C", 25)):
            field = data.createVariable(name, "f4", ("time_counter", "y", "x"))
            field.units, field.coordinates = units, "nav_lat nav_lon"
            field[0] = values - LATITUDES / 3


def check(look: Looked) -> None:
    assert look.code == 0, look.said
    published = [event["product"] for event in look.events("product.published")]
    assert set(published) == {"tos", "sowaflup"}
    (value,) = look.series("tos", "--at", "35,-30").values()
    assert value == pytest.approx(25 - 35 / 3, abs=0.2)


CASES = [Case("nemo", nemo, check)]
