"""Radar reflectivity from precipitation: rain, snow and graupel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.diagnostics import thermodynamics as air
from burstlens.viz.diagnostics.diagnostic import SURFACE, VOLUME, Block, Diagnostic

Array = NDArray[Any]

LEAST_DBZ = -30.0
"""dBZ of air without precipitation."""
_WATER = 1000.0
_ICE_OVER_WATER = 0.224
"""|K|^2 of ice over that of water, with the density of ice taken out (Smith 1984)."""
_SPECIES = {"QRAIN": (1000.0, 8e6), "QSNOW": (100.0, 2e7), "QGRAUP": (400.0, 4e6)}
"""Density in kg m-3 and intercept N0 in m-4 of each."""


def equivalent_reflectivity(species: str, mixing_ratio: Array, air_density: Array) -> Array:
    """Ze of one species in mm6 m-3, for spheres whose sizes follow N0 exp(-lambda D).

    720 (rho_a q)^1.75 / (N0^0.75 (pi rho)^1.75) 1e18, for ice times 0.224 (rho / rho_w)^2: the
    sixth moment of the distribution (Marshall and Palmer 1948) that holds q. Constants are those
    of RIP, NCL and wrf-python (M. Stoelinga 2005, after Reisner et al. 1998).
    """
    density, intercept = _SPECIES[species]
    factor = 720 * 1e18 / (np.pi * density) ** 1.75 / intercept**0.75
    if species != "QRAIN":
        factor *= _ICE_OVER_WATER * (density / _WATER) ** 2
    return np.asarray(float(factor) * (air_density * np.maximum(mixing_ratio, 0)) ** 1.75)


def _reflectivity(block: Block) -> Array:
    """10 log10 of the species' sum, -30 dBZ at least.

    Where the microphysics has no snow (no QSNOW), rain below freezing counts as snow.
    """
    temperature, vapour = block["temperature"], np.maximum(block["QVAPOR"], 0)
    virtual = air.virtual_temperature(temperature, vapour)
    density = block["pressure"] / (air.RD * virtual)
    rain = block["QRAIN"]
    if "QSNOW" in block:
        total = equivalent_reflectivity("QRAIN", rain, density)
        total += equivalent_reflectivity("QSNOW", block["QSNOW"], density)
    else:
        total = np.where(
            temperature < air.ZERO_C,
            equivalent_reflectivity("QSNOW", rain, density),
            equivalent_reflectivity("QRAIN", rain, density),
        )
    if "QGRAUP" in block:
        total += equivalent_reflectivity("QGRAUP", block["QGRAUP"], density)
    return np.asarray(np.maximum(10 * np.log10(total), LEAST_DBZ))


def _maximum(block: Block) -> Array:
    """Maximum over the levels that have a value; NaN if none has one."""
    return np.asarray(np.fmax.reduce(block["reflectivity"], axis=0))


_NEEDS = ("QRAIN", "QVAPOR", "T", "P", "PB")
_USES = ("QSNOW", "QGRAUP")
DIAGNOSTICS = (
    Diagnostic(
        "reflectivity", "radar reflectivity", "dBZ", _NEEDS, VOLUME, _reflectivity,
        "equivalent_reflectivity_factor", uses=_USES,
    ),
    Diagnostic(
        "reflectivity_max", "composite radar reflectivity", "dBZ", _NEEDS, SURFACE, _maximum,
        "equivalent_reflectivity_factor", uses=_USES,
    ),
)  # fmt: skip
