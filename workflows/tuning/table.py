"""``[tune]``: what ``burstlens tune`` may vary, and how short its runs are."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from burstlens.core.errors import RecipeError
from burstlens.core.fault import Place
from burstlens.core.toml.faults import Faults
from burstlens.workflows.recipe.parameters import set_path
from burstlens.workflows.recipe.recipe import Recipe
from burstlens.workflows.tuning.space import Configuration, Factor, Space, Value, steps

_AT = Place(setting="[tune]")
_TABLES = ("simulation", "buffer")
"""Tables of the recipe that trials may change: the others are not part of a trial."""
Values = Annotated[tuple[Value, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Varied:
    """A factor with conditions."""

    values: Values
    """The values to try."""
    when: Mapping[str, Values] = field(default_factory=dict)
    """Keys of factors above it and the values with which this one has an effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tune:
    """``[tune]``: what ``burstlens tune`` may vary, and how short its runs are."""

    set: Mapping[str, Any] = field(default_factory=dict)
    """Dotted keys and values that make a trial short, such as
    `{ "simulation.walltime" = "00:10:00" }`."""
    factors: Mapping[str, Values | Varied] = field(default_factory=dict)
    """Dotted keys as with `--set` and the values to try:
    `"simulation.mpiio_hints.wrfout*.cb_nodes" = [1, 2, 4]`; by default the usual MPI-IO hints."""
    skip: Annotated[int, Field(ge=0)] = 1
    """How many of the first frames of each stream do not count."""

    def __post_init__(self) -> None:
        for key in (*self.set, *self.factors):
            if steps(key)[0] not in _TABLES:
                tables = " and ".join(f"[{name}]" for name in _TABLES)
                raise ValueError(f"{key}: trials take {tables} of the recipe only")
        self.space()

    def space(self) -> Space | None:
        """The factors as a space; None where the recipe names none. Raises ValueError."""
        if not self.factors:
            return None
        return Space(
            tuple(
                Factor(key, given.values, dict(given.when))
                if isinstance(given, Varied)
                else Factor(key, tuple(given))
                for key, given in self.factors.items()
            )
        )


def tune_of(recipe: Recipe) -> Tune:
    """``[tune]`` of a recipe that was loaded."""
    table: Tune = recipe.extra["tune"]
    return table


def with_values(table: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a recipe's table with these values at their dotted keys. Raises RecipeError."""
    made = deepcopy(dict(table))
    for key, value in values.items():
        faults = Faults()
        if set_path(made, steps(key), value, _AT, faults) is None:
            raise RecipeError(f"[tune] {key} is inside a value of the recipe that has no parts")
    return made


def trial_table(table: Mapping[str, Any], configuration: Configuration) -> dict[str, Any]:
    """A tuning's table with the values of one configuration. Raises RecipeError."""
    return with_values(table, dict(configuration.values))
