"""The part of a frame that a product shows: by index, coordinate, stride, or around an extreme."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from burstlens.core.errors import FrameError
from burstlens.core.nearness import did_you_mean
from burstlens.viz.geometry.staggering import STAGGERED, unstaggered, with_faces

if TYPE_CHECKING:
    from burstlens.viz.seams import OpenFrame


@dataclass(frozen=True, slots=True)
class Crop:
    """The part of each frame to keep; by default the whole frame."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    index: dict[str, int | tuple[int, int]] = field(default_factory=dict)
    """By grid point, from 0: `west_east = [10, 50]` keeps points 10 to 49 of that dimension,
    `bottom_top = 5` keeps one. Negative numbers count from the end."""

    range: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By coordinate, ends included: `x`, `y`, `z` in the file's unit (WRF: metres), `lat`, `lon`
    in degrees, `level` as a level's number from 0."""

    stride: int | dict[str, int] = 1
    """Every n-th point, along all dimensions or by dimension."""

    follow: str | None = None
    """Centre on an extreme of a field of the same frame, `min:PSFC` or `max:W`, or on a storm:
    `track:NAME`, with the name of a product of the kind `track`."""

    half_width_km: float | None = None
    """With `follow`: how far the crop reaches from its centre, in km."""

    half_width: int | None = None
    """With `follow`: how far the crop reaches from its centre, in grid points."""

    def __post_init__(self) -> None:
        strides = self.stride.values() if isinstance(self.stride, dict) else (self.stride,)
        if any(step < 1 for step in strides):
            raise ValueError("stride must be 1 or more")
        for name, wanted in self.index.items():
            if isinstance(wanted, tuple) and min(wanted) >= 0 and wanted[0] >= wanted[1]:
                raise ValueError(
                    f"index of {name}: {wanted[0]} to before {wanted[1]} keeps nothing"
                )
        for name, (low, high) in self.range.items():
            if not low <= high:
                raise ValueError(f"range of {name}: {low:g} is not below {high:g}")
        if self.follow is None:
            if self.half_width_km is not None or self.half_width is not None:
                raise ValueError("half_width needs follow = 'min:NAME', 'max:NAME' or 'track:NAME'")
            return
        extreme, _, name = self.follow.partition(":")
        if extreme not in ("min", "max", "track") or not name:
            raise ValueError(
                f"follow is 'min:NAME', 'max:NAME' or 'track:NAME', not {self.follow!r}"
            )
        if (self.half_width_km is None) == (self.half_width is None):
            raise ValueError("follow needs either half_width_km or half_width")
        if (self.half_width_km or 0) < 0 or (self.half_width or 0) < 0:
            raise ValueError("half_width must not be negative")

    @property
    def tracks(self) -> tuple[str, ...]:
        """The names of the products whose state gives the position of the crop."""
        what, _, name = (self.follow or "").partition(":")
        return (name,) if what == "track" else ()


@dataclass(frozen=True, slots=True)
class CentredCrop(Crop):
    """A crop that follows something whose position is known: ``x`` and ``y`` in ``units``, as in
    :func:`.position.units`. ``words`` name what is followed."""

    x: float = 0.0
    y: float = 0.0
    units: str = ""
    words: str = ""


def resolve(crop: Crop, frame: OpenFrame, variable: str) -> dict[str, slice]:
    """The slice of each dimension of ``variable``, as :meth:`OpenFrame.read` takes them.

    A slice of ``west_east`` from a to b comes with one of ``west_east_stag`` from a to b + 1:
    the faces of the same cells. Raises FrameError if a name is unknown (with near names) or if
    the crop lies outside the domain (with its extent).
    """
    bases = (unstaggered(d, frame) for d in frame.variable(variable).dimensions)
    sizes = {base: frame.dimensions[base] for base in bases}
    kept = {dimension: slice(0, size, 1) for dimension, size in sizes.items()}
    if crop.range:
        from burstlens.viz.geometry.locate import locate

        kept |= locate(frame, variable, dict(crop.range))
    for name, wanted in crop.index.items():
        dimension = _dimension(name, sizes, frame)
        if dimension in sizes:
            kept[dimension] = _by_index(name, wanted, sizes[dimension])
    if crop.follow is not None:
        kept |= _follow(crop, frame, variable, kept)
    strides = crop.stride if isinstance(crop.stride, dict) else dict.fromkeys(sizes, crop.stride)
    for name, step in strides.items():
        dimension = _dimension(name, sizes, frame)
        if dimension in kept:
            kept[dimension] = slice(kept[dimension].start, kept[dimension].stop, step)
    return with_faces(kept, frame)


def _dimension(name: str, sizes: dict[str, int], frame: OpenFrame) -> str:
    base = unstaggered(name, frame)
    if base not in frame.dimensions:
        known = [*sizes, *(d for d in frame.dimensions if not d.endswith(STAGGERED))]
        raise FrameError(f"crop: the frame has no dimension {name!r}{did_you_mean(name, known)}")
    return base


def _by_index(name: str, wanted: int | tuple[int, int], size: int) -> slice:
    first, stop = (wanted, wanted + 1 or size) if isinstance(wanted, int) else wanted
    first += size if first < 0 else 0
    stop += size if stop < 0 else 0
    if not 0 <= first < stop <= size:
        raise FrameError(f"crop: index {name} = {wanted} is outside of 0 to {size - 1}")
    return slice(first, stop, 1)


def _follow(
    crop: Crop, frame: OpenFrame, variable: str, kept: dict[str, slice]
) -> dict[str, slice]:
    """The window around what is followed, moved to lie inside the domain."""
    from burstlens.viz.geometry import grid
    from burstlens.viz.geometry.locate import spacing_km

    axes = grid.axes(frame, variable)
    if isinstance(crop, CentredCrop):
        place = _at_centre(crop, frame, variable)
    elif crop.tracks:
        raise FrameError(f"the track {crop.tracks[0]!r} has no position yet")
    else:
        place = _at_extreme(crop, frame, kept)
    centred: dict[str, slice] = {}
    for direction in ("x", "y"):
        dimension = axes.get(direction)
        if dimension is None:
            continue
        if dimension not in place:
            raise FrameError(f"follow: {crop.follow} has no dimension {dimension}")
        size = frame.dimensions[dimension]
        centre = min(place[dimension], size - 1)
        reach = crop.half_width
        if reach is None:
            apart_km = spacing_km(frame, variable, direction)
            reach = round(float(crop.half_width_km or 0) / apart_km)
        width = min(2 * reach + 1, size)
        first = min(max(centre - reach, 0), size - width)
        centred[dimension] = slice(first, first + width, 1)
    return centred


def _at_extreme(crop: Crop, frame: OpenFrame, kept: dict[str, slice]) -> dict[str, int]:
    """The index of the extreme of a field of this frame, by unstaggered dimension."""
    import numpy as np

    extreme, _, name = str(crop.follow).partition(":")
    followed = frame.variable(name)
    window = with_faces(kept, frame)
    values: Any = frame.read(name, window)
    if not np.isfinite(values).any():
        raise FrameError(f"follow: all values of {name} are NaN")
    finite = np.where(np.isfinite(values), values, np.nan)
    flat = np.nanargmin(finite) if extreme == "min" else np.nanargmax(finite)
    at = np.unravel_index(int(flat), values.shape)
    return {
        unstaggered(dimension, frame): window[dimension].start + int(index)
        for dimension, index in zip(followed.dimensions, at, strict=True)
    }


def _at_centre(crop: CentredCrop, frame: OpenFrame, variable: str) -> dict[str, int]:
    """The index of the variable's point nearest to the centre, by unstaggered dimension.

    By position, not by the index in the track: a nest moves, and another variable may lie
    between the points of the track's variable.
    """
    from burstlens.viz.geometry import grid, position

    plane = grid.map_plane(frame, variable, {})
    if position.units(plane) != crop.units:
        raise FrameError(
            f"follow: {crop.words} is in {crop.units}, {variable} in {position.units(plane)}"
        )
    row, column = position.nearest(plane, crop.x, crop.y)
    x, y = grid.horizontal_dimensions(frame, variable, centred=True)
    return {x: column, y: row}
