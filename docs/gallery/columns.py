"""The gallery's sections, soundings and rain of an interval, from the frames of the tests.

python docs/gallery/columns.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from burstlens.core.version import __version__
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.layers import Contours, Wind
from burstlens.viz.geometry.place import End
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.profile.options import ProfileOptions
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.kinds.sounding.options import SoundingOptions
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

HERE = Path(__file__).parent
FRAMES = HERE.parents[1] / "tests" / "data" / "wrf"
KATRINA = "wrfout_d01_2005-08-28_21_00_00", 0, "20050828T210000", "Hurricane Katrina"
FOUR = "wrfout_d01_2005-08-28_12_00_00"
BEFORE, AFTER = (FOUR, 0, "20050828T120000", ""), (FOUR, 1, "20050828T150000", "Hurricane Katrina")
STORM = "wrfout_d01_0001-01-01_01_30_00", 0, "00010101T013000", "Splitting supercell"
SUPERCELL = "wrfout_d01_0001-01-01_00_08_00", 0, "00010101T000800", "Supercell"

PICTURES: dict[str, tuple[tuple[str, int, str, str], str, Any]] = {
    "katrina-section": (
        KATRINA, "section",
        SectionOptions(
            "wind", End(lat=24.0, lon=-92.0), End(lat=26.3, lon=-89.0), units="kn",
            limits=(0, 140),
            contours=Contours("theta_e", interval=4), wind="barbs",
        ),
    ),
    "katrina-section-pressure": (
        KATRINA, "section",
        SectionOptions(
            "rh", End(lat=24.0, lon=-92.0), End(lat=26.3, lon=-89.0), vertical="pressure",
            levels="mass", contours=Contours("temperature", units="degC", interval=4),
        ),
    ),
    "supercell-section": (
        STORM, "section",
        SectionOptions(
            "W", End(i=28, j=24), End(i=60, j=24), top=17.0, limits=(-50, 50), wind="along",
            contours=Contours("REFL_10CM", levels=(20, 35, 50)),
        ),
    ),
    "supercell-sounding": (SUPERCELL, "sounding", SoundingOptions(End(i=5, j=5))),
    "katrina-profiles": (
        KATRINA, "profile", ProfileOptions(("theta_e", "wind", "rh"), units={"wind": "kn"}),
    ),
    "katrina-rain-3h": (
        AFTER, "map",
        MapOptions("rain_interval", barbs=Wind(), margin_km=250, width_px=800),
    ),
    "katrina-instability": (
        KATRINA, "map",
        MapOptions(
            "theta_e@900hPa - theta_e@600hPa [K]", width_px=800, centred=True,
            title="Theta-e, 900 hPa minus 600 hPa",
            contours=Contours("height@700hPa", interval=20), barbs=Wind("U@700hPa", "V@700hPa"),
        ),
    ),
}  # fmt: skip


def main() -> None:
    """Draw every picture beside this script."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before", Path(folder) / "after"
        _draw(Path(folder) / "first.png", BEFORE, "map", MapOptions("rain_interval"), None, before)
        for name, (frame, kind, options) in PICTURES.items():
            previous = before if frame is AFTER else None
            facts = _draw(HERE / f"{name}.png", frame, kind, options, previous, after)
            print(name, facts)


def _draw(
    out: Path, of: tuple[str, int, str, str], kind: str, options: Any, previous: Path | None,
    state: Path,
) -> dict[str, Any]:  # fmt: skip
    file, record, time, title = of
    context = Context(
        "gallery", title, out.stem, "d01", time, HERE, state=state, version=__version__
    )
    with open_frame([FRAMES / file], record, time=time, previous=previous) as frame:
        made = product_kind(kind).make(options, frame, out, context)
    return {key: made.facts[key] for key in ("min", "max", "cape", "cin") if key in made.facts}


if __name__ == "__main__":
    main()
