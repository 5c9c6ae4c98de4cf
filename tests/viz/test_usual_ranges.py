"""Ranges of known quantities."""

from __future__ import annotations

import pytest

from burstlens.core.units import conversion
from burstlens.viz.diagnostics.table import DIAGNOSTICS
from burstlens.viz.drawing.usual_ranges import _RANGES, usual_range


def test_every_diagnostic_that_is_listed_exists_in_a_unit_that_converts():
    for names, unit, low, high in _RANGES:
        assert low < high
        for name in names:
            if name == name.lower():  # the others are variables of WRF
                assert conversion(unit, DIAGNOSTICS[name].units) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("name", "units", "expected"),
    [
        ("rh", "%", (0, 100)),
        ("rh@850hPa", "1", (0, 1)),
        ("CLDFRA", "", (0, 1)),
        ("wind10", "kn", (0, 78)),
        ("cloud_top_temperature", "degC", (-83, 47)),
        ("T2", "K", None),
        ("wind10", "furlongs", None),
    ],
)
def test_a_range_is_given_in_the_shown_units_at_any_level(name, units, expected):
    assert usual_range(name, units) == expected
