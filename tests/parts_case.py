"""A small run of awm that can be cut into attempts, and what is compared of two such runs."""

from __future__ import annotations

from pathlib import Path

from awm_texts import block_of
from scene_case import Scene

OUTPUT = """\
surface_every = 8
volume_every = 24
peaks = true
station_every = 8
station_frames = true
[[station]]
name = "A"
x_m = 900.0
y_m = 1500.0"""
MODEL = block_of((32, 28, 24), 96, OUTPUT)
RECIPE = """
title = "Waves in parts"
[parameters]
segments = { type = "int", default = 1 }
[simulation]
model = "awm"
inputs = "inputs"
segments = "{segments}"
[buffer]
capacity = "200 MiB"
destroy = "never"
[stage_out]
keep = ["stations.nc", "surface_*.nc"]
[[product]]
name = "motion"
kind = "map"
stream = "surface"
variable = "vz"
limits = [-1, 1]
width_px = 300
[[product]]
name = "shaken"
kind = "peak"
stream = "surface"
quantity = "pgv"
components = ["vx", "vy"]
width_px = 300
[[product]]
name = "traces"
kind = "seismogram"
stream = "stations"
width_px = 300
height_px = 300
[[product]]
name = "crop"
kind = "netcdf"
stream = "volume"
variables = ["vx"]
[[guard]]
name = "stable"
stream = "surface"
variable = "vz"
min = -50.0
max = 50.0
then = "stop"
"""
TIMES = [f"t{0.06 * number:012.3f}" for number in range(1, 13)]


def prepare(scene: Scene, keys: str = "", *, model: str = MODEL, recipe: str = RECIPE) -> Scene:
    """The inputs and the recipe of the run, with further keys of ``[simulation]``."""
    (scene.folder / "inputs" / "awm.toml").write_text(model)
    text = recipe.replace("[buffer]", f"{keys}\n[buffer]", 1)
    (scene.folder / "recipe.toml").write_text(text)
    return scene


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "index.jsonl" and "live" not in path.parts
    }


def states(products: dict[str, bytes]) -> dict[str, bytes]:
    """Those of chained products, without the attempt in their names."""
    return {name.rpartition("_")[0]: data for name, data in products.items() if ".states" in name}


def results(run_dir: Path) -> dict[str, bytes]:
    """The products, without pages; states of chained ones without their attempts."""
    found = files(run_dir / "products")
    plain = {name: data for name, data in found.items() if ".states" not in name}
    pages = [name for name in plain if name.endswith(".html")]
    return {name: data for name, data in plain.items() if name not in pages} | states(found)
