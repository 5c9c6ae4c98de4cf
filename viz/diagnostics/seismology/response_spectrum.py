"""Spectra of ground motion: response of damped oscillators, and Fourier amplitude."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
DAMPING = 0.05
"""The fraction of critical damping that is usual for engineering spectra."""


def pseudo_acceleration(
    acceleration: ArrayLike, step_s: float, periods_s: ArrayLike, damping: float = DAMPING
) -> Array:
    """Pseudo-spectral acceleration (..., period) of records (..., sample), in their units.

    omega**2 times the greatest displacement of an oscillator at rest at the first sample: exact for
    an acceleration that is linear between samples (Nigam & Jennings 1969, BSSA 59(2), 909-922).
    The greatest is searched at the samples: values for periods below ten steps are too low.
    """
    ground = np.asarray(acceleration, np.float64)
    omega = 2 * np.pi / np.asarray(periods_s, np.float64)
    damped = omega * np.sqrt(1 - damping**2)
    decay = np.exp(-damping * omega * step_s)
    sine, cosine = np.sin(damped * step_s), np.cos(damped * step_s)
    # x'' + 2 z w x' + w**2 x = -(a + s t): a line in t, and a free oscillation about it.
    place = np.zeros((*ground.shape[:-1], omega.size))
    speed, greatest = np.zeros_like(place), np.zeros_like(place)
    for now, after in zip(
        np.moveaxis(ground, -1, 0)[:-1, ..., None],
        np.moveaxis(ground, -1, 0)[1:, ..., None],
        strict=True,
    ):
        slope = -(after - now) / step_s / omega**2
        level = -now / omega**2 - 2 * damping / omega * slope
        away = place - level
        turn = (speed - slope + damping * omega * away) / damped
        place = level + slope * step_s + decay * (away * cosine + turn * sine)
        speed = slope + decay * (
            (damped * turn - damping * omega * away) * cosine
            - (damped * away + damping * omega * turn) * sine
        )
        greatest = np.maximum(greatest, np.abs(place))
    return np.asarray(greatest * omega**2)


def fourier_amplitude(values: ArrayLike, step_s: float) -> tuple[Array, Array]:
    """Frequencies in Hz, and the size of the Fourier transform (..., frequency) in units times s.

    Approximates the integral of values times exp(-2 pi i f t) over records (..., sample), whose
    ends are tapered by a twentieth on each side (Tukey's cosine).
    """
    record = np.asarray(values, np.float64)
    count = record.shape[-1]
    edge = max(1, count // 20)
    taper = np.ones(count)
    taper[:edge] = 0.5 - 0.5 * np.cos(np.pi * (np.arange(edge) + 0.5) / edge)
    taper[-edge:] = taper[:edge][::-1]
    return np.fft.rfftfreq(count, step_s), np.abs(np.fft.rfft(record * taper)) * step_s
