"""The page above real runs that go on: how soon it shows what is new, and stopping from it."""

from __future__ import annotations

import json
import sys
import time

import pytest
from playwright.sync_api import expect

BOUND_S = 1.0
"""From publication to the eye, on an idle machine."""
STOP_S = 5.0
BUSY = 3
"""How many times longer a machine that does other things may take."""
RECORD = """() => {
  window.seen = {};
  const look = () => {
    const root = document.querySelector(".burstlens")?.shadowRoot;
    const label = root?.querySelector("canvas.first")?.ariaLabel;
    if (label?.startsWith("w,")) window.seen[label] ??= Date.now() / 1000;
    requestAnimationFrame(look);
  };
  look();
}"""


def labels(case_run):
    """When each picture was published, by what the page calls it."""
    found = {}
    for line in (case_run / "products" / "index.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["product"] == "w":
            minute = entry["time"][11:13]
            found[f"w, 0001-01-01 00:{minute}:00 UTC"] = entry["t"]
    return found


def test_a_frame_is_seen_within_a_second_of_its_publication(own_runs, ways_to, new_page):
    own_runs.prepare("storm", "--interval 3")
    with (own_runs.folder / "said").open("w") as said:
        driver = own_runs.case.popen(
            [sys.executable, "-m", "burstlens", *own_runs.words("storm")],
            own_runs.environment,
            said,
        )
    run = own_runs.runs / "storm"
    own_runs.await_that(lambda: (run / "products" / "index.html").exists(), "said")
    ways = ways_to(own_runs.runs)
    pages = {way: new_page().page for way in ("serve", "file")}
    for way, page in pages.items():
        page.goto(getattr(ways, way)("storm"))
        page.evaluate(RECORD)
    assert driver.wait(120) == 0
    for page in pages.values():
        expect(page.locator(".state")).to_have_text("done")
    published = labels(run)
    assert len(published) == 3
    late = {
        way: [round(seen - published[label], 2) for label, seen in page.evaluate("seen").items()]
        for way, page in pages.items()
    }
    print(late)
    # The last two are published together; of them the newest alone is shown.
    assert min(map(len, late.values())) >= 2
    assert max(late["serve"]) < BUSY * BOUND_S
    # Script files are written once a second at most.
    assert max(late["file"]) < BUSY * (BOUND_S + 1)


def test_with_a_killed_driver_the_page_says_so_and_still_stops_the_model(own_runs, ways_to, page):
    driver = own_runs.start("live")
    page.goto(ways_to(own_runs.runs).serve("live", "--allow-stop"))
    expect(page.locator(".state")).to_have_text("running")
    driver.kill()
    driver.wait()
    expect(page.locator(".state")).to_have_text("driver gone")
    expect(page.locator(".notice code")).to_have_text("burstlens resume live")
    stop_now(page, own_runs)


@pytest.mark.slow
def test_a_run_stopped_from_the_page_ends_as_stopped_by_a_person(own_runs, ways_to, page):
    driver = own_runs.start("live")
    page.goto(ways_to(own_runs.runs).serve("live", "--allow-stop"))
    stop_now(page, own_runs)
    assert driver.wait(60) == 4
    expect(page.locator(".state")).to_have_text("stopped")
    expect(page.get_by_role("button", name="Stop…")).to_be_hidden()


def stop_now(page, runs):
    """Stop the run ``live`` by the page's buttons; its model must end in time."""
    page.get_by_role("button", name="Stop…").click()
    asked = time.monotonic()
    page.get_by_role("button", name="Stop now").click()
    expect(page.get_by_role("dialog", name="Stop this run?")).to_be_hidden()
    ended = runs.runs / "live" / "attempts" / "1" / "ended.json"
    runs.await_that(ended.exists, "live")
    assert time.monotonic() - asked < BUSY * STOP_S
