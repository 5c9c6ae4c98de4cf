"""When the page draws a plane by its values: of pictures that stay, not of those in passing."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from pointing import drawn
from valued_run import curvilinear, publish

STEPS = """async count => {
  const shadow = document.activeElement.shadowRoot;
  const canvas = shadow.querySelector("canvas.first");
  const later = globalThis.setTimeout;
  let met = 0;
  globalThis.setTimeout = (call, wait) => later(call, wait === 150 ? (met += 1, 3000) : wait);
  const drawn = [];
  for (let at = 0; at < count; at += 1) {
    const key = {key: "ArrowLeft", bubbles: true, composed: true};
    shadow.activeElement.dispatchEvent(new KeyboardEvent("keydown", key));
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    drawn.push(canvas.dataset.plane !== "");
  }
  globalThis.setTimeout = later;
  return {drawn, met};
}"""
"""Steps back, with ample time for each picture before it counts as one that stays; how often the
page's timer for that was met."""


def test_only_a_picture_that_stays_has_its_values_loaded(eight_maps, opened):
    page = opened().page
    drawn(page)  # the values of frame 07 are here
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator(".timeline").focus()
    with page.expect_request(lambda request: "T010000.values" in request.url):
        steps = page.evaluate(STEPS, 6)
    assert all(steps["drawn"])
    assert steps["met"] >= 3
    expect(page.locator(".timeline")).to_have_attribute("aria-valuenow", "2")
    drawn(page)
    loaded = [re.search(r"T(\d\d)0000\.values", url) for url in asked]
    assert {found[1] for found in loaded if found} == {"01"}


def test_while_the_lens_moves_the_plane_is_the_picture_s(eight_maps, opened):
    page = opened().page
    drawn(page)
    moved = page.locator("canvas.first").evaluate("""async canvas => {
      const later = globalThis.setTimeout;
      let met = 0;
      globalThis.setTimeout = (call, wait) => later(call, wait === 150 ? (met += 1, 3000) : wait);
      const {left, top} = canvas.getBoundingClientRect();
      const at = {clientX: left + 200, clientY: top + 200, deltaY: -300, ctrlKey: true};
      canvas.dispatchEvent(new WheelEvent("wheel", {...at, bubbles: true, cancelable: true}));
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
      globalThis.setTimeout = later;
      return {drawn: canvas.dataset.drawn, isMet: met > 0};
    }""")
    assert moved == {"drawn": "picture", "isMet": True}
    drawn(page)


def test_a_film_has_no_plane_from_values_at_any_rate(eight_maps, opened):
    page = opened().page
    drawn(page)
    page.locator(".timeline").focus()
    for key in ("Home", "ArrowRight", "Home"):  # the film meets a picture whose values are here
        page.locator("canvas.first").evaluate("canvas => { canvas.dataset.drawn = ''; }")
        page.keyboard.press(key)
        drawn(page)
    film = page.locator("canvas.first").evaluate("""async canvas => {
      const shadow = canvas.getRootNode();
      const seen = [];
      const watch = new MutationObserver(() => seen.push(canvas.dataset.drawn));
      watch.observe(canvas, {attributeFilter: ["data-drawn", "aria-label"]});
      const later = globalThis.setTimeout; // each picture stays as at a low rate
      let met = 0;
      globalThis.setTimeout = (call, wait) => later(call, wait === 150 ? (met += 1, 0) : wait);
      shadow.querySelector("button[aria-label^=Play]").click();
      const slider = shadow.querySelector(".timeline");
      const at = () => Number(slider.getAttribute("aria-valuenow"));
      while (at() > 6) await new Promise(requestAnimationFrame); // from the first
      while (at() < 6) await new Promise(requestAnimationFrame);
      watch.disconnect();
      globalThis.setTimeout = later;
      return {seen, met};
    }""")
    assert min(len(film["seen"]), film["met"]) >= 3
    assert set(film["seen"][1:]) == {"picture"}
    drawn(page)


def test_a_held_picture_keeps_its_plane_during_a_film(eight_maps, opened):
    page = opened().page
    drawn(page)
    page.get_by_role("button", name="Hold").click()
    page.locator(".timeline").focus()
    page.keyboard.press("Home")
    drawn(page)
    seen = page.locator("canvas.first").evaluate("""async canvas => {
      const shadow = canvas.getRootNode();
      const seen = [];
      const watch = new MutationObserver(() => seen.push(canvas.dataset.drawn));
      watch.observe(canvas, {attributeFilter: ["data-drawn"]});
      shadow.querySelector("button[aria-label^=Play]").click();
      const slider = shadow.querySelector(".timeline");
      const at = () => Number(slider.getAttribute("aria-valuenow"));
      while (at() > 6) await new Promise(requestAnimationFrame); // from the first
      while (at() < 6) await new Promise(requestAnimationFrame);
      watch.disconnect();
      return seen;
    }""")
    assert seen == []


SLICES = """() => {
  const [later, end] = [globalThis.setTimeout, globalThis.clearTimeout];
  globalThis.slices = []; // those that would look for edges of cells: none does
  globalThis.ended = [];
  globalThis.setTimeout = (call, wait) => {
    const isSlice = /sharpen/i.test(call);
    const timer = later(isSlice ? () => {} : call, isSlice ? 1e9 : wait);
    if (isSlice) globalThis.slices.push(timer);
    return timer;
  };
  globalThis.clearTimeout = timer => {
    globalThis.ended.push(timer);
    end(timer);
  };
}"""


def test_a_view_that_is_removed_looks_for_no_edges(made, new_page, ways_to, tmp_path):
    case, run = curvilinear(tmp_path), made()
    for name in ("t", "u"):
        publish(run, case.kind, name, case.path, "20010203T010000", **case.options)
    page = new_page(viewport={"width": 1440, "height": 900}).page
    page.add_init_script(f"({SLICES})()")
    page.goto(f"{ways_to(tmp_path / 'runs').file('made')}#zoom=5,0.45,0.45")
    waiting = "() => slices.filter((one) => !ended.includes(one))"
    page.wait_for_function(f"() => ({waiting})().length === 2")
    under_way = page.evaluate(waiting)
    page.get_by_role("button", name="Remove this view").last.click()
    expect(page.locator("section.pane")).to_have_count(1)
    page.wait_for_function("timers => timers.every((one) => ended.includes(one))", arg=under_way)
