"""Colour limits that serve a whole run."""

from __future__ import annotations

import dataclasses
import tracemalloc

import numpy as np
import pytest

from burstlens.core.units import conversion
from burstlens.viz.diagnostics.table import DIAGNOSTICS
from burstlens.viz.drawing.limits import _RANGES, fitted, rounded, usual_range
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context


@dataclasses.dataclass(frozen=True, slots=True)
class Values:
    """A field to be coloured."""

    values: np.ndarray
    name: str = "W"
    long_name: str = "z-wind component"
    units: str = "m s-1"

    def extent(self) -> tuple[float, float]:
        return float(np.nanmin(self.values)), float(np.nanmax(self.values))


def field(*shares: tuple[float, float], **about: str) -> Values:
    """10,000 points: each value at its share of them, the rest zero."""
    values = np.zeros(10_000, np.float32)
    begin = 0
    for value, share in shares:
        values[begin : begin + round(share * values.size)] = value
        begin += round(share * values.size)
    return Values(values, **about)


@pytest.fixture
def limits(context: Context):
    """Returns the limits of a series after a field, given those before it."""

    def found(shown, before=None, **options):
        asked = MapOptions(shown.name, **options)
        return fitted(dataclasses.replace(context, limits=before), asked, shown).limits

    return found


def test_a_constant_field_gives_no_limits_and_keeps_existing_ones(limits):
    assert limits(field()) is None
    assert limits(field((300.0, 1.0), name="T2", units="K")) is None
    assert limits(field(), before=(-5.0, 5.0)) == (-5.0, 5.0)


def test_a_field_that_differs_by_float_rounding_only_is_constant(limits):
    noise = Values(np.array([300.0, 300.00003], np.float32), "T2", "temperature", "K")
    assert limits(noise) is None


def test_a_field_of_both_signs_has_round_limits_around_zero(limits):
    assert limits(field((-0.03, 0.3), (0.17, 0.3))) == (-0.2, 0.2)


def test_limits_widen_in_round_steps_when_more_than_a_few_points_lie_beyond(limits):
    before = -0.2, 0.2
    assert limits(field((30.0, 0.004)), before) == before
    assert limits(field((30.0, 0.006)), before) == (-50.0, 50.0)
    assert limits(field((0.3, 0.2)), before) == (-0.5, 0.5)


def test_limits_never_narrow(limits):
    calm = field((0.1, 0.5), (-0.1, 0.5))
    assert limits(calm, (-50.0, 50.0)) == (-50.0, 50.0)
    one_sided = Values(np.linspace(290, 310, 1000), "T2", "temperature", "K")
    assert limits(one_sided, (270.0, 300.0)) == (270.0, 310.0)


def test_a_single_wild_point_does_not_set_the_limits(limits):
    assert limits(field((3.0, 0.4), (1e30, 0.0001))) == (0.0, 5.0)


def test_what_few_points_have_is_shown_where_all_others_are_the_same(limits):
    assert limits(field((0.7, 0.0002), name="QRAIN", units="g kg-1")) == (0.0, 1.0)


def test_points_without_a_value_do_not_count(limits):
    holed = Values(np.array([np.nan, np.inf, 1.0, 7.0]), "QRAIN", "rain", "g kg-1")
    assert limits(holed) == (0.0, 10.0)
    assert limits(Values(np.array([np.nan]))) is None


def test_a_known_quantity_has_its_usual_range_from_a_constant_frame_on(limits):
    calm = field(name="wind10", long_name="10 m wind speed")
    assert limits(calm) == (0.0, 40.0)
    storm = field((60.0, 0.02), name="wind10", long_name="10 m wind speed")
    assert limits(storm, (0.0, 40.0)) == (0.0, 100.0)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.4, 1.6, (0.0, 2.0)),  # 3 kn do not fill 0 to 80 kn
        (0.4, 9.0, (0.0, 10.0)),
        (0.4, 12.0, (0.0, 40.0)),
        (20.0, 25.0, (0.0, 40.0)),
    ],
)
def test_a_usual_range_is_used_only_where_values_fill_a_part_of_it(limits, low, high, expected):
    calm = Values(np.linspace(low, high, 1000), "wind10", "10 m wind speed")
    assert limits(calm) == expected


def test_a_usual_range_without_zero_is_used_where_the_spread_fills_a_part_of_it(limits):
    about = {"name": "cloud_top_temperature", "long_name": "cloud top temperature", "units": "K"}
    assert limits(Values(np.linspace(288, 294, 1000), **about)) == (288.0, 294.0)
    assert limits(Values(np.linspace(210, 294, 1000), **about)) == (190.0, 320.0)


def test_limits_from_a_calm_first_frame_stay_and_widen_as_all_others(limits):
    calm = Values(np.linspace(0.4, 1.6, 1000), "wind10", "10 m wind speed")
    gale = Values(np.linspace(0.4, 18.0, 1000), "wind10", "10 m wind speed")
    assert limits(calm, before=limits(calm)) == (0.0, 2.0)
    assert limits(gale, before=limits(calm)) == (0.0, 20.0)


def test_a_direction_keeps_the_whole_circle_however_steady_it_is(limits):
    steady = Values(np.linspace(2, 20, 1000), "wind10_direction", "wind direction", "degrees")
    assert limits(steady) == (0.0, 360.0)


def test_what_rounding_left_of_zero_is_no_range(limits):
    assert limits(Values(np.linspace(-1.04e-33, 2e-33, 1000))) is None


def test_given_limits_and_steps_of_colour_are_left_alone(limits):
    assert limits(field((3.0, 0.5)), limits=(0, 1)) is None
    assert limits(field((3.0, 0.5), name="RAINNC", units="mm")) is None
    assert limits(field((3.0, 0.5)), colormap="nws_rain") is None


def test_logarithmic_limits_are_round_and_reach_over_four_decades_and_a_step(limits):
    wide = Values(np.geomspace(1e-12, 30.0, 1000), "PM10", "dust", "ug m-3")
    low, high = limits(wide, log=True)
    assert (low, high) == (0.002, 50.0)
    assert limits(Values(np.array([0.3, 4.0])), log=True) == (0.2, 5.0)
    assert limits(Values(np.zeros(3)), log=True) is None


def test_nests_widen_the_limits_of_their_parent(context: Context):
    parent, nest = field((0.1, 0.5)), field((4.0, 0.5))
    assert fitted(context, MapOptions("W"), parent, nest).limits == (0.0, 5.0)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (290.3, 304.2, (290.0, 305.0)),
        (95_012.0, 101_010.0, (94_000.0, 102_000.0)),
        (0.96, 1.02, (0.96, 1.02)),
        (-5.0, 12.0, (-5.0, 15.0)),
        (0.0, 2.0000001, (0.0, 2.0)),
        (-3.0, -0.1, (-5.0, 0.0)),
    ],
)
def test_rounded_limits_are_numbers_that_a_colour_bar_can_show(low, high, expected):
    assert rounded(low, high) == expected


def test_directions_are_coloured_over_the_whole_circle(limits):
    about = {"name": "dir", "long_name": "sea surface wave from direction"}
    from_10 = Values(np.linspace(10, 290, 50), units="degree", **about)
    assert limits(from_10) == (0.0, 360.0)
    assert limits(Values(np.linspace(-170, 90, 50), units="degrees", **about)) == (-180.0, 180.0)
    assert limits(Values(np.linspace(0, 700, 50), units="degrees", **about)) == (0.0, 1000.0)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("before", [None, (-1.0, 1.0), (0.5, 600.0)])
def test_limits_do_not_depend_on_how_many_values_are_looked_at_together(
    limits, monkeypatch, before, log
):
    if log and before == (-1.0, 1.0):
        before = (0.1, 1.0)
    values = np.random.default_rng(3).lognormal(1.0, 1.5, (120, 90)).astype(np.float32)
    values[::7, ::5], values[3, 4], values[5] = np.nan, np.inf, -0.25
    shown = Values(values, "q", "mixing ratio", "g kg-1")
    found = limits(shown, before, log=log)
    monkeypatch.setattr("burstlens.viz.drawing.limits._AT_ONCE", 200)
    assert limits(shown, before, log=log) == found


def test_limits_of_a_large_field_take_no_copy_of_it_where_those_of_the_series_hold(limits):
    values = np.random.default_rng(4).normal(280, 3, (2500, 2000)).astype(np.float32)
    shown = Values(values, "T2", "2 m temperature", "K")
    tracemalloc.start()
    assert limits(shown, before=(260.0, 300.0)) == (260.0, 300.0)
    within = tracemalloc.get_traced_memory()[1]
    assert limits(shown) == (270.0, 290.0)
    once = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert within < 0.25 * values.nbytes
    assert once < 1.5 * values.nbytes


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
