"""What is known of a volume without its values: facts for the index, field data, its form; and
how VTK's XML files say so.

Importable on a login node.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burstlens.core.errors import FrameError
from burstlens.viz.kinds.vtk.pvd import time_value
from burstlens.viz.product import Context

ENDIAN = "LittleEndian" if sys.byteorder == "little" else "BigEndian"
Place = tuple[int, int, int]
"""The first point of a part in the whole, as (z, y, x)."""
Shape = tuple[int, int, int]
"""Numbers of points as (z, y, x)."""
Fields = Mapping[str, float | str]
"""Field data by name: numbers, and words."""
Types = dict[str, list[Any]]
"""VTK's type, and the values per point, of arrays by name."""


@dataclass(frozen=True, slots=True)
class Form:
    """The mesh and the arrays of a part, without their values: VTK's name for the mesh, what its
    element says, types of coordinates and data; the part's place in the whole, as (z, y, x)."""

    kind: str
    about: str
    coordinates: Types
    arrays: Types
    first: Place
    shape: Shape
    whole: Shape


def joined_facts(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The facts of all parts together, from those of each (:meth:`.Volume.facts`)."""
    variables = {}
    for name, known in parts[0]["variables"].items():
        each = [part["variables"][name] for part in parts]
        lows = [one["min"] for one in each if one["min"] is not None]
        highs = [one["max"] for one in each if one["max"] is not None]
        variables[name] = {
            **known, "min": min(lows, default=None), "max": max(highs, default=None),
            "nan": sum(one["nan"] for one in each),
        }  # fmt: skip
    return {**parts[0], "variables": variables}


def check_values(facts: Mapping[str, Any]) -> None:
    """FrameError when a variable of the whole has no finite value."""
    for name, known in facts["variables"].items():
        if known["min"] is None:
            raise FrameError(f"{name}: all values are NaN")


def field_data(facts: Mapping[str, Any], context: Context, start: str | None) -> Fields:
    """The field data of a file. ``start`` is the valid-time key of the model's start."""
    # TimeValue is the name under which ParaView looks for a file's own time.
    known: dict[str, float | str] = {
        "TimeValue": time_value(context.time, start, context.calendar),
        "ValidTime": context.time,
        "Coordinates": facts["coordinates"],
        "Projection": facts["projection"] or "none",
        "Exaggeration": facts["exaggeration"],
        "Source": f"run {context.run}, stream {context.stream}",
        "Software": f"Burstlens {context.version}".rstrip(),
    }
    return known | {f"{name} units": of["units"] for name, of in facts["variables"].items()}


def opening(kind: str) -> list[str]:
    """The first lines of a file of that kind."""
    return [
        '<?xml version="1.0"?>',
        f'<VTKFile type="{kind}" version="1.0" byte_order="{ENDIAN}" header_type="UInt64">',
    ]


def extent(first: Place, shape: Shape) -> str:
    """The first and the last point along x, y and z, as VTK writes them."""
    ends = [f"{n} {n + size - 1}" for n, size in zip(first, shape, strict=True)]
    return " ".join(reversed(ends))
