"""Pointing at the pictures of a page: what lies under the pointer, kept places, painted pixels."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PIL import Image
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

YELLOW = (253, 231, 37)
"""The last colour of viridis."""
FRAME = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"


def readout(page: Page, number: int = 0) -> dict[str, str]:
    """What the cursor's text of a pane is made of."""
    found: dict[str, str] = (
        page.locator(".readout").nth(number).evaluate("one => ({...one.dataset})")
    )
    return found


def hover(page: Page, across: float, down: float, number: int = 0) -> dict[str, str]:
    """Move the pointer to a part of the picture's map; returns what is read there."""
    _move(page, across, down, number)
    text = page.locator(".readout").nth(number)
    expect(text).to_have_text(re.compile("[NSEW] |x |distance |^This picture"))
    page.evaluate(FRAME)
    return readout(page, number)


def at_plane(page: Page, facts: Mapping[str, Any], x: float, y: float) -> dict[str, str]:
    """What is read at x and y of the first picture's plane, by the facts of the index; ``text`` is
    all of it."""
    drawn = page.locator("canvas.first[data-plane]:not([data-plane=''])").first
    box = drawn.bounding_box()
    left, top, width, height = map(float, str(drawn.get_attribute("data-plane")).split(","))
    assert box
    west, east, south, north = facts["extent"]
    page.mouse.move(
        box["x"] + left + (x - west) / (east - west) * width,
        box["y"] + top + (north - y) / (north - south) * height,
    )
    page.evaluate(FRAME)
    return readout(page) | {"text": page.locator(".readout").first.inner_text()}


def _move(page: Page, across: float, down: float, number: int) -> None:
    box = page.locator(".glass").nth(number).bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down)


def index_of(text: str) -> dict[str, int]:
    """The grid point that a text names, by dimension."""
    return {name: int(at) for name, at in re.findall(r"(\w+) (\d+)", text)}


def pin(page: Page, across: float, down: float, number: int = 0) -> dict[str, str]:
    """Keep the place at a part of the picture; returns what is read there."""
    found = hover(page, across, down, number)
    page.mouse.down()
    page.mouse.up()
    return found


def table(page: Page) -> list[dict[str, str]]:
    """The rows at the kept places by the names of their columns, as the button CSV saves them."""
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    with download.value.path().open(newline="") as file:
        return list(csv.DictReader(line for line in file if line[:2] != "# " and line[:3] != '"# '))


def series(page: Page, product: str) -> dict[str, list[str]]:
    """The series of a product at the kept places, by time."""
    return {
        row["time"]: [row[place] for place in row if len(place) == 1]
        for row in table(page)
        if row["product"] == product
    }


def pixels(page: Page, *spots: tuple[float, float], sheet: str = "first") -> list[tuple[int, ...]]:
    """Red, green and blue of parts of the first picture, as the browser shows them; the pointer
    leaves it. The ``second`` sheet is that of the compared run."""
    page.mouse.move(2, 2)
    page.evaluate(FRAME)
    with Image.open(io.BytesIO(page.locator(f"canvas.{sheet}").first.screenshot())) as shot:
        image = shot.convert("RGB")
    return [image.getpixel((round(u * image.width), round(v * image.height))) for u, v in spots]


def drawn(page: Page) -> None:
    """Waits until the first canvas is drawn by values, which only a picture that stays is."""
    expect(page.locator("canvas.first")).to_have_attribute("data-drawn", "values", timeout=15_000)
