"""Limits: the longest stable time step, the coarsest grid, the slowest rock.

Each message gives the values at fault and values that work.
"""

from __future__ import annotations

import math

STENCIL = (9 / 8, -1 / 24)
"""The 4th-order staggered first difference."""


VP_OVER_VS = math.sqrt(2.0)
"""Below it lambda is negative, which is known of no rock; mixed-up columns are more likely."""


def not_rock(vp: float, vs: float) -> str | None:
    """Why speeds in m/s are not those of rock, or None if they are."""
    if vp >= VP_OVER_VS * vs:
        return None
    return (
        f"vp {vp:g} m/s is {vp / vs:.3g} times vs {vs:g} m/s: lambda is negative below sqrt(2) "
        f"times, here {VP_OVER_VS * vs:.5g} m/s"
    )


def longest_step(spacing_m: float, vp_max: float) -> float:
    """Longest stable time step in s: h / (sqrt(3) vp (9/8 + 1/24)), Graves (1996), equation 9."""
    return spacing_m / (math.sqrt(3.0) * vp_max * sum(abs(c) for c in STENCIL))


def unstable(step_s: float, spacing_m: float, vp_max: float) -> str | None:
    """Why that time step is unstable, or None if it is stable."""
    limit = longest_step(spacing_m, vp_max)
    if step_s <= limit:
        return None
    return (
        f"time.step_s: {step_s:g} s is unstable: with vp up to {vp_max:g} m/s and a spacing of "
        f"{spacing_m:g} m the longest stable step is {math.floor(limit * 1e6) / 1e6:g} s"
    )


def too_coarse(
    spacing_m: float, vs_min: float, frequency_hz: float, points_wanted: float
) -> str | None:
    """Why that grid is too coarse for the wanted frequency, or None if it is not."""
    points = vs_min / frequency_hz / spacing_m
    if points >= points_wanted:
        return None
    return (
        f"grid.spacing_m: {spacing_m:g} m is too coarse: at {frequency_hz:.3g} Hz the shortest "
        f"shear wave (vs {vs_min:g} m/s) gets {points:.2g} points per wavelength and needs "
        f"{points_wanted:g}: take a spacing of {vs_min / frequency_hz / points_wanted:.3g} m or "
        f"less, or a highest frequency of {vs_min / spacing_m / points_wanted:.3g} Hz"
    )
