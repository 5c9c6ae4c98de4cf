"""Fortran namelists: what counts as a setting, and what is said of broken ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from burstlens.workflows.models.namelist import MOST_VALUES, flag, number, parse
from burstlens.workflows.models.wrf import Wrf
from burstlens.workflows.models.wrf_names import read_faults, read_settings


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("&a i = 1, 2*3 ! = 9\n s='a ! b' , \"c/d\" /", {"i": [1, 3, 3], "s": ["a ! b", "c/d"]}),
        ("&a x = 1 e_we(1) = 41 y = 2 /", {"x": [1], "e_we": [41], "y": [2]}),
        ("&a x(2) = 7, 8 x(1) = 6 /", {"x": [6, 7, 8]}),
        ("&a x(2:3) = 7, 8 /", {"x": [None, 7, 8]}),
        ("&a x = 1, 2, 3 x = 9 /", {"x": [9, 2, 3]}),
        ("&a x(1,2) = 7, x(0) = 1, y = 3 /", {"x": [], "y": [3]}),
        ("&a x(1)%y = 7, z%w = 3 /", {"x%y": [7], "z%w": [3]}),
        ("&a d = 12.d3, 12.D3, 1.5E+3, 1.5+3, .5, -2., 1q2 /",
         {"d": [12000.0, 12000.0, 1500.0, 1500.0, 0.5, -2.0, 100.0]}),
        ("&a i = +5, -3, 007 /", {"i": [5, -3, 7]}),
        ("&a n = 1,,3, m = 2*, 4, o = , 5 /", {"n": [1, None, 3], "m": [None, None, 4],
                                               "o": [None, 5]}),
        ("&a n = 1, 2,\n/", {"n": [1, 2]}),
        ("&a l = .true., T, .F., false /", {"l": [True, True, False, False]}),
        ("&a s = 'it''s, here/ & !x', \"a\"\"b\" /", {"s": ["it's, here/ & !x", 'a"b']}),
        ("&a s = 2*'a b', t = 'two\nlines' /", {"s": ["a b", "a b"], "t": ["two\nlines"]}),
        ("&a z = (1.0,2.0), w = 5 /", {"z": ["(1.0", "2.0)"], "w": [5]}),
        ("&A Max_Dom = 2 /", {"max_dom": [2]}),
        ("&a x = 1 &end &b y = 2 $end\n$c z = 3 /", {"x": [1], "y": [2], "z": [3]}),
        ("&a x = 1 / &a x = 2 /", {"x": [1]}),
        ("\ufeff&a\r\n x\t=\r\n 1\r\n/\r\n", {"x": [1]}),
        ("x = 1 &a y = 2 /", {}),
        ("notes: x = 9, R&D y = 3\n&a x = 1 /\n y = 2\n/\n", {"x": [1]}),
        ("<html>&nbsp;x = 1</html>", {}),
        ("! &a x = 1 /", {}),
        ("&a ! x = 1 /\n y = 2 /", {"y": [2]}),
        ("&a n = nan, inf, 1e999, 99999999999999999999, 1_8 /",
         {"n": ["nan", "inf", "1e999", 1e20, "1_8"]}),
        ("", {}),
    ],
)  # fmt: skip
def test_settings_are_those_in_groups(text: str, settings: dict[str, list[Any]]):
    found = parse(text)
    assert found.settings == settings
    assert not found.faults


@pytest.mark.parametrize(
    ("text", "settings", "fault"),
    [
        ("&a\n x = 'open\n y = 2\n/", {"x": ["open"], "y": [2]}, "line 2: a text begins here"),
        ("&a x = 'a\n y = 'b' /", {"x": ["a"], "y": ["b"]}, "line 1: a text begins here"),
        ("&a\n x = 1,", {"x": [1]}, "line 1: this group does not end with /"),
        ("&a x = 1\n&b y = 2 /", {"x": [1], "y": [2]}, "line 2: the group before it does not end"),
        ("&a p = /scratch/x, y = 2 /", {"p": []}, "p ends at an unquoted /"),
        ("&a max_dom 1, y = 2 /", {"y": [2]}, "line 1: 'max_dom' is no setting"),
        ("&a x = = 1 /", {"x": [1]}, "line 1: '=' is out of place"),
        ("&a x = 99999999*1 /", {"x": [1] * MOST_VALUES}, "x has 99999999 values"),
        ("&a " + "\0\1" * 100, {}, "no setting"),
    ],
)
def test_what_is_broken_is_named_with_its_line_and_the_rest_is_read(
    text: str, settings: dict[str, list[Any]], fault: str
):
    found = parse(text)
    assert found.settings == settings
    assert fault in found.faults[0]
    assert len(found.faults[0]) < 100


@pytest.mark.parametrize(
    "text",
    ["&a x" + " " * 100_000, "&a " + "'" * 99_999, "&a " + "x=9999*1 " * 1000,
     "&a " + "( " * 10_000, "&a x(%" * 10_000, "&" * 100_000,
     "\n&a x=1" * 1000, "&a x(9999999) = 1 /"],
)  # fmt: skip
def test_text_that_is_no_namelist_is_read_at_once(text: str):
    assert sum(map(len, parse(text).settings.values())) <= MOST_VALUES


def test_values_beyond_a_list_are_its_last_and_those_without_a_value_the_default():
    settings = parse("&a x = 1, 2, y = , 5, s = 'a', l = .true. /").settings
    assert [number(settings, "x", index) for index in range(3)] == [1, 2, 2]
    assert [number(settings, "y", index, default=7) for index in range(2)] == [7, 5]
    assert number(settings, "s", default=3) == 3
    assert flag(settings, "l")


STORM = """Settings of the storm: max_dom = 9 was too many
&time_control
 run_days = 0, run_hours = 2!short one
 start_year = 2*2005, start_month = 2*08, start_day = 2*28, start_hour = 2*00
 history_interval = 60, 60,!minutes
 io_form_history = 2
/
&old_ones
 max_dom = 3, history_outname = '/old/run/wrfout_d<domain>_<date>'
/
&domains
 max_dom = 1, e_we(1) = 41 e_sn(1) = 31, e_vert = 2
/

Old ones, not read any more:
 history_outname = '/old/run/wrfout_d<domain>_<date>'
 run_hours = 72
"""


def test_wrf_has_the_settings_of_its_own_groups(tmp_path: Path):
    (tmp_path / "namelist.input").write_text(STORM)
    facts = Wrf().facts(tmp_path)
    assert facts.streams == ("d01",)
    assert (facts.start, facts.total_s, facts.frames) == ("20050828T000000", 7200.0, 3)
    assert "history_outname" not in read_settings(tmp_path)
    assert not read_faults(tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        "run_days = 1e300",
        "run_days = 999999999",
        "start_year = 99999999999999999999, run_hours = 1",
    ],
)
def test_settings_beyond_all_bounds_are_no_reason_to_fail(tmp_path: Path, settings: str):
    text = (
        f"&time_control {settings}, history_interval = 60 / &domains max_dom = 99999999, e_we = 9 /"
    )
    (tmp_path / "namelist.input").write_text(text)
    assert len(Wrf().facts(tmp_path).streams) == 99


def test_a_check_names_what_is_broken_in_the_namelist(tmp_path: Path):
    (tmp_path / "wrf.exe").touch(mode=0o755)
    text = "&time_control run_hours = 1\n&domains\n max_dom = 'one /\n"
    (tmp_path / "namelist.input").write_text(text)
    messages = [message for message in Wrf().check(tmp_path) if "namelist.input, line" in message]
    assert [message[:26] for message in messages] == [
        "namelist.input, line 2: th", "namelist.input, line 3: a ", "namelist.input, line 2: th",
    ]  # fmt: skip


def test_an_index_that_no_setting_has_takes_no_room_of_others():
    found = parse("&a foo(5000000)=1  bar=2, baz='x' /")
    assert (found.settings["bar"], found.settings["baz"]) == ([2], ["x"])
