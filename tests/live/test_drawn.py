"""What the page draws around a picture's plane: words, axes and bar, legible at any size."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect
from pointing import drawn, hover, index_of
from valued_run import EARTH_M, cf, curvilinear, lambert, publish

from burstlens.viz.drawing.maps.layers import Contours
from burstlens.viz.frames.reader import netCDF4

KEY = "20010203T010000"
LETTERS = """() => {
  const draw = CanvasRenderingContext2D.prototype.fillText;
  globalThis.texts = [];
  globalThis.inner = []; // in the plane, each at a place and turn of its own
  globalThis.begins = {};
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most) {
    const pixels = Number(/([\\d.]+)px/.exec(this.font)[1]) / devicePixelRatio;
    const wide = this.measureText(text).width;
    if (this.getTransform().e) {
      globalThis.inner.push([text, pixels]);
      return draw.call(this, text, x, y, most);
    }
    globalThis.texts.push([text, pixels * Math.min(1, (most ?? Infinity) / wide), x, y]);
    const part = {left: 0, center: 0.5, right: 1}[this.textAlign];
    globalThis.begins[text] = x - part * Math.min(wide, most ?? Infinity);
    draw.call(this, text, x, y, most);
  };
}"""


def polar(folder):
    """A plane with a pole in its middle: its lower left corner and its upper left one have the
    same latitude."""

    def write(data, t, rows, columns):
        for name in ("y", "x"):
            size = len(data.dimensions[name])
            data.createVariable(name, "f8", (name,)).setncatts(
                {"units": "m", "standard_name": f"projection_{name}_coordinate"}
            )
            data[name][:] = (np.arange(size) - (size - 1) / 2) * 150e3
        data.createVariable("crs", "i4").setncatts(
            {"grid_mapping_name": "polar_stereographic", "latitude_of_projection_origin": 90.0,
             "straight_vertical_longitude_from_pole": 0.0, "standard_parallel": 70.0,
             "earth_radius": EARTH_M}
        )  # fmt: skip
        t.grid_mapping = "crs"

    return cf(folder / "polar.nc", write=write)


@pytest.fixture
def seen(made, new_page, tmp_path, ways_to):
    """Opens the page of one map at a size; returns it and the texts that it draws."""

    def open_(width=1440, height=900, fragment="", case=lambert, options=None, facts=None, **how):
        shown = case(tmp_path)
        asked = shown.options | (options or {})
        publish(made(), shown.kind, "t", shown.path, KEY, start="20010203T000000",
                facts=facts, **asked)  # fmt: skip
        page = new_page(viewport={"width": width, "height": height}, **how).page
        page.add_init_script(f"({LETTERS})()")
        page.goto(f"{ways_to(tmp_path / 'runs').file('made')}#{fragment}")
        expect(page.locator("canvas.first[data-plane]:not([data-plane=''])")).to_be_visible()
        page.wait_for_timeout(400)
        return page, {text: (size, x, y) for text, size, x, y in page.evaluate("texts")}

    return open_


def margin(page):
    """The brightest and the darkest grey of what the page draws above the plane."""
    canvas = page.locator("canvas.first")
    left, top = map(float, canvas.get_attribute("data-plane").split(",")[:2])
    with Image.open(io.BytesIO(canvas.screenshot())) as shot:
        return shot.convert("L").crop((int(left), 0, shot.width, int(top) - 4)).getextrema()[::-1]


@pytest.mark.parametrize("size", [(390, 844), (1400, 900), (2560, 1300)])
@pytest.mark.parametrize("ratio", [1, 2])
def test_all_letters_are_eleven_pixels_or_more_at_any_size(seen, size, ratio):
    _, texts = seen(*size, device_scale_factor=ratio)
    assert min(size for size, _, _ in texts.values()) >= 11
    assert {"Air temperature", "K"} <= set(texts)
    assert any(text.startswith("2001-02-03 01:00:00 UTC") for text in texts)
    assert sum(text.endswith("°W") for text in texts) >= 2
    assert sum(text.endswith("°N") for text in texts) >= 2


def test_the_axes_of_a_magnified_picture_are_those_of_what_is_seen(seen):
    page, whole = seen()
    page.evaluate("texts.length = 0")
    page.goto(f"{page.url.partition('#')[0]}#zoom=6,0.5,0.5")
    page.wait_for_timeout(400)
    near = [text for text, *_ in page.evaluate("texts") if text.endswith("°N")]
    whole = [text for text in whole if text.endswith("°N")]
    span = [max(map(float, ends)) - min(map(float, ends)) for ends in (
        [text.removesuffix("°N") for text in texts] for texts in (whole, near))]  # fmt: skip
    assert len(near) >= 3
    assert span[1] < span[0] / 3


def test_the_labels_stand_where_the_page_reads_their_coordinates(seen):
    page, texts = seen()
    canvas = page.locator("canvas.first").bounding_box()
    left, top, _, height = map(
        float, page.locator("canvas.first").get_attribute("data-plane").split(",")
    )
    for text, (_, x, _) in texts.items():
        if not text.endswith("°W"):
            continue
        page.mouse.move(canvas["x"] + x, canvas["y"] + top + height - 1.5)
        page.wait_for_timeout(100)
        lon = page.locator(".readout").get_attribute("data-lon")
        assert float(lon) == pytest.approx(-float(text.removesuffix("°W")), abs=0.1)
    for text, (_, _, y) in texts.items():
        if not text.endswith("°N"):
            continue
        page.mouse.move(canvas["x"] + left + 1.5, canvas["y"] + y)
        page.wait_for_timeout(100)
        lat = page.locator(".readout").get_attribute("data-lat")
        assert float(lat) == pytest.approx(float(text.removesuffix("°N")), abs=0.1)


def test_the_plane_is_the_picture_s_and_answers_for_what_is_seen(seen, tmp_path):
    page, _ = seen()
    case = lambert(tmp_path)
    for across, down in ((0.3, 0.4), (0.5, 0.3), (0.6, 0.6)):
        found = hover(page, across, down)
        assert abs(float(found["value"]) - case.values(index_of(found["index"]))) < 0.01


def test_a_dark_page_draws_light_letters(seen):
    page, _ = seen(color_scheme="dark")
    brightest, darkest = margin(page)
    assert darkest < 60
    assert brightest > 150


def test_the_letters_are_drawn_anew_when_the_page_becomes_dark(seen):
    page, _ = seen(color_scheme="light")
    assert margin(page)[1] < 100
    switch = page.get_by_role("button", name="Light or dark")
    drawn = """async switch_ => {
      texts.length = 0;
      switch_.click();
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
      return texts.length;
    }"""
    assert switch.evaluate(drawn) > 0
    assert margin(page)[0] > 150


def test_the_words_are_those_of_the_picture(seen):
    lines = Contours("t", interval=4.0)
    _, texts = seen(options={"title": "Own words", "contours": (lines,)})
    assert {"Own words", "contours: air temperature, every 4 K"} <= set(texts)
    assert "2001-02-03 01:00:00 UTC  ·  init 2001-02-03 00:00:00 UTC  ·  +1 h" in texts


def sign_before(page, texts, words):
    """Brightest and darkest grey and the strongest red of what stands before a line's words."""
    canvas = page.locator("canvas.first")
    left = float(canvas.get_attribute("data-plane").split(",")[0])
    letter, x, y = texts[words]
    assert x > left + letter
    with Image.open(io.BytesIO(canvas.screenshot())) as shot:
        part = shot.convert("RGB").crop((int(left), int(y - letter), int(x) - 2, int(y + 3)))
    pixels = np.asarray(part).astype(int)
    red = pixels[..., 0] - pixels[..., 1:].max(axis=2)
    return pixels.mean(axis=2).max(), pixels.mean(axis=2).min(), red.max()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_line_of_the_legend_follows_its_sign_in_the_colour_of_the_picture(seen, scheme):
    lines = Contours("t", interval=4.0, colour="red"), Contours("t", interval=8.0)
    options = {"contours": lines, "mark": "max", "margin_km": 100.0}
    page, texts = seen(options=options, color_scheme=scheme)
    words = ["contours: air temperature, every 4 K", "contours: air temperature, every 8 K"]
    red, black, highest, box = (
        sign_before(page, texts, text) for text in (*words, "highest value", "the domain")
    )
    assert red[2] > 150
    for bright, dark, redness in (black, highest, box):
        assert bright - dark > 120
        assert redness < 40


def test_the_legend_of_an_older_run_has_its_words(seen):
    page, texts = seen(facts={"legend": ["▽: lowest value"]})
    left = float(page.locator("canvas.first").get_attribute("data-plane").split(",")[0])
    assert texts["▽: lowest value"][1] == pytest.approx(left, abs=1)


def test_the_units_stand_clear_of_the_arrow_of_the_colour_bar(seen):
    page, texts = seen(options={"limits": (270.0, 271.0), "colormap": "dense"})
    canvas = page.locator("canvas.first")
    top = float(canvas.get_attribute("data-plane").split(",")[1])
    letter, x, y = texts["K"]
    below = int(y + 0.25 * letter)  # as far as letters such as g reach
    with Image.open(io.BytesIO(canvas.screenshot())) as shot:
        strip = np.asarray(shot.convert("L").crop((int(x), below, int(x) + 14, int(top) - 1)))
    painted = np.flatnonzero(strip.min(axis=1) < strip[0].max() - 10)
    assert painted.size  # the arrow
    assert painted.min() >= 2


def test_a_plane_around_a_pole_has_latitudes_at_both_halves_of_its_side(seen):
    page, texts = seen(case=polar)
    plane = page.locator("canvas.first").get_attribute("data-plane")
    _, top, _, height = map(float, plane.split(","))
    places = [y - top for text, (_, _, y) in texts.items() if text.endswith("°N")]
    drawn = [y - top for text, _, _, y in page.evaluate("texts") if text.endswith("°N")]
    assert len(places) >= 2
    assert min(drawn) < height / 2 < max(drawn)


def test_a_narrow_plane_has_its_time_in_whole_letters(seen):
    def write(data, t, rows, columns):
        for name in ("y", "x"):
            data.createVariable(name, "f8", (name,)).setncatts({"units": "m", "axis": name.upper()})
            data[name][:] = np.arange(len(data.dimensions[name])) * 100.0

    _, texts = seen(390, 844, case=lambda folder: cf(folder / "tall.nc", (200, 9), write=write))
    (time_,) = [text for text in texts if text.startswith("2001-02-03 01:00")]
    assert texts[time_][0] >= 11
    assert texts[time_][1] >= 0


def test_long_labels_have_room_on_the_left(seen):
    def write(data, t, rows, columns):
        for name, first in (("y", 5_500_000.0), ("x", 500_000.0)):
            data.createVariable(name, "f8", (name,)).setncatts({"units": "m", "axis": name.upper()})
            data[name][:] = first + np.arange(len(data.dimensions[name])) * 20.0

    page, texts = seen(390, 844, case=lambda folder: cf(folder / "town.nc", write=write))
    found = [at for text, at in texts.items() if text.startswith("5500") and text.endswith(" m")]
    assert len(found) >= 2
    assert min(size for size, _, _ in found) >= 11
    assert min(page.evaluate("begins").values()) >= 0


def test_a_picture_without_a_plane_is_shown_whole(eight, ways, page):
    page.goto(ways.file("made"))
    canvas = page.locator("canvas.first")
    expect(canvas).to_have_attribute("aria-label", "t2, t = 7 s")
    expect(canvas).to_have_attribute("data-plane", "")


def row_of(page, down):
    """The colours along a row of the plane on the screen, as one number each."""
    canvas = page.locator("canvas.first")
    box = [float(part) for part in canvas.get_attribute("data-plane").split(",")]
    left, top, width, height = box
    with Image.open(io.BytesIO(canvas.screenshot())) as shot:
        pixels = np.asarray(shot.convert("RGB"), np.int64)
    part = pixels[round(top + down * height), round(left) + 3 : round(left + width) - 3]
    return part @ [65536, 256, 1]


@pytest.mark.parametrize("grid", [lambert, curvilinear])
def test_cells_of_a_magnified_plane_have_hard_edges(seen, grid):
    def chess(folder):
        case = grid(folder)
        with netCDF4.Dataset(case.path, "a") as data:
            rows, columns = np.indices(data["t"].shape[1:])
            data["t"][0] = 280.0 + 10 * ((rows + columns) % 2)
        return case

    page, _ = seen(case=chess, options={"coast": False}, fragment="zoom=5,0.45,0.45")
    drawn(page)
    rows = [row_of(page, down) for down in (0.17, 0.33, 0.5, 0.67, 0.83)]
    parts = [row[at : at + 200] for row in rows for at in (0, 200, 400)]
    # The graticule runs through others; a blended edge would have colours of its own.
    assert sum(np.unique(part).size == 2 for part in parts) >= 5


def test_words_in_the_plane_are_eleven_pixels_or_more_on_a_phone_and_magnified(seen):
    lines = {"contours": (Contours("t", interval=2.0),)}
    page, _ = seen(390, 844, options=lines)
    drawn(page)
    whole = dict(page.evaluate("inner"))
    values = {str(value) for value in range(270, 300, 2)}
    assert len(values & set(whole)) >= 3
    assert min(whole.values()) >= 11
    page.evaluate("inner.length = 0")
    page.locator("canvas.first").evaluate("canvas => { canvas.dataset.drawn = ''; }")
    page.goto(f"{page.url.partition('#')[0]}#zoom=4,0.45,0.45")
    drawn(page)
    near = dict(page.evaluate("inner"))
    assert values & set(near)
    assert 11 <= min(near.values()) <= max(near.values()) < 16


def test_colours_in_steps_have_the_page_s_bar(seen):
    _, texts = seen(case=rain)
    assert {"0.2", "2", "400"} <= set(texts)


def rain(folder):
    """An amount of rain, which has the steps of forecasters."""
    case = lambert(folder)
    with netCDF4.Dataset(case.path, "a") as data:
        data["t"].setncatts({"units": "mm", "long_name": "accumulated rain"})
        data["t"].delncattr("standard_name")
    return case
