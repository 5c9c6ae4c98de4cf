"""How a run's jobs and viewing blocks are submitted, where its site has a scheduler."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from burstlens.cluster_configs.calls import SchedulerCalls
from burstlens.cluster_configs.scheduler import Scheduler
from burstlens.cluster_configs.schedulers import LOCAL, scheduler
from burstlens.cluster_configs.site import Site
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.hosted import HostedLauncher
from burstlens.workflows.recipe.recipe import Recipe

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
