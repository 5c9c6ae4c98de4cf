"""Evaluates an expression over the fields of a frame with numpy, from its checked tree.

Statistics ignore NaN, and a comparison with NaN is false.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.arithmetic import Arithmetic
from burstlens.core.errors import FrameError
from burstlens.core.expression import names_in
from burstlens.workflows.guards.guard import tree_of

_OF_VALUES = frozenset({"min", "max", "mean", "percentile"})
"""Statistics that have the units of their variable, and its zero point."""


@dataclass(frozen=True, slots=True)
class Part:
    """One statistic of an expression and its value: ``max(abs(W))``, and its index in ``variable``
    if it has a place. ``has_units``: the value is in the units of ``variable``."""

    text: str
    value: float
    variable: str | None = None
    index: tuple[int, ...] | None = None
    has_units: bool = False


def evaluate(text: str, read: Callable[[str], NDArray[Any]]) -> list[Part] | None:
    """The statistics in the expression if it is true for the fields that ``read`` returns. Raises
    RecipeError for a faulty expression, FrameError if the shapes of fields differ or memory is too
    small; errors of ``read`` pass through."""
    tree = tree_of(text)
    fields = {name: read(name) for name in names_in(tree)}
    statistics = _Statistics(fields)
    try:
        with np.errstate(all="ignore"):
            true = bool(Arithmetic(fields, statistics).value(tree))
    except MemoryError:
        raise FrameError(f"there is not enough memory for {text}") from None
    return statistics.parts if true else None


@dataclass(slots=True)
class _Statistics:
    """Computes statistics of fields; ``parts`` are those computed so far, in order."""

    fields: Mapping[str, Any]
    parts: list[Part] = field(default_factory=list)

    def __call__(self, node: ast.Call, name: str, arguments: list[Any]) -> Any:
        values = np.asarray(arguments[0])
        if name in {"any", "all"}:
            result = bool(getattr(np, name)(values))
            if name == "any" and result:
                self._note(node, float(np.count_nonzero(values)), int(np.argmax(values)), values)
            return result
        if name == "count":
            found = float(np.count_nonzero(values))
            flat = int(np.argmax(values)) if found else None
        else:
            found, flat = _statistic(name, values, *arguments[1:])
        self._note(node, found, flat, values)
        return found

    def _note(self, node: ast.Call, value: float, flat: int | None, values: Any) -> None:
        variable = next(iter(names_in(node)), None)
        index = None
        if variable is not None and flat is not None:
            shape = np.shape(self.fields[variable])
            if shape == values.shape:  # else it is not a place in that variable
                index = tuple(int(i) for i in np.unravel_index(flat, shape))
        has_units = isinstance(node.args[0], ast.Name) and ast.unparse(node.func) in _OF_VALUES
        self.parts.append(Part(ast.unparse(node), value, variable, index, has_units))


def _statistic(name: str, values: Any, *more: float) -> tuple[float, int | None]:
    """A statistic of the values that are not NaN, and the flat index of an extreme."""
    known = values[~np.isnan(values)] if np.isnan(values).any() else values
    if not known.size:
        return math.nan, None
    if name in {"min", "max"}:
        place = np.nanargmin(values) if name == "min" else np.nanargmax(values)
        return float(values.reshape(-1)[place]), int(place)
    if name == "percentile":
        return float(np.percentile(known, more[0])), None
    return float(getattr(np, name)(known, dtype=np.float64)), None
