"""Lengths and angles in the spellings of files."""

from __future__ import annotations

import math

import pytest

from burstlens.core.lengths import metres, radians, spelled


@pytest.mark.parametrize(
    ("units", "one"),
    [
        ("m", 1), ("km", 1e3), ("hm", 100), ("dam", 10), ("dm", 0.1), ("cm", 0.01), ("Mm", 1e6),
        ("metres", 1), ("Meters", 1), ("METRE", 1), ("M", 1), ("kilometers", 1e3), ("KM", 1e3),
        ("Kilometre", 1e3), ("hectometer", 100), ("megametres", 1e6), ("100 km", 1e5),
        ("1000 m", 1e3), ("1e3 m", 1e3), ("1.0E+3 meters", 1e3), ("10^3 m", 1e3),
        ("10**3 m", 1e3), ("1000 * m", 1e3), ("0.001km", 1), ("[km]", 1e3), ("ft", 0.3048),
        ("feet", 0.3048), ("international_foot", 0.3048), ("kft", 304.8),
        ("US_survey_foot", 1200 / 3937), ("US survey feet", 1200 / 3937), ("us-ft", 1200 / 3937),
        ("Foot_US", 1200 / 3937), ("nautical_mile", 1852), ("nautical miles", 1852),
        ("nmi", 1852), ("NM", 1852), ("mile", 1609.344), ("statute_miles", 1609.344),
        ("mi", 1609.344), ("inches", 0.0254), ("yards", 0.9144), ("fathoms", 1.8288),
    ],
)  # fmt: skip
def test_a_length_is_read_in_any_spelling(units: str, one: float):
    assert metres(units) == pytest.approx(one, rel=1e-12)
    assert radians(units) is None


@pytest.mark.parametrize(
    "units",
    [
        "",
        "1",
        "nm",
        "min",
        "pixel",
        "degrees",
        "m2",
        "m s-1",
        "K",
        "0 m",
        "1e999999999 m",
        "9e99^99 m",
        "1e-99 m",
    ],
)
def test_what_is_no_length_is_none(units: str):
    assert metres(units) is None
    assert spelled(units) == units


@pytest.mark.parametrize(
    ("units", "one"),
    [
        ("rad", 1), ("radians", 1), ("microradian", 1e-6), ("µrad", 1e-6), ("urad", 1e-6),
        ("1e-6 rad", 1e-6), ("mrad", 1e-3), ("degrees", math.pi / 180), ("deg", math.pi / 180),
        ("Degree", math.pi / 180), ("degrees_east", math.pi / 180), ("degrees_N", math.pi / 180),
        ("arcsec", math.pi / 648_000), ("arc_minutes", math.pi / 10_800),
    ],
)  # fmt: skip
def test_an_angle_is_read_in_any_spelling(units: str, one: float):
    assert radians(units) == pytest.approx(one, rel=1e-12)
    assert metres(units) is None


@pytest.mark.parametrize(
    ("units", "symbol"),
    [("metres", "m"), ("Kilometers", "km"), ("feet", "ft"), ("KM", "km"), ("µm", "µm"),
     ("100 km", "100 km"), ("mm", "mm")],
)  # fmt: skip
def test_words_have_a_symbol(units: str, symbol: str):
    assert spelled(units) == symbol
