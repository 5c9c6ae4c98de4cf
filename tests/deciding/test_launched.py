"""What a launched run does next: each transition by itself, without a process."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace

import pytest
from launched_case import WELL, Case, kinds
from simulated_nodes import BUFFER

from burstlens.core.errors import GivenUpError, NoSpaceError, SiteError, StagingError
from burstlens.core.exit_codes import BUFFER_LEFT, NO_SPACE, STOPPED, STOPPED_BY_GUARD
from burstlens.core.model import Frame
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.workflows.deciding.launched import LEAVES_S
from burstlens.workflows.deciding.target import AWAY_PAUSE_S, PATIENCE_S
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.making.order import OrderResult
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.buffer import Home
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.recipe.recipe import Recipe

RECIPE = """\
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
"""
MAP = '[[product]]\nname = "t2"\nkind = "map"\nvariable = "T2"\n'
BEFORE = '[[step]]\nname = "real"\nbefore = "simulation"\ncommand = ["real.exe"]\n'
FRAME = Frame(
    "storm-1", 1, "output", "t00000001.000", ("storm-1/1/out_00000001.nc",), 0, 1000, 1.0, 1.1,
    "header", fingerprint=(1, 1, 1000, 10),
)  # fmt: skip


@pytest.fixture
def case(recipe: Callable[..., Recipe], run_dir: RunDir) -> Callable[..., Case]:
    return lambda text=RECIPE, events=(), **more: Case(run_dir, recipe(text=text), events, **more)


def test_each_phase_follows_the_one_before_and_is_shown(case):
    run = case()
    phases = [
        (happened.LoopBegun(), "waiting for the buffer", "ProvideBuffer"),
        (happened.BufferReady(BUFFER), "staging in", "StageIn"),
        (happened.StagedIn(1, 1000, 0), "starting", "DescribeJobs"),
        (happened.JobsDescribed(), "starting", "Watch"),
    ]
    for event, shown, last in phases:
        done = kinds(run.tell(event))
        assert (run.snapshot.state, done[-1]) == (shown, last)
    assert done == ["Launch", "Watch"]


def test_a_buffer_is_journalled_and_on_disk_before_it_is_asked_for(case):
    done = case().tell(happened.LoopBegun())
    assert kinds(done) == ["OpenBlock", "buffer.requested", "Sync", "ProvideBuffer"]
    assert done[2].required


@pytest.mark.parametrize(
    ("error", "state", "code", "left"),
    [
        (SiteError("no such pool"), "failed", 1, None),
        (SiteError("mkdir: No space left on device"), "failed", NO_SPACE, None),
        (GivenUpError("the job is cancelled"), "stopped", STOPPED, "burstlens free storm-1"),
    ],
)
def test_a_run_without_a_buffer_ends_and_says_what_may_be_left(case, error, state, code, left):
    run = case()
    *_, node = run.tell(happened.LoopBegun())
    run.tell(happened.NodeFailed(node, error))
    assert (run.end.state, run.end.exit_code) == (state, code)
    assert str(error) in run.end.message
    assert (left in run.end.left) if left else run.end.left is None


@pytest.mark.parametrize(
    ("end", "reason", "state", "code"),
    [
        (Ended(1, None, "exited"), {}, "failed", 1),
        (Ended(None, "SIGTERM", "stop"), {}, "stopped", STOPPED),
        (Ended(None, "SIGTERM", "stop"), {"by": "guard", "text": "x"}, "stopped", STOPPED_BY_GUARD),
    ],
)
def test_a_step_before_the_simulation_that_does_not_end_well_ends_the_run(
    case, end, reason, state, code
):
    run = case(RECIPE + BEFORE)
    launched = [one.name for one in run.start() if isinstance(one, todo.Launch)]
    assert launched == ["step-real-1", "attempt-1"]
    if end.stopped:
        run.tell(happened.StopRequested("stop", reason))
    done = run.tell(happened.JobEnded("step-real-1", end, said="no namelist"))
    assert kinds(done) == ["step.ended", "Sync", "End"]
    assert (run.end.state, run.end.exit_code) == (state, code)
    assert "no namelist; its log is" in run.end.message


@pytest.mark.parametrize(("control", "leaves_s"), [("stop", None), ("stop-now", LEAVES_S)])
def test_a_stop_while_the_buffer_is_waited_for_is_the_provisions_to_obey_for_a_while(
    case, control, leaves_s
):
    run = case()
    run.tell(happened.LoopBegun())
    run.tell(happened.StopRequested(control))
    assert run.state.end is None
    run.tell(happened.JobsSeen(), LEAVES_S - 1)
    assert run.state.end is None
    run.tell(happened.JobsSeen(), 2.0)
    assert (run.state.end is None) == (leaves_s is None)
    if leaves_s is not None:
        assert "burstlens free storm-1 gives it back" in run.end.left


def test_a_stop_during_the_stage_in_ends_the_run_and_starts_nothing(case):
    run = case()
    run.tell(happened.LoopBegun())
    run.tell(happened.BufferReady(BUFFER))
    assert kinds(run.tell(happened.StopRequested("stop"))) == ["control.received", "End"]
    assert run.end == Outcome("stopped", STOPPED, "stopped before the simulation started")
    assert kinds(run.tell(happened.StagedIn(1, 1000, 0))) == []


def test_a_run_whose_raw_frames_are_gone_simulates_again_and_says_so(case):
    former = [
        ev.SimulationSubmitting(job="attempt-1", attempt=1),
        ev.FrameReady(attempt=1, stream="output", time=FRAME.time, record=0),
    ]
    run = case(events=former)
    run.start()
    assert run.state.policy.jobs.attempt == 2
    assert "is gone with its raw frames" in run.snapshot.alarms[0].text
    adopted = case(events=former)
    adopted.tell(happened.LoopBegun())
    adopted.tell(happened.BufferReady(BUFFER, adopted=True))
    adopted.tell(happened.StagedIn(1, 1000, 0))
    assert adopted.state.policy.jobs.attempt == 1


def test_a_buffer_that_ends_with_its_job_ends_a_run_without_jobs(case):
    run = case()
    run.start()
    assert kinds(run.tell(happened.JobsSeen(buffer_end="job 7: TIMEOUT"))) == []
    run.tell(happened.JobEnded("attempt-1", WELL))
    done = run.tell(happened.JobsSeen(buffer_end="job 7: TIMEOUT"))
    assert kinds(done)[:2] == ["buffer.released", "End"]
    assert (run.end.state, run.end.exit_code) == ("failed", 1)
    assert "the job with the buffer has ended (job 7: TIMEOUT)" in run.end.message


def test_a_block_is_mended_only_while_it_is_known_that_the_job_with_the_buffer_runs(case):
    run = case()
    run.start()
    assert "MendBlock" in kinds(run.tell(happened.JobsSeen(buffer_end="")))
    assert "MendBlock" not in kinds(run.tell(happened.JobsSeen(buffer_end=None)))


def test_all_comes_home_before_the_buffer_is_freed_and_the_run_ends(case):
    run = case()
    run.go_home()
    *_, home = run.tell(happened.ProductsPublished())
    assert isinstance(home, todo.BringHome)
    assert run.snapshot.state == "bringing home"
    done = run.tell(happened.BroughtHome(BUFFER, Home([], [])))
    assert kinds(done) == ["stageout.done", "Destroy"]
    assert kinds(run.tell(happened.BufferFreed(BUFFER, done[-1].outcome))) == [
        "buffer.released", "End",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "control"),
    [
        (StagingError("cannot delete", path="/nowhere/storm-1/x", number=errno.EACCES), False),
        (GivenUpError("the user has stopped it"), True),
    ],
)
def test_a_buffer_that_cannot_be_freed_is_named_with_what_frees_it(case, error, control):
    run = case()
    run.go_home()
    run.tell(happened.ProductsPublished())
    *_, destroy = run.tell(happened.BroughtHome(BUFFER, Home([], [])))
    done = run.tell(happened.NodeFailed(destroy, error))
    assert ("control.received" in kinds(done)) == control
    assert run.end.exit_code == BUFFER_LEFT
    assert "burstlens free storm-1" in run.end.left


@pytest.mark.parametrize("number", [errno.ESTALE, errno.ENOSPC])
def test_a_run_directory_that_is_away_or_full_is_waited_for_when_all_comes_home(case, number):
    run = case()
    run.go_home()
    *_, home = run.tell(happened.ProductsPublished())
    error = StagingError(os.strerror(number), path=str(run.run.logs / "x"), number=number)
    assert kinds(run.tell(happened.NodeFailed(home, error))) == []
    assert kinds(run.tell(happened.Turn(), AWAY_PAUSE_S / 2))[:1] != ["BringHome"]
    assert "BringHome" in kinds(run.tell(happened.Turn(), AWAY_PAUSE_S))
    run.tell(happened.NodeFailed(home, error), PATIENCE_S)
    assert run.end.exit_code == (NO_SPACE if number == errno.ENOSPC else 1)
    assert "the buffer is kept, burstlens resume storm-1 tries again" in run.end.message


@pytest.mark.parametrize("is_over", [True, False])
def test_products_that_cannot_be_staged_end_the_run_or_where_a_model_cannot_end_its_driver(
    case, is_over
):
    run = case(RECIPE + MAP)
    run.start()
    report = Report((FRAME,), (), Cursor(speech=Speech(ended_well=True)), ended=True)
    run.tell(happened.FramesFound(report))
    if is_over:
        run.tell(happened.JobEnded("attempt-1", WELL))
    run.tell(happened.Turn())
    full = StagingError("No space left on device", path="/x", number=errno.ENOSPC)
    (make,) = [one for one in run.tell(happened.ProductsPublished()) if isinstance(one, todo.Make)]
    run.tell(happened.WorkReturned(make.batch, {0: OrderResult(error=full)}))
    run.tell(happened.Turn(), PATIENCE_S + 1)
    done = run.tell(happened.ProductsPublished())
    if is_over:
        assert (run.end.state, run.end.exit_code) == ("failed", NO_SPACE)
        assert "1 products cannot be staged (No space left on device" in run.end.message
    else:
        (failed,) = [one for one in done if isinstance(one, todo.Fail)]
        assert isinstance(failed.error, NoSpaceError)


def test_what_a_job_that_ended_well_has_to_say_is_an_alarm(case):
    run = case()
    run.start()
    run.tell(happened.JobEnded("attempt-1", replace(WELL, message="its log is not home")))
    assert [alarm.text for alarm in run.snapshot.alarms] == ["its log is not home"]


@pytest.mark.parametrize("text", ["the buffer is full", ""])
def test_a_run_that_is_stopped_for_want_of_space_says_so(case, text):
    run = case()
    run.start()
    run.tell(happened.StopRequested("stop", {"by": "space", "text": text}))
    run.tell(happened.JobEnded("attempt-1", Ended(None, "SIGTERM", "stop")))
    end = run.state.policy.jobs.outcome()
    assert (end.exit_code, end.message) == (NO_SPACE, text or "stopped for want of space")


def test_a_run_directory_that_takes_nothing_is_reported_once_until_it_takes_something(case):
    run = case()
    run.start()
    away = OSError(errno.EIO, os.strerror(errno.EIO), str(run.run.journal))
    for error in (away, away, None, away):
        run.tell(happened.ProductsPublished(error))
    assert [alarm.text.partition(" cannot")[0] for alarm in run.snapshot.alarms] == [
        str(run.run.journal)
    ] * 2


def test_a_buffer_that_an_earlier_driver_had_is_asked_for_again_by_its_place(case):
    earlier = ev.BufferCreated(kind=BUFFER.kind, path=BUFFER.path, folder=BUFFER.folder)
    done = case(events=[earlier]).tell(happened.LoopBegun())
    assert kinds(done) == ["OpenBlock", "ProvideBuffer"]
    assert done[-1].known == BUFFER
    gone = case(events=[earlier, ev.BufferReleased()]).tell(happened.LoopBegun())
    assert gone[-1].known is None


def test_a_job_that_an_earlier_driver_journalled_is_not_journalled_again(case):
    about = {"job": "attempt-1", "attempt": 1}
    run = case(
        events=[ev.SimulationSubmitting(**about), ev.SimulationSubmitted(**about, job_id="7")]
    )
    run.tell(happened.LoopBegun())
    run.tell(happened.BufferReady(BUFFER, adopted=True))
    run.tell(happened.StagedIn(1, 1000, 0))
    run.tell(happened.JobsDescribed())
    assert kinds(run.tell(happened.JobSubmitted("attempt-1", "7"))) == []
    assert kinds(run.tell(happened.JobSubmitted("attempt-1", "8"))) == [
        "simulation.submitted",
        "Sync",
    ]


@pytest.mark.parametrize("stopping", [True, False])
def test_a_stop_is_done_with_the_first_report_that_was_made_after_it(case, stopping):
    run = case()
    run.start()
    run.tell(happened.StopRequested("stop"))
    report = Report((), (), Cursor(), stopping=stopping)
    assert ("Request" in kinds(run.tell(happened.FramesFound(report)))) == stopping


def test_the_viewing_block_is_asked_for_when_the_simulation_has_its_job(case):
    run = case(RECIPE + BEFORE, batch=True)
    run.start()
    assert "AskBlock" not in kinds(run.tell(happened.JobSubmitted("step-real-1", "slurm:7")))
    *_, ask = run.tell(happened.JobSubmitted("attempt-1", "slurm:8"))
    assert ask == todo.AskBlock("8")


def test_a_pause_is_journalled_while_the_model_runs_and_over_when_it_has_ended(case):
    run = case()
    run.start()
    assert kinds(run.tell(happened.PauseSeen(True))) == ["control.received"]
    run.tell(happened.JobEnded("attempt-1", WELL))
    assert kinds(run.tell(happened.PauseSeen(True))) == ["DropRequest", "control.received"]
    assert [alarm.text for alarm in run.snapshot.alarms] == [
        "the model has ended: what waited is made now"
    ]
