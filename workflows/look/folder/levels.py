"""The level of a 3-D field that is shown when none is asked for: next to the ground or at the
sea's surface."""

from __future__ import annotations

import re
from typing import Any

from burstlens.core.errors import BurstlensError
from burstlens.core.expression import parse_selection
from burstlens.core.lengths import metres
from burstlens.viz.diagnostics.derived import DerivedFrame
from burstlens.viz.frames.outline import Outline
from burstlens.workflows.frames.contents import Content, Contents

_OF_SEA = r"(?:^|_)(?:sea|ocean)_"
_OF_ROMS = ("s_rho", "s_w")
"""Levels that are counted from the sea's floor."""
_PRESSURE = ("pa", "hpa", "mb", "mbar", "millibar", "millibars", "kpa")


def with_level(
    table: dict[str, Any], outline: Outline, contents: Contents | None
) -> dict[str, Any]:
    """A map's table with the ``level`` that its variable needs, also for its vectors."""
    from burstlens.viz.geometry.grid import axes

    frame = DerivedFrame(outline).choosing()
    try:
        directions = axes(frame, table["variable"])
        dimensions = frame.variable(table["variable"]).dimensions
    except BurstlensError:
        return table
    z = directions.get("z")
    if z is None:
        return table
    dimension = next((d for d in dimensions if d in (z, f"{z}_stag")), z)
    if outline.dimensions.get(dimension, 2) == 1:
        return table
    base = parse_selection(table["variable"])[0]
    about = contents.variables.get(base) if contents is not None else None
    is_of_sea = about is not None and re.search(_OF_SEA, about.text("standard_name")) is not None
    return table | {"level": surface_level(contents, dimension, is_of_sea=is_of_sea)}


def surface_level(contents: Contents | None, dimension: str, *, is_of_sea: bool = False) -> int:
    """The level that a person wants to see first: 0, or -1 for the last one.

    By the first and the last value of the vertical coordinate: of the air the greatest pressure,
    the hybrid or sigma level of the greatest number, the least height; of the sea and of soil the
    least depth, the height or s coordinate next to zero. Without values the first one, but the
    last one of ROMS's ``s_rho`` and ``s_w``, which begin at the bottom. ``is_of_sea``: levels that
    are only counted downwards (HYCOM's layers) begin at the surface; in the air at the top.
    """
    about: Content | None = contents.variables.get(dimension) if contents is not None else None
    if about is None or about.ends is None:
        return -1 if dimension in _OF_ROMS else 0
    first, last = about.ends
    standard, units = about.text("standard_name"), about.text("units").lower()
    is_length = metres(about.text("units")) is not None
    down = about.text("positive").lower() == "down"
    named = f"{standard} {about.text('long_name')}".lower()
    is_depth = "depth" in named or dimension.lower().startswith("dep")
    if standard.startswith("ocean_"):
        return 0 if abs(first) <= abs(last) else -1
    if units in _PRESSURE or re.match(r"atmosphere_(hybrid|sigma|ln_pressure)", standard):
        return 0 if first >= last else -1
    if is_length and not (down or is_depth):
        if max(first, last) <= 0.1 * abs(first - last):  # heights below the sea's surface
            return 0 if first >= last else -1
        if first < 0 < last:  # the first one mirrors the second at the ground (PALM)
            return 1
        return 0 if first <= last else -1
    if is_length or is_depth:
        return 0 if abs(first) <= abs(last) else -1
    if units in ("", "1") and min(first, last) >= -1 and max(first, last) <= 0 and first != last:
        return 0 if abs(first) <= abs(last) else -1  # s or sigma of a sea: 0 is its surface
    return -1 if dimension in _OF_ROMS or (down and (first < last) != is_of_sea) else 0
