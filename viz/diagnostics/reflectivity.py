"""Radar reflectivity from precipitation: rain, snow and graupel."""

from __future__ import annotations

from math import prod
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
LARGE = 4_000_000
"""Points of a frame from which on echoes are computed by compiled loops."""
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


def _reflectivity(block: Block) -> Array:
    """10 log10 of the species' sum, -30 dBZ at least."""
    state, factors = _state(block), _factors(block)
    if _is_large(block):
        from burstlens.viz.diagnostics.echoes import echoes  # numba, and the compiled code

        total = np.empty_like(state[0])
        echoes(factors, *state, total)
    else:
        total = echo(factors, *state)
    return _decibels(total).reshape(block["QRAIN"].shape)


def _maximum(block: Block) -> Array:
    """Maximum over the levels that have a value; NaN if none has one."""
    state, factors = _state(block), _factors(block)
    if _is_large(block):
        from burstlens.viz.diagnostics.echoes import strongest

        total = np.empty_like(state[0][0])
        strongest(factors, *state, total)
    else:
        total = np.fmax.reduce(echo(factors, *state), axis=0)
    return _decibels(total).reshape(block["QRAIN"].shape[1:])


def _is_large(block: Block) -> bool:
    """Whether the frame has so many points that the compiled loop is worth its start, half a second
    for each process; its values are the same."""
    sizes = block.frame.dimensions
    return prod(sizes[dimension] for dimension in VOLUME) > LARGE


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
