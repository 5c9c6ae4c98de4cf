"""Dimensions that are no heights: ERA5's versions of data, months, members of an ensemble."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
from cases.fields import LATITUDES, LONGITUDES, add_degrees, place_value
from cases.looked import Case, Looked


def era5(folder: Path) -> None:
    """Two versions, of which the later one has the last three of six times alone."""
    with netCDF4.Dataset(folder / "era5_land.nc", "w", format="NETCDF3_64BIT_OFFSET") as data:
        add_degrees(data)
        data.createDimension("expver", 2)
        data.createVariable("expver", "i4", ("expver",))[:] = [1, 5]
        data.createDimension("time", 6)
        time = data.createVariable("time", "i4", ("time",))
        time.units = "hours since 1900-01-01 00:00:00.0"
        time[:] = 1087000 + np.arange(6)
        field = data.createVariable(
            "t2m", "i2", ("time", "expver", "lat", "lon"), fill_value=-32767
        )
        field.scale_factor, field.add_offset, field.units = 0.002, 150.0, "K"
        for record in range(6):
            field[record, int(record >= 3)] = place_value(
                *np.meshgrid(LONGITUDES, LATITUDES), record
            )


def joined(look: Looked) -> None:
    assert look.code == 0, look.said
    assert '--product "t2m[expver=5]"' in look.said
    values = list(look.series("t2m", "--at", "46,0").values())
    assert values == pytest.approx([146.0 - 273.15 + record for record in range(6)], abs=0.02)


def months(folder: Path) -> None:
    with netCDF4.Dataset(folder / "uvz.nc", "w") as data:
        add_degrees(data)
        for name, values in (("month", [1, 7]), ("level", [200, 500, 850])):
            data.createDimension(name, len(values))
            data.createVariable(name, "i4", (name,))[:] = values
        data["level"].units = "millibars"
        field = data.createVariable("u", "f4", ("month", "level", "lat", "lon"))
        field.units = "m s-1"
        for month in range(2):
            for level in range(3):
                field[month, level] = place_value(
                    *np.meshgrid(LONGITUDES, LATITUDES), 10 * month + level
                )


def chosen(look: Looked) -> None:
    assert look.code == 0, look.said
    found = {name: [*look.series(name, "--at", "46,0").values()] for name in look.products()}
    assert found == {
        "u": [pytest.approx(148, abs=0.01)], "u-month-7": [pytest.approx(158, abs=0.01)],
        "u-month-7-500hPa": [pytest.approx(157, abs=0.01)],
    }  # fmt: skip


CASES = [
    Case("versions of ERA5", era5, joined),
    Case("months", months, chosen, (
        "--product", "u", "--product", "u[month=7]", "--product", "u[month=7]@500hPa",
    )),
]  # fmt: skip
