"""Times as text: strings and characters in ISO form, and FVCOM's beside numbers of 4 bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from cases.fields import LATITUDES, LONGITUDES, add_degrees, place_value
from cases.looked import Case, Looked

HOURS = ["2020-01-01T00:00:00", "2020-01-01T06:00:00", "2020-01-01T12:00:00"]
ODD = ["2006-02-01T00:20:00.000000", "2006-02-01T00:40:00.000000", "2006-02-01T01:00:00.500000"]


def begin(path: Path, form: Any = "NETCDF4") -> Any:
    data = netCDF4.Dataset(path, "w", format=form)
    data.createDimension("time", None)
    add_degrees(data)
    field = data.createVariable("t2m", "f4", ("time", "lat", "lon"))
    field.units = "1"
    for record in range(3):
        field[record] = place_value(*np.meshgrid(LONGITUDES, LATITUDES), record)
    return data


def add_text(data: Any, name: str, texts: Sequence[str]) -> Any:
    data.createDimension("length", len(texts[0]))
    time = data.createVariable(name, "S1", ("time", "length"))
    time[:] = netCDF4.stringtochar(np.array(texts, f"S{len(texts[0])}"))
    return time


def strings(folder: Path) -> None:
    with begin(folder / "out.nc") as data:
        time = data.createVariable("time", str, ("time",))
        time[:] = np.array(HOURS, object)
        time.standard_name, time.units = "time", "ISO 8601 Date String"


def characters(folder: Path) -> None:
    with begin(folder / "out.nc", "NETCDF3_CLASSIC") as data:
        add_text(data, "valid_time", HOURS).standard_name = "time"


def fvcom(folder: Path) -> None:
    """The numbers are minutes off: 53767 days in 4 bytes."""
    with begin(folder / "fvcom.nc", "NETCDF3_64BIT_OFFSET") as data:
        time = data.createVariable("time", "f4", ("time",))
        time.units, time.format = "days since 1858-11-17 00:00:00", "modified julian day (MJD)"
        time[:] = 53767 + np.array([20, 40, 60]) / 1440
        add_text(data, "Times", ODD).time_zone = "UTC"


def has_times(*times: str) -> Callable[[Looked], None]:
    def check(look: Looked) -> None:
        assert look.code == 0, look.said
        values = look.series("t2m", "--at", "46,0")
        assert list(values) == list(times)
        assert list(values.values()) == pytest.approx([146, 147, 148], abs=0.01)

    return check


ISO = has_times("20200101T000000", "20200101T060000", "20200101T120000")
EXACT = has_times("20060201T002000", "20060201T004000", "20060201T010000.5")
CASES = [
    Case("strings", strings, ISO),
    Case("characters", characters, ISO),
    Case("beside numbers", fvcom, EXACT),
]
