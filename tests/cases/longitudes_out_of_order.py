"""Longitudes that are not in the order of the columns: selected or glued parts of the earth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from cases.looked import Case, Looked

SELECTED = [0.5, 325.5, 330.5, 335.5, 340.5, 345.5, 350.5, 355.5]
GLUED = [*range(-10, 0), *range(350, 360), *range(10)]
"""Ten columns twice."""
WITHOUT = [10.0, 9, 8, 6, 5, 4]
"""Westward, without a column at 7."""


def write(path: Path, name: str, longitudes: Any) -> None:
    """A field whose value is the column's number."""
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("time", None)
        data.createVariable("time", "f8", ("time",)).units = "days since 1984-12-01"
        data["time"][0] = 0
        for axis, values, units in (
            ("lat", np.linspace(-9.8, -1.5, 6), "degrees_north"),
            ("lon", longitudes, "degrees_east"),
        ):  # fmt: skip
            data.createDimension(axis, len(values))
            data.createVariable(axis, "f8", (axis,)).units = units
            data[axis][:] = values
        field = data.createVariable(name, "f4", ("time", "lat", "lon"))
        field.units = "degC"
        field[0] = np.tile(np.arange(float(len(longitudes))), (6, 1))


def several(folder: Path) -> None:
    write(folder / "atl.nc", "atl", SELECTED)
    write(folder / "glued.nc", "glued", GLUED)
    write(folder / "hole.nc", "hole", WITHOUT)


def check(look: Looked) -> None:
    assert look.code == 0, look.said

    def value_at(product: str, lon: float) -> float | None:
        return next(iter(look.series(product, "--at", f"-5,{lon}").values()))

    for column, lon in enumerate(SELECTED):
        assert value_at("atl", lon - 2.4 + 4.8 * (column % 2)) == pytest.approx(column, abs=0.01)
    for lon, column in ((-10, 0), (0, 20)):
        assert value_at("glued", lon) == pytest.approx(column, abs=0.01)
    assert value_at("hole", 8.4) == pytest.approx(2, abs=0.01)
    code, said = look.burstlens("series", look.run.name, "hole", "--at", "-5,7")
    assert code == 1, said


CASES = [Case("several", several, check)]
