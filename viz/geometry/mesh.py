"""Meshes: points that are listed along one dimension, and the tables that join them.

UGRID, uxarray, SCRIP, ESMF, Exodus, ICON, MPAS, CAM-SE, FESOM, FVCOM, SCHISM, ADCIRC, TELEMAC,
Delft3D. Fields on them are not drawn, and a table is no field. Light: no numpy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_POINTS = re.compile(
    r"n_?cells?|cells?|ncells?_(?![xyz]$)\w+|ncol(?:_\w+)?|n?_?nodes?|n?nod(?:2d?|3d?|_\w+)?"
    r"|nod_?2d?|elem(?:ents?|_\w+)?|n?ele(?:m|ments?)?|n?_?faces?|n?_?edges?|edg_n|nvertices|vertex"
    r"|n?mesh\w*|n?poin(?:ts?)?|nschism\w*|values|n?pix|healpix|grid_size|n_[abs]|lndgrid|gridcell"
    r"|num_(?:nodes?|elem|el_in_blk\d*|links|cells|edges|faces)|(?:node|element)count|n(?:net|flow)(?:node|link|elem)\w*|nnodes?|nelem\w*|ncells_\d",
    re.IGNORECASE,
)
"""Dimensions along which the points of a mesh are listed."""
_CORNERS = re.compile(
    r"(?:\w+_)?(?:bnds|nbnds?|bounds|nbounds)|nb2|d2|tbnds|nv4?|nv_\w|n?corners?|grid_corners|n_?vertex"
    r"|vertices|two|three|four|n_?max\w*nodes|max_?face\w*|maxedges2?|vertexdegree|max(?:node|elem)"
    r"|maxnodepelement|num_nod_per_el\d*|noel|ndp|nmaxschism\w*",
    re.IGNORECASE,
)
"""Dimensions of the corners of a cell, and of the ends of an interval."""
_TABLES = re.compile(
    r".*connectivity.*|.*_(?:face|edge|node|volume)_(?:nodes|edges|faces|links)"
    r"|(?:cells|edges|vertices|weights|kiteareas|nedges)on(?:cell|edge|vertex)"
    r"|(?:vertex|edge|cell|neighbor|adjacent)\w*_(?:of|index)_?(?:cell|edge|vertex)?"
    r"|(?:vertices|edges|cells)_of_\w+|edge_vertices|ikle\d?|ipobo|nbv?[ev]|nbdv|nbvv|nvell|ntve|ntsn"
    r"|nbsn|connect\d+|elementconn|(?:src|dst)_(?:address|grid_\w+)|remap_matrix"
    r"|(?:net|flow)(?:elem|link)\w*|(?:\w+_)?(?:bnds|bounds|vertices|corners?)(?:_(?:lat|lon|\w{1,2}))?",
    re.IGNORECASE,
)
_GROUND = re.compile(
    r"(?:[rnf]|grid_|nav_)?(?:lat|lon)(?:s|itudes?|gitudes?)?(?:_\w+)?|(?:dim_?|n|grid_?)?[xyij]"
    r"(?:dim|axis|[cghqtuvf]|\d)?(?:_\w+)?|(?:xi|eta)_\w+|(?:south_north|west_east)\w*|n?(?:rows?|cols?)"
    r"|columns?|northings?|eastings?|[xy]_?points?",
    re.IGNORECASE,
)
"""Dimensions along the rows and columns of a regular grid."""


def is_of_mesh(dimensions: Iterable[str]) -> bool:
    """Whether a variable with these dimensions is listed along the points of a mesh."""
    return any(_POINTS.fullmatch(dimension) for dimension in dimensions)


def is_table(name: str, attributes: Mapping[str, Any], dimensions: Iterable[str]) -> bool:
    """Whether a variable joins points of a mesh, or holds corners of cells or ends of intervals.

    >>> is_table("face_node_connectivity", {}, ("n_face", "n_max_face_nodes"))
    True
    """
    if "cf_role" in attributes or "start_index" in attributes:
        return True
    along = tuple(dimensions)
    if len(along) > 1 and all(_GROUND.fullmatch(one) for one in along[-2:]):
        return False  # a field, whatever its name
    if _TABLES.fullmatch(name):
        return True
    # Corners lie along the last dimension (CF 7.1); FVCOM's tables are (three, nele).
    return any(_CORNERS.fullmatch(one) for one in (along if len(along) == 2 else along[-1:]))


def why_not_drawn(
    name: str, attributes: Mapping[str, Any], dimensions: Iterable[str], ground: Iterable[str]
) -> str:
    """Why a variable is not drawn; "" if it can be. ``ground`` are its dimensions along x and y."""
    along = tuple(dimensions)
    if is_table(name, attributes, along):
        of_mesh = "cf_role" in attributes or is_of_mesh(along)
        what = "how the points of a mesh are joined" if of_mesh else "where cells end"
        return f"{name} says {what}: it is not a field ({', '.join(along)})"
    if is_of_mesh(ground) or {"mesh", "location"} <= attributes.keys():
        return (
            f"{name} is on the points of an unstructured mesh ({', '.join(along)}), of which maps "
            "are not drawn: a product of the kind python or command can draw them"
        )
    return ""
