from __future__ import annotations

import pytest

from burstlens.core.quantity import parse_bytes, parse_duration, show_bytes, show_duration


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("600 GiB", 600 * 1024**3),
        ("600 GB", 600 * 1000**3),
        ("1.5TiB", int(1.5 * 1024**4)),
        ("2 k", 2000),
        ("17", 17),
        (17, 17),
    ],
)
def test_sizes_are_read_in_binary_and_decimal_units(text, expected):
    assert parse_bytes(text) == expected


@pytest.mark.parametrize("text", ["600 Gb/s", "much", "-1 GiB", "0", 0, True, "1e9", "", 1.5j])
def test_an_invalid_size_is_refused_with_the_value_shown(text):
    with pytest.raises(ValueError, match=r"got"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("02:00:00", 7200.0),
        ("02:30", 9000.0),
        ("1-12:00:00", 129600.0),
        ("90 s", 90.0),
        ("15 min", 900.0),
        ("250 ms", 0.25),
        (90, 90.0),
    ],
)
def test_durations_are_read_as_schedulers_and_people_write_them(text, expected):
    assert parse_duration(text) == expected


@pytest.mark.parametrize("text", ["soon", "2 weeks", "1:2:3:4", "-5 s", "", True, None])
def test_an_invalid_duration_is_refused_with_the_value_shown(text):
    with pytest.raises(ValueError, match="got"):
        parse_duration(text)


def test_sizes_are_shown_with_three_digits():
    values = (0, 999, 1536, 1.52 * 1024**3, 15.2 * 1024**3, 152 * 1024**3, 2.0 * 1024**6)
    assert [show_bytes(value) for value in values] == [
        "0 B", "999 B", "1.50 KiB", "1.52 GiB", "15.2 GiB", "152 GiB", "2048 PiB",
    ]  # fmt: skip


def test_durations_are_shown_in_two_units_at_most():
    values = (1.2e-6, 0.2444, 4.25, 42.4, 59.6, 185, 3599.9, 7800, 180000)
    assert [show_duration(value) for value in values] == [
        "0 s", "0.24 s", "4.2 s", "42 s", "1 min 00 s", "3 min 05 s", "1 h 00 min", "2 h 10 min",
        "2 d 2 h",
    ]  # fmt: skip
