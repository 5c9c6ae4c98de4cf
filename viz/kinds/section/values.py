"""The values of a section as drawn: on the rows and columns of its picture."""

from __future__ import annotations

import numpy as np

from burstlens.core.units import printed
from burstlens.viz.geometry.columns import Vertical
from burstlens.viz.geometry.grid import Array
from burstlens.viz.kinds.section.axes import off_axis, on_axis
from burstlens.viz.kinds.section.read import Sections
from burstlens.viz.values.grid import Axis
from burstlens.viz.values.options import Values
from burstlens.viz.values.shown import Shown, shown_in_section


def cell_faces(vertical: Vertical) -> Array:
    """Where the model's cells meet on the axis, as (level + 1, point): half-way between levels,
    the lowest one at the ground."""
    axis = on_axis(vertical, vertical.levels)
    bottom = 1.5 * axis[:1] - 0.5 * axis[1:2]
    if vertical.ground is not None:
        bottom = on_axis(vertical, vertical.ground)[None]
    top = 1.5 * axis[-1:] - 0.5 * axis[-2:-1]
    return np.concatenate([bottom, 0.5 * (axis[1:] + axis[:-1]), top])


def of_cells(values: Array, vertical: Vertical, rows: Array) -> Array:
    """The value of the cell at each place (row, point) of the axis, NaN beyond the column.

    The row that the ground cuts has the lowest cell: the ground is drawn over it.
    """
    faces = cell_faces(vertical)
    cut = 0.0 if vertical.ground is None else rows[1] - rows[0]
    found = np.full((rows.size, faces.shape[1]), np.nan)
    for n in range(faces.shape[1]):
        column = faces[:, n]
        if not (np.diff(column) > 0).all():
            continue
        cell = np.searchsorted(column, rows, side="right") - 1
        cell[(cell < 0) & (rows >= column[0] - cut)] = 0
        inside = (cell >= 0) & (cell < values.shape[0])
        found[inside, n] = values[cell[inside], n]
    return found


def section_values(sections: Sections, shown: Array, rows: Array, asked: Values) -> Shown:
    """``shown`` is (row, point), ``rows`` are places on the axis, from the lowest."""
    field, line, vertical = sections.field, sections.line, sections.vertical
    half = 0.5 * (rows[1] - rows[0])
    top, bottom = off_axis(vertical, rows[-1] + half, rows[0] - half)
    heights = np.array(off_axis(vertical, *rows[::-1]))
    x = Axis(
        line.distance,
        (float(line.distance[0]), float(line.distance[-1])),
        "distance",
        line.units or "grid point",
    )
    y = Axis(heights, (top, bottom), vertical.words, vertical.units, log=vertical.log)
    facts = {
        "variable": field.name,
        "long_name": field.long_name,
        "units": field.units,
        "printed": printed(field.units),
        "level": "",
    }
    along = None
    if line.lon is not None and line.lat is not None:
        along = {"lon": line.lon, "lat": line.lat}
    return shown_in_section(facts, shown[::-1], x, y, asked, along)
