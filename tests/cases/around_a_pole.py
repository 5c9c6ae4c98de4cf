"""Grids around a pole or with displaced poles, with 2-D coordinates alone; a value is its place."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
from cases.looked import Case, Looked
from model_grids import GRIDS, ModelGrid


def write(path: Path, grid: ModelGrid) -> None:
    longitude, latitude = grid.fields().values()
    grid.write(path, longitude)
    with netCDF4.Dataset(path, "a") as data:
        made = data.createVariable("other", "f8", data["tas"].dimensions)
        made.units, made.coordinates = "1", "TLON TLAT"
        made[:] = latitude
        data.createDimension("time", 1)
        time = data.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = 0


def case(kind: str, *places: tuple[float, float]) -> Case:
    """A file of that kind of grid; at the places (lat, lon) the look gives them back."""
    grid = GRIDS[kind]()

    def check(look: Looked) -> None:
        assert look.code == 0, look.said
        for lat, lon in places:
            for product, at in (("tas", lon), ("other", lat)):
                (value,) = look.series(product, "--at", f"{lat},{lon}").values()
                # Half a cell, more of longitude towards a pole; and a step of quantisation.
                size = 2.0 / (np.cos(np.radians(lat)) if product == "tas" else 1.0)
                assert value == pytest.approx(at, abs=size + 0.1)

    return Case(kind, lambda folder: write(folder / "ice_20000101.nc", grid), check)


CASES = [
    case("EASE", (75.0, -100.0), (60.0, 20.0), (85.0, 179.0)),
    case("EASE, south, its first row at the top", (-75.0, -100.0), (-60.0, 175.0)),
    case("displaced pole", (0.0, 10.0), (-50.0, -150.0), (60.0, -40.0), (80.0, 178.0)),
    case("tripolar, from -280", (0.0, 10.0), (-50.0, -150.0), (55.0, 84.0)),
    case("turned about the pole, with masked corners", (80.0, -100.0), (85.0, 178.0)),
]
