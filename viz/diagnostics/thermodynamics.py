"""Moist air point by point: pure functions of arrays in SI units, mixing ratios in kg kg-1.

Bolton 1980: "The computation of equivalent potential temperature", Mon. Wea. Rev. 108, 1046-1053.
Constants are WRF's (share/module_model_constants.F), so that values agree with the model's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

RD = 287.0
"""Gas constant of dry air, J kg-1 K-1."""
CP = 7 * RD / 2
"""Heat capacity of dry air at constant pressure, J kg-1 K-1."""
KAPPA = RD / CP
EPSILON = 0.622
"""Molar mass of water vapour over that of dry air."""
P0 = 1e5
"""Pressure to which potential temperature refers, Pa."""
ZERO_C = 273.15
_LEAST_VAPOUR = 0.1
"""Pa: below it (-84 degC) a dew point has no meaning, and the logarithm of zero fails."""


def temperature(theta: Array, pressure: Array) -> Array:
    """Temperature in K from potential temperature: theta (p / p0)^(Rd / cp)."""
    return np.asarray(theta * (pressure / P0) ** KAPPA)


def vapour_pressure(mixing_ratio: Array, pressure: Array) -> Array:
    """Partial pressure of water vapour in Pa: r p / (epsilon + r)."""
    return np.asarray(mixing_ratio * pressure / (EPSILON + mixing_ratio))


def saturation_vapour_pressure(temperature: Array) -> Array:
    """Over liquid water, in Pa: 611.2 exp(17.67 (T - 273.15) / (T - 29.65)) (Bolton, eq. 10)."""
    return np.asarray(611.2 * np.exp(17.67 * (temperature - ZERO_C) / (temperature - 29.65)))


def virtual_temperature(temperature: Array, mixing_ratio: Array) -> Array:
    """In K: T (1 + r / epsilon) / (1 + r)."""
    return np.asarray(temperature * (1 + mixing_ratio / EPSILON) / (1 + mixing_ratio))


def relative_humidity(temperature: Array, mixing_ratio: Array, pressure: Array) -> Array:
    """In %, over liquid water: 100 e / es(T); above 100 where the air is supersaturated."""
    e = vapour_pressure(np.maximum(mixing_ratio, 0), pressure)
    return np.asarray(100 * e / saturation_vapour_pressure(temperature))


def dew_point(mixing_ratio: Array, pressure: Array) -> Array:
    """In K: Bolton's eq. 10 solved for T; vapour counts as at least 0.1 Pa (-84 degC)."""
    e = np.maximum(vapour_pressure(mixing_ratio, pressure), _LEAST_VAPOUR)
    ratio = np.log(e / 611.2)
    return np.asarray(ZERO_C + 243.5 * ratio / (17.67 - ratio))


def condensation_temperature(temperature: Array, mixing_ratio: Array, pressure: Array) -> Array:
    """Of a parcel lifted until it is saturated, in K (Bolton, eq. 21)."""
    e = np.maximum(vapour_pressure(mixing_ratio, pressure), _LEAST_VAPOUR) / 100
    return np.asarray(2840 / (3.5 * np.log(temperature) - np.log(e) - 4.805) + 55)


def equivalent_potential_temperature(
    temperature: Array, mixing_ratio: Array, pressure: Array
) -> Array:
    """Theta-e in K (Bolton, eq. 43, with TL of eq. 21).

    T (p0 / p)^(0.2854 (1 - 0.28 r)) exp((3376 / TL - 2.54) r (1 + 0.81 r)), r in kg kg-1.
    """
    r = np.maximum(mixing_ratio, 0)
    condensation = condensation_temperature(temperature, r, pressure)
    dry = temperature * (P0 / pressure) ** (0.2854 * (1 - 0.28 * r))
    return np.asarray(dry * np.exp((3376 / condensation - 2.54) * r * (1 + 0.81 * r)))
