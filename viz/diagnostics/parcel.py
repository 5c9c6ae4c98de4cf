"""Lifted parcels, column by column, compiled: convective energy and inhibition.

A parcel rises dry-adiabatically to its condensation level, then along a pseudoadiabat; both
it and its surroundings by virtual temperature (Doswell and Rasmussen 1994, Wea. Forecasting 9,
625-629). The formulas of :mod:`burstlens.viz.diagnostics.thermodynamics` are repeated here for
numbers instead of arrays, as the compiler needs them. Importing this needs numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.diagnostics.compiled import compiled
from burstlens.viz.diagnostics.thermodynamics import CP, EPSILON, RD

LATENT_HEAT = 2.501e6
"""Latent heat of vaporization at 0 degC, J kg-1."""
_DEPTH = 3e4
_STEP = 0.1


@compiled
def _saturated(temperature: float, pressure: float) -> Any:
    """Saturation mixing ratio; Bolton 1980, eq. 10."""
    e = 611.2 * np.exp(17.67 * (temperature - 273.15) / (temperature - 29.65))
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

    (Rd T + L r) / (cp + L^2 r epsilon / (Rd T^2)), r the saturation mixing ratio.
    """
    heated = LATENT_HEAT * _saturated(temperature, pressure)
    return (RD * temperature + heated) / (
        CP + LATENT_HEAT * heated * EPSILON / (RD * temperature * temperature)
    )


@compiled
def _lifted(temperature: float, start: float, end: float) -> Any:
    """Temperature on the pseudoadiabat at ln p = end: classical Runge-Kutta steps of 0.1."""
    steps = int(np.ceil((start - end) / _STEP))
    if steps == 0:
        return temperature
    h = (end - start) / steps
    pressure, half = np.exp(start), np.exp(0.5 * h)
    for _ in range(steps):
        middle, pressure, below = pressure * half, pressure * half * half, pressure
        a = _slope(temperature, below)
        b = _slope(temperature + 0.5 * h * a, middle)
        c = _slope(temperature + 0.5 * h * b, middle)
        d = _slope(temperature + h * c, pressure)
        temperature += h / 6 * (a + 2 * b + 2 * c + d)
    return temperature


@compiled
def _most_unstable(p: Any, t: Any, q: Any, count: int) -> Any:
    """The level with the highest theta-e (Bolton 1980, eq. 43) in the lowest 300 hPa."""
    best, highest = 0, -1.0
    for k in range(count):
        if p[k] < p[0] - _DEPTH:
            break
        condensation = _condensation(t[k], q[k], p[k])
        dry = t[k] * (1e5 / p[k]) ** (0.2854 * (1 - 0.28 * q[k]))
        theta_e = dry * np.exp((3376 / condensation - 2.54) * q[k] * (1 + 0.81 * q[k]))
        if theta_e > highest:
            best, highest = k, theta_e
    return best


@compiled
def _energy(p: Any, t: Any, q: Any, count: int, first: int) -> Any:
    """CAPE and CIN of the parcel of level ``first``, in J kg-1; (0, 0) without free convection."""
    condensation = _condensation(t[first], q[first], p[first])
    base = np.log(p[first]) + np.log(condensation / t[first]) * CP / RD
    saturated = base >= np.log(p[first])
    parcel, mixed = t[first], q[first]
    x0, b0 = np.log(p[first]), 0.0
    free = False
    below, area, cape = 0.0, 0.0, 0.0
    k = first + 1
    while k < count:
        x1, around, moist = np.log(p[k]), t[k], q[k]
        at_base = not saturated and x1 < base
        if at_base:
            # The condensation level is a point of its own, between two of the profile's.
            weight = (base - x1) / (np.log(p[k - 1]) - x1)
            around += weight * (t[k - 1] - t[k])
            moist += weight * (q[k - 1] - q[k])
            x1, parcel, saturated = base, condensation, True
        elif saturated:
            parcel = _lifted(parcel, x0, x1)
            mixed = _saturated(parcel, p[k])
        else:
            parcel = t[first] * (p[k] / p[first]) ** (RD / CP)
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
    first = _most_unstable(p, t, q, p.size) if lifted else 0
    condensed = _condensation(t[first], q[first], p[first])
    base = min(np.log(p[first]) + np.log(condensed / t[first]) * CP / RD, np.log(p[first]))
    path = np.full(p.size, np.nan)
    parcel, below = min(condensed, t[first]), base
    for k in range(first, p.size):
        if np.log(p[k]) >= base:
            path[k] = t[first] * (p[k] / p[first]) ** (RD / CP)
        else:
            parcel = _lifted(parcel, below, np.log(p[k]))
            path[k], below = parcel, np.log(p[k])
    return path, np.exp(base), min(condensed, t[first])


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
    p, t, q = np.empty(nz), np.empty(nz), np.empty(nz)
    for j in range(ny):
        for i in range(nx):
            count = 0
            for k in range(nz):
                level = pressure[k, j, i], temperature[k, j, i], mixing_ratio[k, j, i]
                whole = 0 < level[0] < 2e5 and 100 < level[1] < 500 and level[2] < 1
                if whole and (count == 0 or level[0] < p[count - 1]):
                    p[count], t[count], q[count] = level[0], level[1], max(level[2], 0.0)
                    count += 1
                elif k == 0:
                    break
            if count > 1:
                first = _most_unstable(p, t, q, count) if lifted else 0
                cape[j, i], cin[j, i] = _energy(p, t, q, count, first)
    return cape, cin
