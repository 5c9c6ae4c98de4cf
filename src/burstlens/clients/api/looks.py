"""Look at a run that others started, from Python."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence

from burstlens.clients.api.run import Run


def look(
    path: str | os.PathLike[str],
    products: Sequence[str] = (),
    *,
    recipe: str | None = None,
    streams: Mapping[str, str] | None = None,
    time_variable: str | None = None,
    ready: str | None = None,
    log: str | None = None,
    written: str | None = None,
    model: str | None = None,
    last: str | None = None,
    since: str | None = None,
    all_frames: bool = False,
    every: int = 1,
    job: str | None = None,
    pid: int | None = None,
    allow_stop: bool = False,
    workers: int | None = None,
    max_read_rate: str | None = None,
    site: str | None = None,
    name: str | None = None,
    notify: str | Sequence[str] = (),
) -> Run:
    """Look at the folder in which a model writes, as ``burstlens look --detach``; returns at once.

    The arguments are the command's options; ``products`` are names or expressions such as
    ``"wind@500hPa"``, ``notify`` is one way or several. The looking goes on in a process of its
    own until ``Run.stop()`` or ``burstlens stop``; a second call joins it. Remarks, such as
    products that the files lack, give warnings.

    Raises AttachError, RecipeError, SiteError, RunError.
    """
    from burstlens.clients.attaching import attach
    from burstlens.workflows.driver.detach import await_begin
    from burstlens.workflows.look.preparation import LookRequest
    from burstlens.workflows.notify.asked import valid_ways

    request = LookRequest(
        products=tuple(products), recipe=recipe, streams=dict(streams or {}),
        time_variable=time_variable, ready=ready, log=log, written=written, model=model,
        last=last, since=since, all=all_frames, every=every, job=job, pid=pid,
        allow_stop=allow_stop, workers=workers, max_read_rate=max_read_rate, site=site,
        name=name, notify=valid_ways(notify),
    )  # fmt: skip
    run, child, notes = attach(path, request, wait=False)
    for note in notes[1:]:
        warnings.warn(note, stacklevel=2)
    if child is not None:
        await_begin(run, child)
    return Run(run)
