"""The recipe for any program, run whole with one: heat that spreads in a plate."""

from __future__ import annotations

import sys

import netCDF4
import pytest
from PIL import Image

PROGRAM = """\
import time

import netCDF4
import numpy as np

heat = np.zeros((40, 60), "f4")
heat[18:22, 28:34] = 100.0
for number in range(5):
    with netCDF4.Dataset(f"heat_{number:03d}.nc", "w") as data:
        data.createDimension("time", None)
        data.createDimension("y", 40)
        data.createDimension("x", 60)
        data.createVariable("time", "f8", ("time",)).units = "s"
        data["time"][0] = 10.0 * number
        temperature = data.createVariable("temperature", "f4", ("time", "y", "x"))
        temperature.setncatts({"units": "degC", "long_name": "plate temperature"})
        temperature[0] = heat
    time.sleep(0.4)
    for _ in range(40):
        inner = heat[:-2, 1:-1] + heat[2:, 1:-1] + heat[1:-1, :-2] + heat[1:-1, 2:]
        heat[1:-1, 1:-1] += 0.2 * (inner - 4 * heat[1:-1, 1:-1])
"""


@pytest.fixture(scope="module")
def plate(scene):
    made = scene("plate")
    program = made.folder / "inputs" / "plate.py"
    program.write_text(f"#!{sys.executable}\n{PROGRAM}")
    program.chmod(0o755)
    settings = ("inputs=inputs", "program=./plate.py", "frames=heat_*.nc", "variable=temperature")
    words = [word for setting in (*settings, "capacity=1 MiB") for word in ("--set", setting)]
    process = made.start(*words, recipe="command-generic")
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    return made


def standing(plate):
    """The line of each product and time that stands: a map whose limits widened is made again."""
    return {(line["product"], line["time"]): line for line in plate.index()}


@pytest.mark.slow
def test_each_file_has_its_map_and_its_values_kept(plate):
    listed = sorted(standing(plate))
    times = [f"t{10 * number:08d}.000" for number in range(5)]
    assert listed == sorted((name, time) for name in ("map", "kept") for time in times)
    for path in (plate.run_dir / "products" / "map").glob("*.png"):
        with Image.open(path) as picture:
            picture.verify()
    with netCDF4.Dataset(
        plate.run_dir / "products" / "kept" / f"kept_output_{times[0]}.nc"
    ) as data:
        assert data["temperature"][:].max() == 100.0
        assert data["temperature"][:].min() == 0.0


@pytest.mark.slow
def test_pictures_compare_in_time_and_the_buffer_is_free(plate):
    maps = [line for (product, _), line in standing(plate).items() if product == "map"]
    assert len({tuple(line["facts"]["limits"]) for line in maps}) == 1
    assert plate.on_buffer() == []
