"""A run's status on a terminal, in a file, and on a closed terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest
from msgspec.structs import replace
from rich.console import Console

from burstlens.clients.opened.status import facts
from burstlens.clients.terminal import View, one_line, screen, summary
from burstlens.core.decode import convert
from burstlens.core.run.status_file import QueuePart, RunStatus

ESCAPE = "\x1b"


@pytest.fixture
def status(standing):
    """The status of a real run, with other values for some of its keys."""

    def read(name, **values):
        getattr(standing, name)()
        printed = json.loads(standing.call("status", name, "--json").stdout)
        return convert(printed | values, RunStatus)

    return read


def shown(renderable, width=100, *, terminal=True):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=width, highlight=False)
    console.print(renderable)
    return console.file.getvalue()


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_screen_holds_every_fact_and_stays_inside_the_terminal(status, width):
    found = status("live")
    seen = plain(shown(screen(found, width), width + 2))
    assert {len(line) for line in seen.splitlines()} == {width}
    words = re.sub(r"[\s│]+", "", seen)
    for label, value in facts(found):
        assert label in seen
        assert re.sub(r"\s+", "", value) in words
    assert "Supercell · live" in seen
    assert len(seen.splitlines()) <= 24


def test_the_newest_events_are_shown_with_the_local_time_of_day(status):
    at = time.mktime((2026, 11, 21, 9, 5, 7, 0, 0, -1))
    found = status("done", events=[{"t": at, "text": "watching is paused"}])
    assert "09:05:07  watching is paused" in plain(shown(screen(found, 100)))


def test_damage_is_red(status):
    found = status("failed")
    assert re.search(r"1 ready, \x1b\[31m1 damaged\x1b", shown(summary(found, plain=False)))
    assert re.search(r"1 published, \x1b\[31m1 failed\x1b", shown(screen(found, 98)))


def test_markup_in_what_a_model_says_is_shown_as_it_is(status):
    phase = "[bold]spin-up[/bold] [/]"
    found = status("live", progress={"phase": phase}, waits_for="[red]Priority[/red]\x1b[2J")
    seen = plain(shown(screen(found, 120), 120))
    assert "[bold]spin-up[/bold] [/]" in seen
    assert "[red]Priority[/red][2J" in seen


def test_a_place_in_the_queue_and_the_expected_start_are_shown_where_they_are_known(status):
    place = {"by": "Slurm", "partition": "batch", "position": 3, "of": 12, "start": 2e9}
    found = status("live", waits_for="Priority", queue=place)
    then = time.strftime("%Y-%m-%d %H:%M", time.localtime(2e9))
    text = f"queue: Priority, 3rd of 12 in batch, expected start {then} by Slurm's estimate"
    assert text in one_line(found)
    assert text in " ".join(plain(shown(screen(found, 200), 200)).split())
    found = replace(found, queue=QueuePart(by="Slurm", start=time.time()))
    assert re.search(r"queue: Priority, expected start \d\d:\d\d by Slurm's", one_line(found))


def test_a_snapshot_is_one_line(status):
    found = status("live")
    line = one_line(found)
    assert "\n" not in line
    assert re.match(r"\d\d:\d\d:\d\d  running  50 %, 0001-01-01 00:01:00 UTC", line)
    assert "1 frame ready, " in line


def test_a_file_gets_a_line_for_each_new_state_and_each_alarm_once(status):
    found = status("failed")
    console = Console(file=io.StringIO(), width=40)
    with View(console) as view:
        for state in ("starting", "starting", "running", "running", "failed"):
            view.show(replace(found, state=state))
        view.end(found)
    lines = console.file.getvalue().splitlines()
    alarms = [line for line in lines if line.startswith("! ")]
    assert alarms == [f"! {alarm.text}" for alarm in found.alarms]
    states = [line.split()[1] for line in lines if re.match(r"\d\d:", line)]
    assert states == ["starting", "running", "failed"]
    # Not cut at the width: a path in a log is to be copied.
    assert ["pictures", found.pictures] in [line.split() for line in lines]
    assert ESCAPE not in console.file.getvalue()


@pytest.mark.slow
def test_a_run_goes_on_when_its_output_is_not_read(own_runs):
    own_runs.prepare("storm", "--interval 0.3")
    with subprocess.Popen(
        [sys.executable, "-m", "burstlens", *own_runs.words("storm")],
        env=os.environ | own_runs.environment, cwd=own_runs.folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as driver:  # fmt: skip
        assert driver.stdout.readline() == "run storm\n"
        driver.stdout.close()
        said = driver.stderr.read()
    assert (driver.returncode, said) == (0, "")
    assert own_runs.events("storm")[-1] == "run.ended"
    assert own_runs.call("status", "storm").stdout.startswith("storm: done\n")


def test_on_a_terminal_the_live_view_takes_itself_away_and_gives_the_cursor_back(standing):
    standing.live()
    upper, lower = pty.openpty()
    env = os.environ | standing.environment | {"TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-m", "burstlens", "watch", "live"],
        stdin=lower, stdout=lower, stderr=lower, env=env, cwd=standing.folder,
        start_new_session=True,
    ) as watch:  # fmt: skip
        os.close(lower)
        said = b""
        end = time.monotonic() + 60
        while said.count(b"Supercell") < 3 and time.monotonic() < end:
            said += os.read(upper, 65536)
        watch.send_signal(signal.SIGINT)
        try:
            while part := os.read(upper, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
    os.close(upper)
    assert watch.returncode == 0
    assert b"Traceback" not in said
    assert said.count(b"Supercell") >= 3
    hidden, back = said.rfind(b"\x1b[?25l"), said.rfind(b"\x1b[?25h")
    assert -1 < hidden < back
