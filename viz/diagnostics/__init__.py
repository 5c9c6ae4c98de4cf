"""Quantities by name, pure functions of arrays: thermodynamics, wind, rain, storms, ground motion.

``derived`` opens a frame in which they stand beside the stored variables, ``table`` has them all,
``formula`` and ``level`` are the expressions and the levels that a name may hold. Imports
``geometry`` and what is below it.
"""

__all__ = [
    "derived", "diagnostic", "domain", "earth", "formula", "interval", "level", "levels", "parcel",
    "rain", "seismology", "storms", "thermodynamics", "velocity",
]  # fmt: skip
