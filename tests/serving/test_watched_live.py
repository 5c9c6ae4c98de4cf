"""A run that goes on, watched and stopped by a person in a real browser."""

from __future__ import annotations

import json
import os
import re
import signal
import time

import pytest
from playwright.sync_api import expect

LATE_S = 3.0
"""The page is to show a frame within 1 s of its publication; this leaves a busy machine room."""
STOP_S = 8.0
"""`stop --now` is to end the model within 5 s."""
DRAWN = """() => {
  const view = document.querySelector(".burstlens").shadowRoot;
  return view.querySelector("canvas.first")?.getAttribute("aria-label") ?? "";
}"""


def link(server, run):
    """The address that opens a run's page for somebody who has none of its cookies yet."""
    return f"{server.root}{run}/products/index.html?token={server.token}"


def index_of(runs, name):
    try:
        text = (runs.runs / name / "products" / "index.jsonl").read_text()
    except OSError:
        return []
    return [json.loads(line) for line in text.split("\n")[:-1]]


def outcome_of(runs, name):
    return json.loads((runs.runs / name / "status.json").read_text())["outcome"]


def is_model(command):
    return "replay.py" in command


@pytest.fixture
def server(serve, own_runs):
    return serve("--allow-stop", BURSTLENS_RUNS=str(own_runs.runs))


def test_frames_are_seen_as_they_arrive(server, own_runs, page):
    own_runs.prepare("storm", "--interval 2")
    driver = own_runs._start("storm")
    own_runs.await_that((own_runs.runs / "storm" / "run.json").exists, "storm")
    page.goto(link(server, "storm"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Supercell")
    first_seen: dict[str, float] = {}
    end = time.monotonic() + 90
    while "00:02:00" not in first_seen:
        assert time.monotonic() < end, (first_seen, index_of(own_runs, "storm"))
        minutes = re.search(r"00:\d\d:00", page.evaluate(DRAWN))
        if minutes:
            first_seen.setdefault(minutes[0], time.time())
        page.wait_for_timeout(20)
    for line in index_of(own_runs, "storm"):
        if line["product"] == "w":
            minutes = f"{line['time'][9:11]}:{line['time'][11:13]}:00"
            # This one, or a newer one that came before it or with it.
            seen = min(at for shown, at in first_seen.items() if shown >= minutes)
            assert seen - line["t"] < LATE_S, (line, first_seen)
    expect(page.get_by_text("Done: 3 frames").first).to_be_visible(timeout=30_000)
    assert driver.wait(30) == 0


def test_stop_asks_and_then_ends_the_run(server, own_runs, page):
    driver = own_runs.start("storm")
    page.goto(link(server, "storm"))
    page.get_by_role("button", name="Stop…").click()
    dialog = page.get_by_role("dialog", name="Stop this run?")
    dialog.get_by_role("button", name="Let it go on").click()
    expect(dialog).to_be_hidden()
    assert not list((own_runs.runs / "storm" / "control").iterdir())
    page.get_by_role("button", name="Stop…").click()
    dialog.get_by_role("button", name="Stop", exact=True).click()
    expect(dialog).to_be_hidden()
    assert driver.wait(60) == 4
    outcome = outcome_of(own_runs, "storm")
    assert (outcome["state"], outcome["exit_code"]) == ("stopped", 4)
    expect(page.get_by_text(outcome["message"]).first).to_be_visible()
    expect(page.get_by_role("button", name="Stop…")).to_be_hidden()
    assert {line["product"] for line in index_of(own_runs, "storm")} == {"w", "core"}


def test_stop_now_ends_the_model_within_seconds(server, own_runs, page):
    driver = own_runs.start("storm")
    page.goto(link(server, "storm"))
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("button", name="Stop now").click()
    begin = time.monotonic()
    own_runs.await_that(lambda: not any(map(is_model, own_runs.case.processes().values())), "storm")
    assert time.monotonic() - begin < STOP_S
    assert driver.wait(60) == 4


def test_a_run_whose_driver_was_killed_is_stopped_all_the_same(server, own_runs, page):
    driver = own_runs.start("storm")
    page.goto(link(server, "storm"))
    expect(page.get_by_role("button", name="Stop…")).to_be_visible()
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait(10)
    expect(page.get_by_text("Its driver is gone").first).to_be_visible()
    expect(page.get_by_text("burstlens resume storm").first).to_be_visible()
    assert any(map(is_model, own_runs.case.processes().values()))
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("button", name="Stop now").click()
    own_runs.await_that(lambda: not any(map(is_model, own_runs.case.processes().values())), "storm")
    own_runs.await_that((own_runs.runs / "storm" / "attempts" / "1" / "ended.json").exists, "storm")
    done = own_runs.call("resume", "storm")
    assert done.returncode == 4, done.stderr
    assert outcome_of(own_runs, "storm")["exit_code"] == 4


def test_a_server_that_only_shows_offers_no_stop(serve, own_runs, page):
    own_runs.start("storm")
    page.goto(link(serve(own_runs.runs), "storm"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Supercell")
    page.wait_for_timeout(1000)
    opener = page.get_by_role("button", name="Stop…")
    if opener.is_visible():  # it tells what to type, and can do nothing itself
        opener.click()
    for name in ("Stop", "Stop now", "Pause pictures"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_hidden()
    assert not list((own_runs.runs / "storm" / "control").iterdir())


def test_the_list_of_runs_leads_to_each_and_keeps_up(server, own_runs, page):
    own_runs.start("first")
    page.goto(f"{server.root}?token={server.token}")
    assert "token" not in page.url
    card = page.get_by_role("link", name="Supercell").filter(has_text="first")
    expect(card).to_contain_text("running")
    expect(card).to_contain_text("1 frame")
    own_runs.call("stop", "first", "--now")
    expect(card).to_contain_text("stopped", timeout=30_000)
    card.click()
    expect(page).to_have_url(f"{server.root}first/products/index.html")
    expect(page.get_by_role("heading", level=1)).to_have_text("Supercell")


def test_hostile_titles_and_names_are_shown_as_text(serve, own_runs, page):
    """In the list and on the page, under names that no shell and no page would take."""
    hostile = (
        "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
    )
    recipe = own_runs.folder / "r.toml"
    recipe.write_text(recipe.read_text().replace('"Supercell"', json.dumps(hostile)))
    assert own_runs.done().returncode == 0
    name = "a<b>'\"& %2e"
    (own_runs.runs / "done").rename(own_runs.runs / name)
    server = serve(own_runs.runs)
    page.goto(f"{server.root}?token={server.token}")
    card = page.get_by_role("link").filter(has_text=name)
    expect(card.get_by_role("heading")).to_have_text(hostile)
    card.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(hostile)
    page.wait_for_timeout(500)
    assert "taken" not in page.title().replace(hostile, "")
