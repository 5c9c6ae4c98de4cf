"""A nested run that dies and is resumed from a restart file: times repeat, one is skipped, the nest
starts late. wrf-overview as it is shipped, with the real model's frames in place of its own."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.fault

DATA = Path(__file__).parents[1] / "data"
FRAME = DATA / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
# Writes frames as WRF does, of the minutes that this start of the model is to write; dies or ends.
MODEL = """\
import os, sys, time
import netCDF4
import numpy as np

log = open("rsl.error.0000", "w", buffering=1)
source = os.path.realpath(sys.argv[0])
first = not os.path.exists(source + ".started")
open(source + ".started", "w").close()
plan = [("d01", 0), ("d01", 1)] if first else [("d01", 1), ("d02", 3), ("d01", 3)]
for stream, minute in plan:
    date = f"0001-01-01_00:{minute:02d}:00"
    with open("frame.nc", "rb") as old, open(f"wrfout_{stream}_{date}", "wb") as new:
        new.write(old.read())
    with netCDF4.Dataset(f"wrfout_{stream}_{date}", "a") as data:
        data["Times"][0] = netCDF4.stringtochar(np.array(date, "S19"))
        if stream == "d02":
            data.setncatts({"GRID_ID": np.int32(2), "PARENT_ID": np.int32(1)})
            data.setncatts({"I_PARENT_START": np.int32(8), "J_PARENT_START": np.int32(9)})
            data.setncatts({"PARENT_GRID_RATIO": np.int32(3)})
            data.setncatts({"DX": np.float32(2000 / 3), "DY": np.float32(2000 / 3)})
    domain = int(stream[1:])
    words = f"Timing for Writing wrfout_{stream}_{date} for domain        {domain}:    0.1 elapsed"
    print(words, file=log)
    time.sleep(0.6)
if first:
    sys.exit("the node is gone")
print("d01 0001-01-01_00:03:00 wrf: SUCCESS COMPLETE WRF", file=log)
"""
SETTINGS = ("inputs=inputs", "capacity=100 MiB", "width_px=400")


@pytest.fixture(scope="module")
def resumed(scene):
    made = scene("nested-restart")
    inputs = made.folder / "inputs"
    text = (DATA / "traces" / "namelist.input").read_text()
    old = "max_dom                             = 1,"
    assert old in text
    (inputs / "namelist.input").write_text(text.replace(old, "max_dom = 2,"))
    shutil.copy(FRAME, inputs / "frame.nc")
    model = inputs / "wrf.exe"
    model.write_text(f"#!{sys.executable}\n{MODEL}")
    model.chmod(0o755)
    words = [word for setting in SETTINGS for word in ("--set", setting)]
    process = made.start(*words, recipe="wrf-overview")
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 1, output
    done = made.call("resume", "it")
    assert done.returncode == 0, done.stdout + done.stderr
    return made


def test_each_time_of_each_stream_stands_once_of_the_highest_attempt(resumed):
    times = [f"00010101T000{minute}00" for minute in (0, 1, 3)]
    expected = {(name, "d01", time) for name in ("wind", "rain", "clouds") for time in times}
    expected |= {("wind-nest", "d02", times[2])}
    newest = {
        (line["product"], line["stream"], line["time"]): line["attempt"] for line in resumed.index()
    }
    assert newest.keys() == expected
    assert {time: newest["wind", "d01", time] for time in times} == dict(
        zip(times, (1, 2, 2), strict=True)
    )
    pictures = sorted((resumed.run_dir / "products" / "wind").glob("*.png"))
    assert [path.name for path in pictures] == [f"wind_d01_{time}.png" for time in times]
    for path in pictures:
        with Image.open(path) as picture:
            picture.verify()


def test_the_repeated_frame_replaces_the_one_before_and_says_so(resumed):
    replaced = {(event["product"], event["time"]) for event in resumed.events("product.superseded")}
    assert replaced == {(name, "00010101T000100") for name in ("wind", "rain", "clouds")}


def test_the_nest_is_shown_from_its_first_frame_on(resumed):
    shown = {
        line["time"]: line["facts"]["nests"][0]
        for line in resumed.index()
        if line["product"] == "wind"
    }
    assert shown["00010101T000000"]["missing"] == "it has no frame yet"
    assert shown["00010101T000100"]["missing"] == "it has no frame yet"
    assert "missing" not in shown["00010101T000300"]
    # Eight cells of 2 km from the parent's corner begin after the seventh.
    assert shown["00010101T000300"]["extent"][0] == pytest.approx(14000, abs=0.1)
    assert shown["00010101T000300"]["extent"][2] == pytest.approx(16000, abs=0.1)
