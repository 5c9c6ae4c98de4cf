"""Coordinates that are packed by ``scale_factor`` and ``add_offset`` (Ferret, nco)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from cases.fields import LATITUDES, LONGITUDES, place_value
from cases.looked import Case, Looked

HOURS = 876000 + 6 * np.arange(5)
DEPTHS = np.array([0.0, 10.0, 20.0, 35.0, 1000.0])


def pack(data: Any, name: str, along: Sequence[str], values: Any, units: str) -> Any:
    """A variable of 2 bytes per value, as nco's ncpdq packs it."""
    variable = data.createVariable(name, "i2", tuple(along), fill_value=-32767)
    low, high = np.min(values), np.max(values)
    variable.scale_factor, variable.add_offset = (high - low) / 65532, (high + low) / 2
    variable.units = units
    variable[:] = values
    return variable


def write(form: Any) -> Callable[[Path], None]:
    def into(folder: Path) -> None:
        data = netCDF4.Dataset(folder / "packed.nc", "w", format=form)
        data.Conventions = "CF-1.6"
        sizes = {"time": None, "depth": DEPTHS.size, "lat": 13, "lon": 21}
        for name, size in sizes.items():
            data.createDimension(name, size)
        pack(data, "time", ["time"], HOURS, "hours since 1900-01-01 00:00:00")
        pack(data, "lat", ["lat"], LATITUDES, "degrees_north")
        pack(data, "lon", ["lon"], LONGITUDES, "degrees_east")
        depth = pack(data, "depth", ["depth"], DEPTHS, "m")
        depth.positive = "down"
        places = place_value(*np.meshgrid(LONGITUDES, LATITUDES))
        fields = np.stack([places + record for record in range(HOURS.size)])
        pack(data, "tas", ["time", "lat", "lon"], fields, "1")
        volume = fields[:, None] + 10 * np.arange(DEPTHS.size)[:, None, None]
        pack(data, "so", sizes, volume, "1")
        data.close()

    return into


def check(look: Looked) -> None:
    assert look.code == 0, look.said
    hours = ["19991208T00", "19991208T06", "19991208T12", "19991208T18", "19991209T00"]
    assert look.times() == [f"{hour}0000" for hour in hours]
    assert list(look.series("tas", "--at", "46,0").values()) == pytest.approx(
        [146.0 + record for record in range(5)], abs=0.01
    )
    surface = look.series("so", "--at", "46,0")["19991208T060000"]
    assert surface == pytest.approx(147.0, abs=0.02)


CASES = [
    Case("netCDF-4", write("NETCDF4"), check),
    Case("classic", write("NETCDF3_CLASSIC"), check),
]
