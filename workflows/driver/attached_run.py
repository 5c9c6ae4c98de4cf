"""A run that looks at a folder in which others started a model: its directory, its driving."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from burstlens.cluster_configs.inside import LOWEST
from burstlens.cluster_configs.schedulers import LOCAL, scheduler
from burstlens.cluster_configs.site import BufferSite, Site
from burstlens.core.outcome import Outcome
from burstlens.workflows.driver.latest_look import latest
from burstlens.workflows.driver.look import Look, look_of
from burstlens.workflows.driver.scheduling import scheduled, scheduler_of
from burstlens.workflows.placement.observer import Observer
from burstlens.workflows.publishing.context import RunContext

if TYPE_CHECKING:
    from burstlens.workflows.making.early import EarlyWorker
    from burstlens.workflows.publishing.snapshot import Snapshot


def early_worker(attached: dict[str, Any], ready: EarlyWorker | None = None) -> EarlyWorker | None:
    """The worker for an attached run's first pictures, which begins to import at once; ``ready``
    is one that has begun."""
    if look_of(attached).block or look_of(attached).inside:
        if ready is not None:
            ready.close()
        return None
    if ready is not None:
        return ready
    from burstlens.workflows.making.early import EarlyWorker

    return EarlyWorker(lowest=look_of(attached).lowest)


def look_at(
    context: RunContext,
    attached: dict[str, Any],
    early: EarlyWorker | None,
    tick: Callable[[Snapshot], None],
) -> Outcome:
    """Look at a folder until the looking ends."""
    from burstlens.workflows.driver.attached import AttachedRun
    from burstlens.workflows.driver.loop import Loop
    from burstlens.workflows.driver.state import RunState
    from burstlens.workflows.ordering.graph import Graph
    from burstlens.workflows.ordering.production import opening

    run, recipe, whole = context.run, context.recipe, context.site
    look = latest(run, look_of(attached))
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
    with (
        _signals() as leaving,
        Graph(site, run, jobs=2, block=block, early=early) as graph,
    ):
        if look.inside is not None:
            graph.enter(replace(look.inside, lowest=look.lowest))
        produce = opening(context, graph)
        state = RunState(context, lambda state: AttachedRun(state, produce, look, observer, plain))
        return Loop(context, graph, state, tick, leaves=lambda: bool(leaving)).run()


def looking_site(site: Site, look: Look) -> Site:
    """The site as an attached run uses it: workers on this machine, in a job of their own, or in
    the model's. There is no buffer: the folder lies where it lies."""
    if look.block:
        workers = look.workers or site.viewing.workers
        viewing = replace(site.viewing, placement="separate", workers=workers)
        return replace(site, viewing=viewing, buffer=BufferSite())
    if look.inside is not None:  # the step is started from here; it sets its priority itself
        viewing = replace(site.viewing, placement="local", workers=look.workers)
        return replace(site, scheduler=LOCAL, viewing=viewing, buffer=BufferSite())
    viewing = replace(
        site.viewing,
        placement="local",
        workers=look.workers,
        address="127.0.0.1",
        worker_init=LOWEST if look.lowest else "",
    )
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
