"""WRF that writes to sub-folders where old output lies; wanted files that never come."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
TRACES = TESTS / "data" / "traces"
DATES = [f"0001-01-01_00:0{minute}:00" for minute in (0, 1, 2)]
NAMES = """&time_control
 history_outname = "./out/deep/wrfout_d<domain>_<date>",
 rst_outname = "rst/wrfrst_d<domain>_<date>",
"""
# WRF makes no folder, and goes on when it cannot write a restart file.
MODEL = f"""#!/bin/sh
{sys.executable} replay.py trace --interval 0.3 --into out/deep
echo state > rst/wrfrst_d01_{DATES[2]}
true
"""
RECIPE = """
title = "Output in sub-folders"
[simulation]
model = "wrf"
inputs = "inputs"
[buffer]
capacity = "100 MiB"
raw = "release"
destroy = "never"
[[product]]
name = "w"
kind = "map"
variable = "W"
level = 5
[[product]]
name = "rain"
kind = "map"
variable = "RAINNC"
stream = "auxhist2_d01"
[[guard]]
name = "calm"
stream = "auxhist3_d01"
variable = "W"
max = 500
then = "alarm"
[stage_out]
keep = ["rst/wrfrst_*", "wrfrst_*"]
"""


@pytest.fixture(scope="module")
def done(scene):
    """The run, at its end; its inputs hold old output, an empty folder and no folder for rst."""
    made = scene("output-folders")
    inputs = made.folder / "inputs"
    shutil.copy(TESTS / "replay.py", inputs)
    shutil.copytree(TRACES / "netcdf4_one", inputs / "trace")
    text = (TRACES / "namelist.input").read_text()
    assert "&time_control\n" in text
    (inputs / "namelist.input").write_text(text.replace("&time_control\n", NAMES))
    (inputs / "wrf.exe").write_text(MODEL)
    (inputs / "wrf.exe").chmod(0o755)
    (inputs / "empty").mkdir()
    (inputs / "out" / "deep").mkdir(parents=True)
    for name in (f"out/deep/wrfout_d01_{DATES[0]}", f"wrfout_d01_{DATES[1]}"):
        (inputs / name).write_text("of an earlier run")
    (made.folder / "recipe.toml").write_text(RECIPE)
    process = made.start()
    output, _ = process.communicate(timeout=150)
    assert process.returncode == 1, output  # product rain waits for a stream that never comes
    made.output = output
    return made


def test_every_frame_is_found_and_the_restart_file_comes_home(done):
    assert len(done.events("frame.ready")) == 3
    assert {line["product"] for line in done.index()} == {"w"}
    assert (done.run_dir / "output" / "rst" / f"wrfrst_d01_{DATES[2]}").read_text() == "state\n"


def test_old_output_is_neither_staged_in_nor_written_over(done):
    assert [event["left"] for event in done.events("stagein.done")] == [2]
    assert (
        "the inputs hold output of an earlier run, which is not taken along: 2 files ("
        in done.output
    )
    names = {path.name for path in done.on_buffer() if "inputs" in path.parts}
    assert not [name for name in names if name.startswith("wrfout")]
    old = done.folder / "inputs" / "out" / "deep" / f"wrfout_d01_{DATES[0]}"
    assert old.read_text() == "of an earlier run"


def test_a_release_frees_what_the_journal_says(done):
    released = done.events("release.done")
    assert sum(event["files"] for event in released) == 3
    assert sum(event["bytes"] for event in released) == sum(
        event["bytes"] for event in done.events("frame.ready")
    )
    assert not [path for path in done.on_buffer() if path.name.startswith("wrfout")]


def test_what_the_recipe_wants_and_never_came_is_reported_with_what_was_there(done):
    end = done.events("run.ended")[0]
    alarms = [event["text"] for event in done.events("alarm")]
    for said in (
        "no frame of stream auxhist2_d01 came (product rain); it was looked for in ",
        "no frame of stream auxhist3_d01 came (guard calm); it was looked for in ",
        "stage_out.keep: no file matches 'wrfrst_*' in ",
    ):
        text = next(text for text in alarms if text.startswith(said))
        assert f"rst/wrfrst_d01_{DATES[2]}" in text
        assert text in end["message"]
    assert not any("rst/wrfrst_*" in text for text in alarms)
    assert (end["outcome"], end["exit_code"]) == ("failed", 1)
    assert end["message"].startswith("product rain was not made: no frame of stream auxhist2_d01")
