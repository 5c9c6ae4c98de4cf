"""Units of time that models write beside seconds, hours and days since a date."""

from __future__ import annotations

import numpy as np
import pytest
from numeric_times import numeric_keys

from burstlens.core.errors import FrameError
from burstlens.core.valid_time import label


def test_months_are_those_of_the_calendar_and_their_parts_are_days():
    keys = numeric_keys([0, 0.5, 12, 13.5], "months since 1960-01-01")
    assert keys == ["19600101T000000", "19600116T120000", "19610101T000000", "19610215T000000"]
    assert numeric_keys([1], "months since 1960-01-31") == ["19600229T000000"]


def test_months_of_a_calendar_with_a_name_of_other_programs():
    keys = numeric_keys([0.5, 1.5], "months since 1960-01-01", "360")
    assert keys == ["19600116T000000", "19600216T000000"]


def test_years_follow_the_calendar_also_before_the_year_1000():
    assert numeric_keys([1, 1.5], "years since 0850-01-01", "noleap") == [
        "08510101T000000", "08510701T000000",
    ]  # fmt: skip


def test_absolute_dates_of_cdo_and_icon():
    keys = numeric_keys([20080801.25, 20080802.0], "day as %Y%m%d.%f", "proleptic_gregorian")
    assert keys == ["20080801T060000", "20080802T000000"]
    assert numeric_keys([0.0, 9.97e36], "day as %Y%m%d.%f") == [None, None]


def test_a_century_of_elapsed_seconds():
    assert numeric_keys([3155673600.0, 9.97e36], "second") == ["u003155673600.000", None]


EIGHT = [
    f"20200601T12000{second}" for second in ("0", "0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75")
]


@pytest.mark.parametrize(
    ("units", "per_second"),
    [("seconds", 1), ("s", 1), ("milliseconds", 1000), ("hours", 1 / 3600), ("days", 1 / 86400)],
)
def test_parts_of_a_second_after_a_date_are_kept_in_every_unit(units, per_second):
    values = [0.25 * number * per_second for number in range(8)]
    assert numeric_keys(values, f"{units} since 2020-06-01 12:00:00") == EIGHT


def test_parts_of_a_second_of_absolute_dates_are_kept():
    values = [20200601.5 + 0.25 * number / 86400 for number in range(8)]
    assert numeric_keys(values, "day as %Y%m%d.%f") == EIGHT


def test_elapsed_times_finer_than_a_millisecond_are_different():
    keys = numeric_keys([0, 1.5, 3, 4.5], "ms") + numeric_keys([5e-3, 5.0005e-3], "s")
    assert keys == [
        "t00000000.000", "t00000000.0015", "t00000000.003", "t00000000.0045",
        "t00000000.005", "t00000000.0050005",
    ]  # fmt: skip


def test_rounded_hours_are_whole_seconds():
    in_4_bytes = float(np.float32(1 / 3))
    keys = numeric_keys([in_4_bytes, 0.3333, 0.33333333], "hours since 2020-06-01 12:00:00")
    assert keys == ["20200601T122000"] * 3


def test_years_before_the_first_and_beyond_9999_follow_each_other():
    years = (-2099, -1, 0, 1, 9999, 10000, 10002)
    keys = numeric_keys(
        [365.0 * (year - 1) for year in years], "days since 0001-01-01 00:00:00", "noleap"
    )
    assert keys == sorted(keys)
    assert [label(key) for key in keys] == [
        f"{'-' if year < 0 else ''}{abs(year):04d}-01-01 00:00:00 UTC" for year in years
    ]
    assert keys == numeric_keys([year - 1 for year in years], "years since 0001-01-01", "noleap")


def test_unknown_units_are_an_error_that_names_them():
    with pytest.raises(FrameError, match="'olympiads since 2000-01-01'"):
        numeric_keys([1.0], "olympiads since 2000-01-01")
