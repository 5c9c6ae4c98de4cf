"""What a kind calls once its picture is drawn: the fields as shown become values beside it.

A kind passes each field with the plane that it is drawn on; :func:`header` says which picture that
is, where its field lies in it and in which colours; :func:`write` puts ``values.js`` and
the grids' ``grid-<hash>.js`` into the folder that the context names.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import Colormap, to_hex
from numpy.typing import NDArray

from burstlens.core.units import printed
from burstlens.viz.drawing import style
from burstlens.viz.drawing.maps.overlay import Overlay
from burstlens.viz.drawing.maps.reach import corners
from burstlens.viz.geometry.field import Field
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.product import Context, whole_file
from burstlens.viz.values.grid import Axis, GridScript, axes_grid, pixel_grid
from burstlens.viz.values.names import GRID, VALUES
from burstlens.viz.values.options import Values, stride
from burstlens.viz.values.quantised import quantised
from burstlens.viz.values.script import script

Array = NDArray[Any]
_IN_HEADER = (
    "size", "box", "extent", "projection", "length_units", "title", "smooth", "resampled",
)  # fmt: skip


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
    edges_x, edges_y = ((float(edges[0]), float(edges[-1])) for edges in corners(plane))
    across = replace(across, edges=edges_x).thinned(every)
    down = replace(down, edges=edges_y).thinned(every)
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


def header(
    context: Context,
    picture: int,
    facts: Mapping[str, Any],
    colours: Colormap,
    edges: tuple[float, ...],
    *,
    log: bool,
) -> dict[str, Any]:
    """The header's part that all fields share.

    ``picture`` is the CRC-32 of the picture that these values belong to: a reader who finds
    another one in the index has values of an older or a newer picture. ``facts`` are the product's.
    """
    scale = style.SCALES.get(colours.name)
    names = {"names": list(scale.names)} if scale and scale.names else {}
    shares = np.linspace(0, 1, len(edges) - 1 if edges else 256)
    table = np.rint(colours(shares)[:, :3] * 255).astype(np.uint8)  # red, green and blue bytes
    return {
        "product": context.product,
        "stream": context.stream,
        "time": context.time,
        "picture": picture,
        **{name: facts[name] for name in _IN_HEADER if name in facts},
        "colours": {
            "map": colours.name,
            "table": base64.b64encode(table).decode(),
            "under": _hex(colours.get_under()),
            "over": _hex(colours.get_over()),
            "bad": _hex(colours.get_bad()),
            "ground": _hex(facts.get("ground", colours.get_bad())),
            "limits": facts["limits"],
            "edges": list(edges),
            "log": log,
            **names,
        },
    }


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
    images = [piece for overlaid in overlay if (piece := overlaid.piece) is not None]
    words = [one for overlaid in overlay for one in overlaid.words]
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


def _reversed(axis: Axis) -> Axis:
    last = axis.first + axis.step * (axis.points.size - 1)
    return replace(
        axis, points=axis.points[::-1], edges=axis.edges[::-1], first=last, step=-axis.step
    )


def _hex(colour: Any) -> str:
    return to_hex(colour)
