"""Reading values on the page as a person does: with the pointer."""

from __future__ import annotations

import re

from playwright.sync_api import expect


def readout(page, number=0):
    """What the cursor's text of a pane is made of."""
    return page.locator(".readout").nth(number).evaluate("one => ({...one.dataset})")


def hover(page, across, down, number=0):
    """Move the pointer to a part of the picture's map; returns what is read there."""
    glass = page.locator(".glass").nth(number)
    box = glass.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down)
    text = page.locator(".readout").nth(number)
    expect(text).to_have_text(re.compile("[NSEW] |x |distance |^This picture"))
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    return readout(page, number)


def index_of(text):
    return {name: int(at) for name, at in re.findall(r"(\w+) (\d+)", text)}


def pin(page, across, down):
    hover(page, across, down)
    page.mouse.down()
    page.mouse.up()
