"""The gallery's pictures of a storm that is followed, from the frames of the tests.

python docs/gallery/storms.py
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from burstlens.core.version import __version__
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry.place import Place
from burstlens.viz.product import Context
from burstlens.workflows.recipe.load import load

HERE = Path(__file__).parent
KATRINA = HERE.parents[1] / "tests" / "data" / "wrf" / "wrfout_d01_2005-08-28_12_00_00"
LEVELS = KATRINA.with_name("wrfout_d01_2005-08-28_21_00_00")
TIMES = ("20050828T120000", "20050828T150000", "20050828T180000", "20050828T210000")
CITIES = (Place("New Orleans", 29.95, -90.07),)


def main() -> None:
    """Follow Katrina through four frames as the recipe does, and draw the newest one."""
    with tempfile.TemporaryDirectory() as folder:
        recipe, _ = load("wrf-cyclone", (f"inputs={folder}", "half_width_km=150"))
        made = {product.name: product for product in recipe.products}
        state = None
        for record, time in enumerate(TIMES):
            now = Path(folder) / time
            context = Context(
                "gallery",
                "Hurricane Katrina",
                "track",
                "d01",
                time,
                HERE,
                state=now,
                version=__version__,
            )
            with open_frame([KATRINA], record, time=time, previous=state) as frame:
                track = made["track"]
                facts = track.kind.make(track.options, frame, Path(folder) / "out", context).facts
            state = now
            print(time, facts["lon"], facts["lat"], facts["value"], facts["units"])
        followed = {"track": now}
        shown = {
            "storm": {"width_px": 800, "cities": CITIES},
            "wind": {"width_px": 800, "margin_km": 150.0},
            "eye": {},
        }
        for name, changes in shown.items():
            options = replace(made[name].options, **changes)
            # The newest frame has more levels in a file of its own.
            file, n = (LEVELS, 0) if name == "eye" else (KATRINA, record)
            with open_frame([file], n, time=time, followed=followed) as frame:
                made[name].kind.make(options, frame, HERE / f"wrf-cyclone-{name}.png", context)


if __name__ == "__main__":
    main()
