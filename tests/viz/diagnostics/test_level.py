"""Levels as recipes write them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from burstlens.core.errors import RecipeError
from burstlens.viz.diagnostics.level import parse_level
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.kinds.vtk.options import VtkOptions


@pytest.mark.parametrize(
    ("text", "low", "high", "coordinate", "words"),
    [
        ("850hPa", 85000, None, "pressure", "at 850 hPa"),
        ("850 hpa", 85000, None, "pressure", "at 850 hPa"),
        ("925mb", 92500, None, "pressure", "at 925 hPa"),
        ("1500 m", 1500, None, "height", "at 1500 m above sea level"),
        ("2.5km", 2500, None, "height", "at 2.5 km above sea level"),
        ("80m agl", 80, None, "height_agl", "at 80 m above ground"),
        ("0-6km agl", 0, 6000, "height_agl", "from 0 to 6 km above ground"),
        ("500-700hPa", 70000, 50000, "pressure", "from 700 to 500 hPa"),
        ("7", 7, None, "", "on model level 7"),
    ],
)
def test_a_level_is_read_as_people_write_it(
    text: str, low: float, high: float | None, coordinate: str, words: str
):
    level = parse_level(text)
    assert (level.low, level.high, level.coordinate) == (low, high, coordinate)
    assert level.words == words


@pytest.mark.parametrize(
    "text",
    ["", "hPa", "850 hp", "80hPa agl", "3-5", "-2km agl", "500-500hPa", "1.5", "1e3m", "5 agl"],
)
def test_the_error_for_an_invalid_level_has_examples(text: str):
    with pytest.raises(RecipeError, match="is not a l"):
        parse_level(text)


@pytest.mark.parametrize(
    ("options", "variables"),
    [(MapOptions, "T2@850hPb"), (VtkOptions, ("W", "T2@850hPb")), (NetcdfOptions, ("T2@850hPb",))],
)
def test_a_recipe_with_an_invalid_level_is_refused_before_the_run(options: Any, variables: Any):
    with pytest.raises(ValueError, match="T2@850hPb: '850hPb' is not a level: say 850hPa"):
        options(variables)


@pytest.mark.integration
def test_checking_a_level_imports_no_numpy():
    program = """
import sys
from burstlens.viz.kinds.map.options import MapOptions
MapOptions("temperature@850hPa")
print("numpy" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_levels_and_layers_below_the_sea_are_named_by_their_depth():
    assert parse_level("-50m").ends == (-50.0, -50.0)
    assert parse_level("-50m").words == "at 50 m below sea level"
    assert parse_level("-100--50 m").ends == (-100.0, -50.0)
    assert parse_level("-0.2--0.1km").words == "from 0.1 to 0.2 km below sea level"
    with pytest.raises(RecipeError, match="both ends need their sign"):
        parse_level("-100-50m")
    with pytest.raises(RecipeError, match="only heights above the sea may be negative"):
        parse_level("-500hPa")
