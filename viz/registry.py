"""The kinds of products by name: those that ship, and those of installed packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean
from burstlens.core.plugins import plugins
from burstlens.viz.kinds.base import ProductKind

ENTRY_POINTS = "burstlens.products"
BUILT_IN = {
    "map": "map.kind:MapKind",
    "section": "section.kind:SectionKind",
    "sounding": "sounding.kind:SoundingKind",
    "profile": "profile.kind:ProfileKind",
    "scene": "scene.kind:SceneKind",
    "vtk": "vtk.kind:VtkKind",
    "netcdf": "netcdf.kind:NetcdfKind",
    "peak": "peak.kind:PeakKind",
    "seismogram": "seismogram.kind:SeismogramKind",
    "track": "track.kind:TrackKind",
    "track-map": "track_map.kind:TrackMapKind",
    "python": "python.kind:PythonKind",
    "command": "command.kind:CommandKind",
}
"""Where each kind that ships lives, below ``burstlens.viz.kinds``."""


def product_kinds() -> dict[str, ProductKind[Any]]:
    """Every kind by name: the built-in ones and those of the ``burstlens.products`` entry points.

    A plugin that cannot be loaded, is not a :class:`.ProductKind` or takes a built-in name is left
    out with a warning.
    """
    known = _built_in()
    return known | plugins(ENTRY_POINTS, "product kind", ProductKind, known)  # type: ignore[type-abstract]


def product_kind(name: str) -> ProductKind[Any]:
    """The kind of that name; RecipeError with near names when there is none."""
    known = product_kinds()
    if name not in known:
        raise RecipeError(f"there is no product kind {name!r}{did_you_mean(name, known)}")
    return known[name]


@cache
def _built_in() -> dict[str, ProductKind[Any]]:
    homes = {name: home.partition(":") for name, home in BUILT_IN.items()}
    return {
        name: getattr(import_module(f"burstlens.viz.kinds.{module}"), kind)()
        for name, (module, _, kind) in homes.items()
    }
