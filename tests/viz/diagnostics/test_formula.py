"""Expressions in place of a variable's name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.formula import is_formula, parse_formula
from burstlens.viz.drawing.maps.layers import Contours
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import read_field
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.netcdf.kind import NetcdfKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.product import Context


def test_names_and_levels_are_not_expressions():
    for name in ("T2", "wind@0-6km agl", "lapse_rate@700-500hPa", "W@5", "temperature@850 hPa"):
        assert not is_formula(name), name
    for name in ("2t", "10u", "t2m[expver=5]", "u[lat=-5.5, month=7]", "u[month=7]@-50m"):
        assert not is_formula(name), name
    for name in ("-W", "W@5 - W@4", "2 * T2", "hypot(U10, V10)", "sqrt(U10**2) [m s-1]", "10u-10v",
                 "t[step=6] - t[step=0] [K]"):  # fmt: skip
        assert is_formula(name), name


def test_levels_within_an_expression_end_where_their_unit_does():
    found = parse_formula("theta_e@850hPa - theta_e@0-2km agl/2 + W@5-3 [K]")
    assert tuple(found.variables.values()) == ("theta_e@850hPa", "theta_e@0-2km agl", "W@5")
    assert found.units == "K"
    assert found.text == "theta_e@850hPa - theta_e@0-2km agl/2 + W@5-3"


def test_variables_have_names_with_digits_choices_and_levels():
    found = parse_formula("hypot(10u, 10v) + t[step=6]@850hPa/2 + `2m-temp` * 1e-2 [m s-1]")
    assert tuple(found.variables.values()) == ("10u", "10v", "t[step=6]@850hPa", "2m-temp")
    assert found.units == "m s-1"


def test_values_are_those_of_the_variables(cyclone: Path):
    with open_frame([cyclone]) as frame:
        speed = frame.read("sqrt(U10**2 + V10**2) [m s-1]")
        assert np.allclose(speed, frame.read("wind10"), rtol=1e-6)
        assert speed.dtype == np.float32
        thick = frame.read("height@700hPa - height@850hPa [m]")
        expected = frame.read("height@700hPa") - frame.read("height@850hPa")
        assert np.array_equal(thick, expected, equal_nan=True)
        about = frame.variable("height@700hPa - height@850hPa [m]")
    assert (about.units, about.long_name) == ("m", "height@700hPa - height@850hPa")
    assert about.dimensions == ("south_north", "west_east")


def test_staggered_variables_meet_at_the_centres_of_the_cells(supercell: Path):
    window = {"bottom_top": slice(3, 6), "west_east": slice(4, 20, 2)}
    with open_frame([supercell]) as frame:
        found = frame.read("hypot(U, V) + 0 * T", window)
        assert np.allclose(found, frame.read("wind", window), atol=1e-4)
        assert found.shape == (3, 41, 8)


def test_units_are_converted_from_those_that_are_stated(cyclone: Path):
    with open_frame([cyclone]) as frame:
        shown = read_field(frame, "hypot(U10, V10) [m s-1]", level=None, crop=Crop(), units="kn")
        assert shown.values.max() == pytest.approx(frame.read("wind10").max() * 3600 / 1852)
        with pytest.raises(RecipeError, match=r"takes its unit in brackets"):
            read_field(frame, "hypot(U10, V10)", level=None, crop=Crop(), units="kn")


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("T2 - theta@3 [K]", 0.0), ("theta@3 - 0.5 * (T2 + theta@3) [K]", 0.0),
        ("abs(T2 - theta@3) [K]", 0.0),
        ("(T2 - theta@3) * 2 + (theta@4 - T2) / 3 [K]", 0.0),
        ("T2 - 0.0065 * HGT [K]", -273.15), ("0.5 * (T2 + theta@3) [K]", -273.15),
        ("T2 - theta@3 + T2 [K]", -273.15), ("T2 * (1 + 0.61 * Q2) [K]", -273.15),
    ],
)  # fmt: skip
def test_a_difference_of_temperatures_has_no_zero_to_be_moved(
    cyclone: Path, text: str, offset: float
):
    with open_frame([cyclone]) as frame:
        shown = read_field(frame, text, level=None, crop=Crop(), units="degC")
        assert shown.values == pytest.approx(frame.read(text) + offset, abs=1e-3)


def test_what_has_no_value_is_nan(cyclone: Path):
    with open_frame([cyclone]) as frame:
        still = frame.read("1 / (RAINNC - RAINNC)")
        assert np.isnan(still).all()
        assert np.isnan(frame.read("log(-PSFC)")).all()


def test_integers_divide_as_numbers(
    cyclone: Path, integers: Callable[..., Path], add_variables: Callable[..., Path]
):
    path = integers(cyclone, "T2", "XLAT", "XLONG")
    with open_frame([path]) as frame:
        assert np.allclose(frame.read("T2 / 4") * 4, frame.read("T2"))


def test_maps_contours_and_crops_take_them(cyclone: Path, context: Context, tmp_path: Path):
    options = MapOptions(
        "T2 - 273.15 [degC]", contours=Contours("(slp - 100000) / 100 [hPa]", interval=4)
    )
    with open_frame([cyclone]) as frame:
        made = MapKind().make(options, frame, tmp_path / "a.png", context)
        assert made.facts["max"] == pytest.approx(float(frame.read("T2").max()) - 273.15, abs=1e-3)
        assert made.facts["units"] == "degC"
        names = ("T2 - 273.15 [degC]", "QVAPOR * 1000 [g kg-1]")
        NetcdfKind().make(NetcdfOptions(names), frame, tmp_path / "a.nc", context)
    with netCDF4.Dataset(os.fspath(tmp_path / "a.nc")) as data:
        found = {v.long_name: v for v in data.variables.values() if "long_name" in v.ncattrs()}
        assert found["T2 - 273.15"].units == "degC"
        assert found["QVAPOR * 1000"].dimensions[-3:] == ("bottom_top", "south_north", "west_east")


def test_a_variable_of_the_file_wins(cyclone: Path, tmp_path: Path):
    path = tmp_path / "odd.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("x", 3)
        for name, value in (("a", 1.0), ("b", 2.0), ("a-b", 7.0)):
            data.createVariable(name, "f4", ("x",))[:] = value
    with open_frame([path]) as frame:
        assert frame.read("a-b").tolist() == [7, 7, 7]
        assert frame.read("b-a").tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", ["T(surface)", "2m-temp", "wind-speed", "NO3-", "Gust (10 m)"])
def test_names_with_signs_of_a_file_are_taken(name: str, tmp_path: Path, context: Context):
    path = tmp_path / "odd.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        for axis in ("y", "x"):
            data.createDimension(axis, 3)
        data.createVariable(name, "f4", ("y", "x"))[:] = np.arange(9).reshape(3, 3)
    options = TypeAdapter(MapOptions).validate_python({"variable": name})
    with open_frame([path]) as frame:
        made = MapKind().make(options, frame, tmp_path / "a.png", context)
        assert (made.facts["variable"], made.facts["max"]) == (name, 8)
        NetcdfKind().make(NetcdfOptions((name,)), frame, tmp_path / "a.nc", context)


def test_the_error_for_an_unknown_name_with_signs_suggests_near_names(cyclone: Path):
    with (
        open_frame([cyclone]) as frame,
        pytest.raises(FrameError, match=r"no variable 'QVAPOR\(z\)'; did you mean QVAPOR"),
    ):
        frame.read("QVAPOR(z)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "W + T2",
            "not on one grid: W has bottom_top, south_north, west_east, T2 has",
        ),
        ("T22 * 2", "no variable 'T22'; did you mean T2"),
        ("slp@850hPa + 1", "slp has no bottom_top"),
    ],
)
def test_what_a_frame_cannot_compute_is_an_error(cyclone: Path, text: str, message: str):
    with open_frame([cyclone]) as frame, pytest.raises((FrameError, RecipeError), match=message):
        frame.read(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("T2 - mean(T2)", "takes a statistic"),
        ("T2 > 300 + 0", "gives a yes or no"),
        ("2 * 3", "is one number"),
        ("__import__('os').system('true') * T2", "there is no function"),
        ("T2.real + 1", "does not belong here"),
        ("T2 +", "cannot be read"),
        ("T2 ** 99", "an exponent is a number, at most 8"),
        ("sqroot(T2)", "did you mean sqrt"),
        ("T2@850feet - T2", "cannot be read"),
        ("sqrt(T2", "cannot be read"),
        ("T2-mean(T2)", "takes a statistic"),
    ],
)
def test_invalid_expressions_are_refused_with_the_recipe(text: str, message: str):
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(MapOptions).validate_python({"variable": text})
