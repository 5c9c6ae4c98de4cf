"""Convective available potential energy and inhibition."""

from __future__ import annotations

from functools import partial

import numpy as np

from burstlens.viz.diagnostics.diagnostic import SURFACE, Array, Block, Diagnostic

_LOWEST, _MOST_UNSTABLE = 0, 1


def _energy(block: Block, lifted: int, which: int) -> Array:
    from burstlens.viz.diagnostics.parcel import cape_cin  # numba, and the compiled code

    levels = (block["pressure"], block["temperature"], block["QVAPOR"])
    values = (np.ascontiguousarray(level, dtype=np.float32) for level in levels)
    return np.asarray(cape_cin(*values, lifted)[which])


def _of_parcel(
    name: str, long_name: str, lifted: int, which: int, standard_name: str
) -> Diagnostic:
    return Diagnostic(
        name, long_name, "J kg-1", ("T", "P", "PB", "QVAPOR"), SURFACE,
        partial(_energy, lifted=lifted, which=which), standard_name, levels=2,
    )  # fmt: skip


_CAPE = "atmosphere_convective_available_potential_energy"
_CIN = "atmosphere_convective_inhibition"
DIAGNOSTICS = (
    _of_parcel("cape", "surface-based CAPE", _LOWEST, 0, f"{_CAPE}_wrt_surface"),
    _of_parcel("cin", "surface-based CIN", _LOWEST, 1, f"{_CIN}_wrt_surface"),
    _of_parcel("mu_cape", "most unstable CAPE", _MOST_UNSTABLE, 0, _CAPE),
    _of_parcel("mu_cin", "most unstable CIN", _MOST_UNSTABLE, 1, _CIN),
)
