"""Frames of a checkpoint's own time that no attempt wrote, as in recorded runs of the real WRF."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from burstlens.core.model import Frame
from burstlens.core.run import events as ev
from burstlens.core.run.history import History, replay
from burstlens.core.valid_time import elapsed_key
from burstlens.workflows.models.wrf import Wrf
from burstlens.workflows.ordering.restart_holes import RestartHoles

RUNS = Path(__file__).parents[1] / "data" / "wrf" / "restart"
AT_2 = "00010101T000200"


def begun(attempt: int, checkpoint: str | None = None) -> ev.SimulationSubmitting:
    by = attempt - 1 or None
    return ev.SimulationSubmitting(
        job=f"attempt-{attempt}", attempt=attempt, checkpoint=checkpoint, written_by=by
    )


def ready(frame: Frame) -> ev.FrameReady:
    return ev.FrameReady(
        attempt=frame.attempt, stream=frame.stream, time=frame.time, file=frame.paths[0], record=0
    )


def frame(attempt: int, time: str, stream: str = "d01", calendar: str = "") -> Frame:
    path = f"storm/{attempt}/{stream}_{time}"
    return Frame("storm", attempt, stream, time, (path,), 0, 1, 1.0, 1.0, "closed", None, calendar)


def recorded(run: str) -> tuple[list[Frame], list[Frame]]:
    """The frames of a recorded run, and of the one that restarted from its checkpoint of 00:02."""
    model = Wrf().configured(RUNS / run)
    lines = (RUNS / run / "files.txt").read_text().splitlines()
    found = [one for one in map(model.identify, (line.split()[1] for line in lines)) if one]
    frames = [frame(1 if one.time <= AT_2 else 2, one.time, one.stream) for one in found]
    return [one for one in frames if one.attempt == 1], [one for one in frames if one.attempt == 2]


def holes(history: History, frames: Iterable[Frame]) -> list[tuple[str, str, int]]:
    return [(it.stream, it.time, it.attempt) for it in RestartHoles(history).find([*frames])]


def continued(first: Iterable[Frame], second: Iterable[Frame], checkpoint: str) -> History:
    events = [begun(1), *map(ready, first), begun(2, checkpoint), *map(ready, second)]
    return replay(events)


def test_a_nest_that_was_killed_before_its_frame_of_the_checkpoint_s_time_has_a_hole():
    """``Q3``: killed after both restart files of 00:02 and before wrfout_d02 of 00:02."""
    first, second = recorded("Q3")
    assert (AT_2, "d02") not in {(one.time, one.stream) for one in first}
    history = continued(first, second, AT_2)
    assert holes(history, second) == [("d02", AT_2, 1)]
    (hole,) = RestartHoles(history).find(second)
    assert hole.reason.startswith("attempt 1 ended before it was written, and attempt 2 has frames")


def test_it_is_found_once_with_the_first_frame_after_it():
    first, second = recorded("Q3")
    history = continued(first, (), AT_2)
    found, judge = [], RestartHoles(history)
    for one in second:
        history.apply(ready(one))
        found.append([hole.stream for hole in judge.find([one])])
    nest = next(number for number, one in enumerate(second) if one.stream == "d02")
    assert [number for number, streams in enumerate(found) if streams] == [nest]
    history.apply(ev.FrameDamaged(attempt=1, stream="d02", time=AT_2, record=0))
    assert holes(history, second) == []


def test_a_frame_that_was_cut_is_reported_as_that_alone():
    first, second = recorded("Q3")
    history = continued(first, second, AT_2)
    history.apply(ev.FrameDamaged(attempt=1, stream="d02", time=AT_2, record=0))
    assert holes(history, second) == []


def test_a_frame_that_is_written_again_at_the_checkpoint_s_time_fills_it():
    first, second = recorded("Q3")
    history = continued(first, [frame(2, AT_2, "d02"), *second], AT_2)
    assert holes(history, second) == []


@pytest.mark.parametrize("run", ["E1", "I1", "J2"])
def test_other_recorded_runs_have_none(run):
    """``J2``: a restart between two frames, whose interval is another one from then on."""
    first, second = recorded(run)
    if not second:
        second = [frame(2, "00010101T000230")]
    assert holes(continued(first, second, AT_2), second) == []


def at(second: float, attempt: int = 1) -> Frame:
    return frame(attempt, elapsed_key(second))


@pytest.mark.parametrize(
    ("before", "after", "missing"),
    [
        ((10, 20, 30), (50, 60), True),
        ((10, 20, 30), (45, 50), True),  # more often since then
        ((30,), (50, 60), False),  # how often frames come is not known
        ((10, 20, 30, 40), (50, 60), False),
        ((10, 20), (50, 60), False),
        ((10, 22), (50, 60), False),
        ((20, 30), (90, 130), False),  # an output of another kind
        ((10, 20, 30), (), False),
        ((), (50, 60), False),
    ],
)
def test_it_is_missing_where_the_interval_of_the_frames_before_leads_to_it(before, after, missing):
    first, second = [at(one) for one in before], [at(one, 2) for one in after]
    found = holes(continued(first, second, elapsed_key(40)), second)
    assert found == ([("d01", elapsed_key(40), 1)] if missing else [])


def test_stale_frames_say_nothing_of_the_interval():
    """The second attempt had another interval; the third one continues from the first one."""
    second = [at(one, 2) for one in (25, 30, 35)]
    third = [at(one, 3) for one in (45, 50)]
    history = continued([at(10), at(20)], second, elapsed_key(20))
    for event in (begun(3, elapsed_key(40)), *map(ready, third)):
        history.apply(event)
    assert holes(history, third) == [("d01", elapsed_key(40), 2)]
    fork = [at(one, 3) for one in (40, 50)]
    history = continued([at(10), at(20), at(30)], second, elapsed_key(20))
    for event in (begun(3, elapsed_key(30)), *map(ready, fork)):
        history.apply(event)
    assert holes(history, fork) == []


def test_an_attempt_that_starts_afresh_has_none():
    history = replay([begun(1), ready(at(10)), ready(at(20)), begun(2), ready(at(40, 2))])
    assert holes(history, [at(40, 2)]) == []
