"""What the page draws around a picture's plane: words, axes and bar, legible at any size."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from playwright.sync_api import expect
from pointing import hover, index_of
from valued_run import lambert, publish

KEY = "20010203T010000"
LETTERS = """() => {
  const draw = CanvasRenderingContext2D.prototype.fillText;
  globalThis.texts = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most) {
    const pixels = Number(/([\\d.]+)px/.exec(this.font)[1]) / devicePixelRatio;
    const wide = this.measureText(text).width;
    globalThis.texts.push([text, pixels * Math.min(1, (most ?? Infinity) / wide), x, y]);
    draw.call(this, text, x, y, most);
  };
}"""


@pytest.fixture
def seen(made, opened, new_page, tmp_path, ways_to):
    """Opens the page of one map at a size; returns it and the texts that it draws."""
    case = lambert(tmp_path)
    publish(made(), case.kind, "t", case.path, KEY, **case.options)

    def open_(width=1440, height=900, fragment="", **how):
        page = new_page(viewport={"width": width, "height": height}, **how).page
        page.add_init_script(f"({LETTERS})()")
        page.goto(f"{ways_to(tmp_path / 'runs').file('made')}#{fragment}")
        expect(page.locator("canvas.first[data-plane]:not([data-plane=''])")).to_be_visible()
        page.wait_for_timeout(400)
        return page, {text: (size, x, y) for text, size, x, y in page.evaluate("texts")}

    return open_


@pytest.mark.parametrize("size", [(390, 844), (1400, 900), (2560, 1300)])
@pytest.mark.parametrize("ratio", [1, 2])
def test_all_letters_are_eleven_pixels_or_more_at_any_size(seen, size, ratio):
    _, texts = seen(*size, device_scale_factor=ratio)
    assert min(size for size, _, _ in texts.values()) >= 11
    assert {"Air temperature", "K", "2001-02-03 01:00:00 UTC"} <= set(texts)
    assert sum(text.endswith("°W") for text in texts) >= 2
    assert sum(text.endswith("°N") for text in texts) >= 2


def test_the_axes_of_a_magnified_picture_are_those_of_what_is_seen(seen):
    whole = [text for text in seen()[1] if text.endswith("°N")]
    near = [text for text in seen(fragment="zoom=6,0.5,0.5")[1] if text.endswith("°N")]
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
    with Image.open(io.BytesIO(page.locator("canvas.first").screenshot())) as shot:
        assert max(shot.convert("RGB").getpixel((3, 3))) < 60


def test_a_picture_without_a_plane_is_shown_whole(eight, ways, page):
    page.goto(ways.file("made"))
    canvas = page.locator("canvas.first")
    expect(canvas).to_have_attribute("aria-label", "t2, t = 7 s")
    expect(canvas).to_have_attribute("data-plane", "")


def test_one_file_of_values_serves_the_axes_of_all_frames(eight_maps, opened):
    page = opened().page
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator(".timeline").focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
        expect(page.locator("canvas.first[data-plane]:not([data-plane=''])")).to_be_visible()
    page.wait_for_timeout(300)
    assert not [url for url in asked if ".values." in url]
