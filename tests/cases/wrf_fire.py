"""Fire on cells of its own, which WRF pads beyond the domain (wrfxpy): there is no data there."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
from cases.fields import place_value
from cases.looked import Case, Looked

NX, NY, CELLS = 20, 16, 5
DEGREES = 0.003
WEST, SOUTH = -105.3, 39.9


def write(folder: Path) -> None:
    """One frame of WRF with the heat of a fire; zeros beyond the domain."""
    with netCDF4.Dataset(folder / "wrfout_d01_2021-12-30_18:00:00", "w") as data:
        data.setncatts(
            {"TITLE": " OUTPUT FROM WRF V4.3.3 MODEL", "MAP_PROJ": np.int32(6)}
            | {"POLE_LAT": np.float32(90), "POLE_LON": np.float32(0), "STAND_LON": np.float32(0)}
            | {"DX": np.float32(DEGREES * 111177), "DY": np.float32(DEGREES * 111177)}
            | {"CEN_LON": np.float32(WEST + NX * DEGREES / 2)}
            | {"CEN_LAT": np.float32(SOUTH + NY * DEGREES / 2)}
            | {"WEST-EAST_GRID_DIMENSION": np.int32(NX + 1)}
            | {"SOUTH-NORTH_GRID_DIMENSION": np.int32(NY + 1)}
            | {"START_DATE": "2021-12-30_18:00:00", "SIMULATION_START_DATE": "2021-12-30_18:00:00"}
        )
        data.createDimension("Time", None)
        data.createDimension("DateStrLen", 19)
        times = data.createVariable("Times", "S1", ("Time", "DateStrLen"))
        times[0] = netCDF4.stringtochar(np.array(["2021-12-30_18:00:00"], "S19"))[0]
        for name, size in (("west_east", NX), ("south_north", NY)):
            data.createDimension(name, size)
            data.createDimension(f"{name}_stag", size + 1)
            data.createDimension(f"{name}_subgrid", (size + 1) * CELLS)
        add_field(data, "T2", "K", "XLONG XLAT", 1)
        add_field(data, "FGRNHFX", "W/m^2", "FXLONG FXLAT", CELLS)


def add_field(data: netCDF4.Dataset, name: str, units: str, coordinates: str, cells: int) -> None:
    """A field whose values say their place, with longitude and latitude."""
    suffix = "_subgrid" if cells > 1 else ""
    dimensions = ("Time", f"south_north{suffix}", f"west_east{suffix}")
    shape = [len(data.dimensions[dimension]) for dimension in dimensions[1:]]
    lat, lon = (
        first + (np.arange(size) + 0.5) * DEGREES / cells
        for first, size in zip((SOUTH, WEST), shape, strict=True)
    )
    places = np.meshgrid(lon, lat)
    within = np.zeros(shape, bool)
    within[: NY * cells, : NX * cells] = True
    of_wrf = dict(zip(coordinates.split(), ("degree_east", "degree_north"), strict=True))
    for (one, of), values in zip(of_wrf.items(), places, strict=True):
        coordinate = data.createVariable(one, "f4", dimensions)
        coordinate.units = of
        coordinate[0] = np.where(within, values, 0)
    field = data.createVariable(name, "f4", dimensions)
    field.units, field.coordinates = units, coordinates
    field[0] = np.where(within, place_value(*places), 0)


def check(look: Looked) -> None:
    """No value is that of the padding, and each place has its own."""
    assert look.code == 0, look.said
    (picture,) = look.events("product.published")
    facts = picture["facts"]
    assert facts["shape"] == [NY * CELLS, NX * CELLS]
    assert facts["min"] == pytest.approx(place_value(WEST, SOUTH), abs=0.002)
    (value,) = look.series("FGRNHFX", "--at", "39.92,-105.28").values()
    assert value == pytest.approx(place_value(-105.28, 39.92), abs=0.002)


CASES = [Case("heat", write, check, ("--product", "FGRNHFX"))]
