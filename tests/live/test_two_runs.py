"""The colours of two runs beside each other: the page's own modules, asked in a browser."""

from __future__ import annotations

import pytest

LOOK = {"limits": [270, 300], "map": "viridis", "minus": "", "extremes": False}


def bar(low, high, units="K"):
    return {"limits": [low, high], "units": units}


@pytest.mark.parametrize(
    ("mine", "theirs", "limits"),
    [
        (bar(-1, 10), bar(-20, 5), [-20, 10]),
        (bar(-20, 5), bar(-1, 10), [-20, 10]),
        (bar(0, 1), bar(0, 1), None),
        (bar(270, 300), bar(0, 30, "°C"), None),
        (bar(0, 1), None, None),
    ],
)
def test_two_pictures_in_one_unit_get_limits_that_hold_both(ask, mine, theirs, limits):
    assert ask("two_runs.widerLimits", mine, theirs) == limits


@pytest.mark.parametrize(
    ("units", "minus", "limits"),
    [("K", "", [270, 300]), ("degC", "", None), ("degC", "before", [270, 300])],
)
def test_limits_do_not_pass_to_a_picture_in_other_units(ask, units, minus, limits):
    lines = [{"facts": {"units": one}} for one in ("K", units)]
    assert ask("two_runs.lookBeside", LOOK | {"minus": minus}, *lines)["limits"] == limits


@pytest.mark.parametrize(
    ("minus", "told"),
    [("", "; two scales: the colours of other are 250 to 290"), ("first", "; other as it is")],
)
def test_where_only_one_of_two_pictures_is_painted_the_text_says_so(ask, minus, told):
    lines = [{"values": {}, "facts": {"units": "K", "limits": [250, 290]}}] * 2
    scale = ask("two_runs.commonScale", *lines, LOOK | {"minus": minus}, "other")
    assert ask("two_runs.scaleLabel", scale, {}, None, "alone") == told
    assert ask("two_runs.scaleLabel", scale, {}, {}, "alone") == "alone"
    assert ask("two_runs.scaleLabel", scale, None, None, "alone") == "alone"


def test_planes_over_each_other_have_the_same_room_below(ask):
    mine, theirs = ask("surroundings.laidOver", {"legend": ["barbs"]}, {"legend": []})
    assert (mine["legend"], theirs["legend"]) == (["barbs"], [""])
    assert ask("surroundings.laidOver", {"legend": ["barbs"]}, None) == [None, None]
