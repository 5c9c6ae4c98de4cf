"""Values on the page, in a real browser: the cursor, kept places, colours, differences."""

from __future__ import annotations

import base64
import math
import re
import shutil
import time

import numpy as np
import pytest
from playwright.sync_api import expect
from pointing import FRAME, YELLOW, hover, index_of, pin, pixels, readout, series
from pyproj import Proj
from valued_run import GRIDS, WRF, curvilinear, cylinder, lambert, publish

from burstlens.core.run.index import values_path
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.values.script import ValuesFile

KEY = "20010203T010000"


@pytest.mark.parametrize(
    ("grid", "way"),
    [*((grid, "file") for grid in GRIDS), ("lambert", "serve"), ("seismic", "serve")],
)
def test_the_value_under_the_cursor_is_the_file_s_at_the_point_that_is_named(
    grid, way, made, opened, tmp_path
):
    case = GRIDS[grid](tmp_path)
    run = made()
    line = publish(run, case.kind, "t", case.path, KEY, **case.options)
    scale = ValuesFile(run.run.products / line["values"]["name"]).fields[0].scale
    page = opened(way)
    seen = set()
    for across, down in ((0.3, 0.4), (0.45, 0.62), (0.6, 0.5), (0.5, 0.33), (0.37, 0.55)):
        found = hover(page.page, across, down)
        if "index" not in found:
            continue
        true = case.values(index_of(found["index"]))
        value = float(found["value"])
        half = scale.scale / 2
        allowed = abs(true) * math.expm1(half) if case.relative else half
        assert abs(value - true) <= allowed * 1.0001 + 1e-12, found
        seen.add(found["index"])
    assert len(seen) >= 4


def test_the_value_is_the_same_in_a_magnified_picture(made, opened, tmp_path):
    case = lambert(tmp_path)
    publish(made(), case.kind, "t", case.path, KEY, **case.options)
    page = opened().page
    before = hover(page, 0.5, 0.5)
    for _ in range(6):
        page.mouse.wheel(0, -240)
    page.wait_for_timeout(300)
    after = hover(page, 0.5, 0.5)
    at = index_of(after["index"])
    assert abs(float(after["value"]) - case.values(at)) < 0.01
    assert abs(float(after["lon"]) - float(before["lon"])) < 0.2
    beside = hover(page, 0.52, 0.5)
    assert abs(float(beside["lon"]) - float(after["lon"])) < 0.5


def test_a_mesh_of_the_page_gives_the_places_of_the_file(made, opened, tmp_path):
    case = lambert(tmp_path)
    publish(made(), case.kind, "t", case.path, KEY, **case.options)
    found = hover(opened().page, 0.4, 0.45)
    at = index_of(found["index"])
    plane = Proj("+proj=lcc +lat_1=30 +lat_2=60 +lat_0=45 +lon_0=-97 +R=6370000")
    x, y = plane(float(found["lon"]), float(found["lat"]))
    assert abs(x / 30e3 + 30 - at["x"]) <= 0.52
    assert abs(y / 30e3 + 20 - at["y"]) <= 0.52


def test_places_beside_the_seam_of_a_whole_turn_have_their_values(made, opened, tmp_path):
    case = cylinder(tmp_path)
    publish(made(), case.kind, "t", case.path, KEY, **case.options)
    page = opened("file").page
    page.goto(f"{page.url.partition('#')[0]}#pins=1;178_1;-178_1;-172")
    page.reload()
    expect(page.locator(".places li")).to_have_count(3)
    # Columns 6 degrees wide begin at the seam; latitude 1 lies in row 10 of 20.
    expected = [case.values({"y": 10, "x": column}) for column in (59, 0, 1)]
    found = [float(value) for value in series(page, "t")[KEY]]
    assert np.abs(np.array(found) - expected).max() < 0.01


@pytest.mark.parametrize("way", ["file", "serve"])
def test_a_click_keeps_a_place_whose_series_grows_with_the_run(eight_maps, opened, tmp_path, way):
    run, fields = eight_maps
    page = opened(way)
    pin(page.page, 0.45, 0.5)
    at = index_of(readout(page.page)["index"])
    expect(page.page.get_by_label("Kept places")).to_contain_text("° N")
    places = page.page.locator(".places li")
    expect(places).to_have_count(1)
    caption = page.page.locator("[aria-label='Kept places'] figcaption")
    expect(caption).not_to_contain_text("of 8")
    values = {time: float(value) for time, (value,) in series(page.page, "t").items()}
    step = 0.01
    for number, field in enumerate(fields):
        key = f"20010203T{number:02d}0000"
        assert abs(values[key] - field[at["y"], at["x"]]) < step
    case = tmp_path / "late.nc"
    shutil.copy(tmp_path / "7.nc", case)
    publish(run, "map", "t", case, "20010203T080000", variable="t")
    expect(page.page.get_by_role("slider", name="Valid time")).to_have_attribute(
        "aria-valuetext", re.compile("9 of 9")
    )
    page.page.wait_for_timeout(1500)
    assert "20010203T080000" in series(page.page, "t")


def test_a_long_series_at_a_kept_place_comes_from_the_server_at_once(eight_maps, opened, tmp_path):
    run, fields = eight_maps
    for number in range(8, 20):
        publish(run, "map", "t", tmp_path / "3.nc", f"20010203T{number:02d}0000", variable="t")
    page = opened("serve").page
    page.evaluate("delete AbortSignal.any")  # Firefox 121 has none
    asked, frames = [], []
    page.on("request", lambda request: asked.append(request.url) if "/series?" in request.url
            else frames.append(request.url) if ".values.js" in request.url else None)  # fmt: skip
    pin(page, 0.45, 0.5)
    at = index_of(readout(page)["index"])
    caption = page.locator("[aria-label='Kept places'] figcaption")
    expect(caption).not_to_contain_text("of 20")
    values = {time: float(value) for time, (value,) in series(page, "t").items()}
    assert len(values) == 20
    for number in range(20):
        truth = fields[number if number < 8 else 3][at["y"], at["x"]]
        assert abs(values[f"20010203T{number:02d}0000"] - truth) < 0.01
    assert (len(asked), len(frames) < 8) == (1, True)


def becomes(page, wanted):
    """Whether a place of the picture comes to have that colour."""
    end = time.monotonic() + 20
    while pixels(page, (0.45, 0.5)) != wanted:
        if time.monotonic() > end:
            return False
        page.wait_for_timeout(50)
    return True


def test_readers_change_limits_and_colours_without_a_new_product(eight_maps, opened):
    page = opened("serve").page
    hover(page, 0.45, 0.5)
    before = pixels(page, (0.45, 0.5))
    page.get_by_role("button", name="Colours").click()
    page.get_by_label("Colour map").select_option("viridis")
    high = page.get_by_label("Highest value of the colours")
    page.get_by_label("Lowest value of the colours").fill("100")
    high.fill("200")
    high.press("Tab")
    assert becomes(page, [YELLOW])  # above the limits
    page.get_by_role("button", name="As drawn").click()
    assert becomes(page, before)


def test_limits_that_make_no_sense_are_refused(eight_maps, opened):
    page = opened().page
    page.get_by_role("button", name="Colours").click()
    high = page.get_by_label("Highest value of the colours")
    high.fill("-5000")
    high.press("Tab")
    assert high.evaluate("one => one.validationMessage") == (
        "The first number must be below the second"
    )


def test_an_emptied_limit_becomes_what_it_was(eight_maps, opened):
    page = opened().page
    page.get_by_role("button", name="Colours").click()
    low = page.get_by_label("Lowest value of the colours")
    expect(low).to_have_value(re.compile(r"\d"))
    before = low.input_value()
    low.fill("")
    low.press("Enter")
    expect(low).to_have_value(before)
    page.evaluate(FRAME)
    assert "colours=" not in page.url


def test_the_first_frame_is_taken_away_in_units(eight_maps, opened):
    _, fields = eight_maps
    page = opened("serve").page
    hover(page, 0.45, 0.5)
    page.get_by_role("button", name="Colours").click()
    page.get_by_label("What is taken away").select_option("first")
    away = fields[-1] - fields[0]
    label = page.locator(".range").first
    expect(label).to_contain_text("difference: mean")
    numbers = [
        float(one.replace("−", "-")) for one in re.findall(r"[−\d.]+(?=[, ])", label.inner_text())
    ]
    assert numbers[0] == pytest.approx(away.mean(), abs=0.02)
    assert numbers[1] == pytest.approx(np.sqrt((away**2).mean()), abs=0.02)
    at = index_of(hover(page, 0.46, 0.5)["index"])
    text = page.locator(".readout").first.inner_text()
    found = float(re.search(r"difference ([−\d.]+)", text)[1].replace("−", "-"))
    assert found == pytest.approx(away[at["y"], at["x"]], abs=0.02)


def test_a_difference_in_degrees_celsius_is_in_kelvins(made, opened, tmp_path):
    case, run = lambert(tmp_path), made()
    for hour in (1, 2):
        publish(run, case.kind, "t", case.path, f"20010203T0{hour}0000", **case.options,
                units="degC")  # fmt: skip
    page = opened().page
    hover(page, 0.45, 0.5)
    page.get_by_role("button", name="Colours").click()
    page.get_by_label("What is taken away").select_option("first")
    expect(page.locator(".range").first).to_contain_text("difference: mean 0, RMS 0 K")
    hover(page, 0.46, 0.5)
    expect(page.locator(".readout").first).to_contain_text(re.compile(r"°C.*difference [0.]+ K"))


def test_a_line_across_the_map_gives_the_profile_along_it(eight_maps, opened):
    page = opened().page
    hover(page, 0.35, 0.4)
    page.keyboard.down("Shift")
    page.mouse.down()
    hover(page, 0.5, 0.5)
    hover(page, 0.6, 0.6)
    page.mouse.up()
    page.keyboard.up("Shift")
    profile = page.get_by_role("region", name="Profile")
    expect(profile).to_contain_text("km")
    expect(profile.locator(".curve")).to_have_attribute("d", re.compile("^M.*L"))


def with_format_zero(script):
    """A script of values whose header has a format of another version."""
    before, text, after = script.split(b'"')
    payload = base64.b64decode(text)
    assert payload.count(b'"format":1') == 1
    return b'"'.join(
        (before, base64.b64encode(payload.replace(b'"format":1', b'"format":0')), after)
    )


FAULTS = {
    "torn": lambda path: path.write_bytes(path.read_bytes()[:2000]),
    "missing": lambda path: path.unlink(),
    "of another picture": lambda path: path.write_bytes(
        path.with_name("t_d01_20010203T000000.values.js").read_bytes()
    ),
    "of another version": lambda path: path.write_bytes(with_format_zero(path.read_bytes())),
    "not ours": lambda path: path.write_text("burstlensFeed('<b>');\n"),
}


@pytest.mark.parametrize(
    ("fault", "way"), [*((fault, "file") for fault in FAULTS), ("torn", "serve")]
)
def test_values_that_cannot_be_used_leave_the_picture_and_say_so(eight_maps, opened, fault, way):
    run, _ = eight_maps
    FAULTS[fault](values_path(run.run.products / "t" / "t_d01_20010203T070000.png"))
    watched = opened(way)
    page = watched.page
    hover(page, 0.45, 0.5)
    assert page.locator(".readout").first.inner_text() == "This picture has no values"
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "() => document.querySelector('.burstlens').shadowRoot"
        ".querySelector('.readout').dataset.value"
    )
    watched.errors.clear()  # the browser logs a script that is missing or cannot be run


@pytest.mark.parametrize("way", ["file", "serve"])
def test_a_grid_of_another_shape_gives_no_value_of_another_place(made, opened, tmp_path, way):
    case, run = lambert(tmp_path), made()
    publish(run, "map", "t", case.path, KEY, variable="t", coast=False)
    (whole,) = run.run.products.glob("live/grid-*.js")
    crop = Crop(index={"x": (5, 35), "y": (5, 35)})
    later = KEY.replace("T01", "T02")
    publish(run, "map", "t", case.path, later, variable="t", coast=False, crop=crop)
    (part,) = set(run.run.products.glob("live/grid-*.js")) - {whole}
    part.write_bytes(whole.read_bytes().replace(grid_of(whole), grid_of(part)))
    watched = opened(way)
    page = watched.page
    hover(page, 0.45, 0.5)
    assert page.locator(".readout").first.inner_text() == "This picture has no values"
    page.keyboard.press("ArrowLeft")
    found = pin(page, 0.45, 0.5)
    caption = page.locator("[aria-label='Kept places'] figcaption")
    expect(caption).to_contain_text("1 of 2 frames")
    rows = series(page, "t")
    assert float(rows[KEY][0]) == pytest.approx(float(found["value"]), abs=0.01)
    assert rows[later] == [""]
    watched.errors.clear()


def grid_of(path):
    """The hash in a grid file's name."""
    return path.stem.removeprefix("grid-").encode()


def test_pictures_without_values_have_no_cursor(eight, opened):
    page = opened("file").page
    assert "value" not in hover(page, 0.5, 0.5)
    assert page.get_by_role("button", name="Colours").is_hidden()


@pytest.mark.parametrize("content", ["nan", "constant", "infinite"])
def test_fields_of_one_kind_of_value_are_read(made, opened, tmp_path, content):
    case = curvilinear(tmp_path)
    with netCDF4.Dataset(case.path, "a") as data:
        field = np.asarray(data["t"][0])
        field[5:] = {"nan": np.nan, "constant": field[0, 0], "infinite": np.inf}[content]
        if content == "constant":
            field[:] = field[0, 0]
        data["t"][0] = field
    publish(made(), case.kind, "t", case.path, KEY, **case.options)
    found = hover(opened().page, 0.5, 0.5)
    text = {"nan": "NaN", "infinite": "Infinity"}.get(content)
    if text:
        assert found["value"] == text
    else:
        assert float(found["value"]) == pytest.approx(float(field[0, 0]), rel=1e-6)


def test_hostile_names_and_units_stay_text(made, opened, tmp_path):
    case = curvilinear(tmp_path)
    with netCDF4.Dataset(case.path, "a") as data:
        data["t"].units = "<img src=x onerror=alert(1)>"
    publish(made(), case.kind, "t", case.path, KEY, **case.options)
    page = opened()
    hover(page.page, 0.5, 0.5)
    assert "<img" in page.page.locator(".readout").first.inner_text()
    assert page.page.locator(".readout img").count() == 0


def test_a_crop_that_follows_names_the_file_s_own_points(made, opened, tmp_path):
    run = made()
    path = WRF / "wrfout_d01_2005-08-28_21_00_00"
    with netCDF4.Dataset(path) as data:
        true = np.asarray(data["T2"][0], "f8")
    grids = set()
    for number, first in enumerate((3, 9)):
        crop = Crop(index={"west_east": (first, first + 30), "south_north": (first, first + 30)})
        line = publish(
            run, "map", "t2", path, f"20050828T{number:02d}0000", variable="T2", crop=crop
        )
        grids.add(ValuesFile(run.run.products / line["values"]["name"]).fields[0].grid)
    assert len(grids) == 2
    page = opened().page
    for key in ("", "ArrowLeft"):
        if key:
            page.keyboard.press(key)
            page.wait_for_timeout(700)
        found = hover(page, 0.45, 0.52)
        at = index_of(found["index"])
        assert abs(float(found["value"]) - true[at["south_north"], at["west_east"]]) < 0.001


def test_a_link_restores_places_colours_and_the_profile_in_a_fresh_browser(eight_maps, opened):
    page = opened().page
    pin(page, 0.45, 0.5)
    hover(page, 0.55, 0.6)
    page.wait_for_timeout(400)
    pin(page, 0.55, 0.6)
    page.wait_for_timeout(400)
    page.get_by_role("button", name="Profile A–B").click()
    page.get_by_role("button", name="Colours").click()
    page.get_by_label("Colour map").select_option("vik")
    page.get_by_label("What is taken away").select_option("first")
    expect(page.locator(".range").first).to_contain_text("difference")
    page.wait_for_function("() => location.hash.includes('colours=')")
    other = opened().page
    other.goto(page.url)
    other.reload()
    expect(other.locator(".places li")).to_have_count(2)
    expect(other.locator(".range").first).to_contain_text("difference")
    texts = [one.locator(".places").inner_text() for one in (page, other)]
    assert texts[0] == texts[1]
    line = other.get_by_role("region", name="Profile").locator(".curve")
    expect(line).to_have_attribute("d", re.compile("^M.*L"))


@pytest.mark.parametrize("fragment", [
    "#pins=<img src=x>_91;0_x;;;_NaN;3", "#colours=%3Cscript%3E:9;1:__proto__:zz:1|::::",
    "#profile=1;2_3", "#pins=" + "1;1_" * 3000,
    "#colours=t%20%C2%B7%20d01:1e16;10000000000000002:::",
])  # fmt: skip
def test_a_hostile_link_shows_the_run_all_the_same(eight_maps, opened, fragment):
    page = opened().page
    page.goto(page.url.partition("#")[0] + fragment)
    page.reload()
    expect(page.get_by_role("slider", name="Valid time")).to_have_attribute(
        "aria-valuetext", re.compile("8 of 8")
    )
    expect(page.locator("img")).to_have_count(0)
