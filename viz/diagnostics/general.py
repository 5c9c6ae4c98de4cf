"""Quantities of frames that are not WRF's: flows, positions of levels, values at a level.

``current``, ``current_east``, ``current_north``, ``wind``, ``u_earth``, ``v_earth``, at the centres
of the cells; ``height`` and ``pressure`` of the levels; any of them, and any 3-D variable, at a
level (``temp@-50m``, ``T@500hPa``), see :mod:`burstlens.viz.diagnostics.level`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics import velocity
from burstlens.viz.diagnostics.level import AT, Level, parse_level
from burstlens.viz.diagnostics.levels import Array, interpolate, layer_mean
from burstlens.viz.diagnostics.slabs import Computation
from burstlens.viz.frames.held import slices
from burstlens.viz.geometry import grid, vertical
from burstlens.viz.seams import OpenFrame, Variable, Window


@dataclass(frozen=True, slots=True)
class _Flow:
    long_name: str
    standard_name: str
    medium: velocity.Medium
    which: int | None
    """The eastward (0) or northward (1) component; None: the speed."""


_FLOWS = {
    "current": _Flow("current speed", "sea_water_speed", "sea", None),
    "current_east": _Flow("eastward current", "eastward_sea_water_velocity", "sea", 0),
    "current_north": _Flow("northward current", "northward_sea_water_velocity", "sea", 1),
    "wind": _Flow("wind speed", "wind_speed", "air", None),
    "u_earth": _Flow("eastward wind", "eastward_wind", "air", 0),
    "v_earth": _Flow("northward wind", "northward_wind", "air", 1),
}
_POSITIONS = {
    "height": ("height above sea level", "m", "altitude"),
    "pressure": ("air pressure", "Pa", "air_pressure"),
}
_KEPT = {"coordinates", "grid_mapping", "standard_name", "units_metadata", "cell_methods"}
NAMES = frozenset(_FLOWS) | frozenset(_POSITIONS)
"""What a frame of any model may have under these names, if no variable has the name."""


def describe(frame: OpenFrame, name: str) -> Variable:
    """Describes one of ``NAMES``, or a variable at a level. FrameError says what is missing."""
    base, at, text = name.partition(AT)
    if not at:
        return _described(frame, name)
    about = frame.variable(base)
    level = parse_level(text)
    z = _levels_of(frame, base)
    size = frame.dimensions[z]
    if not level.coordinate and level.low >= size:
        raise FrameError(f"level {text} is outside of {z}, which has 0 to {size - 1}")
    dimensions = tuple(d for d in about.dimensions if d != z)
    mean = ", mean" if level.high is not None else ""
    attributes = {k: v for k, v in about.attributes.items() if k in _KEPT}
    attributes |= {"long_name": f"{about.long_name}{mean} {level.words}", "units": about.units}
    return replace(
        about, name=name, dimensions=dimensions, shape=_shape(frame, dimensions),
        attributes=attributes, chunks=(),
    )  # fmt: skip


def plan(frame: OpenFrame, name: str, window: Window | None = None) -> Computation:
    """How one of them is computed within a window, one axis for each dimension; NaN where it has no
    value."""
    described = frame.variable(name)
    window = dict(zip(described.dimensions, slices(described, window), strict=True))
    base, at, text = name.partition(AT)

    def of(frame: OpenFrame, part: Window) -> Array:
        if at:
            return _at_level(frame, base, dict(part), parse_level(text), described.dimensions)
        fields, together = _parts(frame, base, dict(part))
        return together(*fields)

    along = grid.axes(frame, name)
    if not along.keys() >= {"x", "y"} or (at and not parse_level(text).coordinate):
        return Computation(described, window, of)
    return Computation(described, window, of, *needs(frame, name), (along["y"], along["x"]))


def needs(frame: OpenFrame, name: str) -> tuple[list[str], int]:
    """The stored variables that a quantity is computed from, once more for each position of their
    levels, and how many points around a column."""
    base, at, _ = name.partition(AT)
    if base in frame:
        reads = [base]
    elif base in _POSITIONS:
        reads = [_reference(frame, base)] * 2
    else:
        of = _pair(frame, base)
        reads = [of.u, of.v]
    return reads + 2 * reads[:1] if at else reads, 1


def _described(frame: OpenFrame, name: str) -> Variable:
    if name in _POSITIONS:
        long_name, units, standard_name = _POSITIONS[name]
        about = frame.variable(_reference(frame, name))
        attributes = {key: about.attributes[key] for key in _KEPT if key in about.attributes}
        attributes |= {"long_name": long_name, "units": units, "standard_name": standard_name}
        return Variable(name, about.dimensions, about.shape, attributes)
    flow = _FLOWS[name]
    of = _pair(frame, name)
    dimensions = velocity.dimensions(frame, of)
    attributes = velocity.described(frame, of)
    attributes |= {
        "long_name": flow.long_name, "units": frame.variable(of.u).units,
        "standard_name": flow.standard_name,
    }  # fmt: skip
    return replace(
        frame.variable(of.u), name=name, dimensions=dimensions, shape=_shape(frame, dimensions),
        attributes=attributes, chunks=(),
    )  # fmt: skip


def _pair(frame: OpenFrame, name: str) -> velocity.Pair:
    found = velocity.find(frame, _FLOWS[name].medium)
    if found is None:
        what = "current" if _FLOWS[name].medium == "sea" else "wind"
        raise FrameError(f"{name} needs both components of the {what}, which {frame} does not have")
    return found


def _reference(frame: OpenFrame, name: str) -> str:
    """The first variable that has levels of the kind, on the ground's grid."""
    for variable in frame.names:
        about = frame.variable(variable)
        if len(about.dimensions) == 3 and set(grid.axes(frame, variable)) == {"x", "y", "z"}:
            return variable
    raise FrameError(f"{name}: {frame} has no variable with levels")


def _shape(frame: OpenFrame, dimensions: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(frame.dimensions[dimension] for dimension in dimensions)


def _parts(
    frame: OpenFrame, base: str, part: dict[str, slice]
) -> tuple[tuple[Array, ...], Callable[..., Array]]:
    """Fields that can be interpolated between levels, and what makes the quantity of them."""
    if base in frame or base not in NAMES:
        values = frame.read(base, part)
        return (values if values.dtype.kind == "f" else values.astype(np.float64),), np.asarray
    if base in _POSITIONS:
        variable = _reference(frame, base)
        known = (vertical.metres if base == "height" else vertical.pascals)(frame, variable, part)
        if known is None:
            raise FrameError(f"the {base} of the levels of {variable} is not known")
        return (_on_levels(frame, variable, known.values, part),), np.asarray
    flow, of = _FLOWS[base], _pair(frame, base)
    u, v = velocity.components(frame, of, part)
    if flow.which is None:
        return (u, v), np.hypot

    def component(u: Array, v: Array) -> Array:
        if not of.to_earth:
            u, v = velocity.turned_to_earth(frame, base, u, v, part)
        return np.asarray((u, v)[flow.which or 0])

    return (u, v), component


def _on_levels(frame: OpenFrame, variable: str, values: Array, part: Window) -> Array:
    """Positions (z) or (z, y, x) as an array of the variable's dimensions."""
    directions = grid.axes(frame, variable)
    order = [directions[d] for d in "zyx"]
    shape = [len(range(*part.get(d, slice(None)).indices(frame.dimensions[d]))) for d in order]
    whole = np.broadcast_to(values[:, None, None] if values.ndim == 1 else values, shape)
    return whole.transpose([order.index(d) for d in frame.variable(variable).dimensions])


def _levels_of(frame: OpenFrame, base: str) -> str:
    """The dimension of the levels of a 3-D variable; FrameError if it has others or none."""
    about = frame.variable(base)
    directions = grid.axes(frame, base)
    if "z" not in directions or len(about.dimensions) != 3:
        have = ", ".join(about.dimensions) or "none"
        raise FrameError(f"{base} has no levels: its dimensions are {have}")
    return directions["z"]


def _at_level(
    frame: OpenFrame, base: str, part: dict[str, slice], level: Level, dimensions: tuple[str, ...]
) -> Array:
    z = _levels_of(frame, base)
    stored = frame.variable(base).dimensions
    if not level.coordinate:
        number = int(level.low)
        fields, together = _parts(frame, base, part | {z: slice(number, number + 1, 1)})
        return together(*(field.squeeze(stored.index(z)) for field in fields))
    fields, together = _parts(frame, base, part)
    order = [stored.index(d) for d in (z, *dimensions)]
    directions = grid.axes(frame, base)
    places = _coordinate(frame, base, part, level)
    if dimensions != (directions["y"], directions["x"]):
        places = places.transpose(0, 2, 1) if places.ndim == 3 else places
    places = places[:, None, None] if places.ndim == 1 else places

    def there(field: Array) -> Array:
        values = field.transpose(order)
        coordinate = np.broadcast_to(places, values.shape).astype(np.float64)
        if level.high is not None:
            return layer_mean(values, coordinate, level.low, level.high)
        return interpolate(values, coordinate, level.low, log=level.coordinate == "pressure")

    return together(*(there(field) for field in fields))


def _coordinate(frame: OpenFrame, base: str, part: Window, level: Level) -> Array:
    """Positions of the levels of a variable in what the level is counted in."""
    is_pressure = level.coordinate == "pressure"
    found = (vertical.pascals if is_pressure else vertical.metres)(frame, base, part)
    if found is None:
        what = "pressure" if is_pressure else "height"
        raise FrameError(f"{base}{AT}{level.text}: the {what} of its levels is not known")
    if level.coordinate != "height_agl":
        if found.is_sea and level.low > 0:
            raise RecipeError(
                f"{base} lies below the sea's surface: say {AT}-{level.low:g}m for that depth"
            )
        return found.values
    if found.ground is None:
        raise FrameError(f"{base}{AT}{level.text}: the height of the ground is not known")
    values = found.values[:, None, None] if found.values.ndim == 1 else found.values
    return np.asarray(values - found.ground)
