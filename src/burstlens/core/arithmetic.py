"""Evaluation of expressions: the values of a tree, computed by numpy.

A comparison with NaN is false.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.core.expression import POINTWISE

Statistic = Callable[[ast.Call, str, list[Any]], Any]
"""Makes one value of a field: the node, the function's name, its arguments."""
_FUNCTIONS: dict[type[ast.operator | ast.cmpop], Any] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide,
    ast.Pow: np.power, ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater,
    ast.GtE: np.greater_equal, ast.Eq: np.equal, ast.NotEq: np.not_equal,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Values of trees that :func:`.expression.parse` has checked; ``fields`` by name."""

    fields: Mapping[str, Any]
    statistic: Statistic | None = None

    def value(self, node: ast.expr) -> Any:
        """The value of a part; FrameError when fields of different shapes are combined."""
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
            left, right = self.value(node.left), self.value(node.right)
            return _together(_FUNCTIONS[type(node.op)], left, right, node)
        if isinstance(node, ast.BoolOp):
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            result = self.value(node.values[0])
            for other in node.values[1:]:
                result = _together(join, result, self.value(other), node)
            return result
        assert isinstance(node, ast.Compare)
        return self._compare(node)

    def _compare(self, node: ast.Compare) -> Any:
        values = [self.value(part) for part in (node.left, *node.comparators)]
        result: Any = True
        for operator, left, right in zip(node.ops, values, values[1:], strict=False):
            one = _together(_FUNCTIONS[type(operator)], left, right, node)
            if isinstance(operator, ast.NotEq):  # NaN != x is true in numpy; here it is false
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
        assert self.statistic is not None, name
        return self.statistic(node, name, arguments)


def _together(function: Any, left: Any, right: Any, node: ast.expr) -> Any:
    if np.ndim(left) and np.ndim(right) and np.shape(left) != np.shape(right):
        raise FrameError(
            f"{ast.unparse(node)[:60]}: fields of the shapes {np.shape(left)} and "
            f"{np.shape(right)} do not go together"
        )
    return function(left, right)
