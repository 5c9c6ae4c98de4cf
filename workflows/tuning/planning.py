"""A new tuning: everything checked before anything runs, then its run directory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from burstlens.cluster_configs.site import Site, choose
from burstlens.core.errors import RecipeError
from burstlens.core.run.directory import RunDir
from burstlens.workflows.hints.names import mpi_of
from burstlens.workflows.plan.capacity import require_capacity
from burstlens.workflows.plan.commands import findings
from burstlens.workflows.plan.hints import tried_findings
from burstlens.workflows.recipe.file import read
from burstlens.workflows.recipe.findings import ERROR, WARNING
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.preflight import require
from burstlens.workflows.recipe.recipe import Recipe
from burstlens.workflows.tuning.search import require_optuna
from burstlens.workflows.tuning.space import Configuration, Space
from burstlens.workflows.tuning.table import trial_table, tune_of, with_values

LEFT_OUT = ("product", "guard", "stage_out", "viewing")
"""Tables that a trial does without."""


def new_tuning(
    name_or_file: str,
    site: str | None,
    settings: Sequence[str],
    name: str | None,
    *,
    runs: int,
    node_hours: float | None,
    batch: bool = False,
) -> tuple[RunDir, list[str]]:
    """Check the recipe, its factors and each of their values; make the run directory. Returns it
    with warnings.

    ``batch`` says that the driver is to be a batch job. Raises RecipeError, SiteError,
    RunError, and BurstlensError without Optuna.
    """
    from burstlens.cluster_configs.schedulers import LOCAL, scheduler
    from burstlens.workflows.driver.detach import require_batch
    from burstlens.workflows.driver.run import create
    from burstlens.workflows.tuning.options import TuneOptions, space_of, tuning_site

    require_optuna()
    source = read(name_or_file)
    loaded, table = check(source, settings)
    chosen = choose(site)
    if batch:
        require_batch(chosen)
    short = _short(table, loaded)
    recipe, short = check(Source(source.name, source.path, short))
    place = tuning_site(chosen)
    if place.scheduler != LOCAL:
        scheduler(place.scheduler)(place.batch).require()
    require_capacity(place, recipe.buffer.capacity)
    space = space_of(recipe, place)
    _check_values(source, short, space)
    warnings = [*require(findings(recipe, place)), *_without_effect(space, recipe, place)]
    # What may gain more than the factors, and is not Burstlens's to change.
    advice = recipe.model.output_advice(recipe.inputs, recipe.simulation.ranks)
    warnings = [*dict.fromkeys(warnings), *advice]
    given = tuple(anywhere(source, one) for one in settings)
    options = TuneOptions(runs=runs, node_hours=node_hours, settings=given)
    known_as = os.path.abspath(site) if site and site.endswith(".toml") else chosen.name
    named = replace(recipe, name=f"tune-{recipe.name}")
    made = create(named, short, source.path, known_as, name, tuning=asdict(options))
    return made, warnings


def anywhere(source: Source, setting: str) -> str:
    """The setting as it means the same in every folder: the path of a parameter is absolute."""
    name, _, value = setting.partition("=")
    entry = source.table.get("parameters", {}).get(name.strip())
    if not isinstance(entry, dict) or entry.get("type") != "path":
        return setting
    return f"{name}={os.path.realpath(os.path.expanduser(value))}"


def _short(table: dict[str, Any], recipe: Recipe) -> dict[str, Any]:
    """The table of a trial with the recipe's own values: short, without products and guards, and
    of the steps those that prepare the inputs, once. Raises RecipeError."""
    short = with_values(table, dict(tune_of(recipe).set))
    left = {key: value for key, value in short.items() if key not in LEFT_OUT}
    if "step" in left:
        left["step"] = [entry for entry in left["step"] if entry.get("before")]
    return {**left, "title": f"Tuning of {recipe.title}"}


def _check_values(source: Source, table: dict[str, Any], space: Space) -> None:
    """Raise RecipeError for a value that the recipe does not take."""
    for factor in space.factors:
        for value in factor.values:
            one = Configuration(((factor.key, value),))
            try:
                check(Source(source.name, source.path, trial_table(table, one)))
            except RecipeError as error:
                raise RecipeError(f"[tune] {factor.key} = {value!r}: {error}") from error


def _without_effect(space: Space, recipe: Recipe, site: Site) -> list[str]:
    """Warnings of hints to be tried that do not reach the model. Raises RecipeError for a value
    that no MPI takes, and where nothing but such hints is varied and the site's MPI takes none."""
    found: dict[str, None] = {}
    hints = [factor for factor in space.factors if len(factor.hint) == 2]
    if len(hints) == len(space.factors) and mpi_of(site) == "none":
        raise RecipeError(
            f'[tune] nothing but MPI-IO hints is varied, and site {site.name} has mpi = "none": '
            "they have no effect"
        )
    for factor in hints:
        pattern, hint = factor.hint
        for value in factor.values:
            own = recipe.simulation.mpiio_hints
            plain = value if isinstance(value, bool | int) else str(value)
            tried = {**own, pattern: {**own.get(pattern, {}), hint: plain}}
            for one in tried_findings(tried, recipe, site):
                if one.level == ERROR:
                    raise RecipeError(f"[tune] {factor.key} = {value!r}: {one.text}")
                if one.level == WARNING:
                    found[one.text] = None
    return list(found)
