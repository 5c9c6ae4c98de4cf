"""Longitudes and latitudes of a grid's points in a grid file: whole parts of a turn of the earth.

Modulo a turn, so that they do not jump anywhere, and as fine as the grid needs. Written as fields
of codes as :mod:`.blocks` has them, the low 16 bits before the high ones.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.geometry.sphere import angle, vectors
from burstlens.viz.geometry.sphere_cells import Ends
from burstlens.viz.values import blocks

Array = NDArray[Any]
_PARTS = 500
"""Parts of the distance between near neighbours, at least."""
_FEWEST, _MOST = 16, 32
_NOWHERE = -180.0
"""The latitude of points without a place."""
_SAMPLE = 1000
"""Rows and columns of which distances are taken, at most."""


def cells_facts(lon: Array, lat: Array, ends: Ends) -> dict[str, Any]:
    """The facts of these points, as JSON values. ``ends`` as :class:`.SphereCells` has them."""
    bits = _bits(lon, lat)
    encoder = blocks.Encoder()
    somewhere = np.isfinite(lon) & np.isfinite(lat)
    for degrees, without in ((lon, 0.0), (lat, _NOWHERE)):
        known = np.where(somewhere, degrees, without)
        whole = np.rint(known / 360.0 * 2.0**bits).astype(np.int64)
        codes = (whole % (1 << bits)).astype(np.uint32)
        encoder.add((codes & 0xFFFF).astype(np.uint16))
        encoder.add((codes >> 16).astype(np.uint16))
    return {
        "turn_bits": bits,
        "ends": [list(of) for of in ends],
        "block": blocks.BLOCK,
        "stream": base64.b64encode(encoder.finish()).decode(),
    }


def read_cells(facts: Mapping[str, Any], rows: int, columns: int) -> tuple[Array, Array, Ends]:
    """Longitudes and latitudes (row, column), NaN where there is no place, and the ends. Raises
    ValuesError, ValueError, KeyError and TypeError."""
    stream = base64.b64decode(facts["stream"], validate=True)
    bits, each = int(facts["turn_bits"]), blocks.count(rows, columns)
    if not _FEWEST <= bits <= _MOST or facts["block"] != blocks.BLOCK or min(rows, columns) < 2:
        raise ValueError("the grid's cells")
    low_lon, high_lon, low_lat, high_lat = (
        blocks.decode(stream, rows, columns, part * each).astype(np.int64) for part in range(4)
    )
    lon, lat = (
        (((high << 16 | low) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)) * (360 / 2.0**bits)
        for low, high in ((low_lon, high_lon), (low_lat, high_lat))
    )
    lon[lat == _NOWHERE] = lat[lat == _NOWHERE] = np.nan
    (before, after), (left, right) = facts["ends"]
    return lon, lat, ((float(before), float(after)), (float(left), float(right)))


def _bits(lon: Array, lat: Array) -> int:
    """So many that a part of a turn is small beside the distance between neighbours."""
    rows, columns = (max(1, size // _SAMPLE) for size in lon.shape)
    apart = []
    for step in ((0, 1), (1, 0)):
        there = [at[step[0] :, step[1] :][::rows, ::columns] for at in (lon, lat)]
        here = [at[: at.shape[0] - step[0], : at.shape[1] - step[1]][::rows, ::columns]
                for at in (lon, lat)]  # fmt: skip
        apart.append(angle(vectors(*here), vectors(*there)).ravel())
    known = np.concatenate(apart)
    known = known[np.isfinite(known) & (known > 0)]
    near = float(np.quantile(known, 0.02)) if known.size else math.pi
    return min(max(math.ceil(math.log2(2 * math.pi * _PARTS / near)), _FEWEST), _MOST)
