"""Word of a run that is over, whose driver died before it had sent it."""

from __future__ import annotations

import contextlib

from burstlens.core.printable import print_stderr
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import Journal
from burstlens.workflows.driver.claim import take_over
from burstlens.workflows.driver.run import recipe_of
from burstlens.workflows.notify.notices import Notices


def send_missing(run: RunDir) -> int:
    """Send it now; returns how many words were missing. Raises RunError, RecipeError, OSError."""
    history = history_of(run.journal)
    missing = len(history.noticed.pending)
    if not missing:
        return 0
    recipe, _ = recipe_of(run)
    epoch = take_over(run)
    with contextlib.closing(Journal(run.journal, epoch, seen=history.apply)) as journal:
        names = [product.name for product in recipe.products]
        notices = Notices(
            run, recipe.title, names, recipe.notify, journal, history.noticed, print_stderr
        )
        notices.begin(guard.ways for guard in recipe.guards)
        notices.close()
    return missing
