"""The job files of trials: the recipe with other values, in a folder of its own on the buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from burstlens.core.errors import RecipeError
from burstlens.core.run.facts import facts_of
from burstlens.workflows.driver.tuning_options import configuration_of
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_file import JobFile
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.placement.supervised import Ended, describe
from burstlens.workflows.production.context import RunContext
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.recipe import Recipe
from burstlens.workflows.recipe.tune import trial_table


class TrialFiles:
    """Writes what the supervisor of each trial is to do."""

    def __init__(self, context: RunContext, provision: Provision) -> None:
        self._context = context
        self._provision = provision
        facts = facts_of(context.run, "recipe", "source", "table")
        self._source = str(facts.recipe), Path(str(facts.source))
        self._table = facts.table or {}

    def recipe(self, values: Mapping[str, Any]) -> Recipe:
        """The recipe with these values. Raises RecipeError where it does not take one."""
        table = trial_table(self._table, configuration_of(values))
        return check(Source(*self._source, table))[0]

    def prepared(self, name: str, values: Mapping[str, Any], limit_s: float | None) -> str:
        """Write ``job.json`` unless a former driver has; returns why the values cannot be run, else
        an empty text. Raises OSError."""
        folder = self._context.run.job(name)
        if (folder / "job.json").exists():
            return ""
        try:
            recipe = self.recipe(values)
        except RecipeError as error:
            return f"the recipe does not take these values: {error}"
        job = JobFile(
            self._context.run, recipe, self._context.site, self._context.history, self._provision
        )
        job.open(self._buffer(), int(name.rpartition("-")[2]))
        made = job.simulation(name)
        if limit_s is not None:
            made["walltime_s"] = min(made["walltime_s"], limit_s)
        describe(folder, made)
        return ""

    def folder(self, name: str) -> str:
        """The trial's folder, relative to the run's on the buffer."""
        return name.rpartition("-")[2]

    def text(self, values: Mapping[str, Any]) -> str:
        """The values in words."""
        return configuration_of(values).text()

    def _buffer(self) -> BufferRef:
        known = self._context.history.buffer
        assert known is not None, "the buffer is journalled before the first trial"
        return replace(BufferRef(**known))


def is_lost(end: Ended) -> bool:
    """Whether the end says nothing about a trial's values: its supervisor was killed, or was told
    to end, as by a scheduler that preempts its job."""
    return end.reason in {"lost", "given up"} or end.reason.startswith("terminated by")
