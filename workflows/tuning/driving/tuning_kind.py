"""A tuning: its run directory, and the driving of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from burstlens.cluster_configs.site import Site
from burstlens.core.outcome import Outcome
from burstlens.workflows.driver.run_kinds import RunKind
from burstlens.workflows.driver.scheduling import scheduled, scheduler_of, withdraw
from burstlens.workflows.placement.job_buffer import JobBuffer
from burstlens.workflows.placement.provision import provision
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.recipe import Recipe
from burstlens.workflows.tuning.options import TuneOptions, course_of, tuning_site
from burstlens.workflows.tuning.verdict import PAIRS, PILOT

if TYPE_CHECKING:
    from burstlens.workflows.making.early import EarlyWorker
    from burstlens.workflows.publishing.snapshot import Snapshot

AROUND_S = 600.0
"""What the job of the trials takes beside them: to begin, to stage in, to wait between them."""


class TuningKind(RunKind):
    """A tuning: short runs of one recipe until a verdict."""

    def site(self, site: Site) -> Site:
        """With all trials in one job."""
        return tuning_site(site)

    def drive(
        self, context: RunContext, early: EarlyWorker | None, tick: Callable[[Snapshot], None]
    ) -> Outcome:
        """Go through the trials. Raises RunError."""
        from burstlens.workflows.deciding.state import RunState
        from burstlens.workflows.driver.dispatch import Dispatch
        from burstlens.workflows.driver.inbox import Inbox
        from burstlens.workflows.driver.launching import Launching
        from burstlens.workflows.driver.loop import Loop
        from burstlens.workflows.tuning.driving.trial_files import TrialFiles
        from burstlens.workflows.tuning.driving.trials_run import TrialsRun
        from burstlens.workflows.viewing.graph import Graph

        run, site = context.run, context.site
        options = TuneOptions.of(self.options)
        whole = allocation(context.recipe, options)
        launcher, block = scheduled(run, whole, site)
        context.snapshot.note_scheduler(scheduler_of(launcher))
        with Graph(site, run, jobs=2, block=block) as graph:
            space = provision(site, run, whole, launcher, graph.leaving.is_set)
            course = course_of(context.recipe, site, options)
            files = TrialFiles(context, space)
            state = RunState(
                context,
                lambda state: TrialsRun(
                    state, course, files, buffer_name=space.name, lasts=space.lasts,
                    hosted=isinstance(space, JobBuffer),
                ),
            )  # fmt: skip
            dispatch, inbox = Dispatch(context, graph), Inbox(context)
            launching = Launching(context, graph, space, launcher)
            outcome = Loop(context, graph, dispatch, inbox, state, tick, space, launching).run()
        tick(context.snapshot)  # the last trial may have ended since the last tick
        withdraw(launcher, context.snapshot.write)
        return outcome


def allocation(recipe: Recipe, options: TuneOptions) -> Recipe:
    """The recipe with the walltime of the one job in which all trials run."""
    simulation = recipe.simulation
    trials_s = (options.runs + PILOT + 2 * PAIRS) * simulation.walltime
    if options.node_hours is not None:
        trials_s = min(trials_s, options.node_hours * 3600 / simulation.nodes)
    return replace(recipe, simulation=replace(simulation, walltime=trials_s + AROUND_S))
