from __future__ import annotations

import re
from itertools import pairwise

import pytest

from burstlens.core import valid_time

YEARS = (-999_999, -12_000, -2099, -1, 0, 1, 999, 1000, 2026, 9999, 10_000, 10_002, 120_000)
ELAPSED = (
    -3e9, -99_999_999.5, -10, -1.25, -1, -0.0015, -0.001, 0, 2e-9, 0.0005, 0.001, 0.0015, 9.5, 10,
    99_999_999.999, 1e8, 9e11,
)  # fmt: skip


def test_keys_of_one_kind_sort_in_the_order_of_time():
    calendar = [
        valid_time.calendar_key(year, 1, 2, 3, 4, *part)
        for year in YEARS
        for part in ((4,), (5,), (5, 1500), (5, 250_000), (5, 900_000), (6,))
    ]
    elapsed = [valid_time.elapsed_key(seconds) for seconds in ELAPSED]
    for keys in (calendar, elapsed):
        assert keys == sorted(set(keys))
        assert all(re.fullmatch(r"[A-Za-z0-9.-]+", key) for key in keys)
        seconds = list(map(valid_time.seconds, keys))
        assert seconds == sorted(seconds)
    assert [valid_time.seconds(key) for key in elapsed] == list(ELAPSED)


def test_whole_seconds_of_usual_years_have_short_keys():
    assert valid_time.calendar_key(1, 1, 2, 3, 4, 5) == "00010102T030405"
    assert valid_time.elapsed_key(0.001) == "t00000000.001"


@pytest.mark.parametrize("text", ["2005-08-28_12:00:00", b"2005-08-28_12_00_00"])
def test_both_of_wrfs_spellings_give_one_key(text):
    assert valid_time.wrf_key(text) == "20050828T120000"


@pytest.mark.parametrize("text", ["2005-13-01_00:00:00", "2005-00-10_00:00:00",
                                  "2005-01-32_00:00:00"])  # fmt: skip
def test_a_month_or_a_day_that_no_calendar_has_is_no_time(text):
    assert valid_time.wrf_key(text) is None
    with pytest.raises(ValueError, match="expected a time"):
        valid_time.parse_key(text)


@pytest.mark.parametrize("key", ["20059928T000000", "20050028T000000"])
def test_a_key_without_such_a_month_is_an_error(key):
    for calendar in ("", "360_day"):
        with pytest.raises(ValueError, match="month"):
            valid_time.seconds(key, calendar)
        with pytest.raises(ValueError, match="month"):
            valid_time.earlier(key, 60, calendar)


@pytest.mark.parametrize("text", ["", "2005-08-28", "2005-08-28_12:00:00.5", b"\0" * 19, "ü" * 19])
def test_text_that_is_not_a_wrf_time_has_no_key(text):
    assert valid_time.wrf_key(text) is None


def test_keys_are_shown_as_people_write_times():
    assert valid_time.label("00010101T000800") == "0001-01-01 00:08:00 UTC"
    assert valid_time.label("t00000012.500") == "t = 12.5 s"
    assert valid_time.label(valid_time.elapsed_key(-1.25)) == "t = -1.25 s"
    assert valid_time.label(valid_time.elapsed_key(2e-9)) == "t = 2e-9 s"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("2020-06-01 12:00:00.25", "2020-06-01 12:00:00.25 UTC"),
        ("-2099-01-01", "-2099-01-01 00:00:00 UTC"),
        ("-0001-12-31 06:00", "-0001-12-31 06:00:00 UTC"),
        ("10002-01-01", "10002-01-01 00:00:00 UTC"),
        ("20050828T1230", "2005-08-28 12:30:00 UTC"),
    ],
)
def test_a_time_as_people_write_it_is_shown_so_again(text, label):
    key = valid_time.parse_key(text)
    assert valid_time.is_calendar(key)
    assert valid_time.label(key) == label
    assert valid_time.parse_key(label) == key


def test_a_year_of_seven_digits_is_an_error():
    with pytest.raises(OverflowError, match="1000000"):
        valid_time.calendar_key(1_000_000, 1, 1, 0, 0, 0)


def test_keys_of_older_runs_for_negative_times_can_be_read():
    assert valid_time.seconds("t-0000001.200") == -1.2


def test_seconds_between_times_are_those_of_their_calendar():
    days = [f"1991{day}T000000" for day in ("0227", "0228", "0229", "0230", "0301", "0302")]
    seconds = [valid_time.seconds(day, "360_day") for day in days]
    assert {later - sooner for sooner, later in pairwise(seconds)} == {86400.0}
    across = valid_time.between("15821004T000000", "15821015T000000", "standard")
    assert across == 86400.0


@pytest.mark.parametrize(
    ("time", "by_s", "calendar", "before"),
    [
        ("20200601T120000.25", 0.5, "", "20200601T115959.75"),
        ("19910301T000000", 86400, "360_day", "19910230T000000"),
        ("y0100000101T000000", 1, "noleap", "99991231T235959"),
        ("00000101T000000", 86400, "proleptic_gregorian", "-9999991231T000000"),
        ("15821015T000000", 86400, "standard", "15821004T000000"),
        ("00010116T000000", 60 * 86400, "standard", "-9999991117T000000"),
        ("00010116T000000", 60 * 86400, "standard_with_year_0", "00001117T000000"),
        ("00000116T000000", 60 * 86400, "julian_with_year_0", "-9999991117T000000"),
        ("-9999990116T000000", 60 * 86400, "standard", "-9999981117T000000"),
        ("t00000001.500", 2.0, "", "s99999999.500"),
    ],
)
def test_a_time_before_another_one_is_of_the_same_calendar(time, by_s, calendar, before):
    assert valid_time.earlier(time, by_s, calendar) == before


@pytest.mark.parametrize(
    ("time", "calendar", "counted"),
    [
        ("20050828T000000", "standard", ""),
        ("20050828T000000", "proleptic_gregorian", ""),
        ("15000101T000000", "standard", "standard"),
        ("00010101T000000", "", ""),
        ("15000101T000000", "proleptic_gregorian", ""),
        ("-9979010101T000000", "gregorian", "standard"),
        ("00000101T000000", "standard_with_year_0", "standard_with_year_0"),
        ("20050828T000000", "standard_with_year_0", ""),
        ("y0100020101T000000", "standard", ""),
        ("19910230T000000", "360_day", "360_day"),
        ("20050828T000000", "none", ""),
        ("t00000001.000", "noleap", ""),
    ],
)
def test_a_frame_names_its_calendar_where_its_days_are_not_gregorian(time, calendar, counted):
    assert valid_time.counting_calendar(time, calendar) == counted


def test_parts_of_a_second_are_counted():
    apart = valid_time.between("20200601T120000.25", "20200601T120001.5", "noleap")
    assert apart == pytest.approx(1.25, abs=1e-6)


def test_seconds_of_a_wrong_key_are_an_error():
    with pytest.raises(ValueError, match="not a valid-time key"):
        valid_time.seconds("yesterday")


def test_days_that_only_other_calendars_have_are_counted_on():
    later, sooner = (valid_time.seconds(key) for key in ("20010230T060000", "20010228T000000"))
    assert later - sooner == 2 * 86400 + 6 * 3600


def test_the_name_of_a_file_without_a_time_is_no_time_and_stays_as_it_is():
    for name in ("topo", "t", "grid", "t2m"):
        assert valid_time.label(name) == name
        assert not valid_time.has_time(name)
        with pytest.raises(ValueError, match="time"):
            valid_time.seconds(name)
    assert valid_time.has_time("t00000012.500")
    assert valid_time.has_time("20050828T120000")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("out_000120.nc", "n0000000120"),
        ("run/out.8.h5", "n0000000008"),
        ("x_00001231.nc", "n0000001231"),  # the year 0 is a number
        ("x_20201301.nc", "n0020201301"),
        ("x_202001.nc", "n0000202001"),
        ("heat_20050828.nc", "20050828T000000"),
        ("heat_2005082812.nc", "20050828T120000"),
        ("heat.2005-08-28_12:30:00.nc4", "20050828T123000"),
        ("heat_0001-01-01.nc", "00010101T000000"),
        ("heat_2005-02-30.nc", "20050230T000000"),  # the calendar may have 360 days
        ("field.nc", "f-field"),
        ("a.b.c", "f-a.b.c"),
        ("air.ncep", "f-air.ncep"),
        ("out.nc_0012", "n0000000012"),
        ("out_12.NC", "n0000000012"),
        ("slice_x8_t10.nc", "f-slice_x0000000008_t0000000010"),
    ],
)
def test_a_file_without_a_time_has_a_key_by_its_name(name, key):
    assert valid_time.file_key(name) == key


def test_the_part_that_varies_in_a_series_is_its_key_whatever_else_the_name_has():
    assert valid_time.file_key("heat2d_20200101.nc", "20200101") == "20200101T000000"
    assert valid_time.file_key("heat2d_7.nc", "7") == "n0000000007"
    # Two prefixes of one series would have the same number.
    assert valid_time.file_key("wind_7.nc", "wind_7") == "f-wind_0000000007"


@pytest.mark.parametrize("form", ["out_{}.nc", "x{}_t3.nc", "a b:{}x{}.nc"])
def test_keys_of_files_sort_as_people_count_and_are_safe_in_file_names(form):
    keys = [valid_time.file_key(form.replace("{}", str(n))) for n in (1, 2, 9, 10, 11, 100, 2000)]
    assert keys == sorted(set(keys))
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,140}", key) for key in keys)


def test_names_that_differ_only_in_forbidden_characters_or_far_in_front_have_different_keys():
    names = ["a b", "a_b", "a:b", "é", "è", "x" * 300 + "1", "y" + "x" * 299 + "1", "\udcff"]
    keys = {valid_time.file_key(f"{name}.nc", name) for name in names}
    assert len(keys) == len(names)
    assert max(map(len, keys)) < 140


def test_keys_of_files_are_shown_by_their_number_or_name():
    assert valid_time.label("n0000000120") == "number 120"
    for stem, shown in [
        ("field", "field"),
        ("heat2d_20200101", "heat2d_20200101"),
        ("d02_2005-08-28_00:00", "d2_2005-08-28_00_00"),
    ]:
        assert valid_time.label(valid_time.file_key(f"{stem}.nc")) == shown


def test_the_key_of_a_file_is_a_place_on_an_axis_and_not_a_time():
    keys = [valid_time.file_key(name) for name in ("out_12.nc", "x8_t10.nc", "field.nc")]
    assert [valid_time.position(key) for key in keys] == [12.0, 10.0, 0.0]
    assert valid_time.position("t00000012.500") == valid_time.seconds("t00000012.500") == 12.5
    assert not any(map(valid_time.has_time, keys))
    assert all(map(valid_time.has_time, ("t00000012.500", "20050828T120000")))
    with pytest.raises(ValueError, match="frame number 12 has no time"):
        valid_time.seconds(keys[0])
    assert valid_time.between(keys[0], keys[0]) is None


def test_months_of_no_year_lie_one_after_the_other_also_over_files_of_several_years():
    for stem in ("sst_{}", "sst_{}_v2", "sst {}"):
        keys = [
            valid_time.file_key(f"{stem.format(year)}_month{month}", "month")
            for year in (2003, 2004)
            for month in range(1, 13)
        ]
        places = list(map(valid_time.position, keys))
        assert {later - sooner for sooner, later in pairwise(places)} == {1.0}
    places = [
        valid_time.position(valid_time.file_key(f"clim_v2_month{n}", "month")) for n in (1, 12)
    ]
    assert places == [1.0, 12.0]


def test_elapsed_times_beyond_three_years_sort_after_shorter_ones_and_keep_every_second():
    keys = [valid_time.elapsed_key(at) for at in (5.0, 99_999_999.999, 1e8, 3155673600.0, 9e11)]
    assert keys == sorted(keys)
    assert [valid_time.seconds(key) for key in keys][2:] == [1e8, 3155673600.0, 9e11]
    assert valid_time.label(keys[3]) == "t = 3155673600 s"
    assert valid_time.label(valid_time.elapsed_key(1234567.25)) == "t = 1234567.25 s"
