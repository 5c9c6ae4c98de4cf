"""Patterns of file names: globs with placeholders."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from burstlens.workflows.models.name_patterns import NamePattern, PatternError


@pytest.mark.parametrize("glob", ["*.nc", "out_?.nc", "a[0-9]*.nc", "a[!b].nc", "a.nc", "[", "*"])
def test_without_placeholders_a_pattern_matches_as_a_glob(glob):
    names = ["a.nc", "out_1.nc", "out_12.nc", "a1x.nc", "ab.nc", "ac.nc", "[", "", ".nc", "x\n.nc"]
    matched = [name for name in names if NamePattern(glob).match(name)]
    assert matched == [name for name in names if fnmatchcase(name, glob)]


def test_the_folder_is_literal():
    assert NamePattern("out/a_*.nc").match("out/a_1.nc")
    for name in ("a_1.nc", "out/b/a_1.nc", "out2/a_1.nc"):
        assert not NamePattern("out/a_*.nc").match(name)
    assert NamePattern("./a.nc").match("a.nc")


def test_placeholders_give_their_texts_and_one_name_stands_for_one_text():
    found = NamePattern("{date}_{member}.nc").match("2024-01-01_m.2.nc")
    assert found.groupdict() == {"date": "2024-01-01", "member": "m.2"}
    twice = NamePattern("{n}_{n}.nc")
    assert twice.match("7_7.nc")
    assert not twice.match("7_8.nc")


def test_a_pattern_is_filled_and_has_a_glob():
    pattern = NamePattern("done/{date}.{time}")
    assert pattern.filled({"date": "1", "time": "2"}) == "done/1.2"
    assert (pattern.glob, pattern.names, pattern.is_wild) == (
        "done/*.*", {"date", "time"}, False
    )  # fmt: skip
    assert NamePattern("a_*.nc").is_wild


@pytest.mark.parametrize(
    ("pattern", "name", "varying"),
    [
        ("out/heat2d_*.nc", "out/heat2d_007.nc", "007"),
        ("*.nc", "wind_7.nc", "wind_7"),
        ("a_{date}_b?.nc", "a_2020_b3.nc", "2020_b3"),
        ("a_[0-9][0-9].nc", "a_12.nc", "12"),
        ("out.nc", "out.nc", ""),
        ("a*", "abc", "bc"),
    ],
)
def test_the_part_that_a_pattern_leaves_open(pattern, name, varying):
    assert NamePattern(pattern).match(name)
    assert NamePattern(pattern).varying(name) == varying


@pytest.mark.parametrize("text", ["/a", "../a", "a/../b", "a*/b", "{a}/b", "a{}", "a{b c}", "a}b"])
def test_a_pattern_that_is_not_valid_is_quoted(text):
    with pytest.raises(PatternError, match="must") as caught:
        NamePattern(text)
    assert repr(text) in str(caught.value)
