"""The page of a real run in progress: how soon it shows a new picture."""

from __future__ import annotations

import json
import sys

from playwright.sync_api import expect

BOUND_S = 1.0
"""From publication to display, on an idle machine."""
BUSY = 10
"""How many times longer it may take on a busy machine."""
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
    """When each picture was published, by its label on the page."""
    found = {}
    for line in (case_run / "products" / "index.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["product"] == "w":
            minute = entry["time"][11:13]
            found[f"w, 0001-01-01 00:{minute}:00 UTC"] = entry["t"]
    return found


def test_a_frame_is_seen_within_a_second_of_its_publication(own_runs, ways_to, new_page):
    go_on = own_runs.folder / "go-on"
    own_runs.prepare("storm", f"--interval 0.1 --go-on {go_on} --each")
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
    for number in range(1, 4):  # the next one when this one is seen: none is skipped
        own_runs.await_that(
            lambda number=number: all(
                len(page.evaluate("seen")) >= number for page in pages.values()
            ),
            "said",
        )
        go_on.touch()
    assert driver.wait(120) == 0
    for page in pages.values():
        expect(page.locator(".state")).to_have_text("done")
    published = labels(run)
    assert len(published) == 3
    seen = {way: page.evaluate("seen") for way, page in pages.items()}
    late = {
        way: [round(t - published[label], 2) for label, t in list(moments.items())[1:]]
        for way, moments in seen.items()  # the first may have been there before the page
    }
    print(late)
    assert [len(seconds) for seconds in late.values()] == [2, 2]
    assert max(late["serve"]) < BUSY * BOUND_S
    # Script files are written once a second at most.
    assert max(late["file"]) < BUSY * (BOUND_S + 1)
