"""Stored times as keys: units, calendars, packing, texts."""

from __future__ import annotations

import struct
import sys
import warnings

import pytest
from numeric_times import numeric_keys

from burstlens.core import valid_time
from burstlens.core.calendars import calendar_name, calendar_of
from burstlens.core.errors import TimesError
from burstlens.core.time_axis import read_axis, string_keys, text_keys
from burstlens.core.valid_time import elapsed_key

FIRST = "20110101T000000"


@pytest.mark.parametrize(
    ("units", "value"),
    [
        ("hours since 2011/01/01", 0), ("hours since 20110101 00:00", 0),
        ("Hours Since 2011-01-01", 0), ("HOURS SINCE 1-JAN-2011", 0), ("days since Jan 1, 2011", 0),
        ("weeks since 2010-12-25", 1),
        ("months since 2010-12 00:00:00", 1), ("days from 2010-12-31", 1),
        ("d since 2010-12-31", 1),
        ("nanoseconds since 1970-01-01", 1293840000000000000), ("us since 2010-12-31", 86400000000),
        ("microseconds since 2011-01-01", 0), ("fortnights since 2010-12-18", 1),
        ("6 hours since 2010-12-31", 4), ("hours since 2010-12-31 22:00:00 -2", 0),
        ("day as %Y%m%d.%f", 20110101.0), ("DAYS AS %Y%m%d", 20110101),
        ("'days since 2011-1-1'", 0),
        ("month as %Y%m.%f", 201101.0), ("year as %Y.%f", 2011.0),
    ],
)  # fmt: skip
def test_units_are_read_as_programs_write_them(units, value):
    assert numeric_keys([value], units) == [FIRST]


@pytest.mark.parametrize(
    "origin",
    ["initialization", "Initialisation", "the start of the run", "simulation start", "0.0", "0",
     "0000-00-00 00:00:00", "init time", "model start"],
)  # fmt: skip
def test_times_since_no_date_are_elapsed(origin):
    assert numeric_keys([0, 600], f"seconds since {origin}") == ["t00000000.000", "t00000600.000"]


def test_a_model_without_a_calendar_counts_elapsed_days():
    assert numeric_keys([1], "days since 0001-01-01", "NO_CALENDAR") == ["t00086400.000"]


def test_the_year_0_is_counted_in_every_calendar_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hours = numeric_keys([366, 1096], "hour since 0000-01-01 00:00:00", "standard")
        assert hours == ["00000116T060000", "00000215T160000"]
        assert numeric_keys([0], "days since 0000-1-1", "noleap") == ["00000101T000000"]
        assert numeric_keys([366], "days since 0000-1-1", "julian") == ["00010101T000000"]
        assert numeric_keys([11], "months since 0000-01-01") == ["00001201T000000"]


@pytest.mark.parametrize("calendar", ["standard", "julian", "", "noleap", "proleptic_gregorian"])
@pytest.mark.parametrize("origin", ["0000-01-01", "0001-01-01", "-0001-06-01", "0002-03-01"])
def test_times_around_the_year_0_are_in_order_and_as_far_apart_as_stored(origin, calendar):
    axis = read_axis({"units": f"days since {origin}", "calendar": calendar}, "d")
    days = [
        -1200.0,
        -800.0,
        -400.0,
        -366.0,
        -365.0,
        -1.0,
        0.0,
        1.0,
        59.0,
        60.0,
        365.0,
        400.0,
        800.0,
    ]
    keys = axis.keys(days)
    assert keys == sorted(set(keys))
    seconds = [valid_time.seconds(key, axis.calendar) for key in keys]
    assert [at - seconds[6] for at in seconds] == [86400 * day for day in days]
    names = [valid_time.counting_calendar(key, axis.calendar) for key in keys]
    counted = [valid_time.seconds(*pair) for pair in zip(keys, names, strict=True)]
    assert [at - counted[6] for at in counted] == [86400 * day for day in days]


@pytest.mark.parametrize("calendar", ["standard", "julian"])
def test_months_and_years_are_counted_past_a_year_0_that_is_not_there(calendar):
    since = "months since 0001-02-01"
    assert numeric_keys([-1, -2, -14], since, calendar) == [
        "00010101T000000", "-9999991201T000000", "-9999981201T000000",
    ]  # fmt: skip
    assert numeric_keys([-2], since, "noleap") == ["00001201T000000"]


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("THIRTY_DAY_MONTHS", "360_day", "360", "thirty_day"), "00010230T000000"),
        (
            ("NOLEAP", "no_leap", "365_day", "common_year", "365", "gregorian_noleap"),
            "00010301T000000",
        ),
        (("JULIAN", "GREGORIAN", "Standard", "proleptic gregorian", ""), "00010301T000000"),
        (("ALLLEAP", "all_leap", "366_day"), "00010229T000000"),
    ],
)
def test_calendars_have_many_names(names, key):
    for name in names:
        assert numeric_keys([59], "days since 0001-01-01", name) == [key], name


def test_a_calendar_may_be_a_number_and_stand_in_another_attribute():
    assert calendar_name(360) == calendar_name(360.0) == calendar_name("360.0") == "360_day"
    assert read_axis({"units": "days since 1-1-1", "calendar": 365.0}, "d").calendar == "noleap"
    assert calendar_of({"calendar": " ", "calendar_type": "NOLEAP"}) == "noleap"
    assert calendar_of({"units": "s"}) == ""
    axis = read_axis({"units": "days since 1-1-1", "calendar_type": "THIRTY_DAY_MONTHS"}, "d")
    assert axis.key(59) == "00010230T000000"


@pytest.mark.parametrize("units", ["", "%Y%m%d", "yyyymmdd"])
def test_numbers_that_are_digits_of_dates_are_dates(units):
    assert numeric_keys([20000131, 20000201], units, code="i") == [
        "20000131T000000", "20000201T000000",
    ]  # fmt: skip
    assert numeric_keys([2000013106], units, code="q") == ["20000131T060000"]
    assert numeric_keys([200001310630], units, code="q") == ["20000131T063000"]


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("date", {}), ("valid_date", {}), ("time", {"long_name": "Date of the analysis"}),
        ("time", {"long_name": "time (YYYYMMDD)"}), ("time", {"calendar": "gregorian"}),
    ],
)  # fmt: skip
def test_numbers_of_a_floating_type_are_dates_where_the_file_says_so(name, about):
    axis = read_axis(about, "d", "", name).decided([20010103.0])
    assert (axis.key(20010103.0), axis.calendar) == ("20010103T000000", "standard")


@pytest.mark.parametrize(
    ("step_s", "begin"), [(86400, 0), (3600, 18_500_400), (1, 19_180_801), (3600, 1_850_000_400)]
)
@pytest.mark.parametrize(
    "about", [{}, {"long_name": "seconds since the start date"}, {"long_name": "updated time"}]
)
def test_long_elapsed_times_without_units_are_never_dates_record_by_record(step_s, begin, about):
    axis = read_axis(about, "d", "", "time")
    values = [float(begin + step_s * number) for number in range(400)]
    assert [axis.keys([value]) for value in values] == [[elapsed_key(value)] for value in values]


def test_whole_seconds_of_days_and_hours_are_no_dates_of_eight_digits():
    axis = read_axis({}, "i", "", "time")
    values = range(18_000_000, 27_000_000, 3600)
    assert [axis.keys([value]) for value in values] == [[elapsed_key(value)] for value in values]


def test_whether_numbers_are_dates_is_decided_once_for_a_file():
    axis = read_axis({}, "i").decided([0, 20000101])
    assert axis.keys([20000101]) == [elapsed_key(20000101)]
    axis = read_axis({"_FillValue": [-1]}, "i").decided([-1, 20000101, 20000102, 0])
    assert axis.keys([20000102]) == ["20000102T000000"]


@pytest.mark.parametrize(
    ("units", "about"), [("", {"long_name": "date"}), ("YYYYMMDD", {}), ("day as %Y%m%d.%f", {})]
)
@pytest.mark.parametrize("day", [20010103, 20010131])
def test_dates_in_4_bytes_are_named(units, about, day):
    stored = struct.unpack("f", struct.pack("f", day))[0]
    with pytest.raises(TimesError, match=r"4 bytes.* 8 bytes"):
        read_axis({"units": units, **about}, "f").keys([stored])


def test_numbers_of_4_bytes_that_hold_their_dates_are_dates():
    assert read_axis({"units": "YYYYMMDD"}, "f").keys([9991231.0]) == ["09991231T000000"]
    assert read_axis({}, "f", "", "time").keys([20010104.0]) == [elapsed_key(20010104)]


def test_digits_of_dates_are_of_the_calendar_of_the_file():
    axis = read_axis({"calendar": "360_day"}, "d").decided([20010230.0, 20010301.0])
    assert axis.keys([20010230.0]) == ["20010230T000000"]
    assert axis.calendar == "360_day"
    assert read_axis({"calendar": "martian"}, "i").keys([20010228]) == ["20010228T000000"]


@pytest.mark.parametrize(
    ("units", "value", "key"),
    [("YYYYMMDD", 17000101, "17000101T000000"), ("YYYYMMDD", 5000101, "05000101T000000"),
     ("%Y%m%d", 10101, "00010101T000000"), ("YYYYMMDDHH", 1010106, "00010101T060000"),
     ("YYYYMMDDHHMM", 2001010630, "00200101T063000"), ("YYYYMMDD", 101, "00000101T000000"),
     ("%Y%m%d%H%M%S", 17000101063015, "17000101T063015")],
)  # fmt: skip
def test_digits_that_units_name_may_be_of_any_year(units, value, key):
    assert numeric_keys([value], units) == [key]


@pytest.mark.parametrize(
    ("units", "value"),
    [("YYYYMMDD", 20080801.5), ("YYYYMMDD", 20081301), ("YYYYMMDD", 20080832), ("YYYYMMDD", 5),
     ("YYYYMMDDHH", 2008080125), ("YYYYMMDDHH", 20080131), ("YYYYMMDD", 200808011),
     ("day as %Y%m%d.%f", 20081301.0), ("day as %Y%m%d", 20080200.0)],
)  # fmt: skip
def test_numbers_that_are_no_dates_where_units_say_so_are_named(units, value):
    with pytest.raises(TimesError, match=f"no date of the calendar 'standard': {value:.12g}"):
        numeric_keys([value], units)


def test_digits_that_are_not_written_yet_are_no_time():
    assert numeric_keys([0, float("nan"), 1e20], "YYYYMMDD") == [None] * 3


@pytest.mark.parametrize(
    "values",
    [[20000101, 20000132], [1700010112], [0, 20000101], [946684800], [3600, 7200], [19180800]],
)
def test_other_numbers_without_units_are_seconds(values):
    assert numeric_keys(values, "", code="q") == [elapsed_key(value) for value in values]
    assert numeric_keys([20000101], "s") == [elapsed_key(20000101)]
    assert numeric_keys([float("nan"), float("inf"), 5.0], "") == [None, None, elapsed_key(5)]


@pytest.mark.parametrize(
    ("units", "begin", "step_s"),
    [("days since 1900-01-01", 43830, 3600), ("days since 1900-01-01", 43830, 1800),
     ("days since 1858-11-17", 53767, 1200), ("hours since 1900-01-01", 1051920, 900),
     ("hours since 1-1-1", 17540000, 7200), ("minutes since 1970-01-01", 26297280, 600),
     ("seconds since 1970-01-01", 1577836800, 3600), ("hours since 2000-01-01", 10000, 1200)],
)  # fmt: skip
def test_coarse_numbers_in_4_bytes_are_the_whole_hours_and_minutes_that_they_are_near(
    units, begin, step_s
):
    axis, exact = (read_axis({"units": units}, code) for code in "fd")
    meant = [begin + number * step_s / axis.units.unit_s for number in range(48)]
    kept = [float(struct.unpack("f", struct.pack("f", one))[0]) for one in meant]
    assert axis.keys(kept) == exact.keys(meant)
    assert len(set(axis.keys(kept))) == 48


def test_digits_of_dates_are_those_of_the_calendar():
    axis = read_axis({"units": "YYYYMMDD", "calendar": "360_day"}, "i")
    assert (axis.keys([20010230]), axis.calendar) == (["20010230T000000"], "360_day")


def test_a_month_without_a_year_is_a_number():
    yearly = [
        key
        for year in (2001, 2002)
        for key in read_axis({"units": "month"}, "d", f"out/sst_{year}.nc").keys([1, 2, 12])
    ]
    assert yearly[1] == "f-sst_0000002001_month0000000002"
    assert len(set(yearly)) == 6
    assert yearly == sorted(key or "" for key in yearly)
    with pytest.raises(TimesError, match=r"'month', and its value 0\.5"):
        numeric_keys([0.5], "month")


@pytest.mark.parametrize(
    ("units", "calendar"),
    [
        ("days since the flood", ""), ("days since 2000-02-30", "standard"), ("olympiads", ""),
        ("days since 2000-01-01", "martian"), ("1", ""), ("days since", ""), ("K since 2000", ""),
        ("day as %Y%m%d.%f", "martian"),
    ],
)  # fmt: skip
def test_units_of_which_nothing_can_be_made_are_named(units, calendar):
    with pytest.raises(TimesError, match="the units of its times are not known: '"):
        numeric_keys([1.0], units, calendar)


PACKED = {
    "units": "hours since 1900-01-01 00:00:00", "scale_factor": 24 / 65532, "add_offset": 876012.0,
    "_FillValue": -32767,
}  # fmt: skip


def test_packed_times_are_unpacked_and_the_fill_is_that_of_the_stored_numbers():
    assert read_axis(PACKED, "h").keys([-32766, -16383, 0, 32766, -32767]) == [
        "19991208T000000", "19991208T060000", "19991208T120000", "19991209T000000", None,
    ]  # fmt: skip


def test_what_packing_rounded_is_rounded_back():
    stored = [round((hour - 12) * 65532 / 24) for hour in range(25)]
    keys = read_axis(PACKED, "h").keys(stored)
    assert keys == [f"1999120{8 + hour // 24}T{hour % 24:02d}0000" for hour in range(25)]


def test_a_step_that_people_chose_rounds_nothing():
    axis = read_axis({"units": "hours since 2011-01-01", "scale_factor": 0.25}, "i")
    assert axis.keys([1, 2]) == ["20110101T001500", "20110101T003000"]


def test_stored_numbers_may_be_unsigned_or_missing():
    axis = read_axis({"units": "s", "_Unsigned": "true", "missing_value": [-1, -2]}, "h")
    assert axis.keys([-32768, -1, -2]) == ["t00032768.000", None, None]
    assert read_axis({"units": "ns since 1970-01-01"}, "q").keys([-(1 << 63)]) == [None]


@pytest.mark.parametrize("given", ["-9999.9f", -9999.9, 1e20, "1e400"])
def test_a_missing_number_of_4_bytes_may_be_kept_in_8_or_as_text(given):
    stored = struct.unpack("f", struct.pack("f", min(float(str(given).rstrip("f")), 1e30)))[0]
    axis = read_axis({"units": "s", "missing_value": given}, "f")
    assert axis.keys([1.0, stored]) == ["t00000001.000", None]


@pytest.mark.parametrize("text", ["-9999.f", "-9999", "-9999.0", "-9.999D3", "-1, -9999"])
@pytest.mark.parametrize("name", ["_FillValue", "missing_value"])
def test_a_missing_number_may_be_text(name, text):
    assert read_axis({"units": "s", name: text}, "d").keys([1.0, -9999.0]) == [
        "t00000001.000", None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["2006-02-01T00:00:00.000000", "2006-02-01_00:00:00", "2006-02-01T00:00:00Z", "20060201T000000",
     "2006/02/01 00:00:00.0", "2006-02-01T02:00:00+02:00"],
)  # fmt: skip
def test_times_are_texts_of_each_form_padded_or_not(text):
    for row in (text.encode(), text.encode().ljust(64), text.encode() + b"\0" * 9):
        assert text_keys(row, len(row)) == ["20060201T000000"]
    assert string_keys([text, text.encode()]) == ["20060201T000000"] * 2


def test_texts_are_dates_of_the_calendar_of_the_file():
    days = ["2001-02-29", "2001-02-30", "2001-03-01"]
    keys = ["20010229T000000", "20010230T000000", "20010301T000000"]
    assert string_keys(days, 0, "360_day") == keys
    assert text_keys("".join(days).encode(), 10, 0, "360_day") == keys
    assert string_keys(days[2:], 0, "martian") == keys[2:]  # a date says enough
    with pytest.raises(TimesError, match="2001-02-29"):
        string_keys(days)


@pytest.mark.parametrize("text", ["0", "3600", "7200", "-3600", "100000", "2006"])
def test_a_number_alone_is_no_date(text):
    with pytest.raises(TimesError, match=text):
        string_keys([text])
    assert string_keys(["200602"]) == ["20060201T000000"]


@pytest.mark.parametrize("text", [b"2006-02-0", b"2006-02-01T0", b"2006-02-01_12:30", b"2006"])
def test_a_text_that_null_bytes_cut_is_not_all_written(text):
    assert text_keys(text.ljust(19, b"\0"), 19) == [None]


def test_times_need_no_package_of_the_workers(monkeypatch):
    monkeypatch.setitem(sys.modules, "cftime", None)
    assert numeric_keys([59], "days since 2001-01-01", "noleap") == ["20010301T000000"]
