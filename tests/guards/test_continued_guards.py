"""Guards over a continuation: an attempt that resumes from a checkpoint begins with their state of
that time."""

from __future__ import annotations

import pytest
from events_case import event

from burstlens.core.decode import record
from burstlens.core.run import events as ev
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.log_search import Hit
from burstlens.workflows.frames.report import Report
from burstlens.workflows.guards.finding import Breach, Reading
from burstlens.workflows.guards.judge import Judge
from burstlens.workflows.guards.reports import Room

T, ROOM = 1000.0, Room(0, 10**9)
BAD = Breach("finite", "W is NaN", "W")


def key(seconds: float) -> str:
    return f"t{seconds:012.3f}"


@pytest.fixture
def judge(guard):
    def make(**keys):
        return Judge([guard(name="it", **keys)], "d01")

    return make


def reading(attempt, second, mean, breach=None):
    numbers = {"least": mean - 1, "most": mean + 1, "mean": mean, "units": "m"}
    return Reading("it", "d01", key(second), attempt, breach=breach, **numbers)


def read(judge, attempt, *means, breach=None):
    """Trips of frames with these means, by second."""
    return [
        (trip.attempt, trip.time)
        for second, mean in means
        for trip in judge.read(reading(attempt, second, mean, breach), T)
    ]


def test_drift_is_that_from_the_first_frame_of_the_run(judge):
    one = judge(variable="W", max_drift=5.0)
    assert read(one, 1, (0, 0), (1, 3), (2, 4)) == []
    one.resume(2, key(2), 1)
    assert read(one, 2, (3, 4.5)) == []
    assert read(one, 2, (4, 6)) == [(2, key(4))]


def test_a_jump_from_the_checkpoint_to_the_next_frame_is_seen_and_stale_frames_are_not(judge):
    one = judge(variable="W", max_rate=5.0)
    assert read(one, 1, (0, 0), (1, 1), (2, 4)) == []
    one.resume(2, key(1), 1)
    assert read(one, 2, (2, 10)) == [(2, key(2))]
    one.resume(3, key(1), 1)
    assert read(one, 3, (2, 2), (3, 3)) == [], "the neighbour is of its own lineage"


def test_an_attempt_that_begins_afresh_compares_with_nothing_before(judge):
    one = judge(variable="W", max_drift=5.0, max_rate=5.0)
    assert read(one, 1, (0, 0)) == []
    one.resume(2, None, 0)
    assert read(one, 2, (0, 100)) == []


def test_an_episode_that_lasts_over_the_checkpoint_is_reported_once(judge):
    one = judge(variable="W", finite=True, then="alarm")
    assert len(read(one, 1, (1, 0), breach=BAD)) == 1
    one.resume(2, key(1), 1)
    assert read(one, 2, (2, 0), breach=BAD) == []
    assert one.status()[0].repeats == 1


def test_an_episode_after_the_checkpoint_is_forgotten_as_its_frames_are_computed_again(judge):
    one = judge(variable="W", finite=True, then="alarm")
    assert len(read(one, 1, (3, 0), breach=BAD)) == 1
    one.resume(2, key(2), 1)
    assert one.status()[0].state == "good"
    assert read(one, 2, (3, 0), breach=BAD) == [(2, key(3))]


def look(judge, attempt, second, lines):
    hit = Hit("it", lines, 0, "1 points exceeded", "rsl.error.0000", key(second))
    report = Report((), (), Cursor(), hits=(hit,))
    return judge.watched(report, ROOM, attempt, now=second, t=T)


def test_lines_of_the_log_up_to_the_checkpoint_count_and_later_ones_do_not(judge):
    one = judge(log="exceeded", count=6)
    assert look(one, 1, 1, 2) == look(one, 1, 2, 1) == look(one, 1, 3, 2) == []
    one.resume(2, key(2), 1)
    assert look(one, 2, 3, 2) == []
    (trip,) = look(one, 2, 4, 1)
    assert trip.value == 6.0


FIRST = ev.SimulationSubmitting(job="attempt-1", attempt=1)
SECOND = ev.SimulationSubmitting(job="attempt-2", attempt=2, checkpoint=key(2), written_by=1)


def counted(judge, attempt, *seconds):
    """What is journalled of the checkpoints at these times."""
    counts = judge.new_counts(attempt, [key(second) for second in seconds])
    return [ev.GuardsCounted(attempt=attempt, time=time, lines=lines) for time, lines in counts]


@pytest.mark.parametrize("begun", [True, False])
def test_the_next_driver_restores_them_from_the_journal(judge, begun):
    one = judge(log="exceeded", count=4)
    assert look(one, 1, 1, 3) == look(one, 1, 3, 1)[1:] == []
    journal = [FIRST, *counted(one, 1, 2), *([SECOND] if begun else [])]
    later = judge(log="exceeded", count=4)
    later.recall(journal)
    later.resume(2, key(2), 1)
    (trip,) = look(later, 2, 3, 1)
    assert trip.value == 4.0


def test_they_are_journalled_where_they_are_news(judge):
    one = judge(log="exceeded", count=9)
    assert look(one, 1, 1, 3) == []
    assert [(count.time, count.lines) for count in counted(one, 1, 2, 4)] == [(key(2), {"it": 3})]
    assert look(one, 1, 3, 2) == []
    assert [(count.time, count.lines) for count in counted(one, 1, 2, 4)] == [(key(4), {"it": 5})]
    later = judge(log="exceeded", count=9)  # it reads the log from its beginning
    later.recall([FIRST, *counted(one, 1, 2, 4)])
    assert look(later, 1, 1, 1) == counted(later, 1, 0) == []


def test_those_of_an_attempt_include_those_before_its_checkpoint(judge):
    one = judge(log="exceeded", count=9)
    assert look(one, 1, 1, 3) == []
    journal = [FIRST, *counted(one, 1, 2), SECOND]
    one.resume(2, key(2), 1)
    assert look(one, 2, 3, 2) == []
    later = judge(log="exceeded", count=9)
    later.recall([*journal, *counted(one, 2, 4)])
    later.resume(3, key(5), 2)
    (trip,) = look(later, 3, 6, 4)
    assert trip.value == 9.0


def test_readings_are_restored_at_the_place_where_the_attempt_began(judge):
    one = judge(variable="W", max_rate=5.0)

    def inspected(attempt, second, mean):
        read = record(reading(attempt, second, mean).summary())
        of = {"stream": "d01", "time": key(second), "attempt": attempt}
        return event({"event": "frame.inspected", **of, "readings": {"it": read}})

    begins = ev.SimulationSubmitting(job="attempt-2", attempt=2, checkpoint=key(1), written_by=1)
    one.recall([inspected(1, 1, 1.0), inspected(1, 2, 4.0), begins])
    assert read(one, 2, (2, 10)) == [(2, key(2))]
