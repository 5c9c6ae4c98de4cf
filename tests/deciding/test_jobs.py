"""The start of a run's jobs while the run directory gives errors, with real supervisors."""

from __future__ import annotations

import contextlib
import errno
import os

import pytest

from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.deciding.jobs import Jobs
from burstlens.workflows.deciding.state import Policy, RunState
from burstlens.workflows.driver.launching import Launching
from burstlens.workflows.driver.run import execute, recipe_of
from burstlens.workflows.ordering.events import Turn
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.provision import provision
from burstlens.workflows.placement.stage_in import DONE
from burstlens.workflows.plan.commands import new_run
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.viewing.graph import Graph, NodeResult

pytestmark = pytest.mark.integration
STEP = """
[[step]]
name = "archive"
after = "simulation"
command = ["true"]
where = "login"
"""


@pytest.fixture
def started(recipe_file, tmp_path, monkeypatch):
    """The jobs of a run on a fresh buffer, which was asked to stop: its programs never start."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    path = recipe_file()
    path.write_text(path.read_text() + STEP)
    run, _ = new_run(str(path), "local", [], "storm")
    (run.path / DONE).write_text("{}")
    recipe, site = recipe_of(run)
    (tmp_path / "buffer").mkdir()
    buffer = BufferRef("posix", str(tmp_path / "buffer"), "storm")
    history = History()
    with (
        Graph(site, run, jobs=3) as graph,
        contextlib.closing(Journal(run.journal, 1, history.apply)) as journal,
    ):
        context = RunContext.of(run, recipe, site, journal, history)
        space = provision(site, run, recipe, None, lambda: False)
        state = RunState(context, Policy)
        jobs, launching = Jobs(state), Launching(context, graph, space, None)
        jobs.fresh_buffer = True
        run.request("stop-now")

        def start():
            jobs.describe(buffer)
            *events, asked = state.handle(Turn())
            for event in events:
                journal.write(event)
            launching.describe(asked)
            jobs.launch()
            for launch in state.handle(Turn()):
                launching.launch(launch)

        yield run, graph, launching, jobs, start


@pytest.mark.parametrize("fails", ["stat", "unlink", "fsync", "replace"])
def test_a_run_directory_that_gives_errors_holds_no_loop_up_and_nothing_is_begun_twice(
    started, monkeypatch, fails
):
    run, graph, launching, jobs, start = started
    failing, failed = True, []
    real = getattr(os, fails)

    def stale(path, *args, **named):
        if failing and (not isinstance(path, os.PathLike | str) or str(run.path) in str(path)):
            failed.append(path)
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return real(path, *args, **named)

    monkeypatch.setattr(os, fails, stale)
    for _ in range(3):
        with pytest.raises(OSError, match="Stale"):
            start()
    assert len(failed) < 10  # none is tried again for seconds
    assert not jobs.live
    failing = False
    start()
    assert jobs.live == {"attempt-1", "step-archive-1.1"}
    assert not (run.path / DONE).exists()
    results = (done for _ in range(30) for done in graph.events(10.0))
    ended = next(done for done in results if isinstance(done, NodeResult))
    assert launching.ended(ended.node, ended.value, ended.error).end.stopped
    submitted = [event.event for event in read(run.journal) if "submitting" in event.event]
    assert submitted == ["simulation.submitting", "step.submitting"]


@pytest.mark.slow
def test_a_driver_begins_a_little_later_where_its_run_directory_gives_errors(
    recipe_file, tmp_path, monkeypatch
):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path))
    run, _ = new_run(str(recipe_file()), "local", [], "storm")
    real, failed = os.unlink, []

    def stale(path, *args, **named):
        if str(path) == str(run.path / DONE) and len(failed) < 2:
            failed.append(path)
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(path))
        real(path, *args, **named)

    monkeypatch.setattr(os, "unlink", stale)
    execute(run)
    assert len(failed) == 2
    events = [event.event for event in read(run.journal)]
    for kind in ("simulation.submitting", "simulation.submitted", "simulation.ended", "run.ended"):
        assert events.count(kind) == 1
