from __future__ import annotations

from itertools import pairwise

import cftime
import pytest

from burstlens.core.calendars import (
    WITH_YEAR_0,
    date_of,
    day_number,
    has_day,
    is_known,
    year_later,
)

NAMES = (
    "standard", "gregorian", "proleptic_gregorian", "julian",
    "noleap", "365_day", "all_leap", "366_day", "360_day",
)  # fmt: skip
DATES = [
    (year, month, day)
    for year in (-2099, -4, -1, 1, 4, 1582, 1583, 1900, 2000, 10002)
    for month, day in ((1, 1), (2, 28), (2, 29), (2, 30), (3, 1), (10, 4), (10, 10), (10, 15),
                       (12, 30), (12, 31))
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::cftime._cftime.CFWarning")
@pytest.mark.parametrize("calendar", NAMES)
def test_days_are_those_that_cftime_counts(calendar):
    there, days, numbers = [], [], []
    for date in DATES:
        try:
            days.append((cftime.datetime(*date, calendar=calendar)
                         - cftime.datetime(1, 1, 1, calendar=calendar)).days)  # fmt: skip
        except ValueError:
            continue
        there.append(date)
        numbers.append(day_number(*date, calendar))
    assert there == [date for date in DATES if has_day(*date, calendar)]
    assert [date_of(number, calendar) for number in numbers] == there
    assert [number - numbers[0] for number in numbers] == [day - days[0] for day in days]


@pytest.mark.filterwarnings("ignore::cftime._cftime.CFWarning")
@pytest.mark.parametrize(("calendar", "named"), WITH_YEAR_0.items())
def test_years_up_to_0_are_those_of_cftime_where_the_calendar_has_a_year_0(calendar, named):
    dates = [(year, month, 1) for year in (-5, -4, -1, 0, 1, 4, 1500) for month in (1, 3)]
    first, *others = (
        cftime.datetime(*date, calendar=calendar, has_year_zero=True) for date in dates
    )
    numbers = [day_number(*date, named) for date in dates]
    assert [number - numbers[0] for number in numbers[1:]] == [
        (other - first).days for other in others
    ]
    assert [date_of(number, named) for number in numbers] == dates


@pytest.mark.parametrize(
    ("year", "years", "calendar", "later"),
    [(1, -1, "standard", -1), (1, -2, "julian", -2), (-2, 2, "standard", 1), (1, -1, "noleap", 0),
     (1, -2, "standard_with_year_0", -1), (-1, 1, "", 0), (5, 3, "standard", 8)],
)  # fmt: skip
def test_years_are_counted_past_a_year_0_that_is_there_or_not(year, years, calendar, later):
    assert year_later(year, years, calendar) == later


def test_the_gregorian_calendar_without_a_name_holds_at_all_times():
    assert day_number(1582, 10, 15) - day_number(1582, 10, 4) == 11
    assert day_number(1582, 10, 15, "standard") - day_number(1582, 10, 4, "standard") == 1
    assert day_number(1, 1, 1) == 1


def test_days_beyond_a_month_are_counted_on():
    days = [day_number(2001, 2, day) for day in (28, 29, 30)]
    assert {later - sooner for sooner, later in pairwise(days)} == {1}


def test_october_1582_is_short_in_the_standard_calendar_only():
    for calendar in ("", "360_day", "noleap", "julian"):
        assert has_day(1582, 10, 10, calendar)
        assert not has_day(1582, 10, 32, calendar)
    assert not has_day(1582, 10, 31, "360_day")
    assert not has_day(1582, 10, 32, "standard")
    assert [has_day(1582, 10, day, "standard") for day in (4, 5, 14, 15, 31)] == [
        True, False, False, True, True,
    ]  # fmt: skip


def test_a_thirteenth_month_is_an_error():
    for month in (0, 13, 99):
        with pytest.raises(ValueError, match=f"month {month}"):
            day_number(2000, month, 1)


def test_an_unknown_calendar_is_an_error():
    assert not is_known("maya")
    with pytest.raises(ValueError, match="maya"):
        day_number(2000, 1, 1, "maya")
