"""The options of a tuning as ``run.json`` keeps them, and its trials as the journal has them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.cluster_configs.site import Site
from burstlens.core.run.job_record import TrialRecord
from burstlens.workflows.hints.names import mpi_of
from burstlens.workflows.recipe.recipe import Recipe
from burstlens.workflows.tuning.course import Course
from burstlens.workflows.tuning.guesses import first_guesses, usual_space
from burstlens.workflows.tuning.space import (
    Configuration,
    Measured,
    Origin,
    Phase,
    Plan,
    Space,
    Trial,
)
from burstlens.workflows.tuning.table import tune_of


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """``runs`` of the search, ``node_hours`` of all trials together (None: no bound), the
    ``settings`` that the recipe was given by ``--set``."""

    runs: int = 12
    node_hours: float | None = None
    seed: int = 1
    settings: tuple[str, ...] = ()

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> TuneOptions:
        """From ``run.json``; keys of a newer version are passed over."""
        known = {name: value[name] for name in cls.__slots__ if name in value}
        return cls(**known)

    @property
    def again(self) -> str:
        """The settings as a command takes them again; empty without any."""
        return " ".join(f"--set {shlex.quote(one)}" for one in self.settings)


def space_of(recipe: Recipe, site: Site) -> Space:
    """The factors that the recipe names, else the usual hints for the files that it gives hints
    for, or for all of them."""
    if (named := tune_of(recipe).space()) is not None:
        return named
    patterns = tuple(recipe.simulation.mpiio_hints) or ("*",)
    if len(patterns) > 1 and mpi_of(site) not in {None, "cray-mpich"}:
        patterns = patterns[:1]  # one set of hints for all files: the first pattern's counts
    striped = site.buffer.kind in {"datawarp", "rabbit"}
    servers = site.buffer.nodes or 1
    return usual_space(recipe.simulation.ranks, patterns, striped=striped, servers=servers)


def course_of(recipe: Recipe, site: Site, options: TuneOptions) -> Course:
    """The course of a tuning of that recipe."""
    space = space_of(recipe, site)
    guesses = tuple(first_guesses(space, recipe.simulation.ranks))
    budget_s = None
    if options.node_hours is not None:
        budget_s = options.node_hours * 3600 / recipe.simulation.nodes
    return Course(space, guesses, options.runs, options.seed, budget_s)


def tuning_site(site: Site) -> Site:
    """The site as a tuning uses it: all trials in one job, on its buffer."""
    if site.scheduler == LOCAL or site.viewing.placement == "same-job":
        return site
    buffer = replace(site.buffer, lifetime="job") if site.buffer.kind != "posix" else site.buffer
    return replace(site, viewing=replace(site.viewing, placement="same-job"), buffer=buffer)


def configuration_of(values: Mapping[str, Any]) -> Configuration:
    """As the journal has it."""
    return Configuration(tuple(values.items()))


def trials_of(records: Iterable[TrialRecord]) -> list[Trial]:
    """The trials that have ended and that say something about their values, in order."""
    found = []
    for record in records:
        begun, ended = record.submitting, record.ended
        if ended is None or ended.outcome not in {"done", "failed"}:
            continue
        measured = None
        if ended.outcome == "done" and ended.seconds is not None:
            measured = Measured(ended.seconds, ended.frames or {})
        plan = Plan(
            cast("Phase", begun.phase),
            configuration_of(begun.values),
            cast("Origin", begun.origin),
            begun.reason or "",
        )
        about = ended.message or "", ended.wall_s or 0.0, ended.load
        found.append(Trial(plan, measured, *about, int(begun.job.rpartition("-")[2])))
    return found
