from __future__ import annotations

import struct
from decimal import Decimal

import pytest

from burstlens.core.exact_seconds import exact_seconds


def in_4_bytes(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


@pytest.mark.parametrize(
    ("value", "unit_s", "seconds"),
    [
        (0.25, 1.0, "0.25"),
        (1500, 1e-6, "0.0015"),
        (0.1 + 0.2, 1.0, "0.3"),
        (in_4_bytes(0.1), 1.0, "0.1"),
        (in_4_bytes(1 / 3), 3600.0, "1200"),
        (0.3333, 3600.0, "1200"),
        (0.04167, 86400.0, "3600"),
        (0.25 / 86400, 86400.0, "0.25"),
        (20000 + 0.25 / 86400, 86400.0, "1728000000.25"),
        (-1.2, 1.0, "-1.2"),
        (2e-9, 1.0, "0.000000002"),
        (1e12, 1.0, "1000000000000"),
    ],
)
def test_seconds_are_as_exact_as_the_stored_number_and_no_more(value, unit_s, seconds):
    assert exact_seconds(value, unit_s) == Decimal(seconds)


@pytest.mark.parametrize(
    ("decimals", "unit_s", "step"),
    [(3, 60.0, "0.06"), (4, 60.0, "0.006"), (3, 3600.0, "3.6"), (5, 86400.0, "0.864")],
)
def test_the_steps_of_short_decimals_stay_as_long_as_they_are(decimals, unit_s, step):
    for number in (*range(1, 60), 5003, 10069, 10070, 12001):
        seconds = exact_seconds(number / 10**decimals, unit_s)
        far = abs(seconds - number * Decimal(step))
        assert far == 0 or (unit_s > 3600 and seconds % 60 == 0 and far < Decimal(step) / 2)


def test_steps_of_three_tenths_of_a_second_in_minutes_are_even_in_4_and_in_8_bytes():
    expected = [number * Decimal("0.3") for number in range(1, 300)]
    assert [exact_seconds(number * 0.005, 60.0) for number in range(1, 300)] == expected
    kept = [exact_seconds(in_4_bytes(number * 0.005), 60.0) for number in range(1, 300)]
    assert kept == expected


@pytest.mark.parametrize("begin", [0, 1000, 20_000, 86_400, 500_000])
@pytest.mark.parametrize("step", ["0.1", "0.2", "0.25", "0.5"])
def test_steps_of_short_decimals_in_4_bytes_stay_even_late_in_a_run(begin, step):
    expected = [begin + number * Decimal(step) for number in range(1, 300)]
    kept = [in_4_bytes(float(one)) for one in expected]
    assert [exact_seconds(one, is_single=True) for one in kept] == expected


def test_eighths_and_finer_parts_in_8_bytes_stay_as_they_are():
    for value in (86400.125, 86400.015625, 1234567.25):
        assert float(exact_seconds(value)) == value


def test_times_of_different_decimals_are_different():
    seconds = [exact_seconds(number / 100000, 86400.0) for number in range(1, 3000)]
    assert len(set(seconds)) == len(seconds)


def test_a_number_without_end_keeps_nine_digits():
    assert str(exact_seconds(1 / 3)) == "0.333333333"
    assert str(exact_seconds(1000 / 3)) == "333.333333"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_not_a_time(value):
    with pytest.raises(ValueError, match="not a time"):
        exact_seconds(value)
