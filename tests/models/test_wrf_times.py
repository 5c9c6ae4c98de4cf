"""The intervals of WRF's output, as its namelist has them."""

from __future__ import annotations

import pytest

from burstlens.workflows.models.namelist import parse
from burstlens.workflows.models.wrf_times import interval_s


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", 0),
        ("restart_interval = 60", 3600),
        ("restart_interval_m = 30, restart_interval = 60", 1800),
        ("restart_interval_m = 0, restart_interval = 60", 3600),
        ("restart_interval_d = 1, restart_interval_h = 6, restart_interval_s = 10", 108010),
        ("restart_interval_h = 1, restart_interval = 5", 3900),
        ("history_interval = 60", 0),
    ],
)
def test_units_are_added_and_minutes_take_the_place_of_the_setting_without_a_unit(text, seconds):
    assert interval_s(parse(f"&time_control {text} /").settings, "restart") == seconds


def test_each_domain_has_its_own():
    settings = parse(
        "&time_control history_interval = 60, 10, history_interval_s = 0, 30 /"
    ).settings
    assert [interval_s(settings, "history", index) for index in range(2)] == [3600, 630]
