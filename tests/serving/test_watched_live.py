"""A run that goes on, watched and stopped by a person in a real browser."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import re
import shutil
import signal
import threading
import time

import pytest
from playwright.sync_api import expect

LATE_S = 20.0
"""The page is to show a frame within 1 s of its publication; this leaves a busy machine room."""
STOP_S = 45.0
"""`stop --now` is to end the model within 5 s."""
DRAWN = """() => {
  const view = document.querySelector(".burstlens").shadowRoot;
  return view.querySelector("canvas.first")?.getAttribute("aria-label") ?? "";
}"""


def link(server, run):
    """The address that opens a run's page in a browser without its cookies."""
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
    assert driver.wait(120) == 0


def test_stop_asks_and_then_ends_the_run(server, own_runs, page):
    driver = own_runs.start("storm")
    page.goto(link(server, "storm"))
    page.get_by_role("button", name="Stop…").click()
    dialog = page.get_by_role("dialog", name="Stop this run?")
    dialog.get_by_role("button", name="Keep it running").click()
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


@pytest.mark.fault  # the test before it stops a run; test_status.py has the killed driver
def test_a_run_whose_driver_was_killed_is_stopped_all_the_same(server, own_runs, page):
    driver = own_runs.start("storm")
    page.goto(link(server, "storm"))
    expect(page.get_by_role("button", name="Stop…")).to_be_visible()
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait(120)
    expect(page.get_by_text("Its driver is gone").first).to_be_visible()
    expect(page.get_by_text("burstlens resume storm").first).to_be_visible()
    assert any(map(is_model, own_runs.case.processes().values()))
    page.get_by_role("button", name="Stop…").click()
    begin = time.monotonic()
    page.get_by_role("button", name="Stop now").click()
    own_runs.await_that(lambda: not any(map(is_model, own_runs.case.processes().values())), "storm")
    assert time.monotonic() - begin < STOP_S
    ended = own_runs.runs / "storm" / "attempts" / "1" / "ended.json"
    own_runs.await_that(ended.exists, "storm")
    assert json.loads(ended.read_text())["reason"] == "stop-now"
    expect(page.get_by_text("Its driver is gone, and the model has ended.").first).to_be_visible()
    expect(page.get_by_role("button", name="Stop…")).to_be_hidden()
    done = own_runs.call("resume", "storm")
    assert done.returncode == 4, done.stderr
    assert outcome_of(own_runs, "storm")["exit_code"] == 4


def test_a_server_that_only_shows_offers_no_stop(serve, standing, page):
    standing.live()
    page.goto(link(serve(standing.runs), "live"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Supercell")
    expect(page.get_by_text("running").first).to_be_visible()
    opener = page.get_by_role("button", name="Stop…")
    if opener.is_visible():  # it only shows the command to type
        opener.click()
    for name in ("Stop", "Stop now", "Pause pictures"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_hidden()


def test_the_list_of_runs_leads_to_each_and_keeps_up(serve, standing, tmp_path, page):
    standing.done()
    folder = tmp_path / "runs"
    shutil.copytree(standing.runs / "done", folder / "first")
    server = serve(folder)
    page.goto(f"{server.root}?token={server.token}")
    assert "token" not in page.url
    first = page.get_by_role("link").filter(has_text="first")
    expect(first).to_contain_text("done")
    expect(first).to_contain_text("3 frames")
    expect(first.locator("img")).to_have_js_property("complete", True)
    shutil.copytree(standing.runs / "done", folder / "second")
    rewrite(folder / "first" / "status.json", state="failed")
    expect(page.get_by_role("link").filter(has_text="second")).to_be_visible()
    expect(first).to_contain_text("failed", timeout=25_000)  # a run that was over is read seldom
    shutil.rmtree(folder / "second")
    expect(page.get_by_role("link").filter(has_text="second")).to_have_count(0)
    first.click()
    expect(page).to_have_url(f"{server.root}first/products/index.html")
    expect(page.get_by_role("heading", level=1)).to_have_text("Supercell")


def rewrite(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_hostile_titles_and_names_are_shown_as_text(serve, standing, tmp_path, page):
    """In the list and on the page."""
    standing.done()
    hostile = (
        "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
    )
    name = "a<b>'\"& %2e"
    run = shutil.copytree(standing.runs / "done", tmp_path / "runs" / name)
    for file in ("run.json", "status.json"):
        rewrite(run / file, title=hostile)
    server = serve(run.parent)
    page.goto(f"{server.root}?token={server.token}")
    card = page.get_by_role("link").filter(has_text=name)
    expect(card.get_by_role("heading")).to_have_text(hostile)
    assert "taken" not in page.title()
    card.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(hostile)
    assert "taken" not in page.title().replace(hostile, "")


def test_a_link_on_another_site_leads_in_as_well(serve, standing, tmp_path, watched):
    """No Strict cookie comes along from there, neither after the token's link nor later."""
    standing.done()
    server = serve(standing.runs)
    page = watched.page
    for address in (link(server, "done"), f"{server.root}done/products/index.html"):
        (tmp_path / "links.html").write_text(f'<a href="{address}">in</a>')
        with other_site(tmp_path) as site:
            page.goto(f"{site}/links.html")
            page.get_by_role("link", name="in").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Supercell")
        assert page.url == f"{server.root}done/products/index.html"
    assert all("403" in error or "404" in error for error in watched.errors)  # its icon; ours
    watched.errors.clear()


@contextlib.contextmanager
def other_site(folder):
    """Another site: a web server on this machine under another of its names."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://localhost:{web.server_port}"
        web.shutdown()
