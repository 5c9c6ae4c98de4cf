"""Components of a vector that are shown as one: its length, with arrows."""

from __future__ import annotations

from collections.abc import Iterator

from burstlens.viz.frames.further import is_further
from burstlens.workflows.frames.contents import Content, Contents
from burstlens.workflows.look.folder.content import record_dimension

_HORIZONTAL = 2
_PAIRS = (
    ("eastward_wind", "northward_wind", "Wind speed"),
    (
        "surface_eastward_sea_water_velocity",
        "surface_northward_sea_water_velocity",
        "Speed of the surface current",
    ),
    ("eastward_sea_water_velocity", "northward_sea_water_velocity", "Speed of the current"),
)
_USUAL = (("u10", "v10"), ("10u", "10v"), ("u10m", "v10m"), ("ugrd10m", "vgrd10m"), ("uas", "vas"))
"""Names of ECMWF, NCEP and CORDEX, whose components point east and north."""


def pairs(contents: Contents, time: str | None) -> Iterator[tuple[str, str, str]]:
    """Eastward and northward components on one surface grid, and a title for their speed.

    A height that all points of a variable have is not a further dimension (``height = 10`` m).
    """
    record = record_dimension(contents, time)
    flat = {
        name: about
        for name, about in contents.variables.items()
        if sum(
            n > 1
            for d, n in zip(about.dimensions, about.shape, strict=True)
            if d != record and not _is_further(contents, d)
        )
        <= _HORIZONTAL
    }
    standard = {about.text("standard_name"): name for name, about in flat.items()}
    found = [(standard.get(u), standard.get(v), title) for u, v, title in _PAIRS]
    found += [(u, v, "10 m wind speed") for u, v in _USUAL if not _says(flat.get(u))]
    for east, north, title in found:
        if east in flat and north in flat:
            along, across = flat[east], flat[north]
            same = along.text("units") == across.text("units")
            if along.dimensions == across.dimensions and same:
                yield east, north, title


def _is_further(contents: Contents, dimension: str) -> bool:
    about = contents.variables.get(dimension)
    return is_further(dimension, about.attributes if about is not None else {})


def _says(about: Content | None) -> bool:
    return about is not None and about.text("standard_name") not in ("", "unknown")
