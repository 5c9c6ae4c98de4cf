"""The logs on the page: followed, searched, grown, truncated, large; served and from the files."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from burstlens.viz.live.feed import LogFeed

HURT = "<img src=x onerror='window.hurt=1'>"


def write(run, lines, name="model.log", mode="w"):
    path = run.run.logs / name
    path.parent.mkdir(exist_ok=True)
    with path.open(mode) as stream:
        stream.writelines(f"{line}\n" for line in lines)
    LogFeed(run.run).write(names(run), force=True)
    run.update_status(logs=names(run))


def names(run):
    known = ["model.log", "burstlens/driver.log"]
    return [name for name in known if (run.run.logs / name).exists()]


@pytest.fixture
def opened(made, ways_to, page):
    """Opens the log of a made run in a way; returns the run and the lines on the page."""

    def open_log(way, lines, **status):
        run = made()
        write(run, lines)
        run.update_status(**status)
        page.goto(getattr(ways_to(run.run.path.parent), way)("made"))
        page.get_by_role("button", name="Log…").click()
        return run, page.get_by_role("log")

    return open_log


def matches(page):
    return page.locator(".searching .where")


@pytest.mark.parametrize("way", ["serve", "plain", "file"])
def test_the_end_of_the_log_is_followed_and_searched(way, opened, page):
    run, log = opened(way, [f"step {n} {HURT}" for n in range(1500)])
    expect(log.get_by_text(f"step 1499 {HURT}")).to_be_in_viewport()
    write(run, ["step 1500 wrote", "step 1501"], mode="a")
    expect(log.get_by_text("step 1501")).to_be_in_viewport()
    page.get_by_label("Search the log").fill("STEP 150")
    count = 3 if way == "serve" else 2  # the files beside the page have no more of step 150
    expect(matches(page)).to_have_text(f"{count}")
    page.get_by_label("Previous match").click()
    expect(log.locator(".match")).to_have_text("step 1501")
    page.get_by_label("Previous match").click()
    expect(log.locator(".match")).to_have_text("step 1500 wrote")
    expect(matches(page)).to_have_text(f"{count - 1} of {count}")
    write(run, ["step 1502"], mode="a")
    page.get_by_role("button", name="Follow").click()
    expect(log.get_by_text("step 1502")).to_be_in_viewport()
    expect(matches(page)).to_have_text(f"{count - 1} of {count + 1}")
    partly = page.get_by_text("Only the last lines are here")
    expect(partly).to_have_count(0 if way == "serve" else 1)
    assert page.evaluate("window.hurt") is None


@pytest.mark.parametrize("way", ["serve", "file"])
def test_a_log_that_was_truncated_and_has_grown_again_is_read_anew(way, opened, page):
    run, log = opened(way, [f"first {n}" for n in range(100)])
    expect(log.get_by_text("first 99")).to_be_in_viewport()
    write(run, [f"second attempt {n}" for n in range(200)])
    expect(log.get_by_text("second attempt 199")).to_be_in_viewport()
    expect(log.get_by_text("first 99")).to_have_count(0)
    write(run, ["short"])
    expect(log).to_have_text("short")


def open_driver_log(made, ways_to, page):
    run = made()
    write(run, ["driver 1 begins"], "burstlens/driver.log")
    page.goto(ways_to(run.run.path.parent).serve("made"))
    page.get_by_role("button", name="Log…").click()
    log = page.get_by_role("log")
    expect(log).to_contain_text("driver 1 begins")
    return run, log


def test_the_log_of_a_model_that_starts_is_shown_where_nobody_reads_the_drivers(
    made, ways_to, page
):
    run, log = open_driver_log(made, ways_to, page)
    write(run, ["step 1"])
    expect(log).to_contain_text("step 1")
    expect(log).not_to_contain_text("driver 1 begins")


def test_a_log_that_is_searched_stays_when_the_model_starts(made, ways_to, page):
    run, log = open_driver_log(made, ways_to, page)
    page.get_by_label("Search the log").fill("begins")
    expect(matches(page)).to_have_text("1")
    write(run, ["step 1"])
    choice = page.get_by_role("combobox", name="Log", exact=True)
    expect(choice.locator("option")).to_have_count(2)
    expect(choice).to_have_value("burstlens/driver.log")
    expect(log).to_contain_text("driver 1 begins")


def test_a_line_without_its_end_is_shown_and_then_completed(opened, page):
    run, log = opened("serve", ["one"])
    expect(log).to_have_text("one")
    with run.run.model_log.open("a") as stream:
        stream.write("tw")
    expect(log.locator(".line").last).to_have_text("tw")
    write(run, ["o"], mode="a")
    expect(log).to_have_text("onetwo")


@pytest.mark.fault
def test_a_large_log_is_read_by_windows_and_searched_as_a_whole(opened, page):
    line = "Timing for main: time 2005-08-28_12:00:00 on domain   1:    0.43210 elapsed seconds"
    asked = []
    page.on("request", lambda request: asked.append(request))
    begin = time.monotonic()
    run, log = opened("serve", [line] * 100)
    with run.run.model_log.open("w") as stream:
        stream.write("the very first\n")
        for part in range(60):
            stream.writelines([f"{line}\n"] * 12_000)
            stream.write(f"v_cfl = {part}\n")
        stream.write("the very last\n")
    assert run.run.model_log.stat().st_size > 60_000_000
    expect(log.get_by_text("the very last")).to_be_in_viewport()
    assert log.locator(".line").count() < 4002
    page.get_by_label("Search the log").fill("v_cfl")
    expect(matches(page)).to_have_text("60", timeout=30_000)
    page.get_by_label("Next match").click()
    for _ in range(3):
        page.get_by_label("Previous match").click()
    expect(log.locator(".match")).to_be_in_viewport()
    log.press("Home")
    expect(log.get_by_text("the very first")).to_be_in_viewport()
    log.press("End")
    expect(log.get_by_text("the very last")).to_be_in_viewport()
    reads = [one for one in asked if one.url.endswith("model.log") and one.method == "GET"]
    assert reads
    assert all(one.headers.get("range") for one in reads)
    assert time.monotonic() - begin < 60


@pytest.mark.parametrize("way", ["serve", "file"])
def test_the_lines_of_an_alarm_and_of_the_outcome_are_found(way, opened, page):
    lines = [f"step {n} of a long run" for n in range(500)]
    lines[40] = "  forrtl:   severe (174): SIGSEGV"
    lines[200] = "d01 wind exceeds 80 m s-1"
    run, log = opened(
        way,
        lines,
        state="failed",
        alarms=[{"t": 1.7e9, "text": "the log says: d01 wind exceeds 80 m s-1"}],
        outcome={"state": "failed", "line": "forrtl: severe (174): SIGSEGV", "message": "failed"},
    )
    page.get_by_role("button", name="Outcome").click()
    expect(log.locator(".match")).to_contain_text("severe (174)")
    expect(log.locator(".match")).to_be_in_viewport()
    page.get_by_role("button", name="Alarm", exact=True).click()
    expect(log.locator(".match")).to_have_text(lines[200])
    stamp = "2026-11-23T17:00:00Z WARNING driver n1 7 burstlens: "
    write(run, ["begins", f"{stamp}w cannot be made: full"], "burstlens/driver.log")
    run.update_status(alarms=[{"t": 1.7e9, "text": "w cannot be made: full"}])
    page.get_by_role("button", name="Alarm", exact=True).click()
    page.locator(".alarms .mark").get_by_text("w cannot be made").click()
    expect(log.locator(".match")).to_contain_text("w cannot be made: full")
    expect(page.get_by_label("Log", exact=True)).to_have_value("burstlens/driver.log")
    run.update_status(alarms=[{"t": 1.7e9, "text": "a message of nowhere"}])
    page.locator(".alarms .mark").get_by_text("nowhere").click()
    expect(matches(page)).to_have_text("No log has a line of the alarm.")


@pytest.mark.parametrize("way", ["serve", "file"])
def test_a_search_goes_on_in_the_log_of_an_alarm(way, opened, page):
    run, log = opened(way, [f"needle {n}" for n in range(10)])
    write(run, ["begins", "needle of the driver", "it is full"], "burstlens/driver.log")
    run.update_status(alarms=[{"t": 1.7e9, "text": "it is full"}])
    page.get_by_label("Search the log").fill("needle")
    expect(matches(page)).to_have_text("10")
    page.get_by_role("button", name="Alarm", exact=True).click()
    expect(log.locator(".match")).to_have_text("it is full")
    expect(matches(page)).to_have_text("1")
    page.get_by_label("Next match").click()
    expect(log.locator(".match")).to_have_text("needle of the driver")
    expect(matches(page)).to_have_text("1 of 1")


def test_a_log_that_is_gone_is_said_to_be_and_comes_back(opened, page, watched):
    run, log = opened("serve", ["one"])
    expect(log).to_have_text("one")
    run.run.model_log.rename(run.run.path / "away")
    expect(page.get_by_text("It cannot be read:")).to_be_visible()
    (run.run.path / "away").rename(run.run.model_log)
    expect(page.get_by_text("It cannot be read:")).to_have_count(0)
    watched.errors[:] = [text for text in watched.errors if "404" not in text]


def test_a_run_of_an_older_version_has_no_list_of_logs(made, ways_to, page):
    run = made()
    page.goto(ways_to(run.run.path.parent).file("made"))
    page.locator(".live").press("g")
    expect(page.get_by_text("The run has no log yet")).to_be_visible()
