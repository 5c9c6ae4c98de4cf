"""Fields that a recipe computes itself: an expression in place of a variable's name.

``hypot(U10, V10) [m s-1]``, ``theta_e@850hPa - theta_e@500hPa [K]``: variables, diagnostics and
levels of them, followed by the unit of the result in brackets. Light: recipes are checked with it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from burstlens.core.errors import FrameError, RecipeError
from burstlens.core.expression import (
    FUNCTIONS,
    GATHERING,
    SELECTION,
    VARIABLE,
    names_in,
    number_of,
    parse,
    parse_selection,
)
from burstlens.core.nearness import NEAR, did_you_mean
from burstlens.core.units import DIFFERENCE, ON_SCALE, is_temperature
from burstlens.viz.diagnostics.level import AT, LEVEL, check_levels

if TYPE_CHECKING:
    from burstlens.viz.diagnostics.slabs import Computation
    from burstlens.viz.seams import OpenFrame, Variable, Window

_UNITS = re.compile(r"\s*\[([^][=]*)\]\s*$")
_AT_LEVEL = re.compile(rf"{VARIABLE}@\s*(?:{LEVEL})(?![\w.])", re.IGNORECASE)
_CHOSEN = re.compile(SELECTION)
_OPERATOR = re.compile(r"[-+*/()]")
_PLAIN = re.compile(r"\w[^/*@<>=!,\[\]\"']*")
_SPACED = re.compile(r"\s[-+]|[-+]\s")
_ROUNDING = 1e-9
_CALLED = re.compile(r"(\w+)\s*\(")


@dataclass(frozen=True, slots=True)
class Formula:
    """A checked expression: its tree, its variables by their names in it, its result's unit."""

    text: str
    tree: ast.expr
    variables: Mapping[str, str]
    units: str


def is_formula(name: str) -> bool:
    """Whether a name is an expression and not the name of a variable, perhaps at a level.

    A text that cannot be computed and reads like a variable's name is a name: a file may have it.
    A file's own variable wins over an expression with the same text (:class:`.FrameReader`).

    >>> is_formula("2 * W"), is_formula("wind@0-6km agl"), is_formula("T(surface)")
    (True, False, False)
    """
    plain = _CHOSEN.sub("", _AT_LEVEL.sub("_", bare(name)))
    if _OPERATOR.search(plain) is None:
        return False
    if not _may_be_a_name(name):
        return True
    try:
        parse_formula(name)
    except RecipeError:
        return False
    return True


def bare(name: str) -> str:
    """A name without the unit that an expression states.

    >>> bare("2 * W [m s-1]")
    '2 * W'
    """
    return _UNITS.sub("", name)


@lru_cache(maxsize=64)
def parse_formula(text: str) -> Formula:
    """The formula in a text. RecipeError says what is wrong with it."""
    match = _UNITS.search(text)
    plain = bare(text).strip()
    levels: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        name = f"level_{len(levels)}_"
        levels[name] = found[0].replace("`", "")
        return name

    try:
        tree, kind = parse(_AT_LEVEL.sub(named, plain))
    except RecipeError as error:
        raise RecipeError(f"{plain!r} {error}") from None
    if kind.truth:
        raise RecipeError(f"{plain!r} gives a yes or no, not a number")
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    if any(isinstance(called, ast.Name) and called.id in GATHERING for called in calls):
        raise RecipeError(
            f"{plain!r} takes a statistic, which would change with the crop: only what is computed "
            "point by point"
        )
    if not kind.everywhere:
        raise RecipeError(f"{plain!r} is one number, not a field")
    variables = {name: levels.get(name, name) for name in names_in(tree)}
    return Formula(plain, tree, variables, match[1].strip() if match else "")


def check_names(names: Iterable[str]) -> None:
    """ValueError when one of the names is empty or an invalid expression, or has no level after an
    ``@``."""
    for name in names:
        if not name.strip():
            raise ValueError("a variable needs a name")
        try:
            if is_formula(name):
                check_levels(parse_formula(name).variables.values())
            else:
                check_levels((name,))
                parse_selection(name.partition(AT)[0])
        except RecipeError as error:
            raise ValueError(str(error)) from None


def describe(frame: OpenFrame, text: str) -> Variable:
    """Describes the result of the formula: on the centres of the cells, with the stated unit.

    FrameError when a variable is missing or two are not on one grid.
    """
    from burstlens.viz.geometry.c_grid import centres
    from burstlens.viz.geometry.staggering import unstaggered
    from burstlens.viz.seams import Variable

    formula = parse_formula(text)
    grids = {
        name: tuple(unstaggered(d, frame) for d in frame.variable(name).dimensions)
        for name in formula.variables.values()
    }
    if len(set(grids.values())) > 1:
        grids = {name: tuple(centres(frame, d)[0] for d in of) for name, of in grids.items()}
    dimensions = next(iter(grids.values()))
    if len(set(grids.values())) > 1:
        have = ", ".join(f"{name} has {', '.join(of) or 'none'}" for name, of in grids.items())
        raise FrameError(f"{formula.text}: its variables are not on one grid: {have}")
    first = frame.variable(next(iter(grids))).attributes
    attributes = {"long_name": formula.text, "units": formula.units}
    attributes |= {k: first[k] for k in ("coordinates", "grid_mapping") if k in first}
    if is_temperature(formula.units):
        attributes["units_metadata"] = DIFFERENCE if _cancels(frame, formula) else ON_SCALE
    shape = tuple(frame.dimensions[dimension] for dimension in dimensions)
    parts = [frame.variable(name) for name in grids]
    choices = dict.fromkeys(part.choice for part in parts if part.further)
    further = dict.fromkeys(d for part in parts for d in part.further)
    return Variable(
        text, dimensions, shape, attributes, choice=", ".join(choices), further=tuple(further)
    )


def plan(
    frame: OpenFrame,
    text: str,
    window: Window | None,
    needs: Callable[[str], tuple[list[str], int | None]],
) -> Computation:
    """How the formula is computed within a window. Raises as above.

    ``needs`` gives the stored variables of a name and how many points around a column it needs.
    """
    from burstlens.viz.diagnostics.slabs import Computation
    from burstlens.viz.frames.held import slices
    from burstlens.viz.geometry.grid import axes

    formula, described = parse_formula(text), describe(frame, text)
    part = dict(zip(described.dimensions, slices(described, window), strict=True))
    of = partial(_compute, formula, described.dimensions)
    found = [needs(name) for name in formula.variables.values()]
    reads = list(dict.fromkeys(name for names, _ in found for name in names))
    halos = [halo for _, halo in found]
    along = axes(frame, text)
    if None in halos or not along.keys() >= {"x", "y"}:
        return Computation(described, part, of)
    halo = 1 + max(halo or 0 for halo in halos)  # faces of other models lie on either side
    return Computation(described, part, of, reads, halo, (along["y"], along["x"]))


def _compute(
    formula: Formula, dimensions: tuple[str, ...], frame: OpenFrame, part: dict[str, slice]
) -> Any:
    """The values of the formula within a window, NaN where it has none."""
    import numpy as np

    from burstlens.core.arithmetic import Arithmetic
    from burstlens.viz.geometry.c_grid import read_at_centres, read_centred
    from burstlens.viz.geometry.staggering import unstaggered

    fields = {}
    for own, name in formula.variables.items():
        own_points = tuple(unstaggered(d, frame) for d in frame.variable(name).dimensions)
        is_centred = own_points == dimensions
        values = (read_centred if is_centred else read_at_centres)(frame, name, part)
        fields[own] = values if values.dtype.kind == "f" else values.astype(np.float64)
    found = np.asarray(Arithmetic(fields).value(formula.tree))
    # Division by zero gives no value; a recipe's field is shown and stored without infinities.
    return np.where(np.isfinite(found), found, found.dtype.type(np.nan))


def _cancels(frame: OpenFrame, formula: Formula) -> bool:
    """Whether the zero of the temperatures in it cancels, as in ``T2 - TSK``."""
    shares: dict[str, float] = {}
    for own, name in formula.variables.items():
        about = frame.variable(name)
        shares[own] = float(is_temperature(about.units) and not about.is_difference)
    share = _share(formula.tree, shares)
    return any(shares.values()) and share is not None and abs(share) < _ROUNDING


def _share(node: ast.expr, shares: Mapping[str, float]) -> float | None:
    """How much a part grows where all temperatures are 1 K more; None where that varies."""
    if isinstance(node, ast.Constant):
        return 0.0
    if isinstance(node, ast.Name):
        return shares[node.id]
    if isinstance(node, ast.UnaryOp):
        inner = _share(node.operand, shares)
        return -inner if inner is not None and isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        left, right = _share(node.left, shares), _share(node.right, shares)
        if left == right == 0:
            return 0.0
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add | ast.Sub):
            return left + (right if isinstance(node.op, ast.Add) else -right)
        factor = number_of(node.right)
        if isinstance(node.op, ast.Div) and factor:
            return left / factor
        if isinstance(node.op, ast.Mult) and factor is not None:
            return left * factor
        factor = number_of(node.left)
        return right * factor if isinstance(node.op, ast.Mult) and factor is not None else None
    assert isinstance(node, ast.Call)
    return 0.0 if all(_share(argument, shares) == 0 for argument in node.args) else None


def _may_be_a_name(text: str) -> bool:
    """Whether netCDF allows it as a name, and it does not look like a mistake in an expression."""
    if not _PLAIN.fullmatch(text) or text != text.strip() or _SPACED.search(text):
        return False
    called = _CALLED.findall(text)
    return not any(did_you_mean(name, FUNCTIONS).startswith(NEAR) for name in called)
