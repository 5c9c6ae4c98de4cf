"""Displacement, velocity, acceleration: which of them a variable is, by its units."""

from __future__ import annotations

from burstlens.core.errors import FrameError, RecipeError
from burstlens.core.units import conversion

MOTIONS = {"displacement": "m", "velocity": "m s-1", "acceleration": "m s-2"}
"""Each is the time derivative of the one before it."""


def motion_of(name: str, units: str) -> tuple[int, float]:
    """0 for a displacement, 1 for a velocity, 2 for an acceleration; and the factor to SI units.

    FrameError when ``units``, those of the variable ``name``, are not units of ground motion.
    """
    for number, unit in enumerate(MOTIONS.values()):
        try:
            return number, conversion(units, unit)[0]
        except RecipeError:
            continue
    raise FrameError(f"{name} is in {units or 'no unit'}: a ground motion is in m, m s-1 or m s-2")
