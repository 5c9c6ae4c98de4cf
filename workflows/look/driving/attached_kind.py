"""A run that looks at a folder in which others started a model: its directory, its driving."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from burstlens.cluster_configs.inside import LOWEST
from burstlens.cluster_configs.schedulers import LOCAL, scheduler
from burstlens.cluster_configs.site import BufferSite, Site
from burstlens.core.errors import BurstlensError
from burstlens.core.outcome import Outcome
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history import History
from burstlens.workflows.driver.run_kinds import RunKind
from burstlens.workflows.driver.scheduling import scheduled, scheduler_of
from burstlens.workflows.look.observer.observer import Observer
from burstlens.workflows.look.options import Look, latest, look_of, place_of
from burstlens.workflows.publishing.context import RunContext

if TYPE_CHECKING:
    from burstlens.workflows.making.early import EarlyWorker
    from burstlens.workflows.publishing.snapshot import Snapshot


class AttachedKind(RunKind):
    """A look at a folder until the looking ends."""

    @property
    def look(self) -> Look:
        """What the first look was asked for."""
        return look_of(self.options)

    def early_worker(self, site: Site, ready: EarlyWorker | None) -> EarlyWorker | None:
        """None where the workers are a batch job, or a step of the model's."""
        if self.look.block or self.look.inside:
            if ready is not None:
                ready.close()
            return None
        if ready is not None:
            return ready
        from burstlens.workflows.making.early import EarlyWorker

        return EarlyWorker(lowest=self.look.lowest)

    def drive(
        self, context: RunContext, early: EarlyWorker | None, tick: Callable[[Snapshot], None]
    ) -> Outcome:
        """Look until there is nothing more to see, or somebody ends it."""
        from burstlens.workflows.deciding.state import RunState
        from burstlens.workflows.driver.dispatch import Dispatch
        from burstlens.workflows.driver.inbox import Inbox
        from burstlens.workflows.driver.loop import Loop
        from burstlens.workflows.look.driving.attached_run import AttachedRun
        from burstlens.workflows.viewing.graph import Graph

        run, recipe, whole = context.run, context.recipe, context.site
        look, facts = latest(run, self.look), facts_of(run, "table")
        site = looking_site(whole, look)
        context = replace(context, site=site)
        batch = None if whole.scheduler == LOCAL else scheduler(whole.scheduler)(whole.batch)
        plain = partial(
            Observer,
            quiet_after_s=look.quiet_after_s,
            tells_end=recipe.model.facts(recipe.inputs).tells_end,
        )
        observer = plain(
            job=look.job, pid=look.pid, scheduler=batch, allow_stop=look.allow_stop, mark=look.mark
        )
        context.snapshot.note_scheduler(batch if look.job is not None else None)
        launcher, block = scheduled(run, recipe, site)
        context.snapshot.note_scheduler(scheduler_of(launcher))
        with _signals() as leaving, Graph(site, run, jobs=2, block=block, early=early) as graph:
            if look.inside is not None:
                graph.enter(replace(look.inside, lowest=look.lowest), batch)
            dispatch = Dispatch(context, graph)
            state = RunState(
                context,
                lambda state: AttachedRun(
                    state, look, observer, plain,
                    place=place_of(look), shown=dispatch.shown, table=facts.table or {},
                ),
            )  # fmt: skip
            inbox = Inbox(context, leaves=lambda: bool(leaving))
            return Loop(context, graph, dispatch, inbox, state, tick).run()

    def lacks(self, history: History, table: dict[str, Any], names: Collection[str]) -> list[str]:
        """By the newest frames that are there."""
        from burstlens.workflows.look.folder.fitting import refitted

        path, files = self.look.path, dict[str, str]()
        for (stream, _), (_, file, _, _) in sorted(history.fingerprints.items(), reverse=True):
            if stream not in files and os.path.isfile(os.path.join(path, file)):
                files[stream] = file  # the newest one that is there
        if not files:
            return []
        try:
            fitted = refitted(path, str(self.run.files), table, files)
        except BurstlensError:  # a file that cannot be read now lacks nothing
            return []
        gone = set(names) - {one["name"] for one in fitted.products}
        return [text for text in fitted.left_out if text.partition(":")[0] in gone]


def load_driver() -> None:
    """Import what the driver of such a run needs before its first picture."""


def looking_site(site: Site, look: Look) -> Site:
    """The site as an attached run uses it: workers on this machine, in a job of their own, or in
    the model's. There is no buffer: the folder lies where it lies."""
    if look.block:
        workers = look.workers or site.viewing.workers
        viewing = replace(site.viewing, placement="separate", workers=workers)
        return replace(site, viewing=viewing, buffer=BufferSite())
    viewing = replace(site.viewing, placement="local", workers=look.workers)
    if look.inside is None:  # a step is started from here; it sets its priority itself
        worker_init = LOWEST if look.lowest else ""
        viewing = replace(viewing, address="127.0.0.1", worker_init=worker_init)
    return replace(site, scheduler=LOCAL, viewing=viewing, buffer=BufferSite())


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """SIGINT and SIGTERM end the looking, and never the model. The list has those that came."""
    came: list[int] = []

    def leave(number: int, _: object) -> None:
        came.append(number)  # no more: a lock that the main thread holds would never be free

    before = {number: signal.signal(number, leave) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
