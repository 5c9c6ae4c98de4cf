"""Checkpoints are good by their own fields where no guard reads those of the frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import planted
import pytest
from launched_case import Case
from segments_case import FAILED, WELL, checkpoint, described, end, key, segmented, settle

from burstlens.core.run import events as ev
from burstlens.workflows.deciding.judging import JUDGEMENT, guards_judge
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.buffer import BufferRef, remove_checkpoint

GUARD = '[[guard]]\nname = "stable"\nvariable = "{}"\nmax = 9.0\nthen = "{}"\n'


def found(run: Case, *seconds: float) -> None:
    """The watcher has found these checkpoints."""
    whole = tuple(checkpoint(second) for second in seconds)
    run.tell(happened.FramesFound(Report((), (), Cursor(), checkpoints=whole)))


def judgements(run: Case) -> list[todo.Ask]:
    """What is to be read now."""
    run.tell(happened.Turn())
    done = run.tell(happened.ProductsPublished())
    return [one for one in done if isinstance(one, todo.Ask) and one.kind == JUDGEMENT]


def answer(run: Case, ask: todo.Ask, fault: str = "") -> list[todo.Instruction]:
    return run.tell(happened.QuestionAnswered(ask, fault))


def names(run: Case) -> list[str]:
    return [one.event for one in run.events if one.event.startswith("checkpoint.")]


@pytest.mark.parametrize(
    ("variable", "then", "judged"),
    [("vz", "stop", True), ("vz", "stop-now", True), ("vz", "alarm", False)],
)
def test_a_guard_judges_them_that_stops_the_model(recipe, run_dir, variable, then, judged):
    run = segmented(recipe, run_dir, more=GUARD.format(variable, then))
    assert guards_judge(run.state.recipe) == judged


def test_a_guard_of_a_field_that_wrf_diagnoses_does_not(recipe):
    text = '[simulation]\nmodel = "wrf"\nexecutable = "model.sh"\ninputs = "inputs"\n'
    text += '[[product]]\nname = "t2"\nkind = "map"\nvariable = "T2"\n'
    for variable, judged in (("T2", False), ("W", True)):
        made = recipe(text=text + GUARD.format(variable, "stop"))
        assert guards_judge(made) == judged


def test_the_newest_is_read_first_and_one_at_a_time(recipe, run_dir):
    run = segmented(recipe, run_dir)
    run.start()
    found(run, 0.5, 1.0)
    (ask,) = judgements(run)
    assert (ask.about, ask.priority) == ((1, key(1.0)), todo.LAST)
    assert judgements(run) == []
    (event,) = answer(run, ask)
    assert (event.event, event.time) == ("checkpoint.judged", key(1.0))
    (ask,) = judgements(run)
    assert ask.about == (1, key(0.5))
    answer(run, ask)
    assert judgements(run) == []


def test_those_are_not_read_before_which_there_are_enough_good_ones(recipe, run_dir):
    run = segmented(recipe, run_dir)
    run.start()
    found(run, 0.5, 1.0, 1.5)
    for second in (1.5, 1.0):
        (ask,) = judgements(run)
        assert ask.about == (1, key(second))
        answer(run, ask)
    run.tell(happened.Turn())
    (ask,) = (one for one in run.tell(happened.ProductsPublished()) if isinstance(one, todo.Ask))
    assert (ask.function, ask.about) == (remove_checkpoint, (1, key(0.5)))
    assert run.state.policy.checkpoints.judging.is_done


def test_one_that_is_being_read_is_deleted_afterwards(recipe, run_dir):
    run = segmented(recipe, run_dir)
    run.start()
    found(run, 0.5)
    (ask,) = judgements(run)
    found(run, 1.0, 1.5)
    for second in (1.0, 1.5):
        run.state.history.apply(ev.CheckpointJudged(attempt=1, time=key(second)))
    run.tell(happened.Turn())
    assert not [one for one in run.tell(happened.ProductsPublished()) if isinstance(one, todo.Ask)]
    answer(run, ask)
    run.tell(happened.Turn())
    (ask,) = (one for one in run.tell(happened.ProductsPublished()) if isinstance(one, todo.Ask))
    assert (ask.function, ask.about) == (remove_checkpoint, (1, key(0.5)))


def test_one_that_is_bad_is_suspect_and_that_is_said(recipe, run_dir):
    run = segmented(recipe, run_dir)
    run.start()
    found(run, 1.0)
    (ask,) = judgements(run)
    event, alarm = answer(run, ask, "a.awm: vz is nan at 1, 2, 3")
    assert (event.event, event.reason) == ("checkpoint.suspect", "a.awm: vz is nan at 1, 2, 3")
    assert alarm.text == (
        "the checkpoint of t = 1 s is suspect and will not be used: a.awm: vz is nan at 1, 2, 3"
    )
    assert judgements(run) == []


def test_with_a_guard_none_is_read(recipe, run_dir):
    run = segmented(recipe, run_dir, more=GUARD.format("vz", "stop"))
    run.start()
    found(run, 1.0)
    assert judgements(run) == []


def test_the_next_driver_reads_those_that_nobody_has_judged(recipe, run_dir):
    whole = {"files": ["a.awm"], "bytes": 10}
    events = [
        ev.SimulationSubmitting(job="attempt-1", attempt=1),
        ev.CheckpointWhole(attempt=1, time=key(1.0), **whole),
        ev.CheckpointJudged(attempt=1, time=key(1.0)),
        ev.CheckpointWhole(attempt=1, time=key(2.0), **whole, sizes=[10]),
    ]
    run = segmented(recipe, run_dir, events=events)
    run.tell(happened.LoopBegun())
    run.tell(happened.BufferReady(BufferRef("posix", "/b", "storm"), adopted=True))
    run.tell(happened.StagedIn(1, 1, 0))
    run.tell(happened.JobsDescribed())
    (ask,) = judgements(run)
    assert ask.about == (1, key(2.0))
    assert ask.args[2:] == ("1", {"a.awm": 10})


def test_one_that_cannot_be_read_for_good_is_suspect(recipe, run_dir):
    run = segmented(recipe, run_dir)
    run.start()
    found(run, 1.0)
    (ask,) = judgements(run)
    for _ in range(20):
        run.tell(happened.NodeFailed(ask, OSError("gone")))
    assert run.state.history.checkpoints.records[0].suspect == "it could not be read: gone"


def test_no_attempt_begins_before_its_checkpoint_is_judged(recipe, run_dir):
    run = segmented(recipe, run_dir, keys="retries = 1")
    run.start()
    run.tell(happened.JobEnded("attempt-1", FAILED))
    ended = Report((), (), Cursor(), ended=True, checkpoints=(checkpoint(1.0),))
    run.tell(happened.FramesFound(ended))
    (ask,) = judgements(run)
    assert judgements(run) == []
    assert run.state.history.attempt == 1
    answer(run, ask)
    run.tell(happened.Turn())
    assert described(run.tell(happened.ProductsPublished())).continuation.time == key(1.0)


def test_a_nan_in_the_newest_checkpoint_has_the_one_before_used(recipe, run_dir, tmp_path):
    run = segmented(recipe, run_dir, keys="retries = 1")
    run.start()
    buffer = BufferRef("posix", str(tmp_path), "storm")
    folder = tmp_path / "storm" / "1"
    for second in (1.0, 2.0):
        planted.write(Path(folder, checkpoint(second).files[0]), planted.fields())
    planted.plant(Path(folder, checkpoint(2.0).files[0]), "sxx", np.nan)
    run.tell(happened.JobEnded("attempt-1", FAILED))
    whole = (checkpoint(1.0), checkpoint(2.0))
    run.tell(happened.FramesFound(Report((), (), Cursor(), ended=True, checkpoints=whole)))
    while asks := judgements(run):
        _, model, *about = asks[0].args
        sizes = dict.fromkeys(about[1])
        answer(run, asks[0], asks[0].function(buffer, model, about[0], sizes))
        if begun := [one for one in run.events if isinstance(one, ev.SimulationSubmitting)][1:]:
            break
    else:
        begun = [one for one in run.events if isinstance(one, ev.SimulationSubmitting)][1:]
    assert [(one.attempt, one.checkpoint) for one in begun] == [(2, key(1.0))]
    (suspect,) = [one for one in run.events if isinstance(one, ev.CheckpointSuspect)]
    assert (suspect.time, suspect.reason) == (
        key(2.0), "checkpoint_0000200.awm: sxx is nan at 2, 0, 0"
    )  # fmt: skip


def test_the_ones_before_are_judged_as_well(recipe, run_dir):
    run = segmented(recipe, run_dir, keys="retries = 1")
    run.start()
    run.tell(happened.JobEnded("attempt-1", FAILED))
    whole = (checkpoint(1.0), checkpoint(2.0))
    run.tell(happened.FramesFound(Report((), (), Cursor(), ended=True, checkpoints=whole)))
    (newest,) = judgements(run)
    answer(run, newest)
    (before,) = judgements(run)
    assert before.about == (1, key(1.0))
    assert run.state.history.attempt == 1
    answer(run, before)
    run.tell(happened.Turn())
    assert described(run.tell(happened.ProductsPublished())).continuation.time == key(2.0)


def test_a_run_that_failed_ends_when_its_newest_checkpoint_is_judged(recipe, run_dir):
    run = segmented(recipe, run_dir)
    run.start()
    run.tell(happened.JobEnded("attempt-1", FAILED))
    whole = (checkpoint(1.0),)
    run.tell(happened.FramesFound(Report((), (), Cursor(), ended=True, checkpoints=whole)))
    run.tell(happened.Turn())
    done = run.tell(happened.ProductsPublished())
    (ask,) = (one for one in done if isinstance(one, todo.Ask))
    assert not any(isinstance(one, todo.BringHome) for one in done)
    answer(run, ask)
    assert any(isinstance(one, todo.BringHome) for one in settle(run))


def test_each_cut_is_judged_before_the_next_attempt(recipe, run_dir):
    run = segmented(recipe, run_dir)
    run.start()
    end(run, 1, WELL, 1.0)
    assert names(run) == ["checkpoint.whole", "checkpoint.judged"]
    assert run.state.history.attempt == 2
