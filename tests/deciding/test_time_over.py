"""A model's job whose time is over, or that was given to another: what follows, what is said."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from launched_case import Case, kinds
from segments_case import WALLTIME, described, end, key, segmented

from burstlens.core.model import Frame
from burstlens.core.run import events as ev
from burstlens.core.run.checkpoint_record import CheckpointRecord
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.workflows.deciding.time_over import lost_work
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.recipe.recipe import Simulation

ASKED = Ended(0, None, "stop_by", seconds=7.0, ended=1e9 + 8.0, cores=3)
PREEMPTED = Ended(0, None, "preempted", "Slurm says of job 7: PREEMPTED")
CANCELLED = Ended(0, None, "cancelled", "Slurm says of job 7: CANCELLED (by 1001)")


@pytest.fixture
def case(recipe, run_dir: RunDir) -> Callable[..., Case]:
    return partial(segmented, recipe, run_dir)


def frame(second: float, attempt: int = 1) -> Frame:
    path = f"storm-1/{attempt}/surface.nc"
    return Frame(
        "storm-1", attempt, "surface", key(second), (path,), 0, 10, 1e9, 1e9, "name", (1, 1, 1, 1)
    )


def outcome(run: Case):
    return run.state.policy.jobs.outcome()


def alarms(done) -> list[str]:
    return [one.text for one in done if isinstance(one, ev.Alarm)]


@pytest.mark.parametrize("how", [ASKED, WALLTIME, PREEMPTED])
@pytest.mark.parametrize("batch", [False, True])
def test_an_attempt_that_was_cut_is_followed_by_one_from_its_checkpoint(case, how, batch):
    run = case('"until done"', batch=batch)
    run.start()
    for attempt, second in ((1, 1.0), (2, 2.0), (3, 3.0)):
        node = described(end(run, attempt, how, second))
        assert (node.attempt, node.written_by) == (attempt + 1, attempt)
        assert node.continuation.time == key(second)
        run.tell(happened.JobsDescribed())
    outcomes = [one.outcome for one in run.events if isinstance(one, ev.SimulationEnded)]
    assert outcomes == ["cut"] * 3


def test_one_that_a_person_has_cancelled_is_followed_by_none(case):
    run = case('"until done"', batch=True)
    run.start()
    assert "BringHome" in kinds(end(run, 1, CANCELLED, 1.0))
    assert outcome(run).state == "failed"
    assert "CANCELLED (by 1001)" in outcome(run).message


def test_one_that_came_to_its_end_as_it_was_asked_to_stop_is_done(case):
    run = case('"until done"')
    run.start()
    assert "BringHome" in kinds(end(run, 1, ASKED, 3.5, said_end=True))
    assert outcome(run).state == "done"


@pytest.mark.parametrize("begin", [0.0, 1.0])
def test_a_job_that_is_too_short_for_one_checkpoint_ends_the_run_with_the_reason(case, begin):
    run = case('"until done"')
    run.start()
    attempt = 1
    if begin:
        end(run, 1, ASKED, begin)
        run.tell(happened.JobsDescribed())
        attempt = 2
    assert "DescribeJobs" not in kinds(end(run, attempt, WALLTIME))
    found = outcome(run)
    assert found.state == "failed"
    since = " after t = 1 s, where it began" if begin else ""
    reason = f"attempt {attempt} wrote no checkpoint{since}, so none can follow it: "
    assert found.message.startswith(f"{reason}use a longer walltime, or ask earlier for one")


def test_what_a_cut_loses_is_said_and_one_that_loses_nothing_says_nothing(case):
    run = case('"until done"')
    run.start()
    run.tell(happened.FramesFound(Report((frame(0.5), frame(1.5)), (), Cursor())))
    (text,) = alarms(end(run, 1, WALLTIME, 1.0))
    assert "lost since the checkpoint of t = 1 s: 0.5 s of model time" in text
    assert "the next one resumes from t = 1 s" in text
    run.tell(happened.JobsDescribed())
    run.tell(happened.FramesFound(Report((frame(1.5, 2), frame(2.0, 2)), (), Cursor())))
    assert alarms(end(run, 2, ASKED, 2.0)) == []


def test_a_run_in_one_piece_says_what_is_lost_and_how_it_continues(case):
    run = case(1, keys='walltime = "02:00:00"')
    run.start()
    assert "BringHome" in kinds(end(run, 1, ASKED, 1.5))
    found = outcome(run)
    assert (found.state, found.exit_code) == ("failed", 1)
    assert found.message == (
        "the model stopped ahead of the end of its job, as it was asked to; "
        "nothing is lost after its checkpoint of t = 1.5 s"
    )
    assert found.advice is not None
    assert f"burstlens resume {run.run.id} --from latest --walltime 04:00:00" in found.advice
    assert "segments" in found.advice


def test_without_a_checkpoint_no_resume_is_advised(case):
    run = case(1)
    run.start()
    end(run, 1, WALLTIME)
    assert "resume" not in (outcome(run).advice or "resume")
    assert "longer simulation.walltime" in (outcome(run).advice or "")


def test_a_run_that_has_used_up_its_jobs_says_how_it_goes_on(case):
    run = case(2, batch=True)
    run.start()
    end(run, 1, ASKED, 1.0)
    run.tell(happened.JobsDescribed())
    end(run, 2, ASKED, 2.0)
    assert "the last of the jobs that simulation.segments allows" in outcome(run).message
    assert f"burstlens resume {run.run.id};" in (outcome(run).advice or "")


def history(*seconds: float) -> History:
    found = History()
    for second in seconds:
        found.frames.add(("surface", key(second), 1))
    return found


SIMULATION = Simulation(inputs="inputs", nodes=4, ranks_per_node=2)


def lost(newest, *seconds, how=ASKED):
    return lost_work(history(*seconds), 1, how, newest, key(0), SIMULATION)


def test_lost_core_hours_count_from_the_checkpoint_or_from_the_begin_of_the_attempt():
    own = CheckpointRecord(1, key(1.0), ["x"], 1, written=1e9 + 5.0)
    assert lost(own, 0.5, 2.0).model_s == 1.0
    assert lost(own, 0.5, 2.0).core_hours == 0.01
    earlier = CheckpointRecord(0, key(1.0), ["x"], 1, written=1.0)
    assert lost(earlier, 2.0).core_hours == 0.0233
    afresh = lost(None, 2.0)
    assert (afresh.model_s, afresh.is_any) == (2.0, True)
    unknown = lost(None, how=Ended(None, None, "walltime"))
    assert (unknown.model_s, unknown.core_hours) == (None, None)
    assert unknown.text() == "lost without a checkpoint: all that it has computed"


def test_frames_without_usable_times_do_not_say_how_much_model_time_is_lost():
    found = History()
    found.frames.add(("surface", "of_a_file.nc", 1))
    own = CheckpointRecord(1, key(1.0), ["x"], 1)
    assert lost_work(found, 1, ASKED, own, key(0), SIMULATION).model_s is None
