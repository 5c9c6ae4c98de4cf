"""The gallery's scenes, drawn from the frames of the tests.

python docs/gallery/scenes.py
"""

from __future__ import annotations

from pathlib import Path

from burstlens.core.version import __version__
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.scene.kind import SceneKind
from burstlens.viz.kinds.scene.options import Camera, Haze, Isosurface, SceneOptions, Slices
from burstlens.viz.product import Context

HERE = Path(__file__).parent
FRAMES = HERE.parents[1] / "tests" / "data" / "wrf"
STORM = "wrfout_d01_0001-01-01_01_30_00", "00010101T013000", "Splitting supercell"
KATRINA = "wrfout_d01_2005-08-28_21_00_00", "20050828T210000", "Hurricane Katrina"
AROUND = Crop(range={"x": (40e3, 126e3), "y": (24e3, 110e3), "z": (0, 16_000)})
ANVIL = Isosurface("QSNOW", 0.5, units="g kg-1", colour="#b9cfe2", opacity=0.35)
RAIN = Isosurface("QRAIN", 2, units="g kg-1", colour="#3b5f8a", opacity=0.7)
UPDRAFT = Isosurface("W", 10, colour="#c8503c")

SCENES = {
    "supercell-scene": (STORM, SceneOptions((UPDRAFT, RAIN, ANVIL), crop=AROUND)),
    "supercell-slices": (
        STORM,
        SceneOptions(
            (UPDRAFT,), variable="REFL_10CM", slices=Slices(height=(1,)), crop=AROUND,
            camera=Camera(azimuth=195, elevation=30),
        ),
    ),
    "katrina-haze": (
        KATRINA,
        SceneOptions(
            variable="wind10", units="kn",
            haze=(
                Haze("QRAIN", (0.1, 4), units="g kg-1", colour="#3b5f8a"),
                Haze("W", (0.5, 3), colour="#c8503c"),
            ),
            camera=Camera(azimuth=200, elevation=35),
        ),
    ),
    "katrina-scene": (
        KATRINA,
        SceneOptions(
            (Isosurface("W", 0.5),), variable="wind10", units="kn", colormap="cmcrameri.lipari_r",
            camera=Camera(azimuth=200, elevation=35),
        ),
    ),
}  # fmt: skip


def main() -> None:
    """Render every scene beside this script."""
    for name, ((file, time, title), options) in SCENES.items():
        context = Context("gallery", title, name, "d01", time, HERE, version=__version__)
        with open_frame([FRAMES / file], time=time) as frame:
            made = SceneKind().make(options, frame, HERE / f"{name}.png", context)
        print(name, made.facts["exaggeration"], made.facts["isosurfaces"])


if __name__ == "__main__":
    main()
