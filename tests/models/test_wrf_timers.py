"""When a continued WRF run writes frames: what the differences of an attempt say, and when its
namelist is made to decide.

In ``tests/data/wrf/restart`` ``A1`` and ``J1`` are runs that were killed, with frames each 30 and
each 50 s; ``A2`` has the namelist of a run from the restart file of 00:02.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from burstlens.workflows.models.continuation import Continuation, Start
from burstlens.workflows.models.namelist import parse
from burstlens.workflows.models.wrf import Wrf

RUNS = Path(__file__).parents[1] / "data" / "wrf" / "restart"
ONE = {"time": "00010101T000200", "files": ("wrfrst_d01_0001-01-01_00:02:00",)}
AT_1 = {"time": "20050828T010000", "files": ("wrfrst_d01_2005-08-28_01:00:00",)}
HOURS = (
    "start_year = 2005, start_month = 8, start_day = 28, start_hour = 0, run_hours = 24, "
    "restart_interval = 60"
)
OVERRIDE = "override_restart_timers = .true."


def start(run: str | Path, **wanted: object) -> Start:
    inputs = RUNS / run
    return Wrf().configured(inputs).start(inputs, Continuation(**wanted))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("run", "wanted", "override"),
    [
        ("A1", ONE, None),
        ("A1", {"every_s": 120}, None),  # no restart, no restart file
        # Each attempt of a run has its interval, so the restart file has it already.
        ("A1", {**ONE, "every_s": 120}, None),
        ("A1", {**ONE, "settings": {"namelist.time_control.history_interval_s": "20"}}, [True]),
        ("A1", {**ONE, "settings": {"namelist.domains.time_step": "5"}}, None),
        ("A1", {"settings": {"namelist.time_control.history_interval_s": "20"}}, None),
        # The inputs themselves continue from a restart file, of each 60 s.
        ("A2", {"every_s": 120}, [True]),
        ("A2", {"every_s": 60}, None),
    ],
)
def test_the_namelist_decides_only_where_an_interval_changes(run, wanted, override):
    text = start(run, **wanted).files.get("namelist.input", "")
    assert parse(text).settings.get("override_restart_timers") == override


@pytest.mark.parametrize(
    ("run", "wanted", "note"),
    [
        ("A1", ONE, None),
        # As measured: 00:02:30, 00:03:00 ..., with an interval of 50 s.
        ("J1", ONE, "frames of d01 come every 30 s from the restart on"),
        ("J1", {**ONE, "every_s": 120}, "frames of d01 come every 30 s from the restart on"),
    ],
)
def test_a_restart_between_two_frames_shifts_them(run, wanted, note):
    found = [line for line in start(run, **wanted).changes if line.startswith("frames")]
    assert bool(found) is (note is not None)
    assert note is None or note in found[0]


@pytest.mark.parametrize(
    ("settings", "notes"),
    [
        ("history_interval = 60, auxhist2_interval = 20", []),
        ("history_interval = 60, auxhist2_interval = 0", []),
        ("history_interval = 45", ["frames of d01 come every 1800 s"]),
        (f"history_interval = 45, {OVERRIDE}", ["frames of d01 come every 2700 s"]),
        ("auxhist2_interval = 45", ["frames of auxhist2_d01 come every 1800 s"]),
        ("auxhist23_interval_h = 3, auxhist3_interval = 40",
         ["frames of auxhist3_d01 come every 1200 s", "frames of auxhist23_d01 come every 7200 s"]),
        ("auxhist2_interval = 45, auxhist2_begin = 15", []),
        ("auxhist2_interval = 60, auxhist2_begin_h = 3", ["auxhist2_d01 come every 7200 s"]),
        # Its alarm rings at the restart then, as at any start.
        (f"auxhist2_interval = 60, {OVERRIDE}", ["auxhist2_d01 has a frame at the time of the r"]),
        (f"auxhist2_interval = 40, {OVERRIDE}",
         ["frames of auxhist2_d01 come every 2400 s", "auxhist2_d01 has a frame at the time"]),
        (f"auxhist2_interval = 60, auxhist2_begin = 60, {OVERRIDE}", []),
        (f"auxhist5_interval = 60, auxhist6_interval = 60, {OVERRIDE}", []),
    ],
)  # fmt: skip
def test_history_and_auxiliary_history_of_a_continued_run(inputs, settings, notes):
    changes = start(inputs(f"{HOURS}, {settings}"), **AT_1).changes
    found = [line for line in changes if "frame" in line]
    assert len(found) == len(notes)
    assert all(note in line for note, line in zip(notes, found, strict=True))


def test_each_domain_has_intervals_and_a_start_of_its_own(inputs):
    nest = HOURS.replace("start_hour = 0", "start_hour = 0, 6").replace(" = 2005", " = 2*2005")
    nest = nest.replace("month = 8", "month = 2*8").replace("day = 28", "day = 2*28")
    folder = inputs(f"{nest}, auxhist2_interval = 180, 120", domains="max_dom = 2")
    names = tuple(f"wrfrst_{part}_2005-08-28_07:00:00" for part in ("d01", "d02"))
    found = start(folder, time="20050828T070000", files=names).changes
    assert [line.partition(" s ")[0] for line in found if line.startswith("frames")] == [
        "frames of auxhist2_d01 come every 7200",
        "frames of auxhist2_d02 come every 3600",
    ]


def test_inputs_that_continue_with_another_interval_have_a_frame_at_their_begin(inputs):
    folder = inputs(f"{HOURS}, restart = .true., auxhist2_interval = 60")
    found = start(folder, every_s=1800).changes
    assert any("auxhist2_d01 has a frame at the time of the restart" in line for line in found)
    assert not any("has a frame" in line for line in start(folder, until_s=3600).changes)
