"""The echo of rain, snow and graupel, compiled. Importing this needs numba.

No power is left of the formula of :mod:`burstlens.viz.diagnostics.reflectivity`: the air's density
is p / (Rd Tv) with T = theta (p / p0)^(2/7), so that its 1.75th power has (p / p0)^-0.5, and
x^1.75 is x sqrt(x) sqrt(sqrt(x)). Square roots are vectorised where powers are not; indices are
unsigned, as numba checks signed ones for negative values, which keeps loops from vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.diagnostics.compiled import compiled
from burstlens.viz.diagnostics.thermodynamics import EPSILON, P0, RD, ZERO_C

Array = NDArray[Any]

_RD, _EPSILON = np.float32(RD), np.float32(EPSILON)
_PER_P0, _PER_ZERO_C = np.float32(1 / P0), np.float32(1 / ZERO_C)
_NONE, _ONE = np.float32(0), np.float32(1)


@compiled
def _to_1_75(x: Any) -> Any:
    """x^1.75 of what is not negative; 0 of what is; NaN stays."""
    x = _NONE if x < _NONE else x
    root = np.sqrt(x)
    return x * root * np.sqrt(root)


@compiled
def _echo(p: Any, theta: Any, vapour: Any, rain: Any, snow: Any, graupel: Any, of: Any) -> Any:
    """Ze of one point in mm6 m-3."""
    r = _NONE if vapour < _NONE else vapour
    share = p * _PER_P0
    virtual = theta * (_ONE + r / _EPSILON) / (_ONE + r)
    relative = theta * _PER_ZERO_C
    cubed = relative * relative * relative
    cold = cubed * cubed * relative * share * share < _ONE
    rainy = (of[1] if cold else of[0]) * _to_1_75(rain)
    water = rainy + of[2] * _to_1_75(snow) + of[3] * _to_1_75(graupel)
    return water * _to_1_75(p / (_RD * virtual)) / np.sqrt(share)


@compiled
def echoes(
    pressure: Array, theta: Array, vapour: Array, rain: Array, snow: Array, graupel: Array,
    factors: Array, total: Array,
) -> None:  # fmt: skip
    """Sets ``total`` to Ze in mm6 m-3 of each point; all are float32 (level, point), contiguous.

    ``factors`` are those of rain, of rain below freezing, of snow and of graupel, as float32.
    """
    levels, points = np.uint64(total.shape[0]), np.uint64(total.shape[1])
    for k in range(levels):
        for i in range(points):
            total[k, i] = _echo(
                pressure[k, i], theta[k, i], vapour[k, i], rain[k, i], snow[k, i], graupel[k, i],
                factors,
            )  # fmt: skip


@compiled
def strongest(
    pressure: Array, theta: Array, vapour: Array, rain: Array, snow: Array, graupel: Array,
    factors: Array, total: Array,
) -> None:  # fmt: skip
    """As :func:`echoes`, the largest of each column as (point); NaN if no level has a value."""
    levels, points = np.uint64(pressure.shape[0]), np.uint64(pressure.shape[1])
    total[:] = np.nan
    for k in range(levels):
        for i in range(points):
            found = _echo(
                pressure[k, i], theta[k, i], vapour[k, i], rain[k, i], snow[k, i], graupel[k, i],
                factors,
            )  # fmt: skip
            held = total[i]
            total[i] = found if found > held or held != held else held
