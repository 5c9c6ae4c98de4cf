"""Pack coastlines and borders of Natural Earth (public domain) into ``natural_earth.npz``.

    python viz/coast/make.py countries-50m.json countries-10m.json

The files are those of the npm package world-atlas 2.0.2: Natural Earth 4.1.0, Admin 0 country
boundaries at 1:50m and 1:10m, as TopoJSON. A line that two countries share is a border, one that
belongs to a single country is a coast. Needs shapely; run again only to take newer data.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely import LineString

from burstlens.viz.coast.lines import UNIT_DEGREES

Line = NDArray[np.float64]
TOLERANCE_DEGREES = {"50m": 0.01, "10m": 0.004}
SMALLEST_DEGREES = {"50m": 0.0, "10m": 0.02}
"""Islands smaller than this are left out."""


def pack(files: Sequence[Path]) -> dict[str, Any]:
    """Arrays by name, for ``numpy.savez``: of each file's coasts and borders, starts and steps."""
    packed: dict[str, Any] = {}
    for file in files:
        scale = file.stem.rpartition("-")[2]
        topology = json.loads(file.read_text())
        lines: dict[str, list[Line]] = {"coast": [], "borders": []}
        for line, owners in _arcs(topology):
            kind = "borders" if owners > 1 else "coast"
            lines[kind] += _reduced(line, TOLERANCE_DEGREES[scale], SMALLEST_DEGREES[scale])
        for kind, found in lines.items():
            packed |= {f"{scale}_{kind}_{part}": a for part, a in _packed(found).items()}
    return packed


def _arcs(topology: dict[str, Any]) -> Iterator[tuple[Line, int]]:
    """Each line in degrees, and how many countries it belongs to (TopoJSON specification, 2.1)."""
    owners: Counter[int] = Counter()
    for country in topology["objects"]["countries"]["geometries"]:
        owners.update(set(_indices(country.get("arcs", []))))
    scale, origin = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    for number, steps in enumerate(topology["arcs"]):
        yield np.cumsum(np.array(steps), axis=0) * scale + origin, owners[number]


def _indices(arcs: Iterable[Any]) -> Iterator[int]:
    for arc in arcs:
        if isinstance(arc, list):
            yield from _indices(arc)
        else:
            yield ~arc if arc < 0 else arc


def _reduced(line: Line, tolerance: float, smallest: float) -> list[Line]:
    """The line with fewer points, without what only closes a polygon at 180 degrees or a pole."""
    seam = (np.abs(line[:, 0]) > 179.999) | (line[:, 1] < -89.9)
    cut = np.flatnonzero(seam[1:] & seam[:-1])
    line = np.column_stack([np.unwrap(line[:, 0], period=360), line[:, 1]])
    pieces = []
    starts = [0, *(cut + 1)]
    for start, stop in zip(starts, [*starts[1:], len(line)], strict=True):
        piece = line[start:stop]
        if len(piece) > 1 and np.ptp(piece, axis=0).max() >= smallest:
            pieces.append(np.asarray(LineString(piece).simplify(tolerance).coords))
    return pieces


def _packed(lines: list[Line]) -> dict[str, NDArray[Any]]:
    if not lines:
        return {"first": np.empty((0, 2), np.int32), "count": np.empty(0, np.int32),
                "steps": np.empty((2, 0), np.int16)}  # fmt: skip
    whole = [np.round(line / UNIT_DEGREES).astype(np.int32) for line in lines]
    steps = np.concatenate([np.diff(line, axis=0) for line in whole])
    if np.abs(steps).max() >= 2**15:
        raise ValueError("a step is too long for 16 bits")
    return {
        "first": np.array([line[0] for line in whole], np.int32),
        "count": np.array([len(line) - 1 for line in whole], np.int32),
        "steps": np.ascontiguousarray(steps.T.astype(np.int16)),
    }


if __name__ == "__main__":
    arrays = pack([Path(name) for name in sys.argv[1:]])
    np.savez_compressed(Path(__file__).with_name("natural_earth.npz"), **arrays)
