"""A dimension of records without a variable (UMWM, ncrcat); what ncks cuts out of WRF's files."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
from cases.fields import LATITUDES, LONGITUDES, add_degrees, place_value
from cases.looked import Case, Looked


def write_waves(path: Path, first: int, records: int) -> None:
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as data:
        data.createDimension("time", None)
        add_degrees(data)
        field = data.createVariable("swh", "f4", ("time", "lat", "lon"))
        field.units = "m"
        for record in range(records):
            field[record] = place_value(*np.meshgrid(LONGITUDES, LATITUDES), first + record)


def one_per_file(folder: Path) -> None:
    for number, hour in enumerate((0, 6, 12)):
        write_waves(folder / f"umwmout_2008-09-02_{hour:02d}:00:00.nc", number, 1)


def joined(folder: Path) -> None:
    write_waves(folder / "umwm_all.nc", 0, 3)


def check_names(look: Looked) -> None:
    assert look.code == 0, look.said
    values = look.series("swh", "--at", "46,0")
    assert list(values) == [f"20080902T{hour}0000" for hour in ("00", "06", "12")]
    assert list(values.values()) == pytest.approx([146, 147, 148], abs=0.01)


def check_joined(look: Looked) -> None:
    assert look.code == 0, look.said
    values = look.series("swh", "--at", "46,0")
    assert list(values) == [f"f-umwm_all_record000000000{number}" for number in range(3)]
    assert list(values.values()) == pytest.approx([146, 147, 148], abs=0.01)


def write_subset(path: Path, hour: int, *, with_minutes: bool) -> None:
    """A Lambert grid of WRF with T2, whose value at its centre is the hour."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as data:
        data.TITLE = " OUTPUT FROM WRF V4.3.3 MODEL"
        data.START_DATE = data.SIMULATION_START_DATE = "2005-08-28_00:00:00"
        data.setncatts({
            "MAP_PROJ": np.int32(1), "DX": np.float32(12000), "DY": np.float32(12000),
            "CEN_LAT": np.float32(34), "CEN_LON": np.float32(-78), "TRUELAT1": np.float32(30),
            "TRUELAT2": np.float32(60), "STAND_LON": np.float32(-78),
            "MOAD_CEN_LAT": np.float32(34), "WEST-EAST_GRID_DIMENSION": np.int32(22),
            "SOUTH-NORTH_GRID_DIMENSION": np.int32(14),
        })  # fmt: skip
        for name, size in (("Time", None), ("south_north", 13), ("west_east", 21)):
            data.createDimension(name, size)
        lon, lat = np.meshgrid(np.linspace(-79.3, -76.7, 21), np.linspace(33.4, 34.6, 13))
        fields = {"XLAT": (lat, "degree_north"), "XLONG": (lon, "degree_east"),
                  "T2": (273.15 + hour + 0 * lat, "K")}  # fmt: skip
        for name, (values, units) in fields.items():
            variable = data.createVariable(name, "f4", ("Time", "south_north", "west_east"))
            variable.units = units
            variable[0] = values
        if with_minutes:
            time = data.createVariable("XTIME", "f4", ("Time",))
            time.units = "minutes since 2005-08-28 00:00:00"
            time[0] = 60.0 * hour


def with_minutes(folder: Path) -> None:
    for hour in (12, 15, 18):
        name = f"wrfout_d01_2005-08-28_{hour}:00:00"
        write_subset(folder / name, hour, with_minutes=True)


def with_names(folder: Path) -> None:
    for hour in (12, 15, 18):
        name = f"wrfout_d01_2005-08-28_{hour}%3A00%3A00"
        write_subset(folder / name, hour, with_minutes=False)


def check_subset(look: Looked) -> None:
    assert look.code == 0, look.said
    values = look.series("T2", "--at", "34,-78")
    assert list(values) == [f"20050828T{hour}0000" for hour in (12, 15, 18)]
    assert list(values.values()) == pytest.approx([12, 15, 18], abs=0.01)


CASES = [
    Case("one per file", one_per_file, check_names),
    Case("joined", joined, check_joined),
    Case("of WRF, with XTIME", with_minutes, check_subset),
    Case("of WRF, saved by a browser", with_names, check_subset),
]
