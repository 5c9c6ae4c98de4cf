"""Parts of maps: the sheet, graticule, coasts, isolines, winds, places, relief, tracks.
Imports as ``drawing`` does.
"""

__all__ = [
    "cells",
    "graticule",
    "isolines",
    "layers",
    "meanings",
    "overlay",
    "places",
    "reach",
    "relief",
    "rings",
    "sheet",
    "track_layer",
    "wind_symbols",
]
