"""A job that ended without a word: while a full run disk takes nothing, its scheduler says so."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from burst_case import buffer_of, on_path

from burstlens.cluster_configs.polling import PollingScheduler
from burstlens.cluster_configs.site import choose
from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal
from burstlens.workflows.deciding.jobs import Jobs
from burstlens.workflows.deciding.state import Policy, RunState
from burstlens.workflows.driver.launching import Launching
from burstlens.workflows.driver.run import recipe_of
from burstlens.workflows.driver.scheduling import scheduled
from burstlens.workflows.ordering.events import Turn
from burstlens.workflows.placement import batch
from burstlens.workflows.placement.provision import provision
from burstlens.workflows.placement.supervised import JobFailedError
from burstlens.workflows.plan.commands import new_run
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.viewing.graph import Graph, NodeResult

pytestmark = pytest.mark.integration
PATIENCE_S = 120.0


def wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_job_that_is_over_by_its_scheduler_writes_no_more_while_no_disk_takes_its_end(
    recipe_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PollingScheduler.__init__, "__defaults__", (None, 0.2))
    monkeypatch.setattr(batch, "SETTLES_S", 0.2)
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    slurm = on_path(tmp_path / "slurm", monkeypatch)
    run, _ = new_run(str(recipe_file()), "slurm-datawarp", name="storm")
    recipe, site = recipe_of(run)
    launcher, _ = scheduled(run, recipe, site)
    history = History()
    with (
        Graph(choose("local"), run, jobs=3) as graph,
        contextlib.closing(Journal(run.journal, 1, history.apply)) as journal,
    ):
        context = RunContext.of(run, recipe, site, journal, history)
        space = provision(site, run, recipe, launcher, lambda: False)
        state = RunState(context, Policy)
        jobs, launching = Jobs(state), Launching(context, graph, space, launcher)
        jobs.describe(buffer_of(run))
        *events, asked = state.handle(Turn())
        for event in events:
            journal.write(event)
        launching.describe(asked)
        jobs.launch()
        for launch in state.handle(Turn()):
            launching.launch(launch)

        def is_silent() -> bool:
            jobs.look(buffer=False)
            (see,) = state.handle(Turn())
            jobs.take_sight(launching.see(see))
            return jobs.is_silent

        folder = run.job(jobs.simulation)
        wait_for(lambda: (folder / "job_id").exists())
        assert not is_silent()
        assert not jobs.writes_no_more
        part = folder / f".ended.json.{os.getpid()}.part"
        part.mkdir()  # what is written first cannot be
        for name in ("job-1", "queue"):
            path = slurm.folder / name
            path.write_text(path.read_text().replace("PENDING", "FAILED"))
        wait_for(is_silent)
        assert jobs.writes_no_more
        part.rmdir()
        results = (done for _ in range(30) for done in graph.events(10.0))
        ended = next(done for done in results if isinstance(done, NodeResult))
        assert isinstance(ended.error, JobFailedError)
        assert ended.error.ended.reason == "lost"
        assert not is_silent()
