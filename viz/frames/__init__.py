"""Open frames: netCDF files, joined tiles, and descriptions of future frames.

``reader`` reads one frame, ``outline`` stands in for a future one, ``times`` has the times of a
frame, ``state`` keeps arrays from one frame to the next. Imports ``seams``, ``product`` and
``core``.
"""

__all__ = ["held", "outline", "reader", "record", "state", "times"]
