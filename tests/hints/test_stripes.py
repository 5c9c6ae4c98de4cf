"""How many stripes files get, by folder and by hint."""

from __future__ import annotations

import pytest

from burstlens.workflows.hints.stripes import (
    Stripe,
    check_patterns,
    folder_stripes,
    planned,
    striped_hints,
)

BTIO = {1: 155.26, 2: 69.87, 4: 35.27, 8: 18.57, 16: 10.12, 32: 5.93, 64: 5.59, 128: 6.10}
"""Seconds for NAS BTIO's file of 50 GB by the number of targets, as published."""


def test_the_published_case_gets_its_fastest_number():
    assert planned(50 * 10**9, 1024) == min(BTIO, key=BTIO.get) == 64


@pytest.mark.parametrize(
    ("file_bytes", "ranks", "count"),
    [
        (0, 1024, 1),
        (2_900_000_000, 1280, 4),
        (50 * 10**9, 16, 8),
        (50 * 10**9, 1, 1),
        (50 * 10**9, 100, 32),
        (360 * 10**9, 1216, 512),
        (50 * 10**9, None, 64),
    ],
)
def test_planned_from_the_file_s_size_and_at_most_half_of_the_ranks(file_bytes, ranks, count):
    assert planned(file_bytes, ranks) == count


def test_the_widest_pattern_of_a_folder_counts_and_the_others_are_named():
    stripes = {
        "wrfout*": Stripe(count=64, size=4 << 20),
        "wrfrst*": Stripe(count=144),
        "wrfxtrm*": Stripe(count=144),
        "deep.d/x*": Stripe(count=-1),
    }
    own, deep = folder_stripes(stripes, 1024)
    assert (own.folder, own.count, own.size) == ("", 144, None)
    assert (own.patterns, own.other) == (("wrfrst*", "wrfxtrm*"), ("wrfout*",))
    assert deep.job() == {"folder": "deep.d", "count": -1, "size": None}


def test_inputs_are_striped_only_where_a_pattern_means_one():
    (own,) = folder_stripes({"wrfrst*": Stripe(count=144)}, 8)
    assert own.any_of(["namelist.input", "wrfrst_d01_2005"])
    assert not own.any_of(["namelist.input"])


def test_as_hints_they_stand_beside_those_of_the_recipe_which_count_first():
    hints = {"wrfout*": {"cb_nodes": 8, "striping_unit": 65536}}
    stripes = {"wrfout*": Stripe(count=64, size=4 << 20), "wrfrst*": Stripe(count=-1)}
    assert striped_hints(hints, stripes, 8) == {
        "wrfout*": {"cb_nodes": 8, "striping_unit": 65536, "striping_factor": 64},
        "wrfrst*": {},
    }


@pytest.mark.parametrize(
    "values",
    [{}, {"count": 4, "file_size": 10}, {"count": 0}, {"count": 4, "size": 100_000}],
)
def test_what_cannot_be_meant_is_refused(values):
    with pytest.raises(ValueError, match=r"count|size"):
        Stripe(**values)


def test_a_pattern_names_its_folder():
    check_patterns({"out/wrf*": Stripe(count=4)})
    with pytest.raises(ValueError, match="only the file's name may be a pattern"):
        check_patterns({"out*/wrf*": Stripe(count=4)})
