"""How a run's jobs and viewing blocks are submitted, where its site has a scheduler."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from burstlens.cluster_configs.scheduler import SchedulerError
from burstlens.cluster_configs.schedulers import LOCAL, scheduler
from burstlens.cluster_configs.site import Site
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.hosted import HostedLauncher
from burstlens.workflows.recipe.recipe import Recipe

if TYPE_CHECKING:
    from burstlens.cluster_configs.parsl_config import Block


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


def withdraw(launcher: BatchLauncher | HostedLauncher | None) -> None:
    """Cancel what still waits for a run that is over, such as the job of a buffer that was made
    ahead of it. `free` looks again, where the scheduler does not answer now."""
    batch = launcher.batch if isinstance(launcher, HostedLauncher) else launcher
    if batch is not None:
        with contextlib.suppress(SchedulerError):
            batch.withdraw_waiting()
