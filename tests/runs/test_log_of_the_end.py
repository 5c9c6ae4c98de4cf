"""Runs whose outcome depends on the end of a long log."""

from __future__ import annotations

import sys

import pytest

PROGRAM = """\
import sys
import netCDF4

with open("begun", "a") as begun:
    begun.write("x")
with netCDF4.Dataset("heat_000.nc", "w") as data:
    data.createDimension("time", None)
    data.createDimension("y", 20)
    data.createDimension("x", 30)
    data.createVariable("time", "f8", ("time",)).units = "s"
    data["time"][0] = 0.0
    data.createVariable("t", "f4", ("time", "y", "x"))[0] = 1.0
for _ in range(int(sys.argv[1])):
    print("nothing that matters" * 5)
print("t=60 of 60")
print(sys.argv[2])
"""
RECIPE = """\
[simulation]
model = "command"
inputs = "inputs"
command = ["./heat.py", "{lines}", "{last}"]
frames = "heat_*.nc"
progress = "^t=(?P<elapsed>[0-9.]+) of (?P<total>[0-9.]+)$"
done = "^bye$"
[buffer]
capacity = "20 MiB"
[[product]]
name = "kept"
kind = "netcdf"
variables = ["t"]
[stage_out]
keep = ["begun"]
"""


@pytest.fixture
def heat(scene):
    def made(lines, last):
        found = scene("heat")
        program = found.folder / "inputs" / "heat.py"
        program.write_text(f"#!{sys.executable}\n{PROGRAM}")
        program.chmod(0o755)
        (found.folder / "recipe.toml").write_text(RECIPE.format(lines=lines, last=last))
        process = found.start()
        output, _ = process.communicate(timeout=120)
        return found, process.returncode, output

    return made


@pytest.mark.fault
def test_a_model_that_prints_6_mb_and_then_that_it_is_done_is_done(heat):
    found, code, output = heat(60_000, "bye")
    assert code == 0, output
    assert found.events("run.ended")[0]["outcome"] == "done"


@pytest.mark.fault
def test_a_run_that_failed_as_its_end_was_not_read_is_resumed_without_the_model(heat):
    found, code, output = heat(10, "one more thing")
    assert code == 1
    assert "never said that it was done\none more thing" in output.replace("\n  ", "\n")
    (log,) = (found.folder / "buffer").rglob("1/model.log")
    with log.open("a") as file:
        file.write("bye\n")
    resumed = found.call("resume", "it")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert (found.run_dir / "output" / "begun").read_text() == "x"
    assert {event["attempt"] for event in found.events("frame.ready")} == {1}
