"""The digits of numbers on the page: the page's own modules, asked in a browser."""

from __future__ import annotations

import pytest

FIELD = {"transform": "linear", "scale": 0.02, "printed": "hPa"}
GRID = {
    "kind": "axes",
    "geographic": True,
    "x": {"n": 100, "edges": [10, 10.01]},
    "y": {"n": 100, "edges": [50, 50.01]},
}
PLANE = {
    "kind": "axes",
    "x": {"n": 100, "edges": [500_000, 500_100], "units": "m"},
    "y": {"n": 100, "edges": [5_500_000, 5_500_100], "units": "m"},
}


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (995.5, 0.02, "995.50"),
        (995.4977, 0.1, "995.5"),
        (1.04e-33, 1e-7, "0"),
        (-1.04e-33, 0.01, "0.00"),
        (1.04e-33, 0, "0"),
        (1.04e-28, 0, "1.04e−28"),
        (273.15, 0, "273.15"),
        (-3.2e-5, 1e-8, "−3.2e−5"),
        (2.5, 1e-8, "2.5"),
        (12_345_678.9, 1e4, "1.235e7"),
        (100_000.12, 0.1, "100000.1"),
    ],
)
def test_a_number_has_the_digits_of_its_step(ask, value, step, text):
    assert ask("digits.showNumber", value, step) == text


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (100_000.1, 100_000.9, ["100000.2", "100000.4", "100000.6", "100000.8"]),
        (-0.6, 0.6, ["−0.5", "0.0", "0.5"]),
        (0, 30, ["0", "10", "20", "30"]),
        (994, 1012, ["995", "1000", "1005", "1010"]),
        (1.2e7, 2.1e7, ["1.5e7", "2e7"]),
        (1e-7, 9e-7, ["2e−7", "4e−7", "6e−7", "8e−7"]),
    ],
)
def test_labels_have_the_digits_that_tell_them_apart(ask, low, high, texts):
    assert [label for _, label in ask("axis.labelledTicks", low, high, 4)] == texts


@pytest.mark.parametrize("high", [0.0043, 0.1, 0.41, 1.9, 2.1, 4.2, 7, 9.99, 4321])
def test_an_axis_of_few_labels_has_two_at_least(ask, high):
    assert len(ask("axis.ticks", 0, high, 2)) >= 2
    assert len(ask("axis.ticks", -0.3 * high, high, 1)) >= 2


@pytest.mark.parametrize("base", [0, 1, 273.15, -995.5, 100_000, 12_345_678, 1e12, 4e-9])
@pytest.mark.parametrize("apart", [1e-8, 3e-3, 0.7, 20, 5e4])
def test_an_axis_has_no_label_twice(ask, base, apart):
    axis = ask("axis.valueAxis", [base, base + apart])
    labels = [label for _, label in axis["ticks"]]
    assert len(set(labels)) == len(labels) >= 1
    assert axis["low"] < axis["high"]


@pytest.mark.parametrize("base", [0.1, 995.5, 1e12])
def test_an_axis_of_one_number_has_room_around_it(ask, base):
    axis = ask("axis.valueAxis", [base, base * (1 + 1e-15)])
    assert axis["high"] - axis["low"] > 0.1 * base
    assert len({label for _, label in axis["ticks"]}) == len(axis["ticks"]) > 1


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"min": 995.5, "max": 1012.26, "units": "hPa"}, "995.5 to 1012.3 hPa"),
        ({"min": 1.04e-33, "max": 12.5, "units": "mm"}, "0.0 to 12.5 mm"),
        ({"min": 99_950, "max": 100_050}, "99950 to 100050"),
        ({"min": 280, "max": 300}, "280 to 300"),
        ({"min": 273.15, "max": 273.15, "units": "K"}, "273.15 to 273.15 K"),
        ({"min": 1e-33, "max": 0.312, "limits": [0.003, 0.3]}, "0 to 0.312"),
        ({"min": 0.0047, "max": 31.24, "limits": [0.01, 10]}, "0.0047 to 31.2"),
    ],
)
def test_a_range_is_said_in_digits_of_what_it_spans(ask, facts, text):
    assert ask("caption.rangeOf", facts) == text


def test_limits_that_differ_in_their_fourth_digit_are_said_so(ask):
    lines = [{"facts": {"limits": limits}} for limits in ([995.5, 1010], [996, 1010])]
    said = "; colours 995.5 to 1010.0 (newest picture: 996 to 1010)"
    assert ask("caption.coloursOf", *lines) == said


@pytest.mark.parametrize(
    ("value", "field", "text"),
    [
        (995.5, {}, "995.50 hPa"),
        (1.04e-33, {"scale": 1e-8}, "0 hPa"),
        (0.0123456, {"transform": "log", "scale": 0.004}, "0.01235 hPa"),
        (273.15, {"scale": 0}, "273.15 hPa"),
    ],
)
def test_a_value_has_the_digits_of_its_field_s_step(ask, value, field, text):
    assert ask("value_label.valueLabel", value, FIELD | field) == text


def test_places_in_neighbouring_cells_have_two_names(ask):
    on_earth = [{"lat": 50.0011, "lon": lon} for lon in (10.0001, 10.0002)]
    on_plane = [{"x": 500_001, "y": y} for y in (5_500_001, 5_500_002)]
    for grid, at in ((GRID, on_earth), (PLANE, on_plane)):
        assert len({ask("place.placeLabel", one, grid) for one in at}) == 2


@pytest.mark.parametrize(
    ("value", "text"), [(1234.5, "1235"), (12.34, "12.3"), (0.00123, "0.00123"), (12, "12")]
)
def test_a_number_of_its_own_has_three_digits_and_all_whole_ones(ask, value, text):
    assert ask("digits.showRough", value) == text


def test_an_addition_s_rounding_is_no_mean_difference(ask):
    difference = {"mean": 3.1e-17, "rms": 0.25, "note": ""}
    assert ask("caption.differenceLabel", difference, "K") == "difference: mean 0, RMS 0.25 K"


@pytest.mark.parametrize(
    ("key", "label"), [("20010203T010000", "01:00:00"), ("t00000003.000", "3 s")]
)
def test_a_single_frame_has_its_time_alone_on_the_axis(ask, key, label):
    ticks = ask("axis.modelTimeAxis", [key])["x"]["ticks"]
    assert [text for _, text in ticks] == [label]
