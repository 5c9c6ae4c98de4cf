"""Days that only the calendar of a climate model has (netcdf4-python), as its tools read them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from cases.fields import LATITUDES, LONGITUDES, place_value, write_regular
from cases.looked import Case, Looked

DAYS = ("0227", "0228", "0229", "0230", "0301", "0302", "0303")
RECIPE = """
title = "Days of a calendar"
[simulation]
model = "command"
inputs = "in"
command = ["true"]
frames = { pd = "hadgem_pd.nc" }
[[product]]
name = "tas"
kind = "map"
variable = "tas"
[[product]]
name = "vol"
kind = "vtk"
variables = ["ta"]
[[guard]]
name = "fast"
variable = "tas"
max_rate = 1e-12
"""


def write(folder: Path) -> None:
    """Seven days of a year of 360 days, with a field on three heights."""
    first = 360 * 131 + 86  # 27 February 1991
    times = [first + number for number in range(len(DAYS))]
    units = "days since 1859-12-01 00:00:00"
    data = write_regular(folder / "hadgem_pd.nc", times, units, "360_day")
    data.createDimension("z", 3)
    height = data.createVariable("z", "f8", ("z",))
    height.units, height.positive, height.axis, height.standard_name = "m", "up", "Z", "height"
    height[:] = [10, 1000, 5000]
    field = data.createVariable("ta", "f4", ("time", "z", "lat", "lon"))
    field.units = "1"
    for record in range(len(DAYS)):
        field[record] = place_value(*np.meshgrid(LONGITUDES, LATITUDES), record)[None]
    data.close()
    (folder.parent / "recipe.toml").write_text(RECIPE)


def check(look: Looked) -> None:
    assert look.code == 0, look.said
    assert look.times() == [f"1991{day}T000000" for day in DAYS]
    [pvd] = (look.run / "products").glob("*.pvd")
    steps = [float(one) for one in re.findall(r'timestep="([^"]+)"', pvd.read_text())]
    assert np.diff(steps) == pytest.approx([86400.0] * 6)
    # Of each frame the guard knows how long the one before it is ago.
    tripped = look.events("guard.tripped")
    assert tripped
    assert {"86400 s" in one["text"] for one in tripped if "first frame" not in one["text"]} == {
        True
    }


CASES = [Case("360 days", write, check, ("--recipe", "recipe.toml"))]
