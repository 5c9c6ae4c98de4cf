"""Jobs that a scheduler runs for a driver: how they and viewing blocks are submitted, and whether
the one that has the buffer has ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from burstlens.cluster_configs.calls import LatestAnswer, SchedulerCalls
from burstlens.cluster_configs.scheduler import Scheduler, SchedulerError
from burstlens.cluster_configs.schedulers import LOCAL, scheduler
from burstlens.cluster_configs.site import Site
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.job_buffer import HostedLauncher, JobBuffer
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.recipe.recipe import Recipe
from burstlens.workflows.viewing.graph import Graph

if TYPE_CHECKING:
    from burstlens.cluster_configs.parsl_config import Block

BEAT_S = 1.0
"""How often a driver that waits for the scheduler at its end shows that it lives."""


def scheduled(
    run: RunDir, recipe: Recipe, site: Site
) -> tuple[BatchLauncher | HostedLauncher | None, Block | None]:
    """How jobs and viewing blocks are submitted, where there is a scheduler."""
    if site.scheduler == LOCAL:
        return None, None
    from burstlens.cluster_configs.parsl_config import Block

    batch = scheduler(site.scheduler)(site.batch)
    token = str(facts_of(run, "buffer_folder").buffer_folder)
    walltime = site.viewing.walltime or recipe.simulation.walltime
    launcher = BatchLauncher(batch, site, run, token)
    if site.viewing.placement == "same-job":
        return HostedLauncher(launcher), None
    return launcher, Block(scheduler=batch, comment=run.id, token=token, walltime_s=walltime)


def scheduler_of(launcher: BatchLauncher | HostedLauncher | None) -> Scheduler | None:
    """The scheduler that starts a run's jobs, if there is one."""
    batch = launcher.batch if isinstance(launcher, HostedLauncher) else launcher
    return None if batch is None else batch.scheduler


def withdraw(
    launcher: BatchLauncher | HostedLauncher | None, beat: Callable[[], None] = lambda: None
) -> None:
    """Cancel what still waits for a run that is over, such as the job of a buffer that was made
    ahead of it; ``beat`` is called until the scheduler has answered. `free` looks again, where it
    does not answer now."""
    batch = launcher.batch if isinstance(launcher, HostedLauncher) else launcher
    if batch is None:
        return
    calls = SchedulerCalls()
    calls.begin(batch.withdraw_waiting)
    while not calls.wait(BEAT_S):
        beat()


LOOK_S = 2.0
"""How often a scheduler that does not answer is asked."""
LEAVES_S = 30.0
"""How long a job that has ended may take to leave its buffer; until then nobody says why it did."""


class BufferJob:
    """The job with the buffer, where the buffer is a job's: asked about once its viewing block is
    gone."""

    def __init__(self, provision: Provision, graph: Graph) -> None:
        self._provision = provision if isinstance(provision, JobBuffer) else None
        self._graph = graph
        self._answer = LatestAnswer(self._ask, LOOK_S)
        self._gone_since: float | None = None
        self._leaves_since: float | None = None

    def end(self) -> str | None:
        """How it ended, in the scheduler's words; empty while it runs; None while the scheduler has
        not answered."""
        if self._provision is None or self._graph.block_state() != "gone":
            self._gone_since = self._leaves_since = None
            return ""
        self._gone_since = self._gone_since or time.monotonic()
        return self._answer.since(self._gone_since)

    def _ask(self) -> str:
        """How it ended. Raises SchedulerError, also while it ends, and OSError."""
        assert self._provision is not None
        job = self._provision.job_now()
        if job is None:
            return "it is not known to the scheduler"
        if job.ending or (job.over and not job.final):
            self._leaves_since = self._leaves_since or time.monotonic()
            if time.monotonic() - self._leaves_since < LEAVES_S:
                raise SchedulerError(f"job {job.job_id} is ending", passing=True)
        else:
            self._leaves_since = None
        return f"job {job.job_id}: {job.text}" if job.over or job.ending else ""
