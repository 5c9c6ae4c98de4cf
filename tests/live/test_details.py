"""The recipe as it ran, and where each frame's time went, on the page."""

from __future__ import annotations

import json
import tomllib

import pytest
from playwright.sync_api import expect

from burstlens.viz.live.feed import write_recipe

TABLE = {
    "title": 'The "storm" </script>',
    "description": "Two\nlines",
    "simulation": {"model": "wrf", "nodes": 4, "inputs": "C:\\in", "environment": {"A": {"b": 1}}},
    "product": [
        {
            "name": "w",
            "kind": "map",
            "levels": [1.5, 2, -3e-20],
            "crop": {"range": {"x": [1, 2]}},
            "source": {},
        },
        {
            "name": "long",
            "kind": "map",
            "words": ["a long word of a list" + str(n) for n in range(9)],
        },
    ],
    "odd key": True,
}


@pytest.fixture
def opened(made, ways_to, page):
    def open_tab(way, tab, change=lambda run: None):
        run = made()
        facts = {"run": "made", "title": "Made", "created": 1.7e9, "site": "perlmutter"}
        run.run.facts.write_text(json.dumps(facts | {"burstlens": "0.9", "table": TABLE}))
        run.run.recipe.write_text('title = "Given" # as it is\n')
        run.run.index.touch()
        write_recipe(run.run)
        change(run)
        page.goto(getattr(ways_to(run.run.path.parent), way)("made"))
        page.get_by_role("button", name="Log…").click()
        page.get_by_role("tab", name=tab).click()
        return run

    return open_tab


@pytest.mark.parametrize("way", ["serve", "plain", "file"])
def test_the_recipe_is_shown_as_run_and_as_given(way, opened, page):
    opened(way, "Recipe")
    expect(page.locator(".facts")).to_contain_text("perlmutter")
    texts = page.locator(".about-run pre")
    expect(texts.nth(1)).to_have_text('title = "Given" # as it is\n')
    assert tomllib.loads(texts.nth(0).text_content()) == TABLE


def test_the_recipe_can_be_copied(opened, new_page, made, ways_to):
    one = new_page(permissions=["clipboard-read", "clipboard-write"]).page
    run = made()
    run.run.recipe.write_text("as given\n")
    run.run.index.touch()
    one.goto(ways_to(run.run.path.parent).serve("made"))
    one.get_by_role("button", name="Log…").click()
    one.get_by_role("tab", name="Recipe").click()
    one.get_by_role("button", name="Copy").click()
    expect(one.get_by_role("button", name="Copied")).to_be_visible()
    assert one.evaluate("navigator.clipboard.readText()") == "as given\n"


def test_a_run_of_an_older_version_opened_from_its_files_has_no_recipe(
    made, ways_to, page, watched
):
    run = made()
    page.goto(ways_to(run.run.path.parent).file("made"))
    page.get_by_role("button", name="Log…").click()
    page.get_by_role("tab", name="Recipe").click()
    expect(page.get_by_text("The recipe cannot be read")).to_be_visible()
    watched.errors[:] = [text for text in watched.errors if "ERR_FILE_NOT_FOUND" not in text]


def publish(run, number, picture, **more):
    line = run.line(number, picture) | more
    place = run.run.products / line["name"]
    place.parent.mkdir(exist_ok=True)
    place.hardlink_to(picture)
    run.feed.add(line)


def test_where_the_time_of_the_frame_and_of_all_frames_went(opened, page, greys):
    clocks = [[0.5, 1, 0.25, 2, 0.125, n / 10, 3.5] for n in range(1, 6)]

    def change(run):
        for number, clock in enumerate(clocks):
            publish(run, number, greys[0], clock=clock, speed=40 + number)
        run.feed.write(force=True)
        run.update_status(progress={"total_s": 3.2e8})

    opened("file", "Times", change)
    bar = page.locator(".stack")
    words = "wait 0.5 s, queue 1.0 s, read 0.25 s, draw 2.0 s, stage 0.13 s, publish 0.5 s"
    expect(bar).to_have_attribute("aria-label", words)
    expect(page.locator(".of-product")).to_contain_text("3.5 s of CPU")
    expect(page.get_by_text("5 products: median")).to_be_visible()
    expect(page.locator(".legend")).to_contain_text("draw2.0 s")
    expect(page.get_by_text("The CPU time of the model's job is not measured")).to_be_visible()
    expect(page.locator(".measures")).to_contain_text("median 0.115 simulated years per day")
    expect(page.locator(".measures")).to_contain_text("median 3.5 s per product")


def test_older_runs_and_clocks_that_differ_are_said_to_be(opened, page, greys):
    def change(run):
        publish(run, 0, greys[0])
        run.feed.write(force=True)

    run = opened("file", "Times", change)
    expect(page.get_by_text("an older version has published it")).to_be_visible()
    clock = [-4.0, 1, None, None, 0.125, 0.1, None]
    publish(run, 1, greys[0], clock=clock)
    run.feed.write(force=True)
    expect(page.get_by_text("clocks of the machines differ")).to_be_visible()
    expect(page.get_by_text("The CPU time of the workers is not known")).to_be_visible()
    expect(page.locator(".stack")).to_have_attribute(
        "aria-label", "wait 0 s, queue 1.0 s, read –, draw –, stage 0.13 s, publish 0.1 s"
    )


OUTPUT = {
    "part": 0.413,
    "node_hours": 0.336,
    "streams": {
        "d01": {
            "count": 3,
            "took_s": 90.0,
            "rate": 1e8,
            "latest": [
                {"took_s": 29.9, "time": "20050828T120000", "rate": 1.01e8},
                {"took_s": 29.8, "time": "20050828T130000", "rate": 1.01e8},
                {
                    "took_s": 30.3,
                    "time": "20050828T140000",
                    "rate": 1e8,
                    "aggregators": 4,
                    "data_send": 0.78,
                },
            ],
        }
    },
}


def test_how_long_the_model_is_at_its_output(opened, page):
    run = opened("serve", "Times")
    part = page.locator(".timing")
    expect(part).not_to_contain_text("Output")
    run.update_status(output=OUTPUT)
    expect(part.get_by_role("heading", name="Output")).to_have_text(
        "Output: 41 % of the model's time, 0.336 node-hours"
    )
    row = part.locator(".of-product").filter(has_text="d01 · 3 outputs")
    expect(row).to_contain_text("30 s each, 95.4 MiB/s")
    expect(row).to_contain_text("30 s, 95.4 MiB/s, 4 aggregators, data send 78 %")
    expect(row.get_by_role("img")).to_have_attribute(
        "aria-label", "Seconds of the latest 3 outputs, at most 30 s"
    )
