"""Convective available potential energy and inhibition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.diagnostics.diagnostic import SURFACE, Block, Diagnostic

Array = NDArray[Any]

_LOWEST, _MOST_UNSTABLE = 0, 1


def _energy(lifted: int, which: int) -> Callable[[Block], Array]:
    def compute(block: Block) -> Array:
        from burstlens.viz.diagnostics.parcel import cape_cin  # numba, and the compiled code

        levels = (block["pressure"], block["temperature"], block["QVAPOR"])
        values = (np.ascontiguousarray(level, dtype=np.float32) for level in levels)
        return np.asarray(cape_cin(*values, lifted)[which])

    return compute


_NEEDS = ("T", "P", "PB", "QVAPOR")
_CAPE = "atmosphere_convective_available_potential_energy"
_CIN = "atmosphere_convective_inhibition"
DIAGNOSTICS = (
    Diagnostic(
        "cape", "surface-based CAPE", "J kg-1", _NEEDS, SURFACE, _energy(_LOWEST, 0),
        f"{_CAPE}_wrt_surface", levels=2,
    ),
    Diagnostic(
        "cin", "surface-based CIN", "J kg-1", _NEEDS, SURFACE, _energy(_LOWEST, 1),
        f"{_CIN}_wrt_surface", levels=2,
    ),
    Diagnostic(
        "mu_cape", "most unstable CAPE", "J kg-1", _NEEDS, SURFACE, _energy(_MOST_UNSTABLE, 0),
        _CAPE, levels=2,
    ),
    Diagnostic(
        "mu_cin", "most unstable CIN", "J kg-1", _NEEDS, SURFACE, _energy(_MOST_UNSTABLE, 1),
        _CIN, levels=2,
    ),
)  # fmt: skip
