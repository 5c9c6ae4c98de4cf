"""What a diagnostic is, and the part of a frame that it is computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.level import Level, parse_level
from burstlens.viz.geometry.c_grid import read_centred
from burstlens.viz.geometry.staggering import unstaggered, with_faces
from burstlens.viz.product import ProductFrame
from burstlens.viz.seams import Window

Array = NDArray[Any]
VOLUME = ("bottom_top", "south_north", "west_east")
SURFACE = ("south_north", "west_east")
OR = "|"
"""Separates names of variables of which a diagnostic needs one."""
_INSTEAD = {"P": "P_HYD", "PB": "P_HYD"}
"""Substitutes for missing variables (as :func:`pressure.pressure` uses them)."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A quantity computed from a frame's variables, at the mass points of WRF's grid.

    ``needs`` are the variables that the file must have (``A|B``: one of them), ``uses`` those
    that are used if present. ``compute`` returns an array with ``dimensions``. ``parts``
    of a vector are interpolated separately before ``compute`` combines them. ``layer``
    is the layer it is computed over unless another is named. ``levels`` is how many it needs.
    ``words`` returns the long name for one frame, where that differs between frames. ``halo`` is
    how many points around a column it needs; None: it is not local to columns.
    """

    name: str
    long_name: str
    units: str
    needs: tuple[str, ...]
    dimensions: tuple[str, ...]
    compute: Callable[[Any], Array]
    standard_name: str = ""
    uses: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    layer: str = ""
    levels: int = 0
    words: Callable[[ProductFrame], str] | None = None
    halo: int | None = 0

    def check(self, frame: ProductFrame) -> None:
        """FrameError that names what is needed and what there is, if the frame lacks something."""
        check_needs(frame, self.name, self.needs)
        for dimension in self.dimensions:
            if dimension not in frame.dimensions:
                raise FrameError(f"{self.name} needs the dimension {dimension}")
        there = frame.dimensions.get("bottom_top", 0)
        if there < self.levels:
            raise FrameError(f"{self.name} needs {self.levels} levels, the frame has {there}")

    def reads(self, frame: ProductFrame) -> list[str]:
        """The stored variables that it is computed from."""
        names = [one for need in (*self.needs, *self.uses) for one in need.split(OR)]
        names += [_INSTEAD[name] for name in names if name not in frame and name in _INSTEAD]
        return [name for name in dict.fromkeys(names) if name in frame]


def made_of(function: Callable[..., Array], *names: str) -> Callable[[Any], Array]:
    """Computes a diagnostic as that function of fields of a block, or of a mapping."""
    return lambda fields: function(*(fields[name] for name in names))


def check_needs(frame: ProductFrame, name: str, needs: tuple[str, ...]) -> None:
    """FrameError that names what is needed and what there is, if a variable is missing."""
    missing = [
        need for need in needs
        if not any(one in frame or _INSTEAD.get(one) in frame for one in need.split(OR))
    ]  # fmt: skip
    if missing:
        there = [one for need in needs for one in need.split(OR) if one in frame]
        has = f"{', '.join(there)}, not {_listed(missing)}" if there else "none of them"
        if len(needs) == 1:
            raise FrameError(f"{name} needs {_listed(needs)}, which the frame does not have")
        raise FrameError(f"{name} needs {_listed(needs)}; the frame has {has}")


def _listed(needs: Any) -> str:
    return ", ".join(need.replace(OR, " or ") for need in needs)


class Block:
    """The variables and diagnostics of a part of a frame, at mass points, as (z, y, x) or (y, x).

    ``block["U"]`` is read once, at first use, and averaged from the faces of the cells;
    integers become float64. ``known`` are the diagnostics available in the same way.
    FrameError when a variable has other dimensions, such as members of an ensemble.
    """

    def __init__(
        self, frame: ProductFrame, window: Window, known: Mapping[str, Diagnostic], layer: str = ""
    ) -> None:
        self.frame = frame
        self.part = {
            dimension: slice(*window.get(dimension, slice(None)).indices(size))
            for dimension, size in frame.dimensions.items()
            if dimension in VOLUME
        }
        self._known = known
        self._layer = layer
        self._values: dict[str, Array] = {}

    def __contains__(self, name: object) -> bool:
        return name in self.frame

    def __getitem__(self, name: str) -> Array:
        if name not in self._values:
            known = self._known.get(name)
            self._values[name] = self._read(name) if known is None else known.compute(self)
        return self._values[name]

    def _read(self, name: str) -> Array:
        stored = self.frame.variable(name).dimensions
        others = [d for d in stored if unstaggered(d, self.frame) not in VOLUME]
        if others:
            raise FrameError(f"{name} has the dimension {others[0]}: no diagnostic can use it")
        return _floating(read_centred(self.frame, name, self.part))

    @property
    def layer(self) -> Level:
        """The requested layer."""
        return parse_level(self._layer)

    def attribute(self, name: str, default: float | None = None) -> float:
        """A global attribute of the file; FrameError if it is missing and has no default."""
        value = self.frame.attributes.get(name, default)
        if value is None:
            raise FrameError(f"the file has no attribute {name}")
        return float(value)

    def on_faces(self, name: str) -> Array:
        """A variable on its own points, which may be staggered; the block must have no strides."""
        return _floating(self.frame.read(name, with_faces(self.part, self.frame)))

    def lowest(self, count: int) -> Block:
        """The block with the lowest ``count`` levels only."""
        return Block(self.frame, self.part | {"bottom_top": slice(0, count, 1)}, self._known)

    def widened(self, margin: int) -> Block:
        """The block with ``margin`` more points on each side, within the domain, and without
        horizontal strides: for derivatives; :meth:`trimmed` reduces them to this block's points.
        """
        wide = dict(self.part)
        for dimension in SURFACE:
            part, size = self.part[dimension], self.frame.dimensions[dimension]
            start, stop = max(part.start - margin, 0), min(part.stop + margin, size)
            wide[dimension] = slice(start, stop, 1)
        return Block(self.frame, wide, self._known)

    def trimmed(self, values: Array, wide: Block) -> Array:
        """The points of this block among values (..., y, x) on the ``wide`` one."""
        index: list[Any] = [...]
        for dimension in SURFACE:
            part, first = self.part[dimension], wide.part[dimension].start
            index.append(slice(part.start - first, part.stop - first, part.step))
        return np.asarray(values[tuple(index)])


def _floating(values: Array) -> Array:
    return values if values.dtype.kind == "f" else values.astype(np.float64)
