"""Open frames: netCDF files, joined tiles, and descriptions of future frames.

``file`` opens a file that is whole, ``reader`` reads one frame, large deflated variables chunk by
chunk in several threads, ``outline`` stands in for a future one, ``choice`` takes variables at one
point of further dimensions,
``overlooked`` has attributes that netCDF4 passes over, ``reading_time`` measures how long reading
takes, ``times`` has the times of a frame, ``state`` keeps arrays from one frame to the next,
``fire`` is WRF-Fire's grid, ``joining`` puts large arrays together from parts.
Imports ``seams``, ``product`` and ``core``.
"""

__all__ = [
    "choice",
    "file",
    "fire",
    "further",
    "held",
    "joining",
    "outline",
    "reader",
    "reading_time",
    "record",
    "state",
    "times",
]
