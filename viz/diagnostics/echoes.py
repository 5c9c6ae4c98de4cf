"""The echo of rain, snow and graupel in loops over points, compiled. Importing this needs numba.

Square roots are vectorised where powers are not; indices are unsigned, as numba checks signed ones
for negative values, which keeps loops from vectors.
"""

from __future__ import annotations

import numpy as np

from burstlens.core.loops import compiled
from burstlens.viz.diagnostics.echo import Array, echo

_echo = compiled(echo, inline="always")  # no loop with a call in it is vectorised


@compiled
def echoes(
    factors: Array, pressure: Array, theta: Array, vapour: Array, rain: Array, snow: Array,
    graupel: Array, total: Array,
) -> None:  # fmt: skip
    """Sets ``total`` to Ze in mm6 m-3 of each point; all are float32 (level, point), contiguous.

    ``factors`` are those of rain, of rain below freezing, of snow and of graupel, as float32.
    """
    levels, points = np.uint64(total.shape[0]), np.uint64(total.shape[1])
    for k in range(levels):
        for i in range(points):
            total[k, i] = _echo(
                factors, pressure[k, i], theta[k, i], vapour[k, i], rain[k, i], snow[k, i],
                graupel[k, i],
            )  # fmt: skip


@compiled
def strongest(
    factors: Array, pressure: Array, theta: Array, vapour: Array, rain: Array, snow: Array,
    graupel: Array, total: Array,
) -> None:  # fmt: skip
    """As :func:`echoes`, the largest of each column as (point); NaN if no level has a value."""
    levels, points = np.uint64(pressure.shape[0]), np.uint64(pressure.shape[1])
    total[:] = np.nan
    for k in range(levels):
        for i in range(points):
            found = _echo(
                factors, pressure[k, i], theta[k, i], vapour[k, i], rain[k, i], snow[k, i],
                graupel[k, i],
            )  # fmt: skip
            held = total[i]
            total[i] = found if found > held or held != held else held
