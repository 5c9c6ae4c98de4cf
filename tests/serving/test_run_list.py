"""The list of runs in a real browser."""

from __future__ import annotations

import json
import os
import shutil
import time

import pytest
from PIL import Image
from playwright.sync_api import expect

from burstlens.core.decode import record
from burstlens.core.run.directory import RunDir
from burstlens.core.run.snapshot import new_snapshot

LOOK_MS = 15_000
BEGAN = 1795730282.5


def test_a_picture_that_was_away_for_a_while_is_shown_again(serve, standing, tmp_path, page):
    standing.done()
    run = tmp_path / "runs" / "storm"
    shutil.copytree(standing.runs / "done", run)
    status = run / "status.json"
    status.write_text(json.dumps(json.loads(status.read_text()) | {"state": "running"}))
    page.goto(serve(run.parent).url)
    picture = page.get_by_role("link").locator("img")
    expect(picture).to_be_visible()
    index = run / "products" / "index.jsonl"
    away = index.rename(run / "index.jsonl")
    expect(page.get_by_text("no picture yet")).to_be_visible(timeout=LOOK_MS)
    away.rename(index)
    expect(picture).to_be_visible(timeout=LOOK_MS)


@pytest.fixture
def many(serve, tmp_path, page):
    """The list of 120 runs, the newest ``storm-119``; every tenth has failed, none has a picture
    but ``storm-119`` and ``storm-0``."""
    folder = tmp_path / "runs"
    for number in range(120):
        run = RunDir(folder / f"storm-{number}")
        run.create()
        run.facts.write_text(json.dumps({"run": run.id, "title": f"Storm <b>{number}</b>"}))
        os.utime(run.facts, (number, number))
        state = "failed" if number % 10 == 0 else "done"
        alarms = [{"t": 1.0, "text": "W is 90"}] * (number == 7)
        began = BEGAN if number == 119 else None
        status = record(new_snapshot(run)) | {"state": state, "alarms": alarms, "started": began}
        run.status.write_text(json.dumps(status))
        if number in (0, 119):
            place = run.products / "slp" / "one.png"
            place.parent.mkdir()
            Image.new("RGB", (80, 60), "red").save(place)
            line = {"product": "slp", "stream": "d01", "name": "slp/one.png"}
            run.index.write_text(json.dumps(line | {"time": "t00000001.000"}) + "\n")
    page.goto(serve(folder).url)
    expect(page.locator("#runs li")).to_have_count(120)
    return page


def names(page):
    return page.locator("#runs .id").all_text_contents()


def test_search_filter_and_order_are_kept_in_the_address(many):
    assert names(many)[:2] == ["storm-119", "storm-118"]
    many.keyboard.press("/")
    many.keyboard.type("STORM 11")
    expect(many.locator("#summary")).to_have_text("11 of 120 in all, 0 in progress")
    many.get_by_label("Sort by").select_option("By title")
    expect(many.locator("#runs h2").first).to_have_text("Storm <b>11</b>")
    many.get_by_label("Which runs").select_option("Failed or lost")
    expect(many.locator("#runs li")).to_have_count(1)
    assert "q=STORM+11&which=bad&sort=title" in many.url
    many.reload()
    expect(many.locator("#runs li")).to_have_count(1)
    assert names(many) == ["storm-110"]
    many.get_by_label("Search the runs").press("Escape")
    expect(many.locator("#runs li")).to_have_count(12)
    many.get_by_label("Which runs").select_option("With alarms")
    expect(many.locator("#runs li")).to_have_count(1)
    expect(many.locator("#runs .alarms")).to_have_text("1 alarm")


def test_a_card_has_the_date_at_which_its_run_began(many):
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(BEGAN))
    expect(many.locator("#runs li").first).to_contain_text(f"storm-119began {date}")
    expect(many.locator("#runs li").last).not_to_contain_text("began")


def test_only_pictures_in_sight_are_loaded(many):
    first, last = many.locator("#runs li").first, many.locator("#runs li").last
    expect(first.locator("img")).to_have_count(1)
    expect(last.locator("img")).to_have_count(0)
    last.scroll_into_view_if_needed()
    expect(last.locator("img")).to_have_count(1)
    expect(first.locator("img")).to_have_count(0)


def test_runs_are_chosen_by_keys_and_shown_side_by_side(many):
    many.keyboard.press("ArrowRight")
    expect(many.locator("#runs a").first).to_be_focused()
    many.keyboard.press("x")
    expect(many.locator("#count")).to_have_text("1 chosen; choose another")
    many.keyboard.press("End")
    many.get_by_label("Sort by").select_option("By state")
    many.locator("#runs a").nth(3).focus()
    for _ in range(7):
        many.keyboard.press("ArrowRight")
        many.keyboard.press("x")
    expect(many.locator("#count")).to_have_text("6 chosen, the most")
    many.reload()
    expect(many.locator("#count")).to_have_text("6 chosen, the most")
    many.get_by_role("button", name="Choose none").click()
    for name in ("storm-119", "storm-0"):
        many.locator(f"li[data-run='{name}'] input").check()
    many.get_by_role("link", name="Show side by side").click()
    expect(many.locator(".whose")).to_have_text(["storm-119", "storm-0 · failed"])
    expect(many.locator("canvas.first").nth(1)).to_have_attribute("aria-label", "slp, t = 1 s")
    many.go_back()
    expect(many.locator("#count")).to_have_text("2 chosen")


@pytest.mark.parametrize(
    "hostile", ["q=<img src=x>&sort=constructor&which=__proto__&chosen=%00&chosen=..", "%&&%%=="]
)
def test_a_hostile_address_of_the_list_changes_nothing(many, hostile):
    many.goto("about:blank")
    many.go_back()
    many.evaluate("text => { location.hash = text }", hostile)
    many.get_by_label("Search the runs").fill("")
    expect(many.locator("#runs li")).to_have_count(120)
    assert many.locator("img[src=x]").count() == 0


def test_a_list_that_has_not_changed_is_not_sent_again(serve, standing, tmp_path):
    standing.done()
    shutil.copytree(standing.runs / "done", tmp_path / "runs" / "storm")
    server = serve(tmp_path / "runs")
    first = server.ask("/runs.json")
    assert first.json[0]["run"] == "storm"
    tag = first.headers["etag"]
    again = server.ask("/runs.json", If_None_Match=tag)
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    assert server.ask("/runs.json", If_None_Match='"other"').status == 200
