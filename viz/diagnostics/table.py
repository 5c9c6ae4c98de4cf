"""Diagnostics by name, wherever a variable's name is accepted: described, computed in a window.

A name is that of a diagnostic (``slp``), of a diagnostic or a 3-D variable of WRF at a level or
over a layer (``temperature@850hPa``, ``U@80m agl``), see
:mod:`burstlens.viz.diagnostics.level`.
docs/diagnostics.md has the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics import (
    cloud,
    convection,
    moisture,
    pressure,
    rain,
    reflectivity,
    vorticity,
    wind,
)
from burstlens.viz.diagnostics.diagnostic import Array, Block, Diagnostic
from burstlens.viz.diagnostics.level import AT, Level, parse_level
from burstlens.viz.diagnostics.levels import Between, Within, between, within
from burstlens.viz.diagnostics.slabs import Computation
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.product import ProductFrame
from burstlens.viz.seams import Variable, Window

_KINDS = (pressure, moisture, wind, vorticity, convection, reflectivity, cloud, rain)
DIAGNOSTICS: Mapping[str, Diagnostic] = MappingProxyType(
    {diagnostic.name: diagnostic for kind in _KINDS for diagnostic in kind.DIAGNOSTICS}
)
"""Every diagnostic by name."""


def is_derived(name: str) -> bool:
    """Whether a name stands for something computed, if the file has no variable of that name."""
    return name in DIAGNOSTICS or AT in name


def describe(frame: ProductFrame, name: str) -> Variable:
    """Describes a derived quantity like a variable: name, dimensions, shape, units, words.

    FrameError names what is needed and what there is if a variable is missing, RecipeError
    says how levels are written.
    """
    base, at, text = name.partition(AT)
    diagnostic = DIAGNOSTICS.get(base) if base not in frame else None
    if diagnostic is None:
        found = frame.variable(base)
        dimensions = tuple(unstaggered(dimension, frame) for dimension in found.dimensions)
        long_name, units, standard_name = found.long_name, found.units, ""
    else:
        diagnostic.check(frame)
        dimensions, words = diagnostic.dimensions, diagnostic.words
        long_name = diagnostic.long_name if words is None else words(frame)
        units, standard_name = diagnostic.units, diagnostic.standard_name
    layer = diagnostic.layer if diagnostic is not None else ""
    if at or layer:
        level = parse_level(text if at else layer)
        if layer and level.high is None:
            raise RecipeError(f"{base} needs a layer, such as {AT}{layer}")
        if "bottom_top" not in dimensions and not layer:
            raise RecipeError(f"{base} has no bottom_top, so {AT}{text} means nothing")
        if level.coordinate:
            DIAGNOSTICS[level.coordinate].check(frame)
        elif not layer:
            number, size = int(level.low), frame.dimensions["bottom_top"]
            if number >= size:
                raise FrameError(
                    f"level {number} is outside of bottom_top, which has 0 to {size - 1}"
                )
        dimensions = tuple(d for d in dimensions if d != "bottom_top")
        mean = ", mean" if level.high is not None and not layer else ""
        long_name = f"{long_name}{mean} {level.words}"
    attributes = {"long_name": long_name, "units": units, "coordinates": "XLONG XLAT"}
    if standard_name:
        attributes["standard_name"] = standard_name
    shape = tuple(frame.dimensions[dimension] for dimension in dimensions)
    return Variable(name, dimensions, shape, attributes)


def plan(frame: ProductFrame, name: str, window: Window | None = None) -> Computation:
    """How a derived quantity is computed within a window, one axis for each of its dimensions.

    Only what is needed is read: the whole columns of the window if the quantity has no levels of
    its own. NaN where it has no value. Raises as :func:`describe` does.
    """
    described = describe(frame, name)
    base, _, text = name.partition(AT)
    diagnostic = DIAGNOSTICS.get(base) if base not in frame else None
    part = {d: s for d, s in (window or {}).items() if d in described.dimensions}
    layer = text or (diagnostic.layer if diagnostic is not None else "")
    level = parse_level(layer) if layer else None

    def of(frame: ProductFrame, part: Window) -> Array:
        if diagnostic is not None and diagnostic.layer:
            return Block(frame, part, DIAGNOSTICS, layer)[base]
        if level is not None:
            return _on_level(frame, base, diagnostic, part, level)
        return Block(frame, part, DIAGNOSTICS)[base]

    reads, halo = needs(frame, name)
    is_one = level is not None and not level.coordinate  # one level takes little
    return Computation(described, part, of, reads, None if is_one else halo)


def needs(frame: ProductFrame, name: str) -> tuple[list[str], int | None]:
    """The stored variables that a quantity is computed from, and how many points around a column;
    None: it is not local to columns."""
    base, at, text = name.partition(AT)
    diagnostic = DIAGNOSTICS.get(base) if base not in frame else None
    reads = [base] if diagnostic is None else diagnostic.reads(frame)
    halo = 0 if diagnostic is None else diagnostic.halo
    if at:
        coordinate = parse_level(text).coordinate
        reads += DIAGNOSTICS[coordinate].reads(frame) if coordinate else []
    return list(dict.fromkeys(reads)), halo


def _on_level(
    frame: ProductFrame, base: str, diagnostic: Diagnostic | None, part: Window, level: Level
) -> Array:
    if not level.coordinate:
        number = int(level.low)
        one = Block(frame, {**part, "bottom_top": slice(number, number + 1)}, DIAGNOSTICS)
        return np.asarray(one[base][0])
    block = Block(frame, part, DIAGNOSTICS)
    coordinate = block[level.coordinate]
    place: Between | Within
    if level.high is None:
        place = between(coordinate, level.low, log=level.coordinate == "pressure")
    else:
        place = within(coordinate, level.low, level.high)
    # What is computed on levels is computed on each alone: the others are not read.
    few = Block(frame, {**block.part, "bottom_top": place.levels}, DIAGNOSTICS)

    def there(name: str) -> Array:
        return place.of(few[name], place.levels.start)

    if diagnostic is None or not diagnostic.parts:
        return there(base)
    return diagnostic.compute({part: there(part) for part in diagnostic.parts})
