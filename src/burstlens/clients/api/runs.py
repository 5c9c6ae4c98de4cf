"""The runs in a folder; a run that is started, or looks at what others started, from Python."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import overload

from burstlens.clients.api.run import Run
from burstlens.clients.opened.table import clock_time, html_table
from burstlens.core.errors import RunError
from burstlens.core.quantity import counted
from burstlens.core.run.directory import RunDir, all_runs
from burstlens.core.run.places import runs_places

SHOWN = 20


class Runs(Sequence[Run]):
    """Runs, the newest first."""

    def __init__(self, runs: Sequence[Run], place: str) -> None:
        self._runs = runs
        self._place = place

    @overload
    def __getitem__(self, at: int) -> Run: ...
    @overload
    def __getitem__(self, at: slice) -> Runs: ...

    def __getitem__(self, at: int | slice) -> Run | Runs:
        """A run, or some of them."""
        return Runs(self._runs[at], self._place) if isinstance(at, slice) else self._runs[at]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return "\n".join("  ".join(_cells(run)) for run in self._runs[:SHOWN]) or self._none()

    def _repr_html_(self) -> str:
        heads = ("run", "state", "frames", "last heard of (UTC)", "title")
        rows = [_cells(run) for run in self._runs[:SHOWN]]
        more = f", the newest {SHOWN}" if len(self) > SHOWN else ""
        caption = f"{counted(len(self), 'run')}{more}" if rows else self._none()
        return html_table(heads, rows, caption)

    def _none(self) -> str:
        return f"no runs in {self._place}"


def runs(folder: str | os.PathLike[str] | None = None) -> Runs:
    """The runs in ``folder``, the newest first; without one those in ``$BURSTLENS_RUNS``, else in
    ``./runs`` and each folder in which the user made runs; and in the user's state folder."""
    chosen = Path(folder).expanduser() if folder is not None else None
    place = str(chosen) if chosen is not None else runs_places()
    try:
        return Runs([Run(run) for run in all_runs(chosen)], place)
    except OSError as error:
        raise RunError(f"cannot read {error.filename or place}: {error.strerror}") from error


def launch(
    recipe: str | os.PathLike[str],
    site: str | None = None,
    settings: Mapping[str, object] | Sequence[str] = (),
    name: str | None = None,
    *,
    batch: bool = False,
    notify: str | Sequence[str] = (),
) -> Run:
    """Start a run that lives on its own, as ``burstlens run --detach``, and return at once.

    Its driver is a process in a session of its own, or with ``batch`` a job of one core: neither
    a kernel's restart nor its end affects the run. ``settings`` are those of ``--set``, as
    ``{"simulation.nodes": 4}`` or ``["simulation.nodes=4"]``. ``notify`` is who gets
    word when it ends, a guard trips or it needs you: one way of ``--notify`` or several, such as
    ``"mail:me@example.org"``. Risky settings give warnings.

    Raises RecipeError, SiteError, RunError.
    """
    # The driver's modules take a second to load, and reading runs does not need them.
    from burstlens.workflows.driver.detach import detach, submit_driver
    from burstlens.workflows.plan.commands import new_run

    if isinstance(settings, Mapping):
        settings = [_setting(*it) for it in settings.items()]
    run, risks = new_run(os.fspath(recipe), site, settings, name, batch=batch, notify=notify)
    for risk in risks:
        warnings.warn(risk, stacklevel=2)
    if batch:
        submit_driver(run)
    else:
        detach(run)
    return Run(RunDir(run.path))


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


def _setting(key: str, value: object) -> str:
    """One entry of ``settings`` as a word of ``--set``."""
    # A key with dots takes TOML, so that a text that looks like a number stays one; a parameter
    # takes its text as it is.
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    plain = isinstance(value, str) and "." not in key
    return f"{key}={value if plain else json.dumps(value, ensure_ascii=False)}"


def _cells(run: Run) -> tuple[str, ...]:
    try:
        status = run.read_status()
    except RunError as error:
        return run.id, "unreadable", "", "", str(error)
    heard = clock_time(status.driver.heartbeat)
    return run.id, status.state, str(status.frames.ready), heard, status.title
