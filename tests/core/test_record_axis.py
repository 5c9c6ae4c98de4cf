"""Which variable holds the times of a file, and along what its records lie."""

from __future__ import annotations

from typing import Any

import pytest

from burstlens.core.record_axis import record_dimension, time_variable
from burstlens.workflows.frames.contents import Content

SINCE = {"units": "days since 2000-01-01"}
FIELD = Content(("time", "y", "x"), (3, 4, 5), "f", {"units": "K"})


def number(*dimensions: str, records: int = 3, kind: str = "f", size: int = 8, **attributes: Any):
    return Content(dimensions, (records,) * len(dimensions), kind, attributes, size=size)


def text(*dimensions: str, sample: str = "2020-01-01T00:00:00", **attributes: Any):
    return Content(dimensions, (3, 19)[: len(dimensions)], "c", attributes, sample=sample)


@pytest.mark.parametrize(
    "time",
    [
        number("time", **SINCE),
        number("time", units="Hours Since 1-JAN-2000"),
        number("time", units="seconds since initialization"),
        number("time", units="weeks"),
        number("time", units="month"),
        number("time", units="day as %Y%m%d.%f"),
        number("time", units="olympiads since 2000-01-01"),  # to be named
        number("time", units="level"),
        number("time"),  # seconds
        text("time"),
        text("time", "length"),
        text("time", sample=""),  # nothing is written yet
    ],
)
def test_a_time_is_found_in_each_form(time: Content):
    assert time_variable({"time": time, "v": FIELD}) == "time"


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("when", text("time", sample="calm")),
        ("time", text("time", sample="in the beginning")),
        ("time", number("time", records=1, units="level")),
        ("time", number("time", records=1, units="month")),  # the file's name says which
        ("time", number("time", records=1)),
        ("created", text("time", "length")),
        ("note", text("time", "length", sample="2020")),
        ("date", number("time", units="1")),
        ("level", number("level", units="hPa")),
        ("time_bnds", number("time", "nv", **SINCE)),
    ],
)
def test_what_says_no_time_is_none(name: str, one: Content):
    assert time_variable({name: one, "v": FIELD}) is None


@pytest.mark.parametrize(
    "others",
    [
        {"time": number("time", size=4, **SINCE), "Itime": number("time", kind="i", **SINCE)},
        {"XTIME": number("time", size=4, units="minutes since 2005-08-28")},
        {"time": number("time", units="olympiads since 2000-01-01")},
    ],
)
def test_text_is_exact_where_numbers_beside_it_are_not(others: dict[str, Content]):
    assert time_variable({**others, "Times": text("time", "length"), "v": FIELD}) == "Times"


def test_numbers_that_can_be_decoded_come_before_text_that_cannot():
    times = text("time", "length", sample="-------")
    assert time_variable({"Times": times, "time": number("time", size=4, **SINCE)}) == "time"
    assert time_variable({"Times": times, "v": FIELD}) == "Times"  # to be named


def test_dates_in_each_record_are_times_by_any_name():
    assert time_variable({"stamps": text("time", "length"), "v": FIELD}) == "stamps"
    assert time_variable({"stamps": text("time"), "v": FIELD}) == "stamps"
    single = Content(("length",), (19,), "c", {}, sample="2020-01-01T00:00:00", size=1)
    assert time_variable({"made": single, "v": FIELD}) is None


def test_a_date_in_8_bytes_comes_before_text():
    assert time_variable({"Times": text("time", "n"), "time": number("time", **SINCE)}) == "time"


@pytest.mark.parametrize(
    ("name", "found"),
    [("time", "time"), ("Times", "time"), ("y", "y"), ("gone", "time"), ("", "time")],
)
def test_records_lie_along_the_time_that_is_named_else_along_a_usual_one(name: str, found: str):
    variables = {"Times": text("time", "length"), "v": FIELD}
    assert record_dimension(variables, ("x", "y", "time"), (), name) == found


@pytest.mark.parametrize("name", ["Times", ""])
def test_characters_along_one_dimension_are_the_time_of_the_only_record(name: str):
    times = Content(("length",), (19,), "c", {}, sample="2020-01-01T00:00:00", size=1)
    field = Content(("y", "x"), (4, 5), "f", {"units": "K"})
    sizes = ("length", "y", "x")
    assert record_dimension({"Times": times, "v": field}, sizes, (), name) is None


def test_units_and_texts_are_of_the_calendar_that_fms_names():
    fms = {"calendar_type": "THIRTY_DAY_MONTHS"}
    late = number("when", units="days since 2000-02-30", **fms)
    assert time_variable({"when": late, "v": number("when", "x")}) == "when"
    days = text("when", sample="2000-02-30", **fms)
    assert time_variable({"date": days, "v": number("when", "x")}) == "date"


def test_without_a_time_records_lie_along_what_may_grow():
    assert record_dimension({}, ("x", "step"), ("step",), "") == "step"
    assert record_dimension({}, ("x", "y"), (), "") is None


@pytest.mark.parametrize(
    "dimension", ["t", "nt", "TIME", "ntimes", "time_step", "frames", "record"]
)
def test_without_a_time_and_an_unlimited_dimension_records_lie_along_one_with_the_name_of_a_time(
    dimension: str,
):
    field = Content((dimension, "y", "x"), (3, 4, 5), "f", {})
    assert record_dimension({"v": field}, ("x", "y", dimension), (), "") == dimension


@pytest.mark.parametrize(
    "about",
    [
        {"v": Content(("y", "x", "t"), (4, 5, 3), "f", {})},
        {"v": Content(("t", "x"), (3, 5), "f", {})},
        {"v": Content(("step", "y", "x"), (3, 4, 5), "f", {})},
    ],
)
def test_other_dimensions_of_fixed_length_hold_no_records(about: dict[str, Content]):
    assert record_dimension(about, ("x", "y", "t", "step"), (), "") is None


@pytest.mark.parametrize("sample", ["2000-02-30", "2001-02-29", "1582-10-10"])
def test_texts_of_days_that_another_calendar_has_are_times(sample: str):
    # Which calendar, the numbers beside them or the file may say.
    field = Content(("Time", "y", "x"), (3, 4, 5), "f", {})
    late = text("Time", "length", sample=sample)
    assert time_variable({"Times": late, "XTIME": number("Time"), "v": field}, 5) == "Times"


def fields(**dimensions: str) -> dict[str, Content]:
    """Fields along dimensions of one letter or one word, by name."""
    split = {name: tuple(given.split()) for name, given in dimensions.items()}
    return {name: Content(one, (3,) * len(one), "f", {}) for name, one in split.items()}


@pytest.mark.parametrize(
    "about",
    [
        fields(conc="nt y x", u="lev y x", v="lev y x", w="lev y x"),
        fields(conc="nt y x", dep="nt y x", u="lev y x"),  # lev has no nt
        fields(conc="nt y x", u="z y x"),
        fields(conc="nt lev y x", u="lev y x", v="lev y x"),
        fields(v="tt y x"),
        fields(v="mt y x", u="lev y x"),
    ],
)
def test_a_dimension_of_tracers_holds_no_records(about: dict[str, Content]):
    assert record_dimension(about, ("nt", "lev", "y", "x", "tt", "mt"), (), "") is None


@pytest.mark.parametrize(
    ("about", "along"),
    [
        (fields(u="nt lev y x", v="nt lev y x", mask="lev y x"), "nt"),
        (fields(u="nt lev y x"), "nt"),
        (fields(rain="time_step y x", u="lev y x", v="lev y x"), "time_step"),  # says enough
        (fields(ssh="mt y x", topography="y x"), "mt"),
    ],
)
def test_records_lie_along_what_most_fields_begin_with(about: dict[str, Content], along: str):
    assert record_dimension(about, ("lev", "y", "x", along), (), "") == along
