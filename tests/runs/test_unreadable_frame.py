"""A run with a frame that can never be read ends, with the code for frames that are lost."""

from __future__ import annotations

import sys

import pytest

from burstlens.core.exit_codes import FRAMES_LOST

PROGRAM = """\
import os

import netCDF4
import numpy as np

with netCDF4.Dataset("mode2_5.nc", "w") as data:
    for name, size in (("y", 30), ("x", 40)):
        data.createDimension(name, size)
        data.createVariable(name, "f4", (name,)).units = "m"
        data[name][:] = 10.0 * np.arange(size)
    data.createVariable("shape", "f4", ("y", "x"))[:] = 1.0
os.symlink("mode2_10.nc", "mode2_10.nc")
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
name = "kept"
kind = "netcdf"
variables = ["shape"]
"""


@pytest.mark.slow
def test_a_loop_of_links_under_a_frames_name_ends_the_run_with_that_frame_lost(scene):
    made = scene("loop")
    program = made.folder / "inputs" / "modes.py"
    program.write_text(f"#!{sys.executable}\n{PROGRAM}")
    program.chmod(0o755)
    (made.folder / "recipe.toml").write_text(RECIPE)
    process = made.start()
    output, _ = process.communicate(timeout=120)
    assert process.returncode == FRAMES_LOST, output
    [lost] = made.events("frame.damaged")
    assert lost["reason"] == "it cannot be read: Too many levels of symbolic links"
    assert [event["product"] for event in made.events("product.published")] == ["kept"]
