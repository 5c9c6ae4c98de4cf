"""Dates as people and programs write them."""

from __future__ import annotations

import pytest

from burstlens.core.time_origin import Moment, read_moment

HALF_PAST_SIX = Moment(2011, 3, 4, 23400.0)


@pytest.mark.parametrize(
    "text",
    [
        "2011-03-04 06:30:00", "2011-3-4 6:30", "2011-03-04T06:30:00Z",
        "2011-03-04_06:30:00.000000", "2011/03/04 06:30", "2011.03.04 06:30:0.0",
        "20110304 0630", "20110304T063000Z",
        "201103040630", "4-MAR-2011 06:30:00", "04mar2011 06:30", "Mar 4, 2011 06:30",
        "4 March 2011, 06:30", "2011-Mar-04 06:30", "06:30Z04MAR2011", "2011-03-04 06:30:00 UTC",
        "2011-03-04 08:30:00 +2", "2011-03-04 08:30:00+02:00", "2011-03-04 01:00 -5:30",
        "2011-03-04 06:30:00 0:00", "Fri 4 Mar 2011 06:30:00",
        "Fri Mar  4 06:30:00 2011", "2011-03-04 08:30:00 UTC+2",
    ],
)  # fmt: skip
def test_a_date_is_read_in_each_way_of_writing_it(text):
    assert read_moment(text) == HALF_PAST_SIX


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1899-12", Moment(1899, 12, 1, 0.0)),
        ("1899-12 00:00:00", Moment(1899, 12, 1, 0.0)),
        ("189912", Moment(1899, 12, 1, 0.0)),
        ("Dec 1899", Moment(1899, 12, 1, 0.0)),
        ("1899", Moment(1899, 1, 1, 0.0)),
        ("1-1-1", Moment(1, 1, 1, 0.0)),
        ("0000-01-01", Moment(0, 1, 1, 0.0)),
        ("-4713-11-24 12:00", Moment(-4713, 11, 24, 43200.0)),
        ("12000-01-01", Moment(12000, 1, 1, 0.0)),
        ("2000-00-00 0000", Moment(2000, 1, 1, 0.0)),
        ("2000-01-01 24:00:00", Moment(2000, 1, 1, 86400.0)),
        ("2000-01-01 00:00:00.25", Moment(2000, 1, 1, 0.25)),
        ("2011010106", Moment(2011, 1, 1, 21600.0)),
        ("31/12/1999", Moment(1999, 12, 31, 0.0)),
        ("12/31/1999", Moment(1999, 12, 31, 0.0)),
    ],
)
def test_what_a_date_leaves_open_is_its_beginning(text, moment):
    assert read_moment(text) == moment


@pytest.mark.parametrize(
    "text",
    ["noon", "", "12:00", "3/4/2000", "2000-13-01", "2000-01-01 25:00", "2000-01-01 00:00 EST",
     "2000-01-01 or so", "99999999999", "2000-366", "2000-01-01 12:00 -366", "2000+01"],
)  # fmt: skip
def test_what_is_no_date_or_could_be_two_is_none(text):
    assert read_moment(text) is None
