"""Positions of the points of a frame: grids, projections, crops, sections, places, levels.

``grid`` gives the coordinates of a variable, ``crop`` the part of it that is kept, ``field`` a 2-D
field with both. Imports ``frames`` and what is below it; has no diagnostics and does not draw.
"""

__all__ = [
    "around",
    "around_pole",
    "c_grid",
    "cf_plane",
    "columns",
    "crop",
    "field",
    "grid",
    "mesh",
    "ordered",
    "place",
    "plane_cache",
    "position",
    "projection",
    "sphere",
    "sphere_cells",
    "staggering",
    "transect",
    "vertical",
]
