"""Checkpoints come home: which, when, in which order, and which of those at home are deleted."""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import partial

import pytest
from launched_case import Case, kinds
from segments_case import FAILED, WALLTIME, WELL, copied, copies, judge, key, segmented
from simulated_nodes import BUFFER

from burstlens.core.errors import StagingError
from burstlens.core.model import Frame
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.workflows.deciding.home_copies import AGAIN_S, REMOVAL
from burstlens.workflows.deciding.judging import JUDGEMENT
from burstlens.workflows.deciding.target import PATIENCE_S
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report, WholeCheckpoint
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.checkpoint_home import remove_copy

NAME = "surface_0.5.nc"
GUARD = """\
[[guard]]
name = "stable"
stream = "surface"
variable = "vz"
max = 50.0
then = "stop"
"""


@pytest.fixture
def case(recipe, run_dir: RunDir) -> Callable[..., Case]:
    """A run whose buffer ends with its job."""
    return partial(segmented, recipe, run_dir, batch=True, lasts=False)


def frame(second: float, stream: str = "surface") -> Frame:
    paths = (f"storm-1/1/{stream}_{second}.nc",)
    return Frame("storm-1", 1, stream, key(second), paths, 0, 1000, 1.0, 1.1, "header")


def report(run: Case, *seconds: float, frames: tuple[Frame, ...] = ()) -> list[todo.Instruction]:
    """The watcher finds these checkpoints and frames; what is to be done then."""
    found = tuple(WholeCheckpoint(key(s), (f"rst_{s}",), 10, 1.0, "name") for s in seconds)
    run.tell(happened.FramesFound(Report(frames, (), Cursor(), checkpoints=found)))
    return look(run)


def look(run: Case, after_s: float = 2.0) -> list[todo.Instruction]:
    run.tell(happened.Turn(), after_s=after_s)
    return judge(run, run.tell(happened.ProductsPublished()))


def publish(run: Case, *seconds: float) -> None:
    for second in seconds:
        about = {"product": "motion", "stream": "surface", "time": key(second), "attempt": 1}
        files = {"incoming": ".incoming/u", "name": "motion.png", "bytes": 1, "crc32": 1}
        run.state.history.apply(ev.ProductPublished(uuid="u", **files, **about))


def bring(run: Case, done) -> list[todo.Instruction]:
    (ask,) = copies(done)
    run.tell(happened.QuestionAnswered(ask, copied(ask)))
    return look(run)


def test_each_good_checkpoint_comes_home_after_the_products_of_its_frames(case):
    run = case()
    run.start()
    assert copies(report(run, 1.0, frames=(frame(0.5), frame(1.0)))) == []
    publish(run, 0.5)
    assert copies(look(run)) == []
    publish(run, 1.0)
    (ask,) = copies(look(run))
    assert ask.args == (BUFFER, run.run, 1, key(1.0), ("rst_1.0",))
    assert ask.priority == todo.LAST
    assert copies(look(run)) == [], "one is under way"
    (home,) = (
        one
        for one in run.tell(happened.QuestionAnswered(ask, copied(ask)))
        if isinstance(one, ev.CheckpointHome)
    )
    assert (home.time, home.bytes, home.files) == (key(1.0), 500, [("rst_1.0", 500, 7)])
    assert copies(look(run)) == []


def test_only_the_newest_comes_when_several_became_good_during_a_copy(case):
    run = case()
    run.start()
    (first,) = copies(report(run, 1.0))
    assert first.about == (1, key(1.0))
    assert copies(report(run, 2.0, 3.0)) == []
    (second,) = copies([*bring(run, [first])])
    assert second.about == (1, key(3.0))


def test_one_before_frames_that_are_not_published_comes_where_a_newer_one_cannot(case):
    run = case()
    run.start()
    (ask,) = copies(report(run, 1.0, 2.0, frames=(frame(1.5),)))
    assert ask.about == (1, key(1.0))


def test_a_frame_that_the_interval_announces_is_waited_for(case):
    run = case()
    run.start()
    publish(run, 0.5, 1.0, 1.5)
    assert copies(report(run, 1.5, frames=(frame(0.5), frame(1.0)))) == []
    (ask,) = copies(report(run, frames=(frame(1.5),)))
    assert ask.about == (1, key(1.5))


def test_a_frame_of_an_earlier_driver_that_the_watcher_has_not_found_again_is_waited_for(case):
    before = [
        ev.BufferCreated(kind="posix", path="/b", folder="storm-1"),
        ev.SimulationSubmitting(job="attempt-1", attempt=1),
        ev.FrameReady(attempt=1, stream="surface", time=key(0.5), record=0, bytes=1, file=NAME),
    ]
    run = case(events=before)
    run.tell(happened.LoopBegun())
    run.tell(happened.BufferReady(BUFFER, adopted=True))
    run.tell(happened.StagedIn(1, 1000, 0))
    run.tell(happened.JobsDescribed())
    assert copies(report(run, 1.0)) == []
    publish(run, 0.5)
    (ask,) = copies(report(run, frames=(frame(0.5),)))
    assert ask.about == (1, key(1.0))


def test_checkpoints_that_guards_have_not_cleared_stay_on_the_buffer(case):
    run = case(more=GUARD)
    run.start()
    publish(run, 0.5)
    assert copies(report(run, 1.0, frames=(frame(0.5),))) == []
    run.state.history.inspected.add(("surface", key(0.5), 1))
    assert len(copies(look(run))) == 1


def test_the_checkpoint_that_is_copied_is_not_deleted_meanwhile(case):
    run = case()
    run.start()
    (ask,) = copies(report(run, 1.0))
    done = report(run, 2.0, 3.0, 4.0)
    removals = [one.about for one in done if isinstance(one, todo.Ask) and one.kind == "checkpoint"]
    assert removals == [(1, key(2.0))]
    done = [*run.tell(happened.QuestionAnswered(ask, copied(ask))), *look(run)]
    assert (1, key(1.0)) in [one.about for one in done if isinstance(one, todo.Ask)]
    assert run.state.history.checkpoints.find(1, key(1.0)).home


def test_a_target_that_is_full_raises_an_alarm_and_another_try_comes_later(case):
    run = case()
    run.start()
    (ask,) = copies(report(run, 1.0))
    run.tell(happened.NodeFailed(ask, StagingError("full", path="/x", number=28)))
    assert "could not be brought home" in run.snapshot.alarms[-1].text
    assert copies(look(run)) == []
    (again,) = copies(look(run, after_s=AGAIN_S + 1))
    assert again.about == ask.about


def test_copies_at_home_go_when_there_are_enough_newer_good_ones_there(case):
    run = case()
    run.start()
    for second in (1.0, 2.0):
        bring(run, report(run, second))
    done = bring(run, report(run, 3.0))
    (gone,) = (one for one in done if isinstance(one, todo.Ask) and one.kind == REMOVAL)
    assert (gone.function, gone.args) == (remove_copy, (run.run.checkpoint(1, key(1.0)),))
    run.tell(happened.QuestionAnswered(gone, None))
    left = [one.time for one in run.state.history.checkpoints.records if one.home]
    assert left == [key(2.0), key(3.0)]


def test_suspect_copies_do_not_push_the_last_good_ones_out(case):
    run = case()
    run.start()
    for second in (1.0, 2.0):
        bring(run, report(run, second))
    run.state.history.apply(ev.CheckpointSuspect(attempt=1, time=key(2.0), reason="bad"))
    done = bring(run, report(run, 3.0))
    assert not [one for one in done if isinstance(one, todo.Ask) and one.kind == REMOVAL]


def test_copies_of_which_the_fields_are_not_read_do_not_push_the_last_good_ones_out(case):
    run = case(more="[checkpoint]\nkeep = 1\n")
    run.start()
    bring(run, report(run, 1.0))
    rst = "rst_2.0"
    for event in (
        ev.CheckpointWhole(attempt=1, time=key(2.0), files=[rst], bytes=500),
        ev.CheckpointHome(attempt=1, time=key(2.0), files=[(rst, 500, 7)], bytes=500),
    ):
        run.state.history.apply(event)
    run.tell(happened.Turn(), after_s=2.0)
    asked = [one for one in run.tell(happened.ProductsPublished()) if isinstance(one, todo.Ask)]
    assert [one.kind for one in asked] == [JUDGEMENT], "no copy goes"
    run.tell(happened.QuestionAnswered(asked[0], ""))
    assert REMOVAL in [one.kind for one in look(run) if isinstance(one, todo.Ask)]


def test_a_copy_that_was_freed_before_its_fields_were_read_is_not_counted(case):
    run = case(more="[checkpoint]\nkeep = 1\n")
    run.start()
    for second, judged in ((1.0, True), (2.0, False)):
        rst = f"rst_{second}"
        whole = ev.CheckpointWhole(attempt=1, time=key(second), files=[rst], bytes=500)
        copy = [(rst, 500, 7)]
        home = ev.CheckpointHome(attempt=1, time=key(second), files=copy, bytes=500)
        for event in (whole, home):
            run.state.history.apply(event)
        if judged:
            run.state.history.apply(ev.CheckpointJudged(attempt=1, time=key(second)))
    run.state.history.checkpoints.lose_buffer()
    assert [one for one in look(run) if isinstance(one, todo.Ask)] == []


def test_a_buffer_that_outlives_its_job_gives_the_newest_at_the_end_alone(recipe, run_dir):
    run = segmented(recipe, run_dir, segments=1)
    run.start()
    assert copies(report(run, 1.0, 2.0)) == []
    run.tell(happened.JobEnded("attempt-1", FAILED))
    run.tell(happened.FramesFound(Report((), (), Cursor(), ended=True)))
    done = look(run)
    assert "BringHome" not in kinds(done)
    (ask,) = copies(done)
    assert ask.about == (1, key(2.0))
    run.tell(happened.QuestionAnswered(ask, copied(ask)))
    assert "BringHome" in kinds(look(run))


def done(run: Case) -> list[todo.Instruction]:
    """The model ends well."""
    run.tell(happened.JobEnded("attempt-1", WELL))
    cursor = Cursor(speech=Speech(ended_well=True))
    run.tell(happened.FramesFound(Report((), (), cursor, ended=True)))
    return look(run)


def test_of_a_run_that_is_done_the_newest_before_its_end_comes(recipe, run_dir):
    run = segmented(recipe, run_dir, segments='"until done"')
    run.start()
    report(run, 3.0, 4.0)
    (ask,) = copies(done(run))
    assert ask.about == (1, key(3.0))
    run.tell(happened.QuestionAnswered(ask, copied(ask)))
    assert "BringHome" in kinds(look(run))


def test_of_a_buffer_that_ends_with_its_job_none_comes_from_the_end_of_the_run(case):
    run = case(segments='"until done"')
    run.start()
    assert copies(bring(run, report(run, 3.0))) == []
    assert copies(report(run, 4.0)) == []
    assert "BringHome" in kinds(done(run))


def test_an_attempt_that_was_cut_at_the_end_of_the_run_leaves_that_checkpoint_to_the_next(case):
    run = case(segments='"until done"')
    run.start()
    (ask,) = copies(cut(run, 4.0))
    assert ask.about == (1, key(4.0))


def test_a_copy_that_fails_at_the_end_does_not_hold_the_end_up(recipe, run_dir):
    run = segmented(recipe, run_dir, segments=1)
    run.start()
    report(run, 1.0)
    run.tell(happened.JobEnded("attempt-1", FAILED))
    run.tell(happened.FramesFound(Report((), (), Cursor(), ended=True)))
    (ask,) = copies(look(run))
    run.tell(happened.NodeFailed(ask, StagingError("full", path="/x", number=28)))
    assert "BringHome" in kinds(look(run))


def cut(run: Case, *seconds: float) -> list[todo.Instruction]:
    """The attempt ends with these checkpoints, as its job's time is over."""
    run.tell(happened.JobEnded("attempt-1", WALLTIME))
    found = tuple(WholeCheckpoint(key(s), (f"rst_{s}",), 10, 1.0, "name") for s in seconds)
    run.tell(happened.FramesFound(Report((), (), Cursor(), ended=True, checkpoints=found)))
    return look(run)


def full(run: Case) -> StagingError:
    return StagingError("full", path=str(run.run.checkpoints / "1"), number=errno.ENOSPC)


def test_a_run_directory_that_is_full_at_the_change_of_jobs_is_waited_for(case):
    run = case(segments='"until done"')
    run.start()
    (ask,) = copies(cut(run, 1.0))
    run.tell(happened.NodeFailed(ask, full(run)))
    assert "BringHome" not in kinds(look(run, after_s=0.1))
    (again,) = copies(look(run))
    assert again.about == ask.about
    run.tell(happened.QuestionAnswered(again, copied(again)))
    assert "BringHome" in kinds(look(run))


def test_one_that_failed_earlier_in_the_run_is_tried_again_at_the_change_of_jobs(case):
    run = case(segments='"until done"')
    run.start()
    (ask,) = copies(report(run, 1.0))
    run.tell(happened.NodeFailed(ask, StagingError("gone", path="/x", number=errno.EIO)))
    (again,) = copies(cut(run))
    assert again.about == ask.about


def test_a_run_directory_that_stays_full_is_named_where_no_attempt_can_follow(case):
    run = case(segments='"until done"')
    run.start()
    done = cut(run, 1.0)
    for _ in range(3):
        for ask in copies(done):
            run.tell(happened.NodeFailed(ask, full(run)))
        done = look(run, after_s=PATIENCE_S / 2 + 1)
    assert copies(done) == []
    assert "checkpoint of t = 1 s could not be brought home: full" in str(
        run.state.policy.jobs.outcome().message
    )
    assert len([one for one in run.snapshot.alarms if "brought home" in one.text]) == 1


def test_an_attempt_that_is_cut_leaves_its_buffer_when_its_checkpoint_is_home(case):
    run = case(segments='"until done"')
    run.start()
    done = cut(run, 1.0)
    assert "BringHome" not in kinds(done)
    assert "BringHome" in kinds(bring(run, done))
