"""Frames that the model's log calls written: in a file at the end, or lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from events_case import event

from burstlens.core.model import Damage
from burstlens.core.run.history import replay
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.promised import CUT, REASON, Promised
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.speech import Speech, Written
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.wrf import Wrf

FILE = "wrfout_d01_0001-01-01_00:00:00"
TIMES = [f"00010101T00{minute:02d}00" for minute in range(100)]


def line(time, stream="d01", file=FILE):
    return Written(stream, time, file)


def about_frame(kind, time, *, stream="d01", attempt=1, file=FILE, **fields):
    about = {"stream": stream, "time": time, "attempt": attempt, "record": 0}
    return event({"event": f"frame.{kind}", **about, "file": file, **fields})


def ended(*, well=True, asynchronous=False, over=True):
    speech = Speech(speaks=True, ended_well=well, asynchronous=asynchronous)
    return Report((), (), Cursor(speech=speech), ended=over)


@pytest.fixture
def promised():
    """The lines of a log, held against the events of a journal."""

    def make(lines, *events, model=None, streams=("d01",)):
        made = Promised("run", "run-0", model or Wrf(), replay(events), streams)
        made.hear(lines)
        return made

    return make


def lost(one, report=None, attempt=1):
    return [damage.time for damage in one.lost(report or ended(), attempt)]


def test_a_frame_that_no_file_holds_is_lost_by_its_time(promised):
    one = promised(
        map(line, TIMES[:4]), about_frame("ready", TIMES[0]), about_frame("ready", TIMES[2])
    )
    (first, second) = one.lost(ended(), 1)
    assert (first.stream, first.time, first.reason) == ("d01", TIMES[1], REASON)
    assert second.time == TIMES[3]


def test_a_frame_whose_file_is_there_and_cannot_be_dated_is_not_lost(promised):
    where = {"stream": "d01", "file": FILE, "reason": "its time is not known: 'noon'"}
    undecoded = event({"event": "stream.undecoded", "attempt": 1, **where})
    assert lost(promised(map(line, TIMES[:2]), undecoded)) == []
    assert lost(promised(map(line, TIMES[:2]), undecoded), attempt=2) == TIMES[:2]


def test_nothing_is_lost_before_the_model_has_ended(promised):
    assert lost(promised([line(TIMES[0])]), ended(over=False)) == []


def test_a_hundred_lost_frames_are_all_named(promised):
    assert lost(promised(map(line, TIMES))) == TIMES


def test_lines_that_come_twice_or_are_cut_mean_one_frame(promised):
    cut = line(TIMES[1][:13])  # the log cuts long names after the minute
    assert lost(
        promised([line(TIMES[0]), line(TIMES[0]), cut], about_frame("ready", TIMES[1]))
    ) == [TIMES[0]]


@pytest.mark.parametrize(("well", "expected"), [(True, TIMES[:1]), (False, [])])
def test_a_log_that_comes_before_the_data_counts_only_if_the_model_ended_well(
    promised, well, expected
):
    one = promised([line(TIMES[0])])
    assert lost(one, ended(well=well, asynchronous=True)) == expected


def test_frames_of_an_earlier_attempt_are_not_those_of_this_one(promised):
    events = [about_frame("ready", TIMES[0], attempt=1), about_frame("ready", TIMES[1], attempt=2)]
    assert lost(promised([line(TIMES[1])], *events), attempt=2) == []
    assert lost(promised([line(TIMES[0])], *events), attempt=2) == [TIMES[0]]


def test_released_and_damaged_frames_are_not_lost(promised):
    events = [
        about_frame("ready", TIMES[0]),
        about_frame("released", TIMES[0]),
        about_frame("damaged", TIMES[1]),
    ]
    assert lost(promised(map(line, TIMES[:2]), *events)) == []


def test_damage_in_a_growing_file_gets_the_time_that_the_log_knows(promised):
    one = promised(map(line, TIMES[:4]), about_frame("ready", TIMES[0]))
    damage = Damage("run", 1, "d01", None, (f"run-0/1/{FILE}",), 1, "cut")
    assert one.placed(damage).time == TIMES[1]
    assert one.placed(replace(damage, time=TIMES[3])).time == TIMES[3]
    assert promised([], about_frame("ready", TIMES[0])).placed(damage).time is None


def test_damage_in_the_second_of_two_growing_files_is_not_placed_in_the_first(promised):
    one = promised(
        map(line, TIMES[:4]), about_frame("ready", TIMES[0]), about_frame("ready", TIMES[2])
    )
    second = "run-0/1/wrfout_d01_0001-01-01_00:02:00"
    assert one.placed(Damage("run", 1, "d01", None, (second,), 1, "cut")).time == TIMES[3]


def test_elapsed_times_may_differ_by_their_rounding(promised):
    one = promised(
        [line("t00000001.001", "surface", "surface.nc"), line("t00000002.000", "surface", "s.nc")],
        about_frame("ready", "t00000001.000", stream="surface"),
        streams=("surface",),
    )
    assert lost(one) == ["t00000002.000"]


def test_files_without_a_time_in_the_log_are_lost_by_their_name(promised):
    model = Command(argv=("./model",), frames="out_*.nc")
    said = [Written("output", None, f"out_{number}.nc") for number in range(4)]
    other = Written(None, None, "notes.txt")
    one = promised(
        [*said, other],
        about_frame("ready", "t00000001.000", stream="output", file="out_0.nc"),
        about_frame("damaged", None, stream="output", paths=["run-0/1/out_1.nc"]),
        model=model,
        streams=(),
    )
    assert [damage.paths for damage in one.lost(ended(), 1)] == [
        ("run-0/1/out_2.nc",),
        ("run-0/1/out_3.nc",),
    ]


def test_a_record_that_the_log_calls_written_and_that_its_file_lacks_is_lost(promised):
    model = Command(argv=("./model",), frames="his_*.nc")
    said = [Written("output", None, "his_1.nc", record=record) for record in (1, 2, 3)]
    said += [Written("output", None, "his_2.nc", record=record) for record in (1, 2)]
    said += [Written("output", None, None, record=9)]  # of a file that was not known
    events = [
        about_frame("ready", f"t0000000{n}.000", stream="output", file="his_1.nc", record=n)
        for n in (0, 1)
    ]
    gap = {"paths": ["run-0/1/his_2.nc"], "record": 1}
    events += [
        about_frame("ready", "t00000005.000", stream="output", file="his_2.nc"),
        about_frame("damaged", "t00000006.000", stream="output", **gap),
    ]
    (damage,) = promised(said, *events, model=model, streams=()).lost(ended(), 1)
    assert (damage.paths, damage.record, damage.time) == (("run-0/1/his_1.nc",), 2, None)


def test_a_journal_that_names_no_files_proves_nothing_of_files(promised):
    model = Command(argv=("./model",), frames="out_*.nc")
    ready = about_frame("ready", "t00000001.000", stream="output", file=None)
    said = [Written("output", None, "out_0.nc")]
    assert lost(promised(said, ready, model=model, streams=())) == []


def test_a_line_whose_time_is_cut_misses_its_frame_when_none_begins_so(promised):
    lines = [Written("d01", f"0001010{day}T120", "out/wrfout_d01_cut", cut=True) for day in (1, 2)]
    made = promised(lines, about_frame("ready", "00010101T120000"))
    [damage] = made.lost(ended(), 1)
    assert (damage.time, damage.paths) == ("00010102T120000", ())
    assert CUT in damage.reason
