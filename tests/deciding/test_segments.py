"""Attempts that follow each other: from which checkpoint, how far, and when none follows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from launched_case import Case, kinds
from segments_case import (
    AFTER,
    FAILED,
    WALLTIME,
    WELL,
    checkpoint,
    described,
    end,
    key,
    launches,
    segmented,
    settle,
)
from simulated_nodes import BUFFER

from burstlens.core.exit_codes import STOPPED, STOPPED_BY_GUARD
from burstlens.core.model import Frame
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.log_search import Hit
from burstlens.workflows.frames.report import Report
from burstlens.workflows.models.continuation import Continuation, NothingLeftError
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.supervised import Ended

GUARD = '[[guard]]\nname = "overflow"\nlog = "overflow"\ncount = 3\nthen = "stop"\n'


@pytest.fixture
def case(recipe, run_dir: RunDir) -> Callable[..., Case]:
    return partial(segmented, recipe, run_dir)


def test_each_attempt_goes_on_from_the_checkpoint_of_the_one_before_up_to_the_next_cut(case):
    run = case(segments=4)
    run.start()
    begun = [Continuation(until_s=1.0)]
    for attempt, second in enumerate((1.0, 2.0, 3.0), 1):
        node = described(end(run, attempt, WELL, second))
        assert (node.attempt, node.written_by) == (attempt + 1, attempt)
        begun.append(node.continuation)
        done = run.tell(happened.JobsDescribed())
        assert launches(done) == [f"attempt-{attempt + 1}"]
        assert kinds(done)[-1] == "Watch"
        (watch,) = (one for one in done if isinstance(one, todo.Watch))
        assert watch.attempt == attempt + 1
    assert [one.until_s for one in begun] == [1.0, 2.0, 3.0, None]
    assert [one.time for one in begun] == [None, key(1), key(2), key(3)]
    assert begun[3].files == ("checkpoint_0000300.awm",)
    home = end(run, 4, WELL, said_end=True)
    assert [one.attempts for one in home if isinstance(one, todo.BringHome)] == [(1, 2, 3, 4)]


def test_an_attempt_that_left_no_checkpoint_at_its_cut_is_followed_by_one_up_to_the_cut_after(case):
    """WRF does so where no step ends at the time of a restart file."""
    run = case(segments=3)
    run.start()
    begun = []
    for attempt, second in enumerate((1.3, 2.5), 1):
        begun.append(described(end(run, attempt, WELL, second)).continuation)
        run.tell(happened.JobsDescribed())
    assert [(one.time, one.until_s) for one in begun] == [(key(1.3), 2.67), (key(2.5), None)]
    assert "BringHome" in kinds(end(run, 3, WELL, said_end=True))


def test_the_journal_says_from_where_an_attempt_goes_on_so_that_the_next_driver_knows(case):
    run = case(segments=2)
    run.start()
    done = end(run, 1, WELL, 2.0)
    (whole,) = (one for one in done if isinstance(one, ev.CheckpointWhole))
    (submitting,) = (one for one in done if isinstance(one, ev.SimulationSubmitting))
    assert (whole.attempt, whole.time, whole.signal) == (1, key(2), "name")
    assert (submitting.checkpoint, submitting.written_by, submitting.until_s) == (key(2), 1, None)
    node = described(next_driver(case, run))
    assert (node.attempt, node.written_by) == (2, 1)
    assert node.continuation == Continuation(key(2), ("checkpoint_0000200.awm",))


def next_driver(case, run: Case, **about) -> list[todo.Instruction]:
    """What the next driver does first, of a run whose buffer has its inputs."""
    later = case(segments=2, events=run.events, **about)
    later.tell(happened.LoopBegun())
    return later.tell(happened.BufferReady(BUFFER, adopted=True))


def test_a_driver_that_died_between_two_attempts_is_followed_by_one_that_sees_the_first_end(case):
    run = case(segments=2)
    run.start()
    run.tell(happened.JobEnded("attempt-1", WELL))
    node = described(next_driver(case, run))
    assert (node.attempt, node.continuation) == (1, Continuation(until_s=2.0))


def test_what_comes_after_the_simulation_is_launched_with_the_last_stretch_alone(case):
    run = case(2, AFTER)
    assert launches(run.start()) == ["attempt-1"]
    end(run, 1, WELL, 2.0)
    assert launches(run.tell(happened.JobsDescribed())) == ["attempt-2", "step-peak-2.1"]


def test_a_job_whose_time_is_over_is_followed_by_another_one_up_to_the_most_that_are_wanted(case):
    run = case(segments=3, batch=True)
    run.start()
    assert described(end(run, 1, WALLTIME, 0.5, 1.5)).continuation.time == key(1.5)
    run.tell(happened.JobsDescribed())
    assert described(end(run, 2, WALLTIME, 2.5)).continuation.time == key(2.5)
    run.tell(happened.JobsDescribed())
    done = end(run, 3, WALLTIME, 3.5)
    assert "DescribeJobs" not in kinds(done)
    assert "BringHome" in kinds(done)


def test_the_next_driver_first_looks_at_what_the_one_before_left_of_earlier_attempts(case):
    run = case(segments=3)
    run.start()
    found = Report((surface(0.5),), (), Cursor())
    run.tell(happened.FramesFound(found))
    end(run, 1, WELL, 1.34)
    run.tell(happened.JobsDescribed())
    later = case(segments=3, events=run.events)
    later.tell(happened.LoopBegun())
    later.tell(happened.BufferReady(BUFFER, adopted=True))
    looks = [one.attempt for one in later.tell(happened.JobsDescribed())
             if isinstance(one, todo.Watch)]  # fmt: skip
    done = later.tell(happened.FramesFound(Report((surface(0.5),), (), Cursor(), ended=True)))
    assert looks + [one.attempt for one in done if isinstance(one, todo.Watch)] == [1, 2]
    assert later.state.policy.production.backlog.size == 1, "what was left is to be made"


def test_the_guards_of_an_attempt_begin_with_their_state_at_its_checkpoint(case):
    run = case(2, GUARD)
    run.start()
    hit = Hit("overflow", 2, 0, "overflow", "awm.log", key(1.0))
    run.tell(happened.FramesFound(Report((), (), Cursor(), hits=(hit,))))
    end(run, 1, WELL, 2.0)
    (counted,) = (one for one in run.events if isinstance(one, ev.GuardsCounted))
    assert (counted.attempt, counted.time, counted.lines) == (1, key(2.0), {"overflow": 2})


def test_lines_of_the_log_are_counted_up_to_each_checkpoint_as_they_are_read(case):
    run = case(2, GUARD)
    run.start()
    for second, lines in ((1.0, 2), (3.0, 4), (1.5, 1), (2.5, 1)):
        hit = Hit("overflow", lines, 0, "overflow", "awm.log", key(second))
        found = (checkpoint(2.0), checkpoint(2.2)) if second == 1.0 else ()
        run.tell(happened.FramesFound(Report((), (), Cursor(), hits=(hit,), checkpoints=found)))
    counted = [one for one in run.events if isinstance(one, ev.GuardsCounted)]
    assert [(one.time, one.lines["overflow"]) for one in counted] == [(key(2.0), 2), (key(2.0), 3)]


def surface(second: float) -> Frame:
    paths = ("storm-1/1/surface_000000.nc",)
    return Frame("storm-1", 1, "surface", key(second), paths, 0, 1000, 1.0, 1.1, "header")


def test_a_stop_as_a_stretch_ends_is_no_end_of_the_run_that_is_done(case):
    run = case(segments=4)
    run.start()
    run.tell(happened.StopRequested("stop"))
    end(run, 1, WELL, 1.0, said_end=True)
    outcome = run.state.policy.jobs.outcome()
    assert (outcome.state, outcome.exit_code) == ("stopped", STOPPED)


@pytest.mark.parametrize(("how", "batch"), [(WELL, False), (WALLTIME, True)])
def test_a_trip_on_the_last_frames_of_a_stretch_stops_the_run(case, how, batch):
    run = case(segments=4, batch=batch)
    run.start()
    run.state.history.apply(tripped(0.7))
    end(run, 1, how, 1.0, said_end=True)
    outcome = run.state.policy.jobs.outcome()
    assert (outcome.state, outcome.exit_code) == ("stopped", STOPPED_BY_GUARD)
    assert outcome.message == 'stopped by guard "stable": vz = 9'


def test_a_step_after_the_simulation_follows_the_last_job_and_fails_none_before(case):
    run = case(3, AFTER, batch=True)
    assert launches(run.start()) == ["attempt-1", "step-peak-1.1"]
    run.tell(happened.JobEnded("step-peak-1.1", None, "attempt-1 failed"))
    end(run, 1, WALLTIME, 1.0)
    assert launches(run.tell(happened.JobsDescribed())) == ["attempt-2", "step-peak-2.1"]
    assert not run.state.policy.jobs.holders or run.state.policy.jobs.live
    run.tell(happened.JobEnded("step-peak-2.1", WELL))
    end(run, 2, WELL, said_end=True)
    assert run.state.policy.jobs.outcome().state == "done"


def test_a_run_that_has_used_up_its_jobs_resumes_from_its_newest_checkpoint(case):
    run = case(segments=1 + 1, batch=True)
    run.start()
    end(run, 1, WALLTIME, 1.0)
    run.tell(happened.JobsDescribed())
    end(run, 2, WALLTIME, 2.0)
    ended = [*run.events, ev.RunEnded(outcome="failed", exit_code=1), ev.RunResumed()]
    later = case(segments=2, events=ended, batch=True)
    later.tell(happened.LoopBegun())
    node = described(later.tell(happened.BufferReady(BUFFER, adopted=True)))
    assert (node.attempt, node.continuation.time) == (3, key(2))
    later.tell(happened.JobsDescribed())
    assert described(end(later, 3, WALLTIME, 3.0)).attempt == 4


def test_an_attempt_is_taken_up_as_it_was_begun_also_when_its_checkpoint_is_deleted(case):
    run = case(segments=2)
    run.start()
    end(run, 1, WELL, 2.0)
    run.tell(happened.JobsDescribed())
    gone = [*run.events, ev.CheckpointRemoved(attempt=1, time=key(2))]
    later = case(segments=2, events=gone)
    later.tell(happened.LoopBegun())
    node = described(later.tell(happened.BufferReady(BUFFER, adopted=True)))
    assert (node.attempt, node.continuation) == (2, Continuation(key(2)))


def test_a_driver_that_died_after_a_failure_is_followed_by_one_that_retries_as_it_would(case):
    run = case(segments=1, keys="retries = 1")
    run.start()
    found = Report((), (), Cursor(), checkpoints=(checkpoint(1.0),))
    run.tell(happened.FramesFound(found))
    run.tell(happened.JobEnded("attempt-1", FAILED))
    later = case(segments=1, keys="retries = 1", events=run.events)
    later.tell(happened.LoopBegun())
    assert described(later.tell(happened.BufferReady(BUFFER, adopted=True))).attempt == 1
    later.tell(happened.JobsDescribed())
    assert described(end(later, 1, FAILED)).continuation.time == key(1)


def test_an_attempt_with_nothing_left_to_compute_ends_the_run_well(case):
    run = case(segments=3, batch=True)
    run.start()
    done = end(run, 1, WALLTIME, 4.0)
    (node,) = (one for one in done if isinstance(one, todo.DescribeJobs))
    run.tell(happened.NodeFailed(node, NothingLeftError.at(key(4))))
    assert "BringHome" in kinds(settle(run))
    assert run.state.policy.jobs.outcome() == Outcome("done", 0)


def test_a_new_buffer_has_none_of_the_checkpoints_that_were_on_the_one_before(case):
    run = case(segments=2)
    run.start()
    end(run, 1, WELL, 2.0)
    lost = [*run.events, ev.BufferCreated(kind="posix", path="/nowhere", folder="storm-1")]
    later = case(segments=2, events=lost)
    later.tell(happened.LoopBegun())
    later.tell(happened.BufferReady(BUFFER, adopted=True))
    node = described(later.tell(happened.StagedIn(1, 1000, 0)))
    assert (node.attempt, node.continuation.time) == (3, None)


def test_a_driver_that_died_after_a_job_s_time_was_over_is_followed_by_one_that_goes_on(case):
    run = case(segments=2, batch=True)
    run.start()
    done = run.tell(happened.JobEnded("attempt-1", WALLTIME))
    assert [one.outcome for one in done if isinstance(one, ev.SimulationEnded)] == ["cut"]
    assert described(next_driver(case, run, batch=True)).attempt == 1


@pytest.mark.parametrize("segments", [5, '"until done"'])
def test_an_attempt_that_left_no_checkpoint_ends_the_run_and_says_what_would_help(case, segments):
    run = case(segments=segments, batch=True)
    run.start()
    end(run, 1, WALLTIME, 1.0)
    run.tell(happened.JobsDescribed())
    assert "BringHome" in kinds(end(run, 2, WALLTIME))
    outcome = run.state.policy.jobs.outcome()
    assert outcome.state == "failed"
    assert "attempt 2 wrote no checkpoint after t = 1 s, where it began" in outcome.message
    assert "a longer walltime" in outcome.message


@pytest.mark.parametrize("segments", [1, 4])
def test_a_model_that_fails_is_not_followed_by_another_attempt(case, segments):
    run = case(segments=segments)
    run.start()
    done = end(run, 1, Ended(1, None, "exited"), 1.0)
    assert "BringHome" in kinds(done)
    assert run.state.policy.jobs.outcome().message == "the model ended with exit code 1"


def test_after_a_stop_none_follows(case):
    run = case(segments=4)
    run.start()
    run.tell(happened.StopRequested("stop"))
    assert "BringHome" in kinds(end(run, 1, Ended(None, "SIGTERM", "stop"), 1.0))


def test_a_run_in_one_piece_is_not_cut_and_its_job_s_time_ends_it(case):
    run = case(segments=1)
    run.start()
    done = end(run, 1, WALLTIME, 1.0)
    assert "BringHome" in kinds(done)


def tripped(second: float) -> ev.GuardTripped:
    about = {"guard": "stable", "then": "stop", "text": "vz = 9", "what": "vz"}
    return ev.GuardTripped(attempt=1, stream="surface", time=key(second), **about)


def test_a_checkpoint_after_a_guard_has_tripped_is_suspect_and_none_follows(case):
    run = case(segments=4, batch=True)
    run.start()
    run.state.history.apply(tripped(0.7))
    done = end(run, 1, WALLTIME, 0.5, 1.0)
    assert "BringHome" in kinds(done)
    (suspect,) = (one for one in done if isinstance(one, ev.CheckpointSuspect))
    assert (suspect.time, suspect.reason) == (key(1), "stable: vz = 9")


def test_a_checkpoint_whose_time_does_not_compare_with_those_of_frames_is_suspect(case):
    run = case(segments=4, batch=True)
    run.start()
    frame = {"stream": "surface", "file": "surface.nc", "record": 0, "bytes": 1, "signal": "log"}
    about = {"time": "20050828T000000", "attempt": 1, "written": 1.0, "detected": 1.0}
    run.state.history.apply(ev.FrameReady(**frame, **about))
    done = end(run, 1, WALLTIME, 0.5)
    (suspect,) = (one for one in done if isinstance(one, ev.CheckpointSuspect))
    assert suspect.time == key(0.5)
    assert "t = 0.5 s, does not compare with those of frames" in suspect.reason


def alarms(run: Case) -> list[str]:
    return [one.text for one in run.snapshot.alarms]
