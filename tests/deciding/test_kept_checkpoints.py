"""Which checkpoints stay: so many good ones, and never fewer while newer ones are not judged."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from launched_case import Case
from segments_case import settle
from simulated_nodes import BUFFER

from burstlens.core.model import Frame
from burstlens.core.run import events as ev
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report, WholeCheckpoint
from burstlens.workflows.guards.finding import Breach, Reading
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.buffer import remove_checkpoint

RECIPE = """\
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
[checkpoint]
keep = 2
"""
GUARD = '[[guard]]\nname = "hot"\nvariable = "T2"\nmax = 400.0\nthen = "stop"\n'


def key(second: int) -> str:
    return f"t{second:012.3f}"


def frame(second: int) -> Frame:
    paths = (f"storm-1/1/out_{second}.nc",)
    return Frame("storm-1", 1, "output", key(second), paths, 0, 1000, 1.0, 1.1, "header")


@pytest.fixture
def case(recipe, run_dir) -> Callable[..., Case]:
    def make(more: str = "", *events: ev.Event) -> Case:
        run = Case(run_dir, recipe(text=RECIPE + more), events)
        run.tell(happened.LoopBegun())
        run.tell(happened.BufferReady(BUFFER, adopted=bool(events)))
        run.tell(happened.StagedIn(1, 1000, 0))
        run.tell(happened.JobsDescribed())
        return run

    return make


def report(run: Case, *seconds: int, frames: tuple[Frame, ...] = ()) -> None:
    """The watcher has found these checkpoints."""
    found = tuple(WholeCheckpoint(key(s), (f"rst_{s}",), 10, 1.0, "name") for s in seconds)
    run.tell(happened.FramesFound(Report(frames, (), Cursor(), checkpoints=found)))


def removals(run: Case) -> list[todo.Ask]:
    """What is asked for after all that had happened is published."""
    asks = [one for one in settle(run) if isinstance(one, todo.Ask)]
    return [one for one in asks if one.function is remove_checkpoint]


def test_older_ones_go_when_there_are_enough_good_ones_and_each_is_asked_for_once(case):
    run = case()
    report(run, 1, 2)
    assert removals(run) == []
    report(run, 3, 4)
    asks = removals(run)
    assert [one.about for one in asks] == [(1, key(1)), (1, key(2))]
    assert [one.args[1:] for one in asks] == [(["1"], ("rst_1",)), (["1"], ("rst_2",))]
    assert removals(run) == []


def test_one_that_is_deleted_is_journalled_and_forgotten(case):
    run = case()
    report(run, 1, 2, 3)
    (ask,) = removals(run)
    (removed,) = run.tell(happened.QuestionAnswered(ask, None))
    assert (removed.event, removed.time) == ("checkpoint.removed", key(1))
    assert [one.time for one in run.state.history.checkpoints.records] == [key(2), key(3)]


def test_ones_whose_frames_guards_have_not_read_do_not_count_as_good(case):
    run = case(GUARD)
    report(run, 1, 2, 3, 4, frames=(frame(2),))
    assert removals(run) == []
    run.state.history.inspected.add(("output", key(2), 1))
    assert [one.about for one in removals(run)] == [(1, key(1)), (1, key(2))]


def test_suspect_ones_never_push_the_last_good_ones_out(case):
    run = case(GUARD)
    report(run, 1, 2, 3, 4, 5)
    about = {"guard": "hot", "then": "stop", "text": "T2 = 500 K", "what": "T2"}
    run.state.history.apply(ev.GuardTripped(attempt=1, stream="output", time=key(3), **about))
    assert removals(run) == []


def test_the_links_of_an_attempt_that_goes_on_are_deleted_as_well(case):
    begins = [
        ev.SimulationSubmitting(job="attempt-1", attempt=1),
        ev.CheckpointWhole(attempt=1, time=key(1), files=["rst_1"], bytes=10),
        ev.SimulationSubmitting(job="attempt-2", attempt=2, checkpoint=key(1), written_by=1),
    ]
    run = case("", *begins)
    report(run, 2, 3)
    (ask,) = removals(run)
    assert ask.args[1] == ["1", "2"]


def test_files_are_deleted_from_each_folder_and_missing_ones_are_no_error(tmp_path):
    from burstlens.workflows.placement.buffer import BufferRef

    for attempt in ("1", "2"):
        (tmp_path / "storm" / attempt).mkdir(parents=True)
    (tmp_path / "storm" / "1" / "rst").touch()
    (tmp_path / "storm" / "1" / "out.nc").touch()
    remove_checkpoint(BufferRef("posix", str(tmp_path), "storm"), ["1", "2"], ("rst",))
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["out.nc"]


def test_ones_within_an_episode_that_lasts_since_before_a_forced_resume_are_suspect(case):
    about = {"guard": "hot", "then": "stop", "text": "T2 = 500 K", "what": "max"}
    events = [
        ev.SimulationSubmitting(job="attempt-1", attempt=1),
        ev.CheckpointWhole(attempt=1, time=key(3), files=["rst_3"], bytes=10),
        ev.GuardTripped(attempt=1, stream="output", time=key(2), **about),
        ev.SimulationSubmitting(job="attempt-2", attempt=2, checkpoint=key(3), written_by=1),
    ]
    run = case(GUARD, *events)
    judge = run.state.policy.guarding.judge
    judge.continued.clear()
    judge.recall(events)
    bad = Breach("max", "T2 = 510 K")
    assert judge.read(Reading("hot", "output", key(5), 2, breach=bad), 1.0) == []
    report(run, 4, 6)
    settle(run)
    records = run.state.history.checkpoints.records
    assert [(one.attempt, one.time) for one in records if not one.suspect] == [(2, key(6))]
