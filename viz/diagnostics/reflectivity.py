"""Radar reflectivity from precipitation: rain, snow and graupel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.diagnostics.diagnostic import SURFACE, VOLUME, Block, Diagnostic

Array = NDArray[Any]

LEAST_DBZ = -30.0
"""dBZ of air without precipitation."""
_WATER = 1000.0
_ICE_OVER_WATER = 0.224
"""|K|^2 of ice over that of water, with the density of ice taken out (Smith 1984)."""
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


def _reflectivity(block: Block) -> Array:
    """10 log10 of the species' sum, -30 dBZ at least."""
    from burstlens.viz.diagnostics.echoes import echoes  # numba, and the compiled code

    state = _state(block)
    total = np.empty_like(state[0])
    echoes(*state, _factors(block), total)
    return _decibels(total).reshape(block["QRAIN"].shape)


def _maximum(block: Block) -> Array:
    """Maximum over the levels that have a value; NaN if none has one."""
    from burstlens.viz.diagnostics.echoes import strongest

    state = _state(block)
    total = np.empty_like(state[0][0])
    strongest(*state, _factors(block), total)
    return _decibels(total).reshape(block["QRAIN"].shape[1:])


def _state(block: Block) -> list[Array]:
    """What an echo depends on, each (level, point); a species that is not there is that of rain,
    which :func:`_factors` leaves out."""
    names = ["pressure", "theta", "QVAPOR", "QRAIN"]
    names += [name if name in block else "QRAIN" for name in ("QSNOW", "QGRAUP")]
    fields = (block[name] for name in names)
    return [np.ascontiguousarray(f, np.float32).reshape(f.shape[0], -1) for f in fields]


def _factors(block: Block) -> Array:
    """Of rain, of rain below freezing, of snow, of graupel. Where the microphysics has no snow (no
    QSNOW), rain below freezing counts as snow."""
    cold = "QRAIN" if "QSNOW" in block else "QSNOW"
    others = [factor(name) if name in block else 0.0 for name in ("QSNOW", "QGRAUP")]
    return np.array([factor("QRAIN"), factor(cold), *others], np.float32)


def _decibels(total: Array) -> Array:
    return np.asarray(np.maximum(np.float32(10) * np.log10(total), np.float32(LEAST_DBZ)))


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
