"""What a scene shows of a frame: read, and laid out as points in a box."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.core.lengths import metres
from burstlens.core.units import convert
from burstlens.viz.diagnostics.diagnostic import SURFACE
from burstlens.viz.diagnostics.levels import interpolate
from burstlens.viz.drawing.maps.graticule import latitude, longitude
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.c_grid import read_centred
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.field import finite_range
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.projection import EARTH_RADIUS_M, Projection
from burstlens.viz.kinds.scene.haze import Density, read_density
from burstlens.viz.kinds.scene.options import Isosurface, SceneOptions
from burstlens.viz.kinds.vtk.read import open_box
from burstlens.viz.kinds.vtk.volume import Volume
from burstlens.viz.product import ProductFrame

_WIDE = 0.3
"""Default height of a box, as a part of its longer side."""
_FLAT = 0.02
"""The same for a box that holds only the ground."""
_ROUND = (1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500)


@dataclass(frozen=True, slots=True)
class Coloured:
    """What is shown in colours: surfaces of points (m, n, 3) with values (m, n)."""

    name: str
    long_name: str
    units: str
    parts: tuple[tuple[Array, Array], ...]
    where: str
    on_ground: bool

    @property
    def values(self) -> Array:
        """All values, one after the other."""
        return np.concatenate([values.ravel() for _, values in self.parts])

    def extent(self) -> tuple[float, float]:
        """The smallest and the largest finite value."""
        return finite_range(self.values)


@dataclass(frozen=True, slots=True)
class Scene:
    """What is shown, in km where the frame gives lengths; heights are not stretched.

    ``shells`` are isosurfaces: their points (z, y, x, 3), values (z, y, x) and words. ``ground``
    are the points (y, x, 3) of the surface, ``water`` where it is (None: not known). ``low`` and
    ``high`` are corners of the box, ``plane`` the one that x and y are on, in its own unit, which
    is ``scale`` km (1 where that is not a length).
    """

    shells: tuple[tuple[Isosurface, Array, Array, str, str], ...]
    hazes: tuple[Density, ...]
    coloured: Coloured | None
    ground: Array
    water: Array | None
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    plane: grid.Plane
    scale: float
    in_km: bool
    height_in_km: bool

    def exaggeration(self, asked: float | None) -> float:
        """The factor by which heights are stretched."""
        if asked is not None:
            return asked
        wide = max(h - w for h, w in zip(self.high[:2], self.low[:2], strict=True))
        wanted = _WIDE * wide / max(self.high[2] - self.low[2], 1e-9)
        if not (self.in_km and self.height_in_km):
            return wanted
        return float(max((step for step in _ROUND if step <= wanted), default=1.0))


def read_scene(options: SceneOptions, frame: ProductFrame) -> Scene:
    """Read what the options name, within the crop.

    Raises FrameError when a variable is missing, all NaN, 2-D where a 3-D one is needed, or when a
    slice lies outside of the domain.
    """
    names = tuple(dict.fromkeys(asked.variable for asked in options.seen))
    deep = open_box(frame, names, options.crop, simplest=False).read() if names else None
    units = {options.variable: options.units} if options.variable and options.units else {}
    shown = None
    if options.variable is not None:
        one = (options.variable,)
        shown = open_box(frame, one, options.crop, simplest=False, units=units).read()
    first = deep or shown
    assert first is not None
    placed = _placed(first)
    shells = [_shell(asked, frame, deep, placed) for asked in options.isosurfaces if deep]
    hazes = [read_density(asked, frame, deep, placed) for asked in options.haze if deep]
    coloured = _coloured(options, frame, shown) if shown is not None else None
    flat = deep is None and coloured is not None and coloured.on_ground
    named = names[0] if names else str(options.variable)
    ground, water = _ground(frame, options.crop, named, placed)
    if coloured is not None and coloured.on_ground:
        height = ground[..., 2:]
        laid = [(np.concatenate([p[..., :2], height], axis=-1), v) for p, v in coloured.parts]
        coloured = replace(coloured, parts=tuple(laid))
    every = (ground if flat else placed).reshape(-1, 3)
    low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
    low[2] = min(low[2], float(ground[..., 2].min()))
    if flat:
        high[2] = max(high[2], low[2] + _FLAT * float((high - low)[:2].max()))
    else:
        high[2] = max(_ceiling(frame, options.crop, named) or high[2], ground[..., 2].max())
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (high > low).all()):
        raise FrameError("a scene needs two points and more along each direction")
    return Scene(
        tuple(shells), tuple(hazes), coloured, ground, water, _corner(low), _corner(high),
        first.plane, _scale(first.plane),
        first.plane.geographic or metres(first.plane.units) is not None,
        metres(first.height_units) is not None or flat,
    )  # fmt: skip


def _shell(
    asked: Isosurface, frame: ProductFrame, volume: Volume, placed: Array
) -> tuple[Isosurface, Array, Array, str, str]:
    name, units = asked.variable, volume.units[asked.variable]
    values = volume.arrays[name]
    if values.shape[0] < 2:
        raise FrameError(f"isosurfaces: {name} has no levels, so no surface in 3-D")
    shown = asked.units or units
    about = frame.variable(name)
    values = convert(values, units, shown, difference=about.is_difference)
    return asked, placed, values, shown, about.words


def _corner(values: Array) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _scale(plane: grid.Plane) -> float:
    return 1e-3 if plane.geographic else _km(plane.units)


def _km(units: str) -> float:
    """Kilometres in one unit of a length, 1 for any other units."""
    return (metres(units) or 1000.0) / 1000


def _placed(volume: Volume) -> Array:
    """The points (z, y, x, 3) in km, float64; degrees are laid on a plane about their middle."""
    points = volume.points.astype(np.float64)
    plane = volume.plane
    if plane.geographic:
        lon, lat = points[..., 0], points[..., 1]
        about = f"+lat_0={np.median(lat):.4f} +lon_0={np.median(lon):.4f}"
        flat = Projection(f"+proj=laea {about} +R={EARTH_RADIUS_M:.0f}")
        points[..., 0], points[..., 1] = flat.forward(lon, lat)
    points[..., :2] *= _scale(plane)
    points[..., 2] *= _km(volume.height_units)
    return points


def _coloured(options: SceneOptions, frame: ProductFrame, shown: Volume) -> Coloured:
    name = str(options.variable)
    points, values = _placed(shown), shown.arrays[name]
    about, units, slices = frame.variable(name).words, shown.units[name], options.slices
    if not np.isfinite(values).any():
        raise FrameError(f"{name}: all values are NaN")
    if values.shape[0] == 1:
        if slices is not None:
            raise FrameError(f"slices: {name} has no levels: it is shown on the ground")
        return Coloured(name, about, units, ((points[0], values[0]),), "", True)
    if slices is None:
        raise FrameError(f"{name} has {values.shape[0]} levels: say by slices where it is shown")
    parts, words = [], []
    lon, lat = _degrees(shown) or (None, None)
    middle: Any = (0, points.shape[1] // 2), (0, slice(None), points.shape[2] // 2)
    for direction, places, on, axis, write in (
        ("x", slices.x, points[..., 0] if lon is None else None, 0, "x = {:g} km".format),
        ("y", slices.y, points[..., 1] if lon is None else None, 1, "y = {:g} km".format),
        ("lon", slices.lon, lon, 0, longitude),
        ("lat", slices.lat, lat, 1, latitude),
    ):
        for place in places:
            n = _nearest(direction, place, None if on is None else on[middle[axis]])
            at: Any = (slice(None), n) if axis else (slice(None), slice(None), n)
            parts.append((points[at], values[at]))
            words.append(write(place))
    for height in slices.height:
        level = interpolate(values, points[..., 2], height)
        if not np.isfinite(level).any():
            ends = (float(end) for end in (points[..., 2].min(), points[..., 2].max()))
            reach = " to ".join(_high(end, shown.height_units) for end in ends)
            raise FrameError(f"slices: height = {height:g} is outside of the domain: {reach}")
        flat = points[0].copy()
        flat[..., 2] = height
        parts.append((flat, level))
        words.append(_high(height, shown.height_units))
    return Coloured(name, about, units, tuple(parts), ", ".join(words), False)


def _high(height: float, units: str) -> str:
    """A height in words; the number of a level where the levels have no heights."""
    if not units:
        return f"level {height:.4g}"
    return f"{height:.4g} {'km' if metres(units) is not None else units}"


def _degrees(volume: Volume) -> tuple[Array, Array] | None:
    """Longitude and latitude of the points (z, y, x); None off the earth."""
    x, y = volume.points[..., 0].astype(np.float64), volume.points[..., 1].astype(np.float64)
    projection = volume.plane.projection
    return None if projection is None else projection.inverse(x, y)


def _nearest(direction: str, place: float, along: Array | None) -> int:
    """The number of the point nearest to a place along an edge."""
    if along is None:
        other = "x and y" if direction in ("lon", "lat") else "lon and lat"
        raise FrameError(f"slices: the frame has no {direction} to be cut at: take {other}")
    if direction == "lon":
        place = float(along[0]) + (place - float(along[0]) + 180) % 360 - 180
    low, high = float(along.min()), float(along.max())
    if not low <= place <= high:
        raise FrameError(
            f"slices: {direction} = {place:g} is outside of the crop: {low:.5g} to {high:.5g}"
        )
    return int(np.argmin(np.abs(along - place)))


def _ground(
    frame: ProductFrame, crop: Crop, named: str, placed: Array
) -> tuple[Array, Array | None]:
    """The ground's points (y, x, 3), and where water is: from HGT and LANDMASK where they are."""
    lowest = placed[0].copy()
    window = resolve(crop, frame, named)
    there = frame.dimensions
    flat: dict[str, slice] = {
        d: window.get(d, slice(0, there[d], 1)) for d in SURFACE if d in there
    }
    found = {}
    for name in ("HGT", "LANDMASK"):
        if name in frame and len(flat) == 2:
            values = read_centred(frame, name, flat)
            if values.shape == lowest.shape[:2] and np.isfinite(values).all():
                found[name] = values
    if "HGT" in found:
        lowest[..., 2] = found["HGT"] / 1000
    else:
        bottom = float(np.nanmin(lowest[..., 2]))
        lowest[..., 2] = min(bottom, 0.0) if bottom < 0.5 else bottom
    water = found.get("LANDMASK")
    # Idealized cases leave the mask as it is: a whole domain of "sea" says nothing.
    sea = water < 0.5 if water is not None and (water > 0.5).any() else None
    return lowest, sea


def _ceiling(frame: ProductFrame, crop: Crop, named: str) -> float | None:
    """The height of WRF's highest level at rest, km: of the base state, which does not move with
    the frames, so that the box stands still. None where the frame does not have it."""
    if "PHB" not in frame or "bottom_top" not in frame.dimensions:
        return None
    window = resolve(crop, frame, named)
    part = window.get("bottom_top", slice(0, frame.dimensions["bottom_top"], 1))
    faces = dict(window) | {"bottom_top_stag": slice(part.stop, part.stop + 1, 1)}
    return float(np.nanmax(frame.read("PHB", faces))) / grid.GRAVITY / 1000
