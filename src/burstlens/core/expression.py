"""A small language of expressions over fields: checked before the run, never executed as Python.

Python's parser gives the tree, and a node that is not listed here is refused. Variables are
fields, also ``10u`` and ``t2m[expver=5]``, which is one point of a further dimension (several are
joined by commas: ``swh[number=3, step=6]``); any other name is put between backquotes. Statistics
reduce fields to numbers. :mod:`.arithmetic` evaluates a tree; guards and products say which kinds
they accept. Imports little: login nodes check recipes.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean

SELECTION = r"\[\s*\w+\s*=(?!=)[^][]*\]"
"""The part in brackets; units in brackets have no ``=``."""
_SELECTED = re.compile(rf"(.+?)\s*({SELECTION})", re.DOTALL)
_ONE = re.compile(r"\s*(\w+)\s*=\s*([^=,]*[^=,\s])\s*")
_DIGITS = r"\d+(?![eE][+-]?\d+(?!\w))[A-Za-z]\w*"
VARIABLE = rf"(?<![\w.@])(?:[A-Za-z_]\w*|{_DIGITS}|`[^`]+`)(?:{SELECTION})?"
"""A variable's name in an expression, perhaps with a choice of a further dimension."""
_UNLIKE_PYTHON = re.compile(
    rf"(?<![\w.@])(?:[A-Za-z_]\w*{SELECTION}|(?:{_DIGITS}|`[^`]+`)(?:{SELECTION})?)"
)
LONGEST = 1000
MOST_NODES = 200
DEEPEST = 30
LARGEST_EXPONENT = 8


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of a part of an expression: truth or number, one per point or a single one."""

    truth: bool
    everywhere: bool


STATISTICS = ("min", "max", "mean", "sum", "std")
POINTWISE = ("abs", "sqrt", "exp", "log", "log10")
GATHERING = frozenset({*STATISTICS, "percentile", "any", "all", "count"})
"""Functions that reduce a field to one value."""
FUNCTIONS = (*STATISTICS, *POINTWISE, "percentile", "hypot", "finite", "any", "all", "count")
_ARITHMETIC: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_COMPARISONS: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def names_in(tree: ast.expr) -> tuple[str, ...]:
    """The variables in a part of an expression, each once, in the order of the text."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    found.sort(key=lambda node: (node.lineno, node.col_offset))
    return tuple(dict.fromkeys(node.id for node in found if node.id not in FUNCTIONS))


def quoted(name: str) -> str:
    """A variable's name as an expression takes it.

    >>> quoted("10u"), quoted("wind-speed")
    ('10u', '`wind-speed`')
    """
    return name if re.fullmatch(VARIABLE, name) and name not in FUNCTIONS else f"`{name}`"


@lru_cache(maxsize=64)
def parse(text: str) -> tuple[ast.expr, Kind]:
    """The tree of an expression and its kind. Raises RecipeError saying what is wrong."""
    if len(text) > LONGEST:
        raise RecipeError(f"is longer than {LONGEST} characters")
    if not text.isascii():
        raise RecipeError("has letters that are not ASCII")
    names: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        name = next(one for n in count() if (one := f"v{n}_") not in text and one not in names)
        names[name] = match[0].replace("`", "")
        return name

    try:
        tree = ast.parse(_UNLIKE_PYTHON.sub(named, text.strip()), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
        raise RecipeError(f"cannot be read: {reason}") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES or _depth(tree) > DEEPEST:
        raise RecipeError(f"has more than {MOST_NODES} parts or {DEEPEST} levels")
    return tree, _kind(tree)


def _depth(tree: ast.AST) -> int:
    level, depth = [tree], 0
    while level:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth


def _kind(node: ast.expr) -> Kind:
    """The kind of a part. Raises RecipeError for a part that expressions must not have."""
    if isinstance(node, ast.Constant):
        if number_of(node) is None:
            raise RecipeError(f"{ast.unparse(node)[:40]} is not a number that can be used here")
        return Kind(truth=False, everywhere=False)
    if isinstance(node, ast.Name):
        if node.id in FUNCTIONS:
            raise RecipeError(f"{node.id} is a function: write {node.id}(...)")
        return Kind(truth=False, everywhere=True)
    if isinstance(node, ast.Call):
        return _call_kind(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd | ast.Not):
        return _kinds([node.operand], truth=isinstance(node.op, ast.Not))[0]
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
        if isinstance(node.op, ast.Pow):
            exponent = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
            value = number_of(exponent)
            if value is None or value > LARGEST_EXPONENT:
                raise RecipeError(f"an exponent is a number, at most {LARGEST_EXPONENT}")
        sides = _kinds([node.left, node.right], truth=False)
        return Kind(truth=False, everywhere=any(side.everywhere for side in sides))
    if isinstance(node, ast.BoolOp):
        sides = _kinds(node.values, truth=True)
        return Kind(truth=True, everywhere=any(side.everywhere for side in sides))
    if isinstance(node, ast.Compare) and all(isinstance(op, _COMPARISONS) for op in node.ops):
        sides = _kinds([node.left, *node.comparators], truth=False)
        return Kind(truth=True, everywhere=any(side.everywhere for side in sides))
    raise RecipeError(
        f"{ast.unparse(node)[:40]!r} does not belong here: there are variables, numbers, "
        f"+ - * / **, comparisons, and, or, not, and the functions {', '.join(FUNCTIONS)}"
    )


def number_of(node: ast.expr) -> float | None:
    """The finite number that a constant is, else None."""
    if not isinstance(node, ast.Constant) or type(node.value) not in {int, float}:
        return None
    try:
        number = float(node.value)  # type: ignore[arg-type]
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _call_kind(node: ast.Call) -> Kind:
    name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)[:40]
    if name not in FUNCTIONS:
        raise RecipeError(f"there is no function {name!r}{did_you_mean(name, FUNCTIONS)}")
    wanted = 2 if name in {"percentile", "hypot"} else 1
    if node.keywords or len(node.args) != wanted:
        raise RecipeError(f"{name} takes {wanted} argument{'s' if wanted > 1 else ''}")
    kinds = _kinds(node.args, truth=name in {"any", "all", "count"})
    if name == "percentile":
        part = number_of(node.args[1])
        if part is None or not 0 <= part <= 100:
            raise RecipeError("the second argument of percentile is a number, 0 to 100")
    gathers = name in GATHERING
    if gathers and not kinds[0].everywhere:
        raise RecipeError(f"{ast.unparse(node)[:40]}: {name} is of a field, not of one number")
    everywhere = not gathers and any(kind.everywhere for kind in kinds)
    return Kind(truth=name in {"any", "all", "finite"}, everywhere=everywhere)


def _kinds(parts: Sequence[ast.expr], *, truth: bool) -> list[Kind]:
    """The kinds of parts that all have to be a yes or no (``truth``), or numbers."""
    kinds = [_kind(part) for part in parts]
    found, wanted = ("a number", "a yes or no") if truth else ("a yes or no", "a number")
    for kind, part in zip(kinds, parts, strict=True):
        if kind.truth != truth:
            raise RecipeError(f"{ast.unparse(part)[:40]!r} is {found} where {wanted} is needed")
    return kinds


def parse_selection(name: str) -> tuple[str, dict[str, str]]:
    """The variable and the wanted value of each dimension; none for a name without a selection.

    RecipeError says how it is written.

    >>> parse_selection("swh[number=3, step=6]")
    ('swh', {'number': '3', 'step': '6'})
    """
    match = _SELECTED.fullmatch(name.strip())
    if match is None:
        return name, {}
    found: dict[str, str] = {}
    for part in match[2][1:-1].split(","):
        one = _ONE.fullmatch(part)
        if one is None or one[1] in found:
            raise RecipeError(f"{name!r}: a choice is written {match[1]}[dimension=value]")
        found[one[1]] = one[2]
    return match[1], found
