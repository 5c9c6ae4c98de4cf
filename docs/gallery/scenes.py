"""The gallery's scenes, made anew from the frames that the tests carry.

python docs/gallery/scenes.py
"""

from __future__ import annotations

from pathlib import Path

from burstlens.viz.crop import Crop
from burstlens.viz.frame import open_frame
from burstlens.viz.product import Context
from burstlens.viz.scenes.scene import Camera, Haze, Isosurface, SceneKind, SceneOptions, Slices

HERE = Path(__file__).parent
FRAMES = HERE.parents[1] / "tests" / "data" / "wrf"
SUPERCELL = "wrfout_d01_0001-01-01_00_08_00", "00010101T000800", "Supercell"
KATRINA = "wrfout_d01_2005-08-28_21_00_00", "20050828T210000", "Hurricane Katrina"
STORM = Crop(range={"x": (26e3, 58e3), "y": (24e3, 56e3), "z": (0, 12_000)})
CLOUD = Isosurface("QCLOUD", 0.1, units="g kg-1", colour="#b9cfe2", opacity=0.4)
UPDRAFT = Isosurface("W", 2, colour="#c8503c")

SCENES = {
    "supercell-scene": (SUPERCELL, SceneOptions((UPDRAFT, CLOUD), crop=STORM)),
    "supercell-slices": (
        SUPERCELL,
        SceneOptions(
            (CLOUD,), variable="W", slices=Slices(y=(40,), height=(1.5,)), crop=STORM,
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
        context = Context("gallery", title, name, "d01", time, HERE)
        with open_frame([FRAMES / file], time=time) as frame:
            made = SceneKind().make(options, frame, HERE / f"{name}.png", context)
        print(name, made.facts["exaggeration"], made.facts["isosurfaces"])


if __name__ == "__main__":
    main()
