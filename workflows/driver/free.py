"""Gives back the space of a run that is over, which a failure or a stop has left.

The journal says what was asked for; the scheduler's buffers and queue, or the directories, show
what exists. A run's model that has not ended is waited for when it was asked to stop.
"""

from __future__ import annotations

import contextlib
import socket

from msgspec import UNSET
from msgspec.structs import replace

from burstlens.core.errors import GivenUpError, RunError
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history import History
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import Journal
from burstlens.core.run.requests import catch_signals
from burstlens.core.run.snapshot import read_snapshot
from burstlens.core.run.status_file import OutcomePart
from burstlens.core.valid_time import label
from burstlens.workflows.deciding.home_copies import home_event
from burstlens.workflows.driver.claim import require_host, take_over
from burstlens.workflows.driver.run import recipe_of, show
from burstlens.workflows.driver.scheduling import scheduled
from burstlens.workflows.placement import buffer as buffers
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.checkpoint_home import bring_checkpoint
from burstlens.workflows.placement.leftovers import end_jobs
from burstlens.workflows.placement.provision import Provision, provision
from burstlens.workflows.recipe.recipe import Recipe


def free(run: RunDir, *, discard: bool = False) -> str:
    """Give the run's space on the buffer back; returns what was freed, in words.

    What ``[stage_out]`` names must be home, unless ``discard`` says that it may be lost. The first
    SIGINT gives up what still waits, the second ends this at once. Raises RunError, SiteError and
    StagingError.
    """
    attached = facts_of(run).attached
    if attached is not None:
        return f"run {run.id} only looks at {attached.get('path')}: nothing is there to free"
    history = history_of(run.journal)
    if not _has_asked(run, history):
        return f"run {run.id} holds no space on a buffer"
    recipe, site = recipe_of(run)
    require_host(run, history)
    epoch = take_over(run)
    launcher, _ = scheduled(run, recipe, site)
    with contextlib.closing(Journal(run.journal, epoch, history.apply)) as journal:
        cancelled = end_jobs(run, history, launcher)
        run.clear_control()  # obeyed by now: what is asked from here on is for the giving back
        space = provision(site, run, recipe, launcher, lambda: False)
        known = BufferRef(**history.buffer) if history.buffer else None
        buffer = space.left(known)
        what = f"cancelled {', '.join(cancelled)}" if cancelled else ""
        if buffer is not None:
            _require_home(run, recipe, history, discard=discard)
            if not discard:
                _bring_checkpoint(run, buffer, history, journal)
            with catch_signals(run):
                freed = _give_back(run, space, buffer, history, discard=discard)
            what = "; ".join(part for part in (freed, what) if part)
            run.clear_control()
        elif known is not None and known.name and not history.buffer_released:
            what = "; ".join(
                part for part in (f"buffer {known.name} is gone already", what) if part
            )
        if history.buffer_requested:
            journal.append(ev.BufferReleased(host=socket.gethostname()))
        _show_released(run, history)
    return what or f"run {run.id} holds no space on a buffer"


def _has_asked(run: RunDir, history: History) -> bool:
    """Whether this run ever asked for anything: a run without a driver did not."""
    return history.state != "new" or any((run.path / "steps").glob("*/submitting"))


def _require_home(run: RunDir, recipe: Recipe, history: History, *, discard: bool) -> None:
    if recipe.stage_out.keep and not history.kept_home and history.frames and not discard:
        raise RunError(
            f"{', '.join(recipe.stage_out.keep)} of {run.id} are not home: burstlens resume "
            f"{run.id} continues the run, --discard gives them up"
        )


def _bring_checkpoint(run: RunDir, buffer: BufferRef, history: History, journal: Journal) -> None:
    """Bring the newest checkpoint home that is not suspect, so that `resume` can continue from it.
    Raises StagingError, and RunError where it is not home and cannot be seen from here."""
    known = [one for one in history.checkpoints.on(history.lineage) if not one.suspect]
    if not known or known[-1].home or not known[-1].on_buffer or history.state == "done":
        return
    newest = known[-1]
    if buffer.path.startswith("$"):
        raise RunError(
            f"the checkpoint of {label(newest.time)} of {run.id} is not home: burstlens resume "
            f"{run.id} continues the run, --discard gives it up"
        )
    copy = bring_checkpoint(buffer, run, newest.attempt, newest.time, newest.files)
    journal.append(home_event(copy))


def _give_back(
    run: RunDir, space: Provision, buffer: BufferRef, history: History, *, discard: bool
) -> str:
    """Give it back; returns what was freed, empty when nothing of the run lies there."""
    if not space.lasts or (buffer.name and buffer.owned):
        try:
            space.give_back(buffer, history.others, discard=discard)
        except GivenUpError:
            run.clear_control()
            raise
        return f"freed {f'buffer {buffer.name}' if buffer.name else 'the buffer of its job'}"
    if buffer.path.startswith("$"):
        if not history.attempt or history.buffer_released:
            return ""
        raise RunError(
            f"buffer {buffer.name} was there before the run, and only jobs see it: delete "
            f"{buffer.path}/{buffer.folder} in a job that mounts it"
        )
    buffers.destroy(buffer)
    return f"freed {buffer.path}/{buffer.folder}"


def _show_released(run: RunDir, history: History) -> None:
    with contextlib.suppress(OSError, RunError):  # as in the driver: the journal is the truth
        known = read_snapshot(run)
        if known.buffer is not None:
            known = replace(known, buffer=replace(known.buffer, released=True))
        left = {(one.attempt, one.time) for one in history.checkpoints.records}
        at_home = [one for one in known.checkpoints or () if (one.attempt, one.time) in left]
        at_home = [replace(one, home=True) for one in at_home]
        known = replace(known, checkpoints=at_home or UNSET)
        if known.outcome is not None and history.outcome is not None:
            known = replace(known, outcome=OutcomePart(**history.outcome))
        show(run, known)
