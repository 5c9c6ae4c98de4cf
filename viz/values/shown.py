"""What a kind calls once its picture is drawn: the fields as shown become values beside it.

A kind passes each field with the plane that it is drawn on; :func:`write` puts ``values.js`` and
the grids' ``grid-<hash>.js`` into the folder that the context names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.units import printed
from burstlens.viz.drawing.maps.overlay import Overlay
from burstlens.viz.drawing.maps.reach import corners
from burstlens.viz.geometry.field import Field
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.product import whole_file
from burstlens.viz.values.grid import Axis, GridScript, axes_grid, pixel_grid
from burstlens.viz.values.names import GRID, VALUES
from burstlens.viz.values.options import Values, stride
from burstlens.viz.values.quantised import quantised
from burstlens.viz.values.script import script

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """A field of a picture: facts for the header, thinned values (row, column) from the top, and
    the grid that these lie on."""

    facts: Mapping[str, Any]
    values: Array
    grid: GridScript


def shown_on_map(
    field: Field,
    plane: Plane,
    extent: Sequence[float],
    box: Sequence[int],
    asked: Values,
    label: str = "",
) -> Shown:
    """A field of a map whose ``extent`` (left, right, bottom, top) fills the pixels of ``box``
    (left, top, right, bottom). ``plane`` is the field's, with straight axes where it can have
    them; ``label`` names a nest."""
    every = stride(field.values.shape, asked.points)
    values = field.values[::every, ::every]
    across = _axis(field, 1, plane.x, plane.units, "x")
    down = _axis(field, 0, plane.y, plane.units, "y")
    facts = {
        "variable": field.name,
        "long_name": field.long_name,
        "units": field.units,
        "printed": printed(field.units),
        "level": field.level,
        "stride": every,
    } | ({"label": label} if label else {})
    if plane.x.ndim == 2:
        size = box[2] - box[0], box[3] - box[1]
        rows, columns = down.thinned(every), across.thinned(every)
        return Shown(facts, values, pixel_grid(plane, extent, size, every, rows, columns))
    edges_x, edges_y = (_ends(edges) for edges in corners(plane))
    across = _on_plane(across, edges_x).thinned(every)
    down = _on_plane(down, edges_y).thinned(every)
    if down.points[0] < down.points[-1] or edges_y[0] < edges_y[1]:
        values, down = values[::-1], _reversed(down)
    if across.edges[0] > across.edges[1]:
        values, across = values[:, ::-1], _reversed(across)
    return Shown(facts, values, axes_grid(across, down, plane.projection))


def shown_in_section(
    facts: Mapping[str, Any],
    values: Array,
    x: Axis,
    y: Axis,
    asked: Values,
    along: Mapping[str, Array] | None,
) -> Shown:
    """A field of a section: values (row, column) from the top, on its two axes. ``along`` are
    ``lon`` and ``lat`` of each point of x, None off the earth."""
    every = stride(values.shape, asked.points)
    where = None if along is None else {name: at[::every] for name, at in along.items()}
    grid = axes_grid(x.thinned(every), y.thinned(every), None, where)
    return Shown({**facts, "stride": every}, values[::every, ::every], grid)


def write(
    folder: Path,
    header: Mapping[str, Any],
    fields: Sequence[Shown],
    overlay: Sequence[Overlay],
    asked: Values,
    *,
    log: bool,
) -> None:
    """Write the values of a picture and the grids that they need.

    StagingError when they cannot be written; nothing half-written is left.
    """
    parts = []
    edges = header["colours"]["edges"]
    for one in fields:
        values = np.ascontiguousarray(one.values)
        codes, scale = quantised(values, asked.bits, log=log, edges=edges)
        parts.append(({**one.facts, "grid": one.grid.hash}, codes, scale))
    pieces = [overlaid.piece for overlaid in overlay]
    words = [one for overlaid in overlay for one in overlaid.words]
    images = [piece for piece in pieces if piece is not None]
    text = script({**header, "words": words}, parts, images)
    folder.mkdir(exist_ok=True)
    for grid in {one.grid.hash: one.grid for one in fields}.values():
        _write(folder / GRID.format(grid.hash), grid.text)
    _write(folder / VALUES, text)


def _write(path: Path, text: bytes) -> None:
    with whole_file(path):
        path.write_bytes(text)


def _axis(field: Field, direction: int, points: Array, units: str, name: str) -> Axis:
    return Axis(
        points if points.ndim == 1 else np.arange(field.values.shape[direction]),
        (0.0, 0.0),
        name,
        units,
        dimension=field.dimensions[direction],
        first=field.first[direction],
        step=field.step[direction],
    )


def _on_plane(axis: Axis, edges: tuple[float, float]) -> Axis:
    return Axis(axis.points, edges, axis.name, axis.units, axis.log,
                axis.dimension, axis.first, axis.step)  # fmt: skip


def _ends(edges: Array) -> tuple[float, float]:
    return float(edges[0]), float(edges[-1])


def _reversed(axis: Axis) -> Axis:
    last = axis.first + axis.step * (axis.points.size - 1)
    return Axis(axis.points[::-1], axis.edges[::-1], axis.name, axis.units, axis.log,
                axis.dimension, last, -axis.step)  # fmt: skip
