"""Units: conversion there and back, and impossible conversions."""

from __future__ import annotations

import numpy as np
import pytest
from metpy.units import units

from burstlens.core.errors import RecipeError
from burstlens.core.units import conversion, convert, printed, usual


@pytest.mark.parametrize(
    ("have", "want"),
    [
        ("K", "degC"), ("degF", "degC"), ("Pa", "hPa"), ("mb", "inHg"), ("m s-1", "kn"),
        ("m s-1", "km h-1"), ("mm", "in"), ("m", "ft"), ("K m-1", "K km-1"), ("m/s", "kt"),
    ],
)  # fmt: skip
def test_a_conversion_is_pint_s_and_comes_back(have: str, want: str):
    pint = {"mb": "hPa", "kn": "knot", "kt": "knot", "m/s": "m s-1", "in": "inch"}
    value = np.array([17.25])
    expected = units.Quantity(value, units(pint.get(have, have)).units)
    expected = expected.to(units(pint.get(want, want)).units).m
    assert convert(value, have, want) == pytest.approx(expected, rel=1e-6)
    assert convert(convert(value, have, want), want, have) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("have", "want"), [("K", "degF"), ("degC", "K"), ("degF", "degC")])
def test_a_difference_is_converted_without_the_zero_of_its_scale(have: str, want: str):
    factor = conversion(have, want)[0]
    assert conversion(have, want, difference=True) == (factor, 0.0)
    assert convert(np.array([0.0, 2.0]), have, want, difference=True).tolist() == [0, 2 * factor]


def test_a_kilogram_of_water_on_a_square_metre_is_a_millimetre():
    assert conversion("kg m-2", "mm") == (1.0, 0.0)
    assert conversion("kg m-2", "in")[0] == pytest.approx(1 / 25.4)


def test_float32_and_integers_become_floating_point_of_their_width():
    assert convert(np.array([273], "f4"), "K", "degC").dtype == np.float32
    assert convert(np.array([273]), "K", "degC").tolist() == [pytest.approx(-0.15)]


def test_a_length_in_words_is_converted_and_typeset():
    assert conversion("kilometers", "m") == (1000.0, 0.0)
    assert conversion("100 km", "nmi")[0] == pytest.approx(100 / 1.852)
    assert conversion("US_survey_foot", "km")[0] == pytest.approx(1.2 / 3937)
    assert [printed(units) for units in ("kilometres", "feet", "mm")] == ["km", "ft", "mm"]
    assert usual("MM") == "MM"


@pytest.mark.parametrize(("have", "want"), [("K", "hPa"), ("", "degC"), ("dBZ", "mm"), ("K", "")])
def test_an_impossible_conversion_is_an_error(have: str, want: str):
    with pytest.raises(RecipeError, match="cannot be shown as"):
        conversion(have, want)


@pytest.mark.parametrize(
    ("written", "usual_one"),
    [
        ("kg/m**2/s", "kg m-2 s-1"), ("m s^{-1}", "m s-1"), ("m/sec", "m s-1"),
        ("W/m2", "W m-2"), ("degK", "K"), ("degrees C", "degC"), ("kg kg**-1", "kg kg-1"),
        ("mm/day", "mm d-1"), ("meter second-1", "m s-1"), ("pa", "Pa"),
        ("dBZ", "dBZ"), ("1e-5kg/kg", "1e-5kg/kg"),
        ("days since 2000-01-01", "days since 2000-01-01"),
    ],
)  # fmt: skip
def test_units_of_other_models_are_known_by_their_usual_spelling(written: str, usual_one: str):
    assert usual(written) == usual_one


@pytest.mark.parametrize(
    "written",
    ["degree_C", "degrees_celsius", "deg_C", "degreeC", "celsius", "degree_Celsius", "°C",
     "Celsius", "degrees Celsius", "deg C", "DegC", "degreesC", "ºC", "C", "℃",
     "degree centigrade", "deg c"],
)  # fmt: skip
def test_degrees_of_celsius_are_known_in_any_spelling(written: str):
    assert usual(written) == "degC"


def test_other_temperatures_are_known_in_any_spelling():
    assert {usual(text) for text in ("Kelvin", "degrees_kelvin", "kelvins", "deg K")} == {"K"}
    assert {usual(text) for text in ("degrees_F", "°F", "Fahrenheit")} == {"degF"}
    assert usual("c") == "c"


def test_a_rain_rate_in_metres_per_second_becomes_millimetres_per_hour():
    assert conversion("m/s", "mm h-1") == (3_600_000.0, 0.0)
    assert conversion("m/s", "kn")[0] == pytest.approx(1.9438445)  # a wind remains one


def test_a_factor_in_units_is_not_printed_as_a_power():
    assert printed("1e-5kg/kg") == "1e-5kg/kg"
    assert printed("s-1") == "s⁻¹"
