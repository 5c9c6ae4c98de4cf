"""Findings on a recipe before it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.recipe.recipe import Recipe

ERROR, WARNING, NOTE = LEVELS = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about the key ``path`` (dotted, empty if it is not about a key). ``level``: an
    ``error`` stops the run before it starts, a ``warning`` is shown when it starts, a ``note`` only
    by check."""

    level: str
    text: str
    path: str = ""


def guard_paths(recipe: Recipe) -> Iterator[tuple[str, Guard]]:
    """Each guard with the path of its table: by name, or by number if it has none."""
    for number, guard in enumerate(recipe.guards):
        named = not re.fullmatch(rf"{re.escape(guard.own_name)}(-\d+)?", guard.called)
        yield f"guard.{guard.called if named else number}", guard
