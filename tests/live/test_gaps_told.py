"""Three states with different messages: the server is gone, the driver is dead, or the driver
lives and its files do not change. In a real browser, with real processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from burstlens.core.run.heartbeat import ticks_of

OLD_S = 40.0


@pytest.fixture
def process():
    """A process in the role of a driver on this host."""
    made = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield made
    made.kill()
    made.wait()


@pytest.fixture
def driven(eight, process):
    """A run in progress whose driver is that process."""

    def update(**values):
        own = {"host": socket.gethostname(), "pid": process.pid, "ticks": ticks_of(process.pid)}
        beat = {"heartbeat": time.time(), "epoch": 1}
        eight.update_status(**{"driver": own | beat} | values)
        return own

    update()
    return update


def test_a_server_that_is_gone_does_not_show_the_driver_as_dead(
    eight, driven, ways, watched, await_frame
):
    page = watched.page
    page.clock.install()
    page.goto(ways.serve("made"))
    page.clock.run_for(2000)
    expect(page.locator(".state")).to_have_text("running")
    ways.end()
    for _ in range(8):  # much longer than the silence after which a driver counts as dead
        page.clock.run_for(5000)
    expect(page.locator(".state")).to_have_text("not reachable")
    expect(page.locator(".notice")).to_contain_text("the server does not answer")
    expect(page.locator(".notice")).not_to_contain_text("driver")
    expect(page.locator(".notice code")).to_be_empty()
    watched.errors.clear()


def test_after_a_restart_of_the_server_the_page_says_which_link_to_open(
    eight, driven, ways, watched
):
    page = watched.page
    opened = ways.serve("made")
    page.goto(opened)
    expect(page.locator(".state")).to_have_text("running")
    ways.end()
    ways.serve("made", "--port", str(urlsplit(opened).port))
    expect(page.locator(".notice")).to_contain_text("the server was restarted", timeout=30_000)
    open_anew = "open the link that burstlens serve has printed"
    expect(page.locator(".notice")).to_contain_text(open_anew)
    watched.errors.clear()


def test_a_dead_driver_is_shown_as_gone(eight, driven, process, ways, page):
    page.goto(ways.serve("made"))
    expect(page.locator(".state")).to_have_text("running")
    process.kill()
    process.wait()
    expect(page.locator(".state")).to_have_text("driver gone")
    expect(page.locator(".notice code")).to_have_text("burstlens resume made")


@pytest.mark.parametrize("stopped", [True, False], ids=["suspended", "silent"])
def test_a_driver_that_lives_and_writes_nothing_is_shown_as_silent(
    eight, driven, process, ways, page, stopped
):
    own = driven()
    page.goto(ways.serve("made"))
    expect(page.locator(".state")).to_have_text("running")
    if stopped:
        os.kill(process.pid, signal.SIGSTOP)
    eight.update_status(driver=own | {"heartbeat": time.time() - OLD_S, "epoch": 1})
    expect(page.locator(".state")).to_have_text("driver silent")
    expect(page.locator(".notice")).to_contain_text(f"Its driver lives (pid {process.pid}")
    said = "is suspended" if stopped else "file system may not answer"
    expect(page.locator(".notice")).to_contain_text(said)
    expect(page.locator(".notice code")).to_be_empty()
    driven()
    os.kill(process.pid, signal.SIGCONT)
    expect(page.locator(".state")).to_have_text("running")


def test_a_missing_directory_does_not_show_the_driver_as_dead(eight, driven, ways, watched):
    page = watched.page
    page.goto(ways.serve("made"))
    expect(page.locator(".state")).to_have_text("running")
    away = eight.run.path.with_name("away")
    eight.run.path.rename(away)
    expect(page.locator(".state")).to_have_text("files away")
    expect(page.locator(".notice")).to_contain_text("the run's directory is missing")
    away.rename(eight.run.path)
    driven()
    expect(page.locator(".state")).to_have_text("running", timeout=40_000)
    watched.errors.clear()
