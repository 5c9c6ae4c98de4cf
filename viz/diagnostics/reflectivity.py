"""Radar reflectivity from precipitation: rain, snow and graupel."""

from __future__ import annotations

from math import prod

import numpy as np

from burstlens.viz.diagnostics.diagnostic import SURFACE, VOLUME, Array, Block, Diagnostic
from burstlens.viz.diagnostics.echo import echo, factor

LEAST_DBZ = -30.0
"""dBZ of air without precipitation."""
LARGE = 4_000_000
"""Points of a frame from which on echoes are computed by compiled loops."""


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
