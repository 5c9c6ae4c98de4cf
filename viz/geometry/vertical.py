"""Positions of a variable's levels: as its coordinate has them, in metres, in pascals.

WRF: PH and PHB. Other models: CF conventions 1.11, 4.3: a coordinate of pressure, height or depth,
a formula (4.3.3), an auxiliary coordinate that varies along the ground (5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from burstlens.core.errors import FrameError, RecipeError
from burstlens.core.units import convert
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.c_grid import around_faces, centres, to_faces
from burstlens.viz.geometry.formula_terms import FORMULAS, Quantity, evaluate, parse_terms
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.seams import OpenFrame, Variable, Window

_SI: dict[Quantity, str] = {"height": "m", "pressure": "Pa"}
_FIELDS: dict[Quantity, tuple[str, tuple[str, ...]]] = {
    "height": ("geopotential_height", ("Z3", "zg")),
    "pressure": ("air_pressure", ("PMID",)),
}
"""Fields of levels: their standard name, CAM's and CMIP's names; CAM writes no standard names."""


@dataclass(frozen=True, slots=True)
class Heights:
    """Vertical coordinates: 1-D, or 3-D as (z, y, x); upwards when ``up``, else a depth."""

    z: Array
    units: str
    up: bool = True


@dataclass(frozen=True, slots=True)
class Levels:
    """Positions (z) or (z, y, x): heights above the datum in m, upwards, or pressures in Pa.

    ``ground`` is that of the surface below as (y, x), None if it is not known. ``is_sea``: the
    heights are negative, and people name them by their depth.
    """

    values: Array
    quantity: Quantity
    ground: Array | None = None
    is_sea: bool = False


def heights(frame: OpenFrame, variable: str, window: Window) -> Heights | None:
    """Heights of the cell centres in the window; None if the variable has no vertical dimension.

    WRF: (PH + PHB) / 9.81, metres above sea level, averaged from the faces to the centres. Other
    files: those of a formula or an auxiliary coordinate, else the coordinate as it is stored.
    """
    dimension = grid.axes(frame, variable).get("z")
    if dimension is None:
        return None
    part = window.get(dimension, slice(0, frame.dimensions[dimension], 1))
    if dimension == "bottom_top" and "PH" in frame and "PHB" in frame:
        faces = dict(window) | {"bottom_top_stag": slice(part.start, part.stop + 1, 1)}
        z = (frame.read("PH", faces) + frame.read("PHB", faces)) / np.float32(grid.GRAVITY)
        return Heights(grid.to_centres(z, 0)[:: part.step], "m")
    found = levels(frame, variable, window)
    if found is not None and found.values.ndim == 3:
        return Heights(found.values, _SI[found.quantity], found.quantity == "height")
    if dimension in frame and frame.variable(dimension).dimensions == (dimension,):
        about = frame.variable(dimension)
        return Heights(frame.read(dimension, window), about.units, not _is_down(about))
    return Heights(np.arange(part.start, part.stop, part.step, dtype=np.float64), "")


def levels(frame: OpenFrame, variable: str, window: Window) -> Levels | None:
    """Heights or pressures of a variable's levels in the window, by its CF coordinates.

    None if there are none (WRF's files have others). FrameError if a formula lacks a term.
    """
    dimension = grid.axes(frame, variable).get("z")
    if dimension is None:
        return None
    for name in _coordinates(frame, variable, dimension):
        about = frame.variable(name)
        formula = FORMULAS.get(str(about.attributes.get("standard_name", "")))
        if formula is not None and "formula_terms" in about.attributes:
            return _by_formula(frame, about, variable, window)
        quantity = _quantity(about)
        if quantity is None:
            continue
        values = _placed(frame, name, variable, window)
        values = values[:, 0, 0] if about.dimensions == (dimension,) else values
        if quantity == "pressure":
            return Levels(values, quantity)
        values = -values if _is_down(about) else values
        return Levels(values, quantity, is_sea=bool((values <= 0).all()))
    return None


def metres(frame: OpenFrame, variable: str, window: Window) -> Levels | None:
    """Heights of a variable's levels in m: its coordinate's, else a geopotential height's."""
    found = levels(frame, variable, window)
    if found is None or found.quantity == "height":
        return found
    return _of_field(frame, variable, window, "height")


def pascals(frame: OpenFrame, variable: str, window: Window) -> Levels | None:
    """Pressures of a variable's levels in Pa: its coordinate's, else a field's."""
    found = levels(frame, variable, window)
    if found is not None and found.quantity == "pressure":
        return found
    return _of_field(frame, variable, window, "pressure")


def _of_field(frame: OpenFrame, variable: str, window: Window, quantity: Quantity) -> Levels | None:
    """The levels by a field of that quantity on the same grid."""
    standard, names = _FIELDS[quantity]
    own = frame.variable(variable).dimensions
    for name in frame.names:
        about = frame.variable(name)
        known = about.attributes.get("standard_name") == standard or name in names
        if known and name != variable and about.dimensions == own:
            return Levels(_placed(frame, name, variable, window), quantity)
    return None


def is_pressure(units: str) -> bool:
    """Whether a coordinate in these units is a pressure."""
    try:
        convert(np.zeros(1), units, "Pa")
    except RecipeError:
        return False
    return bool(units)


def standard_height(pressure: Array) -> Array:
    """Height in m of a pressure in Pa in the ICAO standard atmosphere (ISO 2533:1975), to 20 km.

    Above, the temperature stays at 216.65 K. For pictures of files that have pressures only.

    >>> [round(float(z)) for z in standard_height(np.array([101325.0, 50000.0, 10000.0]))]
    [0, 5574, 16180]
    """
    below = 44330.77 * (1 - (pressure / 101325.0) ** 0.1902632)
    above = 11000 + 6341.62 * np.log(22632.06 / np.maximum(pressure, 1e-3))
    return np.where(pressure > 22632.06, below, above).astype(pressure.dtype)


def _coordinates(frame: OpenFrame, variable: str, dimension: str) -> Iterator[str]:
    """The coordinate of the levels, then auxiliary ones, which vary along the ground."""
    if dimension in frame and frame.variable(dimension).dimensions == (dimension,):
        yield dimension
    stored = frame.variable(variable)
    for name in str(stored.attributes.get("coordinates", "")).split():
        if name in frame and name != dimension:
            dimensions = frame.variable(name).dimensions
            if dimension in dimensions and set(dimensions) <= set(stored.dimensions):
                yield name


def _quantity(about: Variable) -> Quantity | None:
    """What a coordinate measures, by its units (CF 4.3)."""
    if is_pressure(about.units):
        return "pressure"
    try:
        convert(np.zeros(1), about.units, "m")
    except RecipeError:
        return None
    return "height" if about.units else None


def _is_down(about: Variable) -> bool:
    """Whether a coordinate counts downwards; files without ``positive`` name it a depth."""
    positive = str(about.attributes.get("positive", "")).strip().lower()
    if positive:
        return positive == "down"
    is_depth = about.attributes.get("standard_name") == "depth"
    return is_depth or about.name.lower().startswith("depth")


def _by_formula(frame: OpenFrame, about: Variable, variable: str, window: Window) -> Levels:
    formula = FORMULAS[str(about.attributes["standard_name"])]
    named = parse_terms(str(about.attributes["formula_terms"]))
    terms: dict[str, Array] = {}
    for term in (*formula.needs, *formula.optional):
        name = named.get(term)
        if name is None or name not in frame:
            if term in formula.needs:
                raise FrameError(
                    f"the levels of {variable}: {about.name} needs {term} "
                    f"({name or 'not named'}), which the frame does not have"
                )
            continue
        values = _placed(frame, name, variable, window)
        # A sea's surface has no value on land, where the floor is known.
        terms[term] = np.nan_to_num(values, nan=0.0) if term == "eta" else values
    found = evaluate(formula, terms)
    is_sea = formula.ground == "depth"
    ground = terms[formula.ground] if formula.ground else None
    if ground is not None:
        ground = -ground if is_sea else ground
        ground = ground.reshape(ground.shape[-2:]) if ground.ndim >= 2 else None
    return Levels(found, formula.quantity, ground, is_sea)


def _placed(frame: OpenFrame, name: str, variable: str, window: Window) -> Array:
    """A coordinate or a term at the points of a variable, as (z, y, x) or (); m, Pa, or its own.

    Axes that it does not have are 1 long. Terms at the centres of cells are averaged to the points
    of a staggered variable. FrameError if it lies elsewhere.
    """
    directions = grid.axes(frame, variable)
    own = {unstaggered(d, frame): d for d in frame.variable(variable).dimensions}
    about = frame.variable(name)
    if not about.dimensions:
        return _in_si(np.asarray(frame.read(name), np.float64), about)
    order = [directions.get(direction, "") for direction in "zyx"]
    home = {centres(frame, own[d])[0]: d for d in order if d}
    others = [d for d in about.dimensions if d not in order and d not in home]
    if others:
        raise FrameError(f"{name} lies along {others[0]}, and {variable} does not")
    part = {d: s for d, s in window.items() if d in about.dimensions and d in order}
    kept: dict[str, slice] = {}
    for dimension in about.dimensions:
        target = home.get(dimension, "")
        if dimension not in order and target in window:
            faces, sizes = centres(frame, own[target])[1], frame.dimensions
            part[dimension], kept[dimension] = around_faces(
                window[target], faces, sizes[own[target]], sizes[dimension]
            )
    values = np.asarray(frame.read(name, part), np.float64)
    for axis, dimension in enumerate(about.dimensions):
        if dimension in order:
            continue
        values = to_faces(values, axis, centres(frame, own[home[dimension]])[1])
        if dimension in kept:
            values = values[(slice(None),) * axis + (kept[dimension],)]
    places = [order.index(home.get(d, d) if d not in order else d) for d in about.dimensions]
    values = values.transpose(np.argsort(places))
    shape = [1, 1, 1]
    for place, size in zip(sorted(places), values.shape, strict=True):
        shape[place] = size
    return _in_si(values.reshape(shape), about)


def _in_si(values: Array, about: Variable) -> Array:
    quantity = _quantity(about)
    return values if quantity is None else np.asarray(convert(values, about.units, _SI[quantity]))
