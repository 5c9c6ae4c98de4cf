"""Units of time that models write beside seconds, hours and days since a date."""

from __future__ import annotations

import pytest

from burstlens.core.errors import FrameError
from burstlens.workflows.frames.time_axis import numeric_keys


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


def test_unknown_units_are_an_error_that_names_them():
    with pytest.raises(FrameError, match="'fortnights since 2000-01-01'"):
        numeric_keys([1.0], "fortnights since 2000-01-01")
