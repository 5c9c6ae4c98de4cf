"""What ``burstlens check`` reports: faults of a recipe, its inputs and the site; warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burstlens.cluster_configs.site import choose
from burstlens.errors import BurstlensError, RecipeError
from burstlens.workflows.commands import findings
from burstlens.workflows.faults import Fault
from burstlens.workflows.preflight import ERROR
from burstlens.workflows.recipe_check import check
from burstlens.workflows.recipe_file import read

FORMAT = 1
"""Grows when a key of the JSON document goes or changes its meaning."""


@dataclass(frozen=True, slots=True)
class Report:
    """``refused`` are complete messages on files that cannot be used, ``errors`` what the inputs
    show; ``faults`` are all of these one by one."""

    recipe: str
    faults: tuple[Fault, ...] = ()
    refused: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """Whether the recipe can run."""
        return not self.faults

    def value(self) -> dict[str, Any]:
        """The report as JSON values; docs/recipe.md explains them."""
        return {
            "format": FORMAT,
            "recipe": self.recipe,
            "right": self.right,
            "faults": [fault.json() for fault in self.faults],
            "warnings": [{"message": text} for text in self.warnings],
        }


def check_report(recipe: str, site: str | None = None, settings: Sequence[str] = ()) -> Report:
    """Check a recipe and the site that it is for. Never raises for what is wrong with them."""
    faults: list[Fault] = []
    refused: list[str] = []
    errors: list[str] = []
    warnings: list[str] = []
    found = recipe
    try:
        source = read(recipe)
        found = str(source.path)
        loaded, _ = check(source, settings)
        for finding in findings(loaded, choose(site)):
            (errors if finding.level == ERROR else warnings).append(finding.text)
    except (BurstlensError, OSError) as error:
        refused.append(_message(error))
        of_text = error.faults if isinstance(error, RecipeError) else ()
        faults += of_text or [Fault((), refused[-1])]
    try:
        choose(site)
    except (BurstlensError, OSError) as error:
        refused.append(_message(error))
        faults.append(Fault((), refused[-1]))
    faults += [Fault((), text) for text in errors]
    return Report(found, tuple(faults), tuple(refused), tuple(errors), tuple(warnings))


def _message(error: BurstlensError | OSError) -> str:
    if isinstance(error, OSError):
        return f"cannot use {error.filename}: {error.strerror}"
    return str(error)
