from __future__ import annotations

import time

from burstlens.core.nearness import did_you_mean, near_names


def test_near_names_come_with_the_nearest_first():
    assert near_names("colormapp", ["colormap", "contours", "dpi"]) == ["colormap"]


def test_a_name_of_a_hundred_kilobytes_is_compared_with_nothing():
    begun = time.process_time()
    assert near_names("x" * 100_000, ["x" * 99_999, "T2"]) == []
    assert len(did_you_mean("y", ["x" * 100_000])) < 200
    assert time.process_time() - begun < 5


def test_only_some_of_very_many_names_are_compared():
    begun = time.process_time()
    did_you_mean("variable", [f"name{number}" for number in range(200_000)])
    assert time.process_time() - begun < 20


def test_of_very_many_names_none_of_which_is_near_none_is_listed():
    assert did_you_mean("zzz", [f"name{number}" for number in range(101)]) == ""
    assert "and 88 more" in did_you_mean("zzz", [f"name{number}" for number in range(100)])


def test_a_list_that_is_not_long_is_shown_as_a_whole():
    names = [f"name{number:02}" for number in range(20)]
    assert did_you_mean("zzz", names) == f"; there are {', '.join(names)}"
    assert did_you_mean("zzz", [*names, "x"]).endswith("name11 and 9 more")
