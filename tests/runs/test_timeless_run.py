"""Files without any time, run whole: pictures, a series for ParaView, a table, by number."""

from __future__ import annotations

import csv
import subprocess
import sys

import netCDF4
import pytest
from PIL import Image

PROGRAM = """\
import time

import netCDF4
import numpy as np

y, x = np.mgrid[0:30, 0:40]
for number in (5, 10, 15):
    with netCDF4.Dataset(f"mode2_{number}.nc", "w") as data:
        for name, size in (("z", 4), ("y", 30), ("x", 40)):
            data.createDimension(name, size)
            data.createVariable(name, "f4", (name,)).units = "m"
            data[name][:] = 10.0 * np.arange(size)
        shape = data.createVariable("shape", "f4", ("y", "x"))
        shape.setncatts({"units": "m", "long_name": "shape of the mode"})
        shape[:] = np.sin(x * number / 20) * np.cos(y * number / 30)
        volume = data.createVariable("volume", "f4", ("z", "y", "x"))
        volume.units = "m"
        volume[:] = np.arange(4.0)[:, None, None] + shape[:]
    time.sleep(0.3)
"""
RECIPE = """
title = "Modes"
[simulation]
model = "command"
command = ["./modes.py"]
inputs = "inputs"
frames = "mode2_*.nc"
time_variable = ""
[buffer]
capacity = "10 MiB"
[[product]]
name = "shape"
kind = "map"
variable = "shape"
[[product]]
name = "kept"
kind = "netcdf"
variables = ["shape"]
[[product]]
name = "cloud"
kind = "vtk"
variables = ["volume"]
[[guard]]
name = "jumps"
variable = "shape"
max_rate = 1e-9
"""
KEYS = ["n0000000005", "n0000000010", "n0000000015"]


@pytest.fixture(scope="module")
def modes(scene):
    made = scene("modes")
    program = made.folder / "inputs" / "modes.py"
    program.write_text(f"#!{sys.executable}\n{PROGRAM}")
    program.chmod(0o755)
    (made.folder / "recipe.toml").write_text(RECIPE)
    process = made.start()
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    return made


@pytest.mark.slow
def test_each_file_is_a_frame_by_its_number(modes):
    assert sorted(event["time"] for event in modes.events("frame.ready")) == KEYS
    assert modes.events("frame.damaged") == modes.events("guard.tripped") == []
    found = {(line["product"], line["time"]) for line in modes.index()}
    assert found == {(name, key) for name in ("shape", "kept", "cloud") for key in KEYS}
    for key in KEYS:
        with Image.open(modes.run_dir / f"products/shape/shape_output_{key}.png") as picture:
            picture.verify()
        with netCDF4.Dataset(modes.run_dir / f"products/kept/kept_output_{key}.nc") as data:
            assert "time" not in data.variables
            assert data["shape"].shape == (1, 30, 40)
            assert "valid_time" not in data.ncattrs()  # the key is not a time


@pytest.mark.slow
def test_paraview_cinema_and_report_show_the_numbers(modes):
    series = (modes.run_dir / "products" / "cloud.pvd").read_text()
    assert [f'timestep="{number}"' in series for number in (5, 10, 15)] == [True] * 3
    assert "TIMES = False" in (modes.run_dir / "products" / "cloud.paraview.py").read_text()
    done = modes.call("cinema", "it", "-o", "it.cdb")
    assert done.returncode == 0, done.stderr
    with (modes.folder / "it.cdb" / "data.csv").open(newline="") as stream:
        rows = [(row["time_s"], row["valid_time"]) for row in csv.DictReader(stream)]
    assert rows == [("", f"number {number}") for number in (5, 10, 15)]
    assert modes.call("report", "it", "-o", "it.html").returncode == 0
    assert "number 15" in (modes.folder / "it.html").read_text()


@pytest.mark.slow
def test_a_picture_is_found_by_its_number(modes):
    code = (
        "import burstlens; view = burstlens.open_run('runs/it').products['shape']\n"
        "print(view.entry('number 10').time, view.entry('n0000000005').time)\n"
        "view.entry('number 11')"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=modes.folder, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == [KEYS[1], KEYS[0]]
    assert 'its latest is "n0000000015"' in done.stderr


@pytest.mark.slow
def test_a_resumed_run_makes_nothing_again(modes):
    before = modes.index()
    done = modes.call("resume", "it")
    assert done.returncode == 0, done.stdout + done.stderr
    assert modes.index() == before
