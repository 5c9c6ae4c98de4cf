"""Frames, opened: netCDF files, tiles joined, and frames that are still to come.

``reader`` reads one frame, ``outline`` answers for one that is still to come, ``times`` says when a
frame is, ``state`` keeps arrays from one frame to the next. Imports ``seams``, ``product`` and
``core``.
"""

__all__ = ["held", "outline", "reader", "state", "times"]
