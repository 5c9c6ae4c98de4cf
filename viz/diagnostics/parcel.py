"""Lifted parcels, column by column, compiled: convective energy and inhibition.

A parcel rises dry-adiabatically to its condensation level, then along a pseudoadiabat; both
it and its surroundings by virtual temperature (Doswell and Rasmussen 1994, Wea. Forecasting 9,
625-629). The formulas of :mod:`burstlens.viz.diagnostics.thermodynamics` are repeated here for
numbers instead of arrays, as the compiler needs them. Importing this needs numba.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.loops import compiled
from burstlens.viz.diagnostics.thermodynamics import CP, EPSILON, P0, RD

LATENT_HEAT = 2.501e6
"""Latent heat of vaporization at 0 degC, J kg-1."""
_DEPTH = 3e4
_STEP = 0.1
_HEATED = LATENT_HEAT * EPSILON
_LN_P0 = float(np.log(P0))
_STRIP = 16
"""Columns that are lifted side by side."""


@compiled
def _squared(x: float) -> Any:
    return x * x


@compiled
def _exp(x: float) -> Any:
    """e^x to 1e-10 between -60 and 60, beyond that of the end: without a branch or a call, so that
    columns are computed side by side. The series of x / 256, squared eight times."""
    y = min(max(x, -60.0), 60.0) / 256
    found = 1 + y * (1 / 2 + y * (1 / 6 + y * (1 / 24 + y * (1 / 120 + y * (
        1 / 720 + y * (1 / 5040 + y * (1 / 40320 + y / 362880)))))))  # fmt: skip
    found = _squared(_squared(_squared(1 + y * found)))
    return _squared(_squared(_squared(_squared(_squared(found)))))


@compiled
def _small(x: float) -> Any:
    """e^x to 1e-10 below 0.1."""
    return 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6)))))


@compiled
def _saturation_pressure(temperature: float) -> Any:
    """Over water in Pa; Bolton 1980, eq. 10."""
    return 611.2 * _exp(17.67 * (temperature - 273.15) / (temperature - 29.65))


@compiled
def _saturated(temperature: float, pressure: float) -> Any:
    """Saturation mixing ratio."""
    e = _saturation_pressure(temperature)
    return EPSILON * e / (pressure - e)


@compiled
def _virtual(temperature: float, mixing_ratio: float) -> Any:
    return temperature * (1 + mixing_ratio / EPSILON) / (1 + mixing_ratio)


@compiled
def _condensation(temperature: float, mixing_ratio: float, pressure: float) -> Any:
    """Bolton 1980, eq. 21; dry air condenses at the pressure of 0.1 Pa of vapour."""
    e = max(mixing_ratio * pressure / (EPSILON + mixing_ratio), 0.1) / 100
    return 2840 / (3.5 * np.log(temperature) - np.log(e) - 4.805) + 55


@compiled
def _slope(temperature: float, pressure: float) -> Any:
    """dT / d ln p of a pseudoadiabat (AMS Glossary, "pseudoadiabatic lapse rate", simplified).

    (Rd T + L r) / (cp + L^2 r epsilon / (Rd T^2)), r the saturation mixing ratio epsilon e /
    (p - e), both multiplied by (p - e) Rd T^2: one division is left beside that of e.
    """
    e = _saturation_pressure(temperature)
    dry = pressure - e
    heated = _HEATED * e
    square = RD * temperature * temperature
    return square * (RD * temperature * dry + heated) / (CP * square * dry + _HEATED * heated)


@partial(compiled, inline="always")  # no loop with a call in it is vectorised
def _risen(temperature: float, pressure: float, h: float) -> Any:
    """Temperature on the pseudoadiabat after one classical Runge-Kutta step ``h`` of ln p."""
    y = 0.5 * h
    half = _small(y)
    middle, above = pressure * half, pressure * half * half
    a = _slope(temperature, pressure)
    b = _slope(temperature + y * a, middle)
    c = _slope(temperature + y * b, middle)
    d = _slope(temperature + h * c, above)
    return temperature + h / 6 * (a + 2 * b + 2 * c + d)


@compiled
def _ascend(p: Any, x: Any, temperature: Any, start: Any, path: Any) -> None:
    """Sets ``path`` (level, column) to the temperature on the pseudoadiabat at the pressures ``p``,
    whose logarithms are ``x``, in steps of at most 0.1 of ln p.

    Each column begins with ``temperature`` at ln p = ``start``; levels below have that. All columns
    take a step together, those that are there already one of no length.
    """
    levels, columns = np.uint64(x.shape[0]), np.uint64(x.shape[1])
    pressure, parcel, below = np.exp(start), temperature.copy(), start.copy()
    h, left = np.empty(columns), np.empty(columns)
    for k in range(levels):
        most = 0.0
        for i in range(columns):
            depth = max(below[i] - x[k, i], 0.0)
            left[i] = np.ceil(depth / _STEP)
            h[i] = -depth / max(left[i], 1.0)
            below[i] = min(below[i], x[k, i])
            most = max(most, left[i])
        for step in range(int(most)):
            for i in range(columns):
                length = h[i] if step < left[i] else 0.0
                parcel[i] = _risen(parcel[i], pressure[i], length)
                pressure[i] *= _small(length)
        for i in range(columns):
            path[k, i] = parcel[i]


@compiled
def _most_unstable(p: Any, x: Any, t: Any, q: Any, count: int) -> Any:
    """The level with the highest theta-e (Bolton 1980, eq. 43, its logarithm) in the lowest 300
    hPa."""
    best, highest = 0, -np.inf
    for k in range(count):
        if p[k] < p[0] - _DEPTH:
            break
        condensation = _condensation(t[k], q[k], p[k])
        dry = np.log(t[k]) - 0.2854 * (1 - 0.28 * q[k]) * (x[k] - _LN_P0)
        theta_e = dry + (3376 / condensation - 2.54) * q[k] * (1 + 0.81 * q[k])
        if theta_e > highest:
            best, highest = k, theta_e
    return best


@compiled
def _energy(
    p: Any, x: Any, t: Any, q: Any, count: int, first: int, condensation: float, base: float,
    path: Any,
) -> Any:  # fmt: skip
    """CAPE and CIN of the parcel of level ``first``, in J kg-1; (0, 0) without free convection.

    It condenses with the temperature ``condensation`` at ln p = ``base``, and has that of ``path``
    at the levels above.
    """
    bottom = x[first]
    saturated = base >= bottom
    parcel, mixed = t[first], q[first]
    x0, b0 = bottom, 0.0
    free = False
    below, area, cape = 0.0, 0.0, 0.0
    k = first + 1
    while k < count:
        x1, around, moist = x[k], t[k], q[k]
        at_base = not saturated and x1 < base
        if at_base:
            # The condensation level is a point of its own, between two of the profile's.
            weight = (base - x1) / (x[k - 1] - x1)
            around += weight * (t[k - 1] - t[k])
            moist += weight * (q[k - 1] - q[k])
            x1, parcel, saturated = base, condensation, True
        elif saturated:
            parcel = path[k]
            mixed = _saturated(parcel, p[k])
        else:
            parcel = t[first] * np.exp((x1 - bottom) * RD / CP)
        b1 = _virtual(parcel, mixed) - _virtual(around, moist)
        if (b0 > 0) == (b1 > 0):
            lower, upper = 0.5 * (b0 + b1) * (x0 - x1), 0.0
        else:
            crossing = (x0 - x1) * b0 / (b0 - b1)
            lower, upper = 0.5 * b0 * crossing, 0.5 * b1 * (x0 - x1 - crossing)
        if free:
            area += lower
            if b1 <= 0 < b0:
                cape = area
            area += upper
        elif saturated and b1 > 0 and not at_base:
            free, area = True, upper
            below += lower
        else:
            free = at_base and b1 > 0
            below += lower + upper
        x0, b0 = x1, b1
        k += 0 if at_base else 1
    if not free:
        return 0.0, 0.0
    if b0 > 0:
        cape = area
    return max(cape, 0.0) * RD, min(below, 0.0) * RD


@compiled
def lifted_path(
    pressure: NDArray[Any], temperature: NDArray[Any], mixing_ratio: NDArray[Any], lifted: int
) -> tuple[NDArray[Any], float, float]:
    """Temperature in K of a lifted parcel at the levels of one column, NaN below its start; then
    pressure (Pa) and temperature at which it condenses.

    The column is in Pa, K and kg kg-1, without NaN, from the lowest level upwards; ``lifted`` as in
    :func:`cape_cin`.
    """
    p, t, q = pressure, temperature, mixing_ratio
    first = _most_unstable(p, np.log(p), t, q, p.size) if lifted else 0
    condensed = _condensation(t[first], q[first], p[first])
    base = min(np.log(p[first]) + np.log(condensed / t[first]) * CP / RD, np.log(p[first]))
    path, levels = np.full(p.size, np.nan), p.astype(np.float64).reshape(-1, 1)
    moist = np.empty((p.size, 1))
    condensed = min(condensed, t[first])
    _ascend(levels, np.log(levels), np.full(1, condensed), np.full(1, base), moist)
    for k in range(first, p.size):
        dry = t[first] * (p[k] / p[first]) ** (RD / CP)
        path[k] = dry if np.log(p[k]) >= base else moist[k, 0]
    return path, np.exp(base), condensed


@compiled
def cape_cin(
    pressure: NDArray[Any], temperature: NDArray[Any], mixing_ratio: NDArray[Any], lifted: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """CAPE and CIN (negative) in J kg-1 as (y, x), of levels (z, y, x) in Pa, K, kg kg-1.

    ``lifted``: 0 the parcel of the lowest level, 1 the most unstable one. CAPE is the area from
    the level of free convection to the highest level of equilibrium, or to the top level; CIN
    that below; both 0 without free convection. Levels with a NaN, or whose pressure does
    not decrease, are left out; NaN where the lowest level has one or fewer than two are left.
    """
    nz, ny, nx = pressure.shape
    cape = np.full((ny, nx), np.nan, np.float32)
    cin = np.full((ny, nx), np.nan, np.float32)
    p, x, t, q, path = (
        np.empty((nz, _STRIP)), np.empty((nz, _STRIP)), np.empty((nz, _STRIP)),
        np.empty((nz, _STRIP)), np.empty((nz, _STRIP)),
    )  # fmt: skip
    count, first = np.empty(_STRIP, np.int64), np.empty(_STRIP, np.int64)
    condensed, base, start = np.empty(_STRIP), np.empty(_STRIP), np.empty(_STRIP)
    parcel = np.empty(_STRIP)
    for j in range(ny):
        for west in range(0, nx, _STRIP):
            columns = min(_STRIP, nx - west)
            for n in range(_STRIP):
                # Columns beyond the row are the last one again: strips have one length.
                i = west + min(n, columns - 1)
                count[n] = _column(pressure[:, j, i], temperature[:, j, i], mixing_ratio[:, j, i],
                                   p[:, n], x[:, n], t[:, n], q[:, n])  # fmt: skip
                unstable = lifted and count[n] > 1
                at = _most_unstable(p[:, n], x[:, n], t[:, n], q[:, n], count[n]) if unstable else 0
                first[n] = at
                condensed[n] = _condensation(t[at, n], q[at, n], p[at, n])
                base[n] = x[at, n] + np.log(condensed[n] / t[at, n]) * CP / RD
                start[n] = min(base[n], x[at, n])
                parcel[n] = min(condensed[n], t[at, n])
            _ascend(p, x, parcel, start, path)
            for n in range(columns):
                if count[n] > 1:
                    cape[j, west + n], cin[j, west + n] = _energy(
                        p[:, n], x[:, n], t[:, n], q[:, n], count[n], first[n], condensed[n],
                        base[n], path[:, n],
                    )  # fmt: skip
    return cape, cin


@compiled
def _column(
    pressure: Any, temperature: Any, mixing_ratio: Any, p: Any, x: Any, t: Any, q: Any
) -> Any:
    """Sets ``p``, its logarithm ``x``, ``t`` and ``q`` to those of a column's levels that have
    values; returns how many. Above them stands the last of them, or a lifeless one."""
    count = 0
    p[:], x[:], t[:], q[:] = P0, _LN_P0, 300.0, 0.0
    for k in range(pressure.size):
        level = pressure[k], temperature[k], mixing_ratio[k]
        whole = 0 < level[0] < 2e5 and 100 < level[1] < 500 and level[2] < 1
        if whole and (count == 0 or level[0] < p[count - 1]):
            p[count], t[count], q[count] = level[0], level[1], max(level[2], 0.0)
            x[count] = np.log(p[count])
            count += 1
        elif k == 0:
            break
    return count
