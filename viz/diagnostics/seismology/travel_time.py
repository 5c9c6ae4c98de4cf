"""First arrivals in flat layers: exact ray theory for a buried source and places at the surface.

Aki & Richards (2002), Quantitative Seismology, section 9.1; Lay & Wallace (1995), Modern Global
Seismology, section 3.2: a direct ray keeps p = sin(i) / v through all layers, a head wave
runs along an interface with p = 1 / v of the layer below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
_HALVINGS = 60
"""Iterations after which the ray parameter has full precision."""


def first_arrival(
    tops_m: Sequence[float], speeds_m_s: Sequence[float], depth_m: float, distance_m: ArrayLike
) -> Array:
    """Seconds from the origin to the first arrival at each epicentral distance (m, any shape).

    Layers begin at ``tops_m`` (0 first, increasing), the lowest is a half-space. The source lies at
    ``depth_m``; one on an interface belongs to the layer below.

    >>> first_arrival([0.0], [5000.0], 3000.0, [4000.0]).tolist()
    [1.0]
    """
    tops, speeds = np.asarray(tops_m, np.float64), np.asarray(speeds_m_s, np.float64)
    bottoms = np.append(tops[1:], np.inf)
    distance = np.abs(np.asarray(distance_m, np.float64))
    last = int(np.searchsorted(tops, depth_m, side="right"))
    rise = np.minimum(bottoms, depth_m)[:last] - tops[:last]
    times = [_direct(rise, speeds[:last], distance)]
    for below in range(last, speeds.size):
        down = np.clip(bottoms[:below] - np.maximum(tops[:below], depth_m), 0.0, None)
        lengths = down + bottoms[:below] - tops[:below]
        times.append(_head(lengths, speeds[:below], float(speeds[below]), distance))
    return np.asarray(np.min(times, axis=0))


def _direct(lengths: Array, speeds: Array, distance: Array) -> Array:
    """The ray that goes up through vertical ``lengths`` and reaches the surface at ``distance``."""
    low, high = np.zeros(distance.shape), np.full(distance.shape, 1 / speeds.max())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        near = _reach(lengths, speeds, middle) < distance
        low, high = np.where(near, middle, low), np.where(near, high, middle)
    # In the delay-time formula an error of p enters only squared.
    return _time(lengths, speeds, low, distance)


def _head(lengths: Array, speeds: Array, below: float, distance: Array) -> Array:
    """The head wave along the layer of speed ``below``; infinity where there is none."""
    if below <= speeds.max():
        return np.full(distance.shape, np.inf)
    p = np.full(distance.shape, 1 / below)
    reached = _reach(lengths, speeds, p) <= distance
    return np.where(reached, _time(lengths, speeds, p, distance), np.inf)


def _reach(lengths: Array, speeds: Array, p: Array) -> Array:
    sine = p[..., None] * speeds
    return np.asarray(np.sum(lengths * sine / np.sqrt(np.maximum(1 - sine**2, 1e-300)), axis=-1))


def _time(lengths: Array, speeds: Array, p: Array, distance: Array) -> Array:
    slowness = np.sqrt(np.maximum(1 / speeds**2 - p[..., None] ** 2, 0.0))
    return np.asarray(p * distance + np.sum(lengths * slowness, axis=-1))
