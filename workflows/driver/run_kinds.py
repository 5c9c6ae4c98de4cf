"""The kinds of runs: what a driver does for a run of each.

A run launches its model, or is of a leaf room's kind: ``run.json`` has the options of that kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.cluster_configs.site import Site
from burstlens.core.outcome import Outcome
from burstlens.core.plugins import load
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history import History
from burstlens.workflows.driver.addition import Added, table_of
from burstlens.workflows.publishing.context import RunContext

if TYPE_CHECKING:
    from burstlens.workflows.making.early import EarlyWorker
    from burstlens.workflows.publishing.snapshot import Snapshot

KINDS = {
    "attached": "burstlens.workflows.look.driving.attached_kind:AttachedKind",
    "tuning": "burstlens.workflows.tuning.driving.tuning_kind:TuningKind",
}
"""The classes of leaf rooms by the key of ``run.json`` that holds a run's options."""


class RunKind(ABC):
    """How a run of one kind is driven; ``options`` are those of its kind."""

    def __init__(self, run: RunDir, options: dict[str, Any]) -> None:
        self.run, self.options = run, options

    def site(self, site: Site) -> Site:
        """The site as the run uses it."""
        return site

    def early_worker(self, site: Site, ready: EarlyWorker | None) -> EarlyWorker | None:
        """The worker for the first pictures, which begins to import at once; None where there is
        none. ``ready`` is one that has begun."""
        return None

    @abstractmethod
    def drive(
        self,
        context: RunContext,
        early: EarlyWorker | None,
        tick: Callable[[Snapshot], None],
    ) -> Outcome:
        """Drive the run to its end. Raises BurstlensError."""

    def lacks(self, history: History, table: dict[str, Any], names: Collection[str]) -> list[str]:
        """A sentence for each of these products that cannot be made of the run's frames; nothing
        where these cannot be seen from here. ``table`` is the recipe with the products. Raises
        BurstlensError.

        By default, what the model's inputs say of frames decides.
        """
        from burstlens.workflows.recipe.findings import ERROR
        from burstlens.workflows.recipe.layers import Source
        from burstlens.workflows.recipe.load import check
        from burstlens.workflows.recipe.misfits import misfits

        recipe, _ = check(Source(self.run.id, self.run.files / "recipe.toml", table))
        if not recipe.inputs.is_dir():
            return []
        found = misfits(recipe, recipe.model.facts(recipe.inputs).streams)
        # A path is "product.NAME", or a key of that table.
        return [
            one.text for one in found
            if one.level == ERROR and one.path.split(".")[:1] == ["product"]
            and one.path.split(".")[1] in names
        ]  # fmt: skip


class LaunchedKind(RunKind):
    """A run that launches its model."""

    def early_worker(self, site: Site, ready: EarlyWorker | None) -> EarlyWorker | None:
        """One that also stages in: where the driver's machine is the site, and its workers need no
        shell lines of the site's."""
        from burstlens.workflows.making.early import EarlyWorker

        alone = site.scheduler == LOCAL and not site.viewing.worker_init
        return EarlyWorker(lowest=False, stages_in=True, run=self.run) if alone else None

    def drive(
        self,
        context: RunContext,
        early: EarlyWorker | None,
        tick: Callable[[Snapshot], None],
    ) -> Outcome:
        """From its buffer to its products at home, on one buffer after another where each ends with
        its job."""
        from burstlens.workflows.deciding.job_change import NEXT_JOB

        while (outcome := self._drive_on_buffer(context, early, tick)).state == NEXT_JOB.state:
            if outcome.left:
                context.snapshot.alarm(outcome.left)
            early = None
        return outcome

    def _drive_on_buffer(
        self,
        context: RunContext,
        early: EarlyWorker | None,
        tick: Callable[[Snapshot], None],
    ) -> Outcome:
        """From a buffer to the end of the run, or to the end of the job that has the buffer."""
        from burstlens.workflows.deciding.job_change import NEXT_JOB
        from burstlens.workflows.deciding.launched import LaunchedRun
        from burstlens.workflows.deciding.state import RunState
        from burstlens.workflows.driver.dispatch import Dispatch
        from burstlens.workflows.driver.home_taken import settle_home
        from burstlens.workflows.driver.inbox import Inbox
        from burstlens.workflows.driver.launching import Launching
        from burstlens.workflows.driver.loop import Loop
        from burstlens.workflows.driver.scheduling import scheduled, scheduler_of, withdraw
        from burstlens.workflows.placement.provision import provision
        from burstlens.workflows.viewing.graph import Graph

        run, recipe, site = context.run, context.recipe, context.site
        launcher, block = scheduled(run, recipe, site)
        settle_home(context)
        context.snapshot.note_scheduler(scheduler_of(launcher))
        with Graph(site, run, jobs=len(recipe.steps) + 2, block=block, early=early) as graph:
            leaving = graph.leaving.is_set
            space = provision(site, run, recipe, launcher, leaving)
            dispatch = Dispatch(context, graph)
            state = RunState(
                context,
                lambda state: LaunchedRun(
                    state, dispatch.shown, buffer_name=space.name, lasts=space.lasts
                ),
            )
            launching = Launching(context, graph, space, launcher)
            outcome = Loop(
                context, graph, dispatch, Inbox(context), state, tick, space, launching
            ).run()
        if outcome.state != NEXT_JOB.state:  # else the job that waits has the next buffer
            withdraw(launcher, context.snapshot.write)
        return outcome


def kind_of(run: RunDir) -> RunKind:
    """The kind of a run. Raises RunError, and ModuleNotFoundError where this copy of Burstlens
    lacks the room of that kind."""
    facts = facts_of(run)
    for key, home in KINDS.items():
        options = getattr(facts, key)
        if options is not None:
            kind: RunKind = load(home)(run, options)
            return kind
    return LaunchedKind(run, {})


def lacks_of(run: RunDir, history: History, added: Added) -> list[str]:
    """A sentence for each of the products that cannot be made of the run's frames.

    Raises BurstlensError.
    """
    names = {product.name for product, _ in added}
    table = table_of(run, history)
    standing = [one for one in table["product"] if one["name"] not in names]
    table |= {"product": [*standing, *(dict(one) for _, one in added)]}
    return kind_of(run).lacks(history, table, names)
