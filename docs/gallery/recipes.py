"""The gallery's pictures of the recipes that ship, drawn from the frames of the tests.

python docs/gallery/recipes.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from burstlens.core.version import __version__
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.product import Context
from burstlens.workflows.recipe.file import find
from burstlens.workflows.recipe.load import load

HERE = Path(__file__).parent
FRAMES = HERE.parents[1] / "tests" / "data" / "wrf"
KATRINA = FRAMES / "wrfout_d01_2005-08-28_21_00_00", "20050828T210000", "Hurricane Katrina"
STORM = FRAMES / "wrfout_d01_0001-01-01_01_30_00", "00010101T013000", "Splitting supercell"

# Katrina's file has no species: water vapour replaces dust, and its region that of the recipe.
GULF = ("west=-91", "east=-86.5", "south=24", "north=28")
PICTURES = {
    "wrf-overview-wind": ("wrf-overview", "wind", KATRINA, ()),
    "wrf-overview-rain": ("wrf-overview", "rain", KATRINA, ()),
    "wrf-overview-clouds": ("wrf-overview", "clouds", KATRINA, ()),
    "wrf-severe-reflectivity": ("wrf-severe", "reflectivity", STORM, ()),
    "wrf-severe-cape": ("wrf-severe", "cape", STORM, ()),
    "wrf-severe-steering": ("wrf-severe", "steering", STORM, ()),
    "wrf-chem-live-map": ("wrf-chem-live", "map", KATRINA, ("species=QVAPOR", *GULF)),
}  # fmt: skip


def run_any_program(name: str) -> None:
    """A whole run of command-generic, with the seismic model in place of a user's program."""
    earthquake = find("seismic-basin").parent
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs"
        shutil.copytree(earthquake, inputs, ignore=shutil.ignore_patterns("recipe.toml"))
        basin = "--spacing-m 400 --size-m 24000 24000 8000 --centre-m 14500 12000"
        basin += " --half-axes-m 7000 5500 2200"
        program = inputs / "model"
        awm = f"{sys.executable} -m burstlens.workflows.awm"
        program.write_text(f"#!/bin/sh\n{awm}.basin basin.nc {basin} && exec {awm} quick.toml\n")
        program.chmod(0o755)
        settings = (f"inputs={inputs}", "frames=surface_*.nc", "variable=vz")
        words = [word for setting in settings for word in ("--set", setting)]
        environment = os.environ | {"BURSTLENS_RUNS": folder, "BURSTLENS_BUFFER": folder}
        burstlens = [
            sys.executable,
            "-m",
            "burstlens",
            "run",
            "command-generic",
            "--name",
            "gallery",
        ]
        subprocess.run([*burstlens, *words], cwd=folder, env=environment, check=True)
        pictures = sorted((Path(folder) / "gallery" / "products" / "map").glob("*.png"))
        shutil.copy(pictures[len(pictures) // 4], HERE / f"{name}.png")


def main() -> None:
    """Draw every picture beside this script, with the recipes as they are shipped."""
    run_any_program("command-generic-map")
    for name, (recipe_name, product, (path, time, title), settings) in PICTURES.items():
        recipe, _ = load(recipe_name, (f"inputs={tempfile.gettempdir()}", *settings))
        (made,) = (item for item in recipe.products if item.name == product)
        context = Context("gallery", title, name, "d01", time, HERE, version=__version__)
        options = replace(made.options, width_px=800)
        with open_frame([path], time=time) as frame:
            facts = made.kind.make(options, frame, HERE / f"{name}.png", context).facts
        print(name, facts["min"], facts["max"], facts["units"])


if __name__ == "__main__":
    main()
