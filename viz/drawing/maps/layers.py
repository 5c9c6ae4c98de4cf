"""Layers that a recipe may draw over a map's filled field: lines, winds, places, tracks, nests.

Importable on a login node; ``isolines.py``, ``wind_symbols.py`` and ``places.py`` draw them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.drawing.colour_names import Colour
from burstlens.viz.seams import OpenFrame


def names_file(text: str) -> bool:
    """Whether a text names a CSV file; else it is the name of a product, which has no dot."""
    return "." in text or "/" in text


_CONFIG = {"extra": "forbid", "use_attribute_docstrings": True}


@dataclass(frozen=True, slots=True)
class Contours:
    """Lines of equal value."""

    __pydantic_config__ = _CONFIG

    variable: str
    """The variable, as the file calls it."""

    level: int | None = None
    """Which level of a 3-D variable, from 0 in the file's order."""

    units: str | None = None
    """In these units: `hPa`. By default the file's."""

    levels: tuple[float, ...] = ()
    """The values that get a line; by default round ones, without zero for fields of both signs."""

    interval: float | None = None
    """A line at each multiple of this, instead of `levels`; for fields of both signs, such as
    velocities, none at zero."""

    labels: bool = True
    """Write the values on the lines."""

    colour: Colour = "black"
    """A name that matplotlib knows, or `#rrggbb`."""

    def __post_init__(self) -> None:
        check_names((self.variable,))
        if self.levels and self.interval is not None:
            raise ValueError("contours take either levels or interval")
        if self.interval is not None and not self.interval > 0:
            raise ValueError("contours: interval must be above zero")
        if any(low >= high for low, high in zip(self.levels, self.levels[1:], strict=False)):
            raise ValueError("contours: levels must increase")


@dataclass(frozen=True, slots=True)
class Wind:
    """Two components of a wind or a current, thinned to the picture. By default WRF's 10 m wind;
    in other models' files the current or the wind, as their standard or usual names say, nearest to
    the surface."""

    __pydantic_config__ = _CONFIG

    u: str = "U10"
    """The component along x, as the file calls it."""

    v: str = "V10"
    """The component along y."""

    level: int | None = None
    """Which level of 3-D variables, from 0 in the file's order."""

    relative_to: Literal["grid", "earth"] | None = None
    """Whether the components are along the model's grid (as WRF writes them) or eastward and
    northward. By default as their standard or usual names say, else along the grid. The map turns
    what needs to be turned."""

    spacing_px: int = 38
    """How far apart the symbols are, in pixels at 100 dpi."""

    reference: float | None = None
    """The speed, in the file's units, of a vector as long as `spacing_px`. By default a round one
    for each frame: set it if pictures of different times are to be compared."""

    colour: Colour = "black"
    """A name that matplotlib knows, or `#rrggbb`."""

    def __post_init__(self) -> None:
        check_names((self.u, self.v))
        if not 8 <= self.spacing_px <= 400:
            raise ValueError("spacing_px must be 8 to 400")
        if self.reference is not None and not self.reference > 0:
            raise ValueError("reference must be above zero")


_MEDIA: tuple[Literal["sea", "air"], ...] = ("sea", "air")
"""What is looked for: a file of an ocean model may hold the wind over it, too."""

_WRFS = Wind().u, Wind().v


def components_of(frame: OpenFrame, asked: Wind) -> Wind:
    """The same with the frame's own components and their level where the recipe names none.

    WRF's frames have U10 and V10; in others the current, else the wind, nearest to the surface.
    """
    if (asked.u, asked.v) != _WRFS or asked.u in frame or asked.v in frame:
        return asked
    if "west_east" in frame.dimensions:
        return asked
    from burstlens.viz.diagnostics import velocity

    for medium in _MEDIA:
        try:
            found = velocity.find(frame, medium)
            if found is None:
                continue
            level = asked.level
            if level is None:
                level = velocity.near_surface(frame, found.u, medium)
        except FrameError:  # a future frame has no values yet
            return asked
        return replace(asked, u=found.u, v=found.v, level=level)
    return asked


@dataclass(frozen=True, slots=True)
class Nest:
    """A domain inside the one that is shown, with the names of WRF's `namelist.input`."""

    __pydantic_config__ = _CONFIG

    i_parent_start: int
    """The cell of this domain in which the nest begins, from 1, along x."""

    j_parent_start: int
    """The same along y."""

    parent_grid_ratio: int
    """Cells of the nest along a cell of this domain."""

    e_we: int
    """End of the nest's staggered dimension along x."""

    e_sn: int
    """The same along y."""

    name: str = "d02"
    """The text in its corner."""

    def __post_init__(self) -> None:
        if min(self.i_parent_start, self.j_parent_start, self.parent_grid_ratio) < 1:
            raise ValueError("a nest's parent start and ratio are 1 or more")
        if min(self.e_we, self.e_sn) < 2:
            raise ValueError("a nest's e_we and e_sn are 2 or more")
