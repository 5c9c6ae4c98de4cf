"""A run that others started, looked at while it goes on: its page answers as a launched run's."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest
from look_case import LookCase
from playwright.sync_api import expect
from pointing import YELLOW, hover, index_of, pin, pixels, series

from burstlens.viz.frames.reader import netCDF4

ROWS, COLUMNS = 40, 60


def write_frame(folder, number):
    """A frame of an ocean model on bent rows, with an island; whole once it has its name."""
    rows, columns = np.mgrid[0:ROWS, 0:COLUMNS]
    field = 0.8 * np.sin((columns + 3 * number) / 7) * np.cos(rows / 5) + 0.1 * number
    island = (rows - 8) ** 2 + (columns - 50) ** 2 < 16
    path = folder / f"ocean_his_{number:04d}.nc"
    with netCDF4.Dataset(folder / ".begun", "w") as data:
        for name, size in (("ocean_time", None), ("eta_rho", ROWS), ("xi_rho", COLUMNS)):
            data.createDimension(name, size)
        moment = data.createVariable("ocean_time", "f8", ("ocean_time",))
        moment.setncatts({"units": "seconds since 2001-02-03 00:00:00", "standard_name": "time"})
        moment[0] = 3600.0 * number
        for name, units, values in (
            ("lon_rho", "degree_east", -75 + 0.05 * columns + 0.02 * rows),
            ("lat_rho", "degree_north", 30 + 0.04 * rows - 0.015 * columns),
        ):
            data.createVariable(name, "f8", ("eta_rho", "xi_rho")).units = units
            data[name][:] = values
        zeta = data.createVariable(
            "zeta", "f4", ("ocean_time", "eta_rho", "xi_rho"), fill_value=1e37
        )
        zeta.setncatts({"units": "meter", "long_name": "free-surface",
                        "coordinates": "lon_rho lat_rho ocean_time"})  # fmt: skip
        zeta[0] = np.ma.masked_array(field, island)
    os.rename(folder / ".begun", path)
    return np.where(island, np.nan, field.astype("f4"))


@pytest.fixture
def looked(tmp_path):
    """A look at a folder of three frames that is still written; returns it and the fields."""
    case = LookCase(tmp_path)
    fields = [write_frame(case.model, number) for number in range(3)]
    look = case.start("--quiet-after", "10min")
    case.await_event("product.published", 2)  # the third is proven by the fourth
    yield case, fields
    case.leave(look)
    case.close()


def test_the_page_of_other_people_s_files_answers_and_grows_with_them(looked, new_page, ways_to):
    case, fields = looked
    ways = ways_to(case.runs)
    pages = {way: new_page().page for way in ("file", "serve")}
    kept = {}
    for way, page in pages.items():
        page.goto(getattr(ways, way)(case.run.name))
        slider = page.get_by_role("slider", name="Valid time")
        expect(slider).to_have_attribute("aria-valuetext", re.compile("of [23]$"))
        found = pin(page, 0.48, 0.45)
        assert re.search(r"zeta|eta_rho", page.locator(".readout").first.inner_text())
        kept[way] = index_of(found["index"])
        expect(page.locator(".places li")).to_have_count(1)
        page.evaluate("window.stays = true")
    for number in (3, 4):
        fields.append(write_frame(case.model, number))
    case.await_event("product.published", 4)
    for way, page in pages.items():
        follows_without_a_reload(page, way, kept[way], fields)
        answers(page, fields)
        own_limits(page)


def follows_without_a_reload(page, way, at, fields):
    """The kept place has the file's value in each frame, those that came later as well."""
    slider = page.get_by_role("slider", name="Valid time")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("of [45]$"))
    expect(page.locator("[aria-label='Kept places'] figcaption")).not_to_contain_text("frames")
    found = series(page, "zeta")
    assert len(found) >= 4, way
    for key, (value, *_) in found.items():
        number = int(key[9:11])
        assert abs(float(value) - fields[number][at["eta_rho"], at["xi_rho"]]) < 0.001, (way, key)
    assert page.evaluate("window.stays") is True


def answers(page, fields):
    """Each value under the cursor is the file's at the point that is named."""
    # One that stays: the last frame may come, and be shown, meanwhile.
    page.get_by_role("slider", name="Valid time").press("ArrowLeft")
    expect(page).to_have_url(re.compile("time="))  # it shows that frame, and follows no more
    number = int(re.search(r"time=20010203T(\d\d)", page.url)[1])
    seen = set()
    for across, down in ((0.4, 0.4), (0.45, 0.62), (0.55, 0.5), (0.5, 0.36), (0.43, 0.55)):
        found = hover(page, across, down)
        if "index" in found:
            at = index_of(found["index"])
            true = fields[number][at["eta_rho"], at["xi_rho"]]
            assert abs(float(found["value"]) - true) < 0.0005, found
            seen.add(found["index"])
    assert len(seen) >= 3


def own_limits(page):
    """The reader's limits repaint the picture; the first frame is taken away in metres."""
    before = pixels(page, (0.45, 0.6))
    page.get_by_role("button", name="Colours").click()
    page.get_by_label("Colour map").select_option("viridis")
    page.get_by_label("Lowest value of the colours").fill("-20")
    high = page.get_by_label("Highest value of the colours")
    high.fill("-10")
    high.press("Tab")
    page.wait_for_timeout(500)
    assert pixels(page, (0.45, 0.6)) == [YELLOW] != before  # above the limits
    page.get_by_label("What is taken away").select_option("first")
    expect(page.locator(".range").first).to_contain_text(re.compile(r"difference: mean .* m"))
