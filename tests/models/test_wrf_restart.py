"""How WRF continues from restart files: the copy of its namelist, against runs of the real model.

In ``tests/data/wrf/restart`` ``A1`` is a run that was killed, and ``A2`` the run from its restart
file of 00:02, with the namelist as it was edited by hand.
"""

from __future__ import annotations

import difflib
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.models.continuation import (
    CheckpointName,
    Continuation,
    NothingLeftError,
    Start,
)
from burstlens.workflows.models.namelist import parse
from burstlens.workflows.models.wrf import Wrf

RUNS = Path(__file__).parents[1] / "data" / "wrf" / "restart"
AT_2 = "00010101T000200"
FILE = "wrfrst_d01_0001-01-01_00:02:00"
ONE = {"time": AT_2, "files": (FILE,)}
TILES = (f"{FILE}_0000", f"{FILE}_0001")
HOURS = "start_year = 2005, start_month = 8, start_day = 28, start_hour = 0, restart_interval = 60"


def start(run: str | Path, **wanted: object) -> Start:
    inputs = RUNS / run
    return Wrf().configured(inputs).start(inputs, Continuation(**wanted))  # type: ignore[arg-type]


def settings(run: str) -> dict:
    return parse((RUNS / run / "namelist.input").read_text()).settings


def of(text: str) -> dict:
    return parse(text).settings


@pytest.mark.parametrize(
    ("first", "second", "wanted", "ranks"),
    [
        ("A1", "A2", ONE, None),
        ("J1", "J2", ONE, None),
        ("I1", "I2", {**ONE, "settings": {"namelist.time_control.history_interval_s": "20"}}, None),
        ("F1", "F2", {"time": AT_2, "files": TILES}, 2),
    ],
)
def test_the_copy_has_the_settings_of_the_namelist_that_a_person_edited(
    first: str, second: str, wanted: dict, ranks: int | None
):
    found = start(first, **wanted)
    assert of(found.files["namelist.input"]) == settings(second)
    assert (found.command, found.ranks) == (["./wrf.exe"], ranks)


def test_only_the_lines_of_what_differs_are_others():
    found = start("A1", **ONE)
    texts = (RUNS / "A1" / "namelist.input").read_text(), found.files["namelist.input"]
    lines = [text.splitlines() for text in texts]
    assert [line for line in difflib.ndiff(*lines) if line.startswith(("-", "+"))] == [
        "-  run_minutes = 4,",
        "+  run_minutes = 2,",
        "-  start_minute = 00,   00,   00,",
        "+  start_minute = 2,   2,   2,",
        "-  restart = .false.,",
        "+  restart = .true.,",
    ]
    assert found.changes == (
        "restart = .false. -> .true.", "start_minute = 0, 0, 0 -> 2, 2, 2", "run_minutes = 4 -> 2",
    )  # fmt: skip


def test_nothing_is_changed_where_nothing_is_wanted(tmp_path: Path):
    assert start("A1") == Start(["./wrf.exe"])
    assert start(tmp_path) == Start(["./wrf.exe"])
    assert start("A1", every_s=60) == Start(["./wrf.exe"])  # as it is


def test_facts_of_the_copy_begin_at_the_restart(tmp_path: Path):
    (tmp_path / "namelist.input").write_text(start("A1", **ONE).files["namelist.input"])
    facts = Wrf().facts(tmp_path)
    assert (facts.start, facts.total_s) == (AT_2, 120.0)


def test_end_stays_where_the_namelist_has_no_length(inputs):
    found = start(
        inputs(f"{HOURS}, end_year = 2005, end_month = 8, end_day = 29, end_hour = 6"),
        time="20050828T180000", files=("wrfrst_d01_2005-08-28_18:00:00",),
    )  # fmt: skip
    assert found.changes == ("restart = not set -> .true.", "start_hour = 0 -> 18")


@pytest.mark.parametrize(
    ("length", "wanted", "changes"),
    [
        ("run_hours = 36", {"until_s": 64800}, ["run_hours = 36 -> 18"]),
        ("run_hours = 36", {"until_s": 90000}, ["run_hours = 36 -> 25"]),
        ("run_days = 2", {"until_s": 90000},
         ["run_days = 2 -> 1", "run_hours = not set -> 1"]),
        ("run_days = 0, run_minutes = 600", {"until_s": 7200}, ["run_minutes = 600 -> 120"]),
        ("run_hours = 36", {"until_s": 36 * 3600}, []),
        ("end_year = 2005, end_month = 8, end_day = 30", {"until_s": 90000},
         ["run_days = not set -> 1", "run_hours = not set -> 1"]),
    ],
)  # fmt: skip
def test_a_stretch_ends_by_the_length_of_the_run(inputs, length, wanted, changes):
    assert list(start(inputs(f"{HOURS}, {length}"), **wanted).changes) == changes


def test_a_stretch_in_the_middle_has_its_begin_and_its_length(inputs):
    found = start(
        inputs(f"{HOURS}, run_hours = 36"),
        time="20050829T020000", files=("wrfrst_d01_2005-08-29_02:00:00",), until_s=30 * 3600,
    )  # fmt: skip
    assert found.changes == (
        "restart = not set -> .true.", "start_day = 28 -> 29", "start_hour = 0 -> 2",
        "run_hours = 36 -> 4",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("interval", "every_s", "changes"),
    [
        ("restart_interval = 60", 1800, ["restart_interval = 60 -> 30"]),
        ("restart_interval = 60", 3600, []),
        ("run_days = 0", 1800, ["restart_interval = not set -> 30"]),
        ("restart_interval = 60", 90, ["restart_interval = 60 -> 0",
                                       "restart_interval_s = not set -> 90"]),
        ("restart_interval_h = 6, restart_interval = 5", 7200,
         ["restart_interval = 5 -> 0", "restart_interval_h = 6 -> 2"]),
        ("restart_interval_h = 6", 1800, ["restart_interval_h = 6 -> 0",
                                          "restart_interval = not set -> 30"]),
        ("restart_interval_d = 1, restart_interval_h = 6", 86400,
         ["restart_interval_h = 6 -> 0"]),
    ],
)  # fmt: skip
def test_restart_files_come_as_often_as_the_recipe_says(inputs, interval, every_s, changes):
    folder = inputs(f"run_hours = 36, {interval}")
    found = start(folder, every_s=every_s)
    assert sorted(found.changes) == sorted(changes)
    if changes:
        (folder / "namelist.input").write_text(found.files["namelist.input"])
        assert start(folder, every_s=every_s).files == {}


NEST = (
    "start_year = 2*2005, start_month = 2*8, start_day = 2*28, start_hour = {}, run_hours = 24, "
    "restart_interval = 60"
)


def test_a_nest_that_begins_later_keeps_its_start_and_needs_no_file(inputs):
    folder = inputs(NEST.format("0, 12"), domains="max_dom = 2")
    found = start(folder, time="20050828T060000", files=("wrfrst_d01_2005-08-28_06:00:00",))
    assert "start_hour = 0, 12 -> 6, 12" in found.changes
    with pytest.raises(RecipeError, match="has no file of d02"):  # WRF opens it at its start
        start(folder, time="20050828T120000", files=("wrfrst_d01_2005-08-28_12:00:00",))


def test_a_nest_that_has_ended_needs_no_file(inputs):
    ends = "end_year = 2*2005, end_month = 2*8, end_day = 29, 28, end_hour = 0, 12"
    folder = inputs(f"{NEST.format('0, 0')}, {ends}", domains="max_dom = 2")
    with pytest.raises(RecipeError, match="has no file of d02"):
        start(folder, time="20050828T110000", files=("wrfrst_d01_2005-08-28_11:00:00",))
    found = start(folder, time="20050828T120000", files=("wrfrst_d01_2005-08-28_12:00:00",))
    assert "run_hours = 24 -> 12" in found.changes


def test_each_domain_has_its_start_in_the_copy(inputs):
    names = tuple(f"wrfrst_{part}_2005-08-28_06:00:00" for part in ("d01", "d02"))
    folder = inputs(NEST.format("0, 3"), domains="max_dom = 2")
    found = start(folder, time="20050828T060000", files=names)
    assert "start_hour = 0, 3 -> 6, 6" in found.changes


def test_a_nest_beyond_the_end_of_a_list_starts_at_noon(inputs):
    """WRF's own start_hour is 12; it does not take the last value of the list."""
    folder = inputs(NEST.format("0"), domains="max_dom = 2")
    found = start(folder, time="20050828T060000", files=("wrfrst_d01_2005-08-28_06:00:00",))
    assert "start_hour = 0 -> 6, 12" in found.changes


@pytest.mark.parametrize(
    ("wanted", "ends"), [({}, (8, 9)), ({"every_s": 3600}, (7.5, 8.5)), ({"every_s": 7200}, (8.5,))]
)
def test_restart_files_come_by_the_old_interval_or_by_a_new_one_from_the_restart_on(
    inputs, wanted, ends
):
    folder = inputs(f"{HOURS}, run_hours = 24")
    about = {"time": "20050828T063000", "files": ("wrfrst_d01_2005-08-28_06:30:00",), **wanted}
    for hours in (7.5, 8, 8.5, 9):
        if hours in ends:
            found = start(folder, **about, until_s=hours * 3600)
            assert "start_minute = not set -> 30" in found.changes
        else:
            with pytest.raises(RecipeError, match="writes no restart file"):
                start(folder, **about, until_s=hours * 3600)


def test_domains_in_different_numbers_of_tiles_are_no_checkpoint(inputs):
    folder = inputs(f"{NEST.format('0, 0')}, io_form_restart = 102", domains="max_dom = 2")
    name = "wrfrst_{}_2005-08-28_06:00:00_{}"
    names = [name.format(*tile) for tile in (("d01", "0000"), ("d01", "0001"), ("d02", "0000"))]
    with pytest.raises(RecipeError, match="different numbers of files for its domains"):
        start(folder, time="20050828T060000", files=tuple(names))


@pytest.mark.parametrize(
    ("setting", "name", "inname"),
    [
        ("rst_outname = 'rst/r_d<domain>_<date>'", "rst/r_d01_2005-08-28_06:00:00",
         "rst/r_d<domain>_<date>"),
        ("rst_outname = 'r_d<domain>_<date>', rst_inname = './r_d<domain>_<date>'",
         "r_d01_2005-08-28_06:00:00", None),
        ("nocolons = T", "wrfrst_d01_2005-08-28_06_00_00", None),
        ("rst_inname = 'old_d<domain>_<date>'", "wrfrst_d01_2005-08-28_06:00:00",
         "wrfrst_d<domain>_<date>"),
        ("rst_outname = '<year>/r_<domain>_<date>'", "2005/r_01_2005-08-28_06:00:00",
         "<year>/r_<domain>_<date>"),
    ],
)  # fmt: skip
def test_the_files_are_opened_under_the_names_that_they_have(inputs, setting, name, inname):
    folder = inputs(f"{HOURS}, run_hours = 24, {setting}")
    assert Wrf().configured(folder).checkpoint_of(name) == CheckpointName("20050828T060000", "d01")
    found = start(folder, time="20050828T060000", files=(name,))
    changed = [line.partition(" -> ")[2] for line in found.changes if "rst_inname" in line]
    assert changed == ([] if inname is None else [f"'{inname}'"])


@pytest.mark.parametrize(
    ("run", "wanted", "message"),
    [
        ("E1", {"time": AT_2, "files": (FILE.replace(":", "_"),)}, "io_form_restart = 11 without"),
        ("E1", {"until_s": 60}, "io_form_restart = 11 without nocolons = .true."),
        ("A1", {"time": AT_2, "files": (FILE.replace(":", "_"),)}, "set nocolons = .true."),
        ("P3", {"time": "00010101T000300", "files": ("wrfrst_d01_0001-01-01_00:03:00",)},
         "set nocolons = .false."),
        ("A1", {"time": AT_2, "files": (FILE.replace(":", "-"),)}, "WRF does not open .*rename"),
        ("A1", {"time": AT_2}, "has no file of d01"),
        ("A1", {"time": AT_2, "files": ("wrfrst_d01_0001-01-01_00:01:00",)}, "is not a restart f"),
        ("A1", {"time": AT_2, "files": ("restart.nc",)}, "restart.nc is not a restart file of"),
        ("Q3", {"time": "00010101T000300", "files": ("wrfrst_d01_0001-01-01_00:03:00",)},
         "has no file of d02"),
        ("A1", {**ONE, "until_s": 120}, "cannot stop at 120 s: the checkpoint of .* is not before"),
        ("A1", {"until_s": 0}, "cannot stop at 0 s: the start is not before that"),
        ("A2", {"time": "00010101T000100", "files": ("wrfrst_d01_0001-01-01_00:01:00",)},
         "is before the start of the run"),
        ("A1", {"until_s": 90}, "no restart file at 90 s .* every 60 s"),
        ("A1", {**ONE, "until_s": 180, "every_s": 40}, "no restart file at 180 s .* every 40 s"),
        ("A1", {"until_s": 300}, "cannot stop at 300 s of a run of 240 s"),
        ("A1", {"every_s": 0.5}, "whole seconds"),
        ("A1", {"every_s": 2.0**31}, "1 to 2147483647 whole seconds"),
        ("A1", {"every_s": 1e308}, "whole seconds"),
        ("A1", {"every_s": float("inf")}, "whole seconds"),
        ("A1", {"time": "t00000012.000", "files": (FILE,)}, "not a time that WRF can have"),
        ("F1", {"time": AT_2, "files": (FILE,)}, "d01 has one file .* io_form_restart = 102"),
        ("A1", {"time": AT_2, "files": TILES}, "d01 has tiles .* io_form_restart = 2 "),
        ("F1", {"time": AT_2, "files": TILES[1:]}, "no file of rank 0 for d01"),
    ],
)  # fmt: skip
def test_what_wrf_would_refuse_or_do_wrong_is_refused_with_the_reason(run, wanted, message):
    with pytest.raises(RecipeError, match=message):
        start(run, **wanted)


@pytest.mark.parametrize("more", [{}, {"until_s": 240}, {"until_s": 180}, {"every_s": 60}])
@pytest.mark.parametrize("minute", [4, 5])
def test_a_checkpoint_at_the_end_of_the_run_leaves_nothing_to_do(minute: int, more: dict):
    name = f"wrfrst_d01_0001-01-01_00:0{minute}:00"
    with pytest.raises(NothingLeftError):
        start("A1", time=f"00010101T000{minute}00", files=(name,), **more)


def test_a_refusal_is_not_the_end_of_the_run():
    with pytest.raises(RecipeError) as refused:
        start("A1", **ONE, until_s=120)
    assert not isinstance(refused.value, NothingLeftError)


def test_without_a_readable_namelist_no_run_is_continued(tmp_path: Path):
    with pytest.raises(RecipeError, match=r"namelist\.input cannot be read"):
        start(tmp_path, **ONE)
    (tmp_path / "namelist.input").write_text("&domains max_dom = 1 /")
    with pytest.raises(RecipeError, match="does not say when the run begins and ends"):
        start(tmp_path, **ONE)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rst_d<domain>", "rst_outname has no <date>"),
        ("rst_<date>", "rst_outname has no <domain>, and there are 2 domains"),
        ("/scratch/rst_d<domain>_<date>", "rst_outname leads out of the run's folder"),
        ("../rst_d<domain>_<date>", "rst_outname leads out of the run's folder"),
        ("<date>/rst_d<domain>_<date>", "rst_outname has <date> in the name of a folder"),
    ],
)
def test_restart_files_that_replace_each_other_or_are_not_seen_cut_no_run(inputs, name, message):
    folder = inputs(f"{HOURS}, run_hours = 24, rst_outname = '{name}'", domains="max_dom = 2")
    assert any(message in text for text in Wrf().checkpoint_faults(folder))
    assert any(message in text for text in Wrf().check(folder))
    with pytest.raises(RecipeError, match=message):
        start(folder, until_s=3600)


def test_one_domain_needs_no_domain_in_the_names_of_restart_files(inputs):
    folder = inputs(f"{HOURS}, run_hours = 24, rst_outname = 'rst_<date>'")
    assert start(folder, until_s=3600).changes == ("run_hours = 24 -> 1",)
    assert Wrf().checkpoint_faults(folder) == []


@pytest.mark.parametrize(
    ("comment", "copied"),
    [(b"dur\xe9e", "durée"), ("durée".encode(), "durée"), (b"\xe9t\xc3\xa9", "été")],
)
def test_bytes_that_are_not_utf8_may_be_in_comments(tmp_path: Path, comment: bytes, copied: str):
    raw = (RUNS / "A1" / "namelist.input").read_bytes()
    (tmp_path / "namelist.input").write_bytes(raw.replace(b"= 4,", b"= 4, ! " + comment, 1))
    assert f"run_minutes = 2, ! {copied}\n" in start(tmp_path, **ONE).files["namelist.input"]


def test_a_text_that_is_not_utf8_is_refused_as_its_copy_would_name_another_file(tmp_path: Path):
    raw = (RUNS / "A1" / "namelist.input").read_bytes()
    name = b"input_inname = '/data/\xe9t\xe9/wrfinput_d<domain>'\n"
    (tmp_path / "namelist.input").write_bytes(raw.replace(b" run_days", name + b" run_days", 1))
    with pytest.raises(RecipeError, match=r"input_inname in .* is not UTF-8"):
        start(tmp_path, **ONE)
    name = name.replace(b"\xe9", "é".encode())
    (tmp_path / "namelist.input").write_bytes(raw.replace(b" run_days", name + b" run_days", 1))
    assert "'/data/été/wrfinput" in start(tmp_path, **ONE).files["namelist.input"]


def test_tiles_need_the_ranks_that_wrote_them(tmp_path: Path):
    shutil.copyfile(RUNS / "F2" / "namelist.input", tmp_path / "namelist.input")
    assert start(tmp_path).ranks is None
    for name in TILES:
        (tmp_path / name).touch()
    assert start(tmp_path) == Start(["./wrf.exe"], ranks=2)
    assert start(tmp_path, settings={"namelist.domains.time_step": "5"}).ranks == 2


def test_ranks_that_only_write_come_on_top_of_the_tiles(inputs):
    folder = inputs(
        f"{HOURS}, run_hours = 24, io_form_restart = 102",
        namelist_quilt="nio_tasks_per_group = 2, nio_groups = 3",
    )
    names = tuple(f"wrfrst_d01_2005-08-28_06:00:00_{rank:04d}" for rank in range(4))
    assert start(folder, time="20050828T060000", files=names).ranks == 10


def test_each_stretch_between_cuts_can_be_started(inputs):
    folder = inputs(f"{HOURS}, run_hours = 10")
    ends = [*Wrf().cuts(folder, 3), 36000]
    found = [start(folder, until_s=ends[0])]
    for begin, end in pairwise(ends):
        hour = f"{int(begin // 3600):02d}"
        name = f"wrfrst_d01_2005-08-28_{hour}:00:00"
        found.append(start(folder, time=f"20050828T{hour}0000", files=(name,), until_s=end))
    lengths = [of(one.files["namelist.input"])["run_hours"][0] for one in found]
    assert lengths == [3, 4, 3]
