"""What ``burstlens check`` reports: faults of a recipe, its inputs and the site; warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burstlens.cluster_configs.site import choose
from burstlens.core.errors import BurstlensError, RecipeError, SiteError
from burstlens.core.fault import Fault
from burstlens.core.toml.faults import report
from burstlens.workflows.plan.commands import findings
from burstlens.workflows.plan.plan import raw_files_text
from burstlens.workflows.recipe.file import read
from burstlens.workflows.recipe.findings import ERROR, LEVELS
from burstlens.workflows.recipe.load import drafted
from burstlens.workflows.recipe.preflight import Look

FORMAT = 1
"""Increased when a key of the JSON document is removed or changes its meaning."""


@dataclass(frozen=True, slots=True)
class Report:
    """``refused`` are complete messages on the recipe's text and on files that cannot be used.

    ``faults`` are all of their faults one by one, ``errors`` further ones found in the inputs and
    the site; ``warnings`` and ``notes`` do not keep the recipe from running.
    """

    recipe: str | None
    faults: tuple[Fault, ...] = ()
    refused: tuple[str, ...] = ()
    errors: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()
    notes: tuple[Fault, ...] = ()
    raw_files: str | None = None
    """What would become of the raw files, where recipe and site can be used."""

    @property
    def right(self) -> bool:
        """Whether the recipe can run."""
        return not (self.faults or self.errors)

    def lines(self) -> list[str]:
        """The findings on the inputs and the site, one line each: level, place, key, message."""
        found = (("error", self.errors), ("warning", self.warnings), ("note", self.notes))
        return [f"{level}: {fault.line()}" for level, faults in found for fault in faults]

    def value(self) -> dict[str, Any]:
        """The report as JSON values; docs/recipe.md explains them."""
        return {
            "format": FORMAT,
            "recipe": self.recipe,
            "right": self.right,
            "faults": [fault.json() for fault in (*self.faults, *self.errors)],
            "warnings": [fault.json() for fault in (*self.warnings, *self.notes)],
            "raw_files": self.raw_files,
        }


def check_report(
    recipe: str, site: str | None = None, settings: Sequence[str] = (), look: Look | None = None
) -> Report:
    """Check a recipe, its inputs and the site, each one even if others are faulty. Faults are
    reported, never raised. ``look`` as for :func:`preflight`."""
    faults: list[Fault] = []
    refused: list[str] = []
    chosen = source = None
    try:
        source = read(recipe)
    except (BurstlensError, OSError) as error:
        _refuse(error, faults, refused)
    try:
        chosen = choose(site)
    except (BurstlensError, OSError) as error:
        _refuse(error, faults, refused)
    if source is None:
        return Report(recipe, tuple(faults), tuple(refused))
    try:
        draft = drafted(source, settings)
    except RecipeError as error:  # of the user's configuration
        _refuse(error, faults, refused)
        return Report(str(source.path), tuple(faults), tuple(refused))
    if of_text := draft.found():
        refused.insert(0, report(f"recipe {source.path}", of_text, draft.faults.more))
        faults[:0] = of_text
    seen = findings(draft.recipe, chosen, look) if draft.recipe else []
    elsewhere = [one.text for one in seen if one.level == ERROR and not one.path]
    refused += elsewhere  # in the site's or the user's file
    faults += [Fault((), text) for text in elsewhere]
    seen = [one for one in seen if one.text not in elsewhere]
    errors, warnings, notes = (
        tuple(draft.of(one for one in seen if one.level == level)) for level in LEVELS
    )
    raw_files = raw_files_text(draft.recipe, chosen) if draft.recipe and chosen else None
    levels = errors, warnings, notes
    return Report(str(source.path), tuple(faults), tuple(refused), *levels, raw_files)


def unusable(message: str) -> Report:
    """The report for a command line with which nothing can be checked."""
    return Report(None, (Fault((), message),), (message,))


def _refuse(error: BurstlensError | OSError, faults: list[Fault], refused: list[str]) -> None:
    message = str(error)
    if isinstance(error, OSError):
        message = f"cannot use {error.filename}: {error.strerror}"
    refused.append(message)
    of_text = error.faults if isinstance(error, RecipeError | SiteError) else ()
    faults += of_text or [Fault((), message)]
