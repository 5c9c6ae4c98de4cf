"""The gallery's maps, drawn from the frames of the tests.

python docs/gallery/maps.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from burstlens.core.version import __version__
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.layers import Contours, Wind
from burstlens.viz.geometry.place import Place
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Beside, Context

HERE = Path(__file__).parent
FRAMES = HERE.parents[1] / "tests" / "data" / "wrf"
KATRINA = ("wrfout_d01_2005-08-28_21_00_00",), "20050828T210000", "Hurricane Katrina"
PARENT = ("wrfout_d01_0001-01-01_00_03_00",), "00010101T000300", "Supercell with a nest"
NEST = ("wrfout_d02_0001-01-01_00_03_00",), "00010101T000300", "Supercell with a nest"
TILES = (
    ("wrfout_d01_0001-01-01_00_04_00_0000", "wrfout_d01_0001-01-01_00_04_00_0001"),
    "00010101T000400",
    "Supercell, two tiles",
)
CITIES = tuple(
    Place(name, lat, lon)
    for name, lat, lon in (
        ("New Orleans", 29.95, -90.07), ("Havana", 23.13, -82.38), ("Key West", 24.56, -81.78),
        ("Houston", 29.76, -95.37), ("Mérida", 20.97, -89.62),
    )
)  # fmt: skip

MAPS = {
    "katrina-wind": (
        KATRINA,
        MapOptions(
            "wind10", units="kn", contours=Contours("slp", units="hPa", interval=4), barbs=Wind(),
            mark="max", cities=CITIES,
        ),
    ),
    "katrina-rain": (
        KATRINA,
        MapOptions("RAINNC", contours=Contours("slp", units="hPa", interval=8), margin_km=700,
                   cities=CITIES),
    ),
    "katrina-updraft": (KATRINA, MapOptions("W", level=7, streamlines=Wind("U", "V", level=7))),
    "supercell-parent": (
        PARENT,
        MapOptions(
            "W", level=4, vectors=Wind("U", "V", level=4), nests=("d02",), nest_fields=True
        ),
    ),
    "supercell-nest": (NEST, MapOptions("W", level=4, mark="max")),
    "supercell-tiles": (TILES, MapOptions("W", level=8, mark="both")),
}  # fmt: skip


def main() -> None:
    """Draw every map beside this script."""
    for name, ((files, time, title), options) in MAPS.items():
        context = Context(
            "gallery", title, name, files[0].split("_")[1], time, HERE, version=__version__
        )
        beside = {"d02": Beside((FRAMES / NEST[0][0],), 0, "d02", time)}
        paths = [FRAMES / file for file in files]
        with open_frame(paths, time=time, beside=beside) as frame:
            made = MapKind().make(
                replace(options, width_px=800), frame, HERE / f"{name}.png", context
            )
        print(name, made.facts["min"], made.facts["max"], made.facts["units"])


if __name__ == "__main__":
    main()
