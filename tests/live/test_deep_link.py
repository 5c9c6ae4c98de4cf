"""A link with everything in it, opened in a browser that has never seen the run."""

from __future__ import annotations

import re

import numpy as np
import pytest
from made_run import MadeRun
from playwright.sync_api import expect
from pointing import hover, index_of, pin, pixels, readout, series
from valued_run import lambert, publish

from burstlens.viz.frames.reader import netCDF4

TIMES = [f"20010203T{number:02d}0000" for number in range(3)]
SPOTS = [(u, v) for u in (0.3, 0.4, 0.5, 0.6) for v in (0.35, 0.45, 0.55, 0.65)]


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    """Two runs of three frames; returns their folder, and the fields by run and time."""
    fields, folder = {}, tmp_path_factory.mktemp("linked")
    case = lambert(folder)
    with netCDF4.Dataset(case.path) as data:
        first = np.asarray(data["t"][0], "f8")
    for name, more in (("made", 0.0), ("other", 2.5)):
        run = MadeRun(folder / "runs", name, name.title())
        for number, key in enumerate(TIMES):
            with netCDF4.Dataset(case.path, "a") as data:
                data["t"][0] = np.roll(first, 4 * number, axis=1) + more * (number + 1)
                fields[name, key] = np.asarray(data["t"][0], "f8")
            for product in ("u", "t") if (name, key) == ("made", TIMES[0]) else ("u",):
                publish(run, "map", product, case.path, key, variable="t", coast=False)
        table = {"kind": "map", "published": 3, "failed": 0}
        run.update_status(state="done", products={"t": table, "u": table})
    return folder / "runs", fields


def state(page):
    """What the page shows, for people and as pixels."""
    held = page.evaluate(
        """() => {
        const root = document.querySelector(".burstlens").shadowRoot;
        const all = (what) => [...root.querySelectorAll(what)]
            .filter((one) => one.checkVisibility());
        return {
            hash: decodeURIComponent(location.hash),
            words: all("figcaption, .places li, .range, output.time, .theirs, h2")
                .map((one) => one.innerText),
            chosen: all("select, input").map((one) => [one.ariaLabel, one.value]),
            labels: all("canvas").map((one) => one.ariaLabel),
        }; }"""
    )
    held["pixels"] = pixels(page, *SPOTS)
    return held


@pytest.mark.parametrize("way", ["file", "serve"])
def test_a_link_shows_the_same_view_in_a_fresh_browser(two_runs, new_page, ways_to, way):
    runs, fields = two_runs
    page, url = new_page().page, getattr(ways_to(runs), way)("made")
    page.goto(url)
    page.get_by_role("button", name="Remove this view").nth(1).click()
    page.locator(".pane header select").first.select_option("u · d01")
    page.get_by_label("Compare with run").fill("other")
    page.keyboard.press("Enter")
    expect(page.locator(".theirs")).to_have_text("other")
    page.get_by_role("button", name="Colours").first.click()
    page.get_by_label("Colour map").first.select_option("viridis")
    page.get_by_label("Lowest value of the colours").first.fill("275")
    high = page.get_by_label("Highest value of the colours").first
    high.fill("290")
    high.press("Tab")
    page.get_by_role("button", name="Colours").first.click()  # what is open is not in the link
    page.locator(".timeline").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("+")
    pin(page, 0.45, 0.5)
    expect(page.locator(".places li")).to_have_count(1)
    pin(page, 0.55, 0.42)
    expect(page.locator(".places li")).to_have_count(2)
    page.wait_for_function(
        "() => location.hash.includes('pins=') && location.hash.includes('colours=')"
    )
    assert all(
        part in page.url for part in ("show=", "with=", "time=", "zoom=", "pins=", "colours=")
    )

    other = new_page().page
    other.goto(url.partition("#")[0] + page.evaluate("location.hash"))
    for one in (page, other):
        one.mouse.move(2, 2)
        expect(one.locator(".places li")).to_have_count(2)
        expect(one.locator("output.time")).to_contain_text("01:00:00")
        expect(one.locator("[aria-label='Kept places'] figcaption")).not_to_contain_text("of 3")
        one.wait_for_timeout(700)
    mine, theirs = state(page), state(other)
    assert theirs == mine
    assert len(set(mine["pixels"])) >= 4
    for across, down in ((0.4, 0.5), (0.6, 0.55)):
        found = [hover(one, across, down) for one in (page, other)]
        assert found[0] == found[1]
        at = index_of(found[0]["index"])
        true = fields["made", TIMES[1]][at["y"], at["x"]]
        assert abs(float(found[0]["value"]) - true) < 0.01
        texts = [one.locator(".readout").first.inner_text() for one in (page, other)]
        assert texts[0] == texts[1]
        away = true - fields["other", TIMES[1]][at["y"], at["x"]]
        shown = re.search(r"difference ([−\d.]+)", texts[0])
        assert float(shown[1].replace("−", "-")) == pytest.approx(away, abs=0.02)
    assert series(page, "u") == series(other, "u")
    assert readout(page) == readout(other)
