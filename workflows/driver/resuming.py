"""What can be taken up of a run whose driver is gone: the run, or word that was not sent."""

from __future__ import annotations

import contextlib
from typing import Any

from msgspec.structs import replace

from burstlens.core.errors import RunError
from burstlens.core.exit_codes import FRAMES_LOST, TRIPPED_AFTER_END
from burstlens.core.printable import print_stderr
from burstlens.core.quantity import counted
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import Journal
from burstlens.core.run.snapshot import new_snapshot, read_snapshot
from burstlens.core.run.status_file import OutcomePart
from burstlens.core.run.wording import too_late
from burstlens.workflows.driver.claim import free_epoch, take_over
from burstlens.workflows.driver.run import recipe_of, show
from burstlens.workflows.notify.notices import Notices


def resumable(run: RunDir) -> str | None:
    """Why there is nothing to resume, or None when there is.

    Raises RunError when a driver lives.
    """
    free_epoch(run)
    history = history_of(run.journal)
    if history.outcome is not None:
        _mend_status(run, history.outcome)
    if facts_of(run).attached is not None:
        return None  # to look again is always possible: more may have been written
    if history.state == "done" and (history.outcome or {}).get("left"):
        return None  # its buffer is to be given back
    if history.state == "done":
        return f"run {run.id} is done; there is nothing to resume"
    code = None if history.outcome is None else history.outcome["exit_code"]
    if code == FRAMES_LOST:
        return (
            f"run {run.id} has ended, with {counted(len(history.lost_frames()), 'frame')} lost or "
            "damaged: to resume would not bring them back, only the model writes them again; "
            "start a new run"
        )
    if code == TRIPPED_AFTER_END:
        return (
            f"run {run.id} has ended: {too_late(history)}. What can be made of "
            "its frames is there, so there is nothing to resume, and the model is not run again; "
            "correct its settings and start a new run"
        )
    return None


def _mend_status(run: RunDir, outcome: dict[str, Any]) -> None:
    """Write how the run ended where the disk did not take the last snapshot."""
    try:
        known = read_snapshot(run)
    except RunError:
        known = new_snapshot(run)
    if known.state != outcome["state"]:
        ended = OutcomePart(**outcome)
        with contextlib.suppress(OSError):
            show(run, replace(known, state=outcome["state"], outcome=ended, block="gone"))


def send_missing(run: RunDir) -> int:
    """Send it now; returns how many words were missing. Raises RunError, RecipeError, OSError."""
    history = history_of(run.journal)
    missing = len(history.noticed.pending)
    if not missing:
        return 0
    recipe, _ = recipe_of(run)
    epoch = take_over(run)
    with contextlib.closing(Journal(run.journal, epoch, history.apply)) as journal:
        names = [product.name for product in recipe.products]
        notices = Notices(
            run, recipe.title, names, recipe.notify, journal, history.noticed, print_stderr
        )
        notices.begin(guard.ways for guard in recipe.guards)
        notices.close()
    return missing
