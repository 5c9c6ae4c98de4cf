"""Measure how smoothly a page is scrubbed, for tests and the bench."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCRUB = """(seconds) => new Promise((done) => {
  const root = document.querySelector(".burstlens").shadowRoot;
  const slider = root.querySelector(".timeline");
  const canvas = root.querySelector("canvas.first");
  const box = slider.getBoundingClientRect();
  const begin = performance.now();
  let [refreshes, pictures, before] = [0, 0, ""];
  const go = (now) => {
    const share = (now - begin) / 1000 / seconds;
    if (share >= 1) return done({ refreshes: refreshes / seconds, pictures: pictures / seconds });
    refreshes += 1;
    if (canvas.ariaLabel !== before) pictures += 1;
    before = canvas.ariaLabel;
    const clientX = box.left + box.width * share;
    slider.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY: box.top + 22 }));
    requestAnimationFrame(go);
  };
  requestAnimationFrame(go);
})"""


def scrub(page: Page, seconds: float) -> dict[str, float]:
    """Drag through the whole time once; returns ``refreshes`` and ``pictures`` per second.

    The events are made in the page, one per refresh: a test's mouse moves only a few times per
    second.
    """
    box = page.get_by_role("slider", name="Valid time").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 25)
    page.mouse.down()
    rates: dict[str, float] = page.evaluate(SCRUB, seconds)
    page.mouse.up()
    return rates
