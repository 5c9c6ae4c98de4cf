"""The point source: its moment tensor and the moment rate that drives it.

A tensor is in N m and in the model's axes, x east, y north, z up. A source time function is the
moment rate for unit moment, in 1/s, zero before t = 0. All but ``ricker`` have unit area, so that
the scalar moment given is the one released.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

AREA_SAMPLES = 8192


def double_couple(strike_deg: float, dip_deg: float, rake_deg: float, moment_n_m: float) -> Array:
    """Tensor (3, 3) in N m of a shear dislocation, axes east, north, up.

    Strike clockwise from north, dip down to the right of strike, rake counter-clockwise in the
    fault plane: Aki & Richards (2002), box 4.4, turned from their axes north, east, down.
    """
    strike, dip, rake = np.radians([strike_deg, dip_deg, rake_deg])
    sin, cos = np.sin, np.cos
    nn = -(sin(dip) * cos(rake) * sin(2 * strike) + sin(2 * dip) * sin(rake) * sin(strike) ** 2)
    ne = sin(dip) * cos(rake) * cos(2 * strike) + 0.5 * sin(2 * dip) * sin(rake) * sin(2 * strike)
    nd = -(cos(dip) * cos(rake) * cos(strike) + cos(2 * dip) * sin(rake) * sin(strike))
    ee = sin(dip) * cos(rake) * sin(2 * strike) - sin(2 * dip) * sin(rake) * cos(strike) ** 2
    ed = -(cos(dip) * cos(rake) * sin(strike) - cos(2 * dip) * sin(rake) * cos(strike))
    dd = sin(2 * dip) * sin(rake)
    return moment_n_m * np.array([[ee, ne, -ed], [ne, nn, -nd], [-ed, -nd, dd]])


def _gaussian(t: Array, frequency_hz: float) -> Array:
    a = np.pi * frequency_hz
    return np.asarray(a / np.sqrt(np.pi) * np.exp(-((a * t) ** 2)))


def _ricker(t: Array, frequency_hz: float) -> Array:
    a = np.pi * frequency_hz
    return (1 - 2 * (a * t) ** 2) * _gaussian(t, frequency_hz)


def _brune(t: Array, frequency_hz: float) -> Array:
    w = 2 * np.pi * frequency_hz
    late = np.maximum(t, 0.0)
    return w * w * late * np.exp(-w * late)


def _triangle(t: Array, duration_s: float) -> Array:
    half = duration_s / 2
    return np.maximum(0.0, 1 - np.abs(t - half) / half) / half


def _bell(t: Array, duration_s: float) -> Array:
    inside = (t > 0) & (t < duration_s)
    return np.where(inside, (1 - np.cos(2 * np.pi * t / duration_s)) / duration_s, 0.0)


def _liu(t: Array, duration_s: float) -> Array:
    """Liu, Archuleta & Hartzell (2006, BSSA 96), equation 7: a sharp rise, a long tail."""
    t1 = 0.13 * duration_s
    t2 = duration_s - t1
    scale = np.pi / (1.4 * np.pi * t1 + 1.2 * t1 + 0.3 * np.pi * t2)
    rise = 0.7 - 0.7 * np.cos(np.pi * t / t1) + 0.6 * np.sin(0.5 * np.pi * t / t1)
    fall = 1.0 - 0.7 * np.cos(np.pi * t / t1) + 0.3 * np.cos(np.pi * (t - t1) / t2)
    tail = 0.3 + 0.3 * np.cos(np.pi * (t - t1) / t2)
    pieces = np.select(
        [(t >= 0) & (t < t1), (t >= t1) & (t < 2 * t1), (t >= 2 * t1) & (t < duration_s)],
        [rise, fall, tail],
        default=0.0,
    )
    return np.asarray(scale * pieces)


BY_FREQUENCY: dict[str, Callable[[Array, float], Array]] = {
    "gaussian": _gaussian,
    "ricker": _ricker,
    "brune": _brune,
}
"""Functions of ``frequency_hz``: of the peak (ricker), of the 1/e point (gaussian), of the corner
(brune)."""

BY_DURATION: dict[str, Callable[[Array, float], Array]] = {
    "triangle": _triangle,
    "bell": _bell,
    "liu": _liu,
}
"""Functions of ``duration_s``, the time from the first moment to the last."""

CENTRED = ("gaussian", "ricker")
"""Functions that peak at t = 0 and so need a delay; by default 1.2 / frequency_hz."""


def moment_rate(
    t_s: ArrayLike, function: str, *, frequency_hz: float, duration_s: float, delay_s: float
) -> Array:
    """Moment rate for unit moment, in 1/s, at the times ``t_s`` (any shape)."""
    late = np.asarray(t_s, dtype=np.float64) - delay_s
    if function in BY_FREQUENCY:
        return BY_FREQUENCY[function](late, frequency_hz)
    return BY_DURATION[function](late, duration_s)


def highest_frequency(function: str, **keys: Any) -> float:
    """Frequency in Hz above which the moment rate's spectrum stays below 5 % of its peak."""
    scale = 1 / keys["frequency_hz"] if function in BY_FREQUENCY else keys["duration_s"]
    dt = scale / 64
    t = (np.arange(AREA_SAMPLES) - AREA_SAMPLES // 2) * dt
    spectrum = np.abs(np.fft.rfft(moment_rate(t, function, **{**keys, "delay_s": 0.0})))
    strong = np.flatnonzero(spectrum >= 0.05 * spectrum.max())
    return float(np.fft.rfftfreq(t.size, dt)[strong[-1]])
