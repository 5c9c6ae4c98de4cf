"""The echo of rain, snow and graupel by a formula, point by point; without numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.diagnostics import thermodynamics as air

Array = NDArray[Any]

_WATER = 1000.0
_ICE_OVER_WATER = 0.224
"""|K|^2 of ice over that of water, with the density of ice taken out (Smith 1984)."""
_RD, _EPSILON = np.float32(air.RD), np.float32(air.EPSILON)
_PER_P0, _PER_ZERO_C = np.float32(1 / air.P0), np.float32(1 / air.ZERO_C)
_NONE, _ONE = np.float32(0), np.float32(1)
_SPECIES = {"QRAIN": (1000.0, 8e6), "QSNOW": (100.0, 2e7), "QGRAUP": (400.0, 4e6)}
"""Density in kg m-3 and intercept N0 in m-4 of each."""


def factor(species: str) -> float:
    """Ze of one species in mm6 m-3 over (rho_a q)^1.75, for spheres whose sizes follow
    N0 exp(-lambda D).

    720 / (N0^0.75 (pi rho)^1.75) 1e18, for ice times 0.224 (rho / rho_w)^2: the sixth moment of the
    distribution (Marshall and Palmer 1948) that holds q in air of the density rho_a. Constants are
    those of RIP, NCL and wrf-python (M. Stoelinga 2005, after Reisner et al. 1998).
    """
    density, intercept = _SPECIES[species]
    found = 720 * 1e18 / (np.pi * density) ** 1.75 / intercept**0.75
    if species != "QRAIN":
        found *= _ICE_OVER_WATER * (density / _WATER) ** 2
    return float(found)


def echo(
    factors: Array, pressure: Any, theta: Any, vapour: Any, rain: Any, snow: Any, graupel: Any
) -> Any:
    """Ze in mm6 m-3 of all species, float32: of arrays, or of numbers where it is compiled.

    ``factors`` are those of rain, of rain below freezing, of snow and of graupel. No power is left:
    the air's density is p / (Rd Tv) with T = theta (p / p0)^(2/7), so that its 1.75th power has
    (p / p0)^-0.5, and x^1.75 is x sqrt(x) sqrt(sqrt(x)).
    """
    share, relative = pressure * _PER_P0, theta * _PER_ZERO_C
    cubed = relative * relative * relative
    cold = cubed * cubed * relative * share * share < _ONE
    rain, snow = np.maximum(rain, _NONE), np.maximum(snow, _NONE)
    graupel = np.maximum(graupel, _NONE)
    root, snow_root, graupel_root = np.sqrt(rain), np.sqrt(snow), np.sqrt(graupel)
    water = (factors[0] + cold * (factors[1] - factors[0])) * (rain * root * np.sqrt(root))
    water = water + factors[2] * (snow * snow_root * np.sqrt(snow_root))
    water = water + factors[3] * (graupel * graupel_root * np.sqrt(graupel_root))
    r = np.maximum(vapour, _NONE)
    density = pressure / (_RD * (theta * (_ONE + r / _EPSILON) / (_ONE + r)))
    root = np.sqrt(density)
    return water * (density * root * np.sqrt(root)) / np.sqrt(share)
