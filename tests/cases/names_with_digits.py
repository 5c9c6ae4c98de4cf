"""Short names of ECMWF that begin with a digit, as cdo -t ecmwf leaves them."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
from cases.fields import LATITUDES, LONGITUDES, add_degrees, place_value
from cases.looked import Case, Looked

UNITS = {"10u": "m s-1", "10v": "m s-1", "2t": "K", "2d": "K"}


def forecast(folder: Path) -> None:
    with netCDF4.Dataset(folder / "fc_20241227.nc", "w") as data:
        data.createDimension("time", None)
        time = data.createVariable("time", "f8", ("time",))
        time.units, time.standard_name = "hours since 2024-12-27", "time"
        time[:] = [0, 6]
        add_degrees(data)
        for name, units in UNITS.items():
            field = data.createVariable(name, "f4", ("time", "lat", "lon"))
            field.units = units
            for record in range(2):
                field[record] = place_value(*np.meshgrid(LONGITUDES, LATITUDES), record)


def first_look(look: Looked) -> None:
    assert look.code == 0, look.said
    assert look.products() == {"2t", "10u-10v", "2d"}
    speeds = list(look.series("10u-10v", "--at", "46,0").values())
    assert speeds == pytest.approx([146 * 2**0.5, 147 * 2**0.5], abs=0.02)


def asked(look: Looked) -> None:
    assert look.code == 0, look.said
    assert look.products() == {"2d", "2t-2d-K"}
    assert list(look.series("2d", "--at", "46,0").values()) == pytest.approx([146, 147], abs=0.02)
    assert list(look.series("2t-2d-K", "--at", "46,0").values()) == [0, 0]


CASES = [
    Case("first look", forecast, first_look),
    Case("asked", forecast, asked, ("--product", "2d", "--product", "2t - 2d [K]")),
]
