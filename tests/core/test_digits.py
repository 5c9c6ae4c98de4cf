"""Numbers as text: digits by their range, and ticks that differ."""

from __future__ import annotations

import pytest

from burstlens.core.digits import format_number, format_range, format_ticks


@pytest.mark.parametrize(
    ("value", "span", "text"),
    [
        (995.5, 0, "995.5"),
        (995.48, 7.8, "995.48"),
        (1003.24, 7.8, "1003.24"),
        (101325.0, 0, "101325"),
        (-22.4949, 73, "-22.49"),
        (1.04e-33, 0, "0"),
        (-1.04e-33, 2e-33, "0"),
        (0.0, 0, "0"),
        (1e-9, 0, "1e-09"),
        (2.5e9, 0, "2.5e+09"),
        (999.99996, 0, "1000"),
        (300.031, 0.06, "300.031"),
        (float("nan"), 0, "nan"),
        (float("inf"), 0, "inf"),
    ],
)
def test_a_number_has_the_digits_that_its_range_asks_for(value: float, span: float, text: str):
    assert format_number(value, span) == text


def test_an_end_of_a_range_is_not_rounded_away_nor_written_with_digits_of_rounding():
    assert format_range(995.48, 1003.24) == ("995.48", "1003.24")
    assert format_range(3.4e-8, 264.66) == ("0", "264.7")
    assert format_range(-1.04e-33, 2.5e-33) == ("0", "0")


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([101325.0, 101325.5, 101326.0], ["101325", "101325.5", "101326"]),
        ([1234567.5, 1234568.0], ["1234567.5", "1234568"]),
        ([0, 2.5, 5], ["0", "2.5", "5"]),
        ([0.1 + 0.2, 0.4, 0.5], ["0.3", "0.4", "0.5"]),
        ([-2.5e-17, 0.1, 0.2], ["0", "0.1", "0.2"]),
        ([1e-9, 1e-8, 1e-3], ["1e-09", "1e-08", "0.001"]),
        ([1.25e7, 1.5e7], ["1.25e+07", "1.5e+07"]),
        ([995.5], ["995.5"]),
        ([0.0], ["0"]),
        ([], []),
    ],
)
def test_ticks_give_their_places_and_never_read_the_same(values: list[float], texts: list[str]):
    assert format_ticks(values) == texts


def test_ticks_of_any_even_axis_differ():
    for first in (0.0, -3.0, 280.0, 101325.0, 5e6):
        for step in (1e-6, 2.5e-3, 0.1, 2.5, 50.0, 2e5):
            values = [first + n * step for n in range(7)]
            assert len(set(format_ticks(values))) == 7, (first, step)
