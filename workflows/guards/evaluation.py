"""What an expression says of the fields of a frame, computed by numpy from its checked tree.

NaN is left out of statistics, and a comparison with NaN is false.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.errors import FrameError
from burstlens.workflows.guards.expression import POINTWISE, names_in, tree_of, variables


@dataclass(frozen=True, slots=True)
class Part:
    """One statistic of an expression as it was found: ``max(abs(W))``, its value, and for those
    that have a place its index in ``variable``."""

    text: str
    value: float
    variable: str | None = None
    index: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Whether the expression is true, and the statistics that it came from."""

    true: bool
    parts: tuple[Part, ...]


def evaluate(text: str, read: Callable[[str], NDArray[Any]]) -> Found:
    """Whether the expression is true of the fields that ``read`` gives.

    Raises RecipeError for a faulty expression, FrameError when fields of different shapes meet
    or memory does not suffice; what ``read`` raises passes through.
    """
    tree = tree_of(text)
    fields = {name: read(name) for name in variables(text)}
    work = _Evaluation(fields)
    try:
        with np.errstate(all="ignore"):
            true = bool(work.value(tree))
    except MemoryError:
        raise FrameError(f"there is no memory for {text}") from None
    return Found(true, tuple(work.parts))


@dataclass(slots=True)
class _Evaluation:
    """One walk through the tree; ``parts`` are the statistics met, in order."""

    fields: Mapping[str, Any]
    parts: list[Part] = field(default_factory=list)

    def value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return float(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            return self.fields[node.id]
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.UnaryOp):
            inner = self.value(node.operand)
            if isinstance(node.op, ast.Not):
                return np.logical_not(inner)
            return -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp):
            return self._binary(node.op, self.value(node.left), self.value(node.right), node)
        if isinstance(node, ast.BoolOp):
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            result = self.value(node.values[0])
            for other in node.values[1:]:
                result = _together(join, result, self.value(other), node)
            return result
        assert isinstance(node, ast.Compare)
        return self._compare(node)

    def _binary(self, operator: ast.operator, left: Any, right: Any, node: ast.expr) -> Any:
        functions: dict[type[ast.operator], Any] = {
            ast.Add: np.add,
            ast.Sub: np.subtract,
            ast.Mult: np.multiply,
            ast.Div: np.divide,
            ast.Pow: np.power,
        }
        return _together(functions[type(operator)], left, right, node)

    def _compare(self, node: ast.Compare) -> Any:
        functions: dict[type[ast.cmpop], Any] = {
            ast.Lt: np.less,
            ast.LtE: np.less_equal,
            ast.Gt: np.greater,
            ast.GtE: np.greater_equal,
            ast.Eq: np.equal,
            ast.NotEq: np.not_equal,
        }
        values = [self.value(part) for part in (node.left, *node.comparators)]
        result: Any = True
        for operator, left, right in zip(node.ops, values, values[1:], strict=False):
            one = _together(functions[type(operator)], left, right, node)
            if isinstance(operator, ast.NotEq):  # NaN differs from everything, but says nothing
                one = one & ~(np.isnan(left) | np.isnan(right))
            result = _together(np.logical_and, result, one, node)
        return result

    def _call(self, node: ast.Call) -> Any:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        arguments = [self.value(argument) for argument in node.args]
        if name == "hypot":
            return _together(np.hypot, arguments[0], arguments[1], node)
        if name == "finite":
            return np.isfinite(arguments[0])
        if name in POINTWISE:
            return getattr(np, name)(arguments[0])
        values = np.asarray(arguments[0])
        if name in {"any", "all"}:
            result = bool(getattr(np, name)(values))
            if name == "any" and result:
                self._note(node, float(np.count_nonzero(values)), int(np.argmax(values)), values)
            return result
        if name == "count":
            count = float(np.count_nonzero(values))
            self._note(node, count, int(np.argmax(values)) if count else None, values)
            return count
        found, flat = _statistic(name, values, *arguments[1:])
        self._note(node, found, flat, values)
        return found

    def _note(self, node: ast.Call, value: float, flat: int | None, values: Any) -> None:
        variable = next(iter(names_in(node)), None)
        index = None
        if variable is not None and flat is not None:
            shape = np.shape(self.fields[variable])
            if shape == values.shape:  # else it is no place in that variable
                index = tuple(int(i) for i in np.unravel_index(flat, shape))
        self.parts.append(Part(ast.unparse(node), value, variable, index))


def _together(function: Any, left: Any, right: Any, node: ast.expr) -> Any:
    if np.ndim(left) and np.ndim(right) and np.shape(left) != np.shape(right):
        raise FrameError(
            f"{ast.unparse(node)[:60]}: fields of the shapes {np.shape(left)} and "
            f"{np.shape(right)} do not go together"
        )
    return function(left, right)


def _statistic(name: str, values: Any, *more: float) -> tuple[float, int | None]:
    """A statistic of the values that are not NaN, and for an extreme its flat index."""
    known = values
    if values.size and np.isnan(values).any():
        known = values[~np.isnan(values)]
    if not known.size:
        return math.nan, None
    if name in {"min", "max"}:
        place = np.nanargmin(values) if name == "min" else np.nanargmax(values)
        return float(values.reshape(-1)[place]), int(place)
    if name == "percentile":
        return float(np.percentile(known, more[0])), None
    return float(getattr(np, name)(known, dtype=np.float64)), None


def told(parts: tuple[Part, ...]) -> Iterator[str]:
    """The statistics in words, each once: ``max(abs(W)) = 93.1``."""
    yield from dict.fromkeys(f"{part.text} = {part.value:.4g}" for part in parts)
