"""A whole run whose products need the frame before: Katrina's rain, with sections and soundings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.slow

KATRINA = Path(__file__).parents[1] / "data" / "wrf" / "wrfout_d01_2005-08-28_12_00_00"
TIMES = [f"20050828T{hour}0000" for hour in (12, 15, 18, 21)]
RECIPE = """
title = "Rain of Katrina"
[simulation]
model = "command"
inputs = "inputs"
command = ["cp", "katrina.nc", "wrfout.nc"]
frames = "wrfout*.nc"
time_variable = "XTIME"
[buffer]
capacity = "100 MiB"
[[product]]
name = "rain"
kind = "map"
variable = "rain_interval"
width_px = 400
[[product]]
name = "rate"
kind = "netcdf"
variables = ["rain_rate", "hypot(U10, V10) [m s-1]"]
[[product]]
name = "eyewall"
kind = "section"
variable = "wind"
start = { i = 5, j = 5 }
end = { i = 40, j = 44 }
contours = { variable = "theta_e", interval = 8 }
width_px = 500
height_px = 400
[[product]]
name = "column"
kind = "sounding"
at = { i = 3, j = 3 }
"""


@pytest.fixture(scope="module")
def rained(scene):
    made = scene("rained")
    shutil.copy(KATRINA, made.folder / "inputs" / "katrina.nc")
    (made.folder / "recipe.toml").write_text(RECIPE)
    output, _ = (process := made.start()).communicate(timeout=200)
    assert process.returncode == 0, output
    return made


def facts(rained, product: str) -> dict[str, dict]:
    return {line["time"]: line["facts"] for line in rained.index() if line["product"] == product}


def test_every_frame_has_every_product(rained):
    assert not rained.events("product.failed")
    for product in ("rain", "rate", "eyewall", "column"):
        assert sorted(facts(rained, product)) == TIMES, product
    for line in rained.index():
        if line["name"].endswith(".png"):
            with Image.open(rained.run_dir / "products" / line["name"]) as picture:
                picture.verify()


def test_rain_is_of_the_time_since_the_frame_before(rained):
    shown = facts(rained, "rain")
    with netCDF4.Dataset(os.fspath(KATRINA)) as data:
        total = np.asarray(data["RAINNC"])
    assert shown[TIMES[0]]["max"] == pytest.approx(total[0].max(), rel=1e-6)
    assert shown[TIMES[0]]["nan"] == 0
    for time in TIMES[1:]:
        # The domain has moved: where it did not reach before, nothing is known.
        assert 0 < shown[time]["nan"] < total[0].size / 2
        assert 50 < shown[time]["max"] < 300
        rate = facts(rained, "rate")[time]["variables"]["rain_rate"]
        assert rate["max"] == pytest.approx(shown[time]["max"] / 3, rel=1e-5)
    assert len(list((rained.run_dir / "products" / ".states").glob("rain*"))) >= 1
