from __future__ import annotations

import pytest

from burstlens.core import valid_time


def test_keys_of_one_kind_sort_in_the_order_of_time():
    calendar = [valid_time.calendar_key(year, 1, 2, 3, 4, 5) for year in (1, 999, 1000, 2026)]
    elapsed = [valid_time.elapsed_key(seconds) for seconds in (0, 0.001, 9.5, 10, 1e7)]
    assert calendar == sorted(calendar)
    assert elapsed == sorted(elapsed)
    assert len({len(key) for key in calendar}) == len({len(key) for key in elapsed}) == 1


@pytest.mark.parametrize("text", ["2005-08-28_12:00:00", b"2005-08-28_12_00_00"])
def test_both_of_wrfs_spellings_give_one_key(text):
    assert valid_time.wrf_key(text) == "20050828T120000"


@pytest.mark.parametrize("text", ["", "2005-08-28", "2005-08-28_12:00:00.5", b"\0" * 19, "ü" * 19])
def test_text_that_is_not_a_wrf_time_has_no_key(text):
    assert valid_time.wrf_key(text) is None


def test_keys_are_shown_as_people_write_times():
    assert valid_time.label("00010101T000800") == "0001-01-01 00:08:00 UTC"
    assert valid_time.label("t00000012.500") == "t = 12.5 s"


def test_seconds_of_a_wrong_key_are_an_error():
    with pytest.raises(ValueError, match="not a valid-time key"):
        valid_time.seconds("yesterday")


def test_days_that_only_other_calendars_have_are_counted_on():
    later, sooner = (valid_time.seconds(key) for key in ("20010230T060000", "20010228T000000"))
    assert later - sooner == 2 * 86400 + 6 * 3600


def test_the_name_of_a_file_without_a_time_is_no_time_and_stays_as_it_is():
    for name in ("topo", "t", "grid", "t2m"):
        assert valid_time.label(name) == name
        assert not valid_time.is_key(name)
        with pytest.raises(ValueError, match="not a valid-time key"):
            valid_time.seconds(name)
    assert valid_time.is_key("t00000012.500")
    assert valid_time.is_key("20050828T120000")
