"""The link in a word: the page on a server that shows the run now, else the page's file."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from notify_case import WORD

from burstlens.core.run import served
from burstlens.core.run.directory import RunDir
from burstlens.core.run.served import Note, link_to
from burstlens.workflows.notify.way import Way

URL = "http://127.0.0.1:4711/folder/"


@pytest.fixture
def note(run_dir, monkeypatch, tmp_path):
    """Keeps a server's note for the run, or for the folders and runs that are given."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def keep(folders=(), runs=None):
        made = Note(URL, "t0ken", folders, [run_dir.path] if runs is None else runs)
        made.renew()
        (path,) = (tmp_path / "state" / "burstlens" / "servers").glob("*.json")
        return path

    return keep


def test_without_a_server_it_is_the_path_of_the_page(run_dir):
    assert link_to(run_dir, token=True) == str(run_dir.products / "index.html")


def test_it_is_the_page_on_a_server_that_shows_the_run(run_dir, note):
    path = note()
    assert path.stat().st_mode & 0o777 == 0o600
    page = f"{URL}storm-1/products/index.html"
    assert link_to(run_dir, token=True) == f"{page}?token=t0ken"
    assert link_to(run_dir, token=False) == page


def test_a_server_of_a_folder_shows_all_of_its_runs_and_no_other(run_dir, note, tmp_path):
    note(folders=[run_dir.path.parent], runs=[])
    assert link_to(run_dir, token=False).startswith(URL)
    assert not link_to(RunDir(tmp_path / "elsewhere" / "storm-1"), token=False).startswith(URL)


@pytest.mark.parametrize("fault", ["old", "torn", "list"])
def test_a_note_of_a_dead_server_or_a_damaged_one_is_passed_over(run_dir, note, fault):
    path = note()
    if fault == "old":
        old = time.time() - 2 * served.STALE_S
        os.utime(path, (old, old))
    else:
        path.write_text("[1]" if fault == "list" else path.read_text()[:30])
    assert link_to(run_dir, token=True).startswith("/")


@pytest.mark.integration
def test_only_ways_of_the_user_get_the_token(sender, web, note):
    note()
    assert sender.send(Way("webhook", (f"{web.url}/theirs",), "recipe")) == []
    sender.run.journal.unlink()
    assert sender.send(Way("webhook", (f"{web.url}/mine",)), word=WORD) == []
    links = {path: json.loads(body)["link"] for path, _, body in web.posted}
    assert "token" not in links["/theirs"]
    assert links["/mine"].endswith("?token=t0ken")


def test_the_users_own_way_counts_where_a_guard_names_the_same(sender, web, config, note):
    config(f'[notify]\nwebhook = "{web.url}"\nallow = ["webhook"]\n')
    note()
    sender.send(Way("webhook", (web.url,), of="CFL", guard=True))
    assert [facts["link"].endswith("?token=t0ken") for facts in web.facts()] == [True]


@pytest.mark.integration
def test_the_link_of_a_real_server_opens_the_page_and_goes_with_the_server(standing, tmp_path):
    assert standing.done().returncode == 0
    run = RunDir(standing.runs / "done")
    command = [sys.executable, "-m", "burstlens", "serve", str(run.path), "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        end = time.monotonic() + 120
        while (link := link_to(run, token=True)).startswith("/"):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert link.startswith(url.partition("?")[0])
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(link, timeout=60) as page:
            assert b"<html" in page.read()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(120)
    assert link_to(run, token=True).startswith("/")


@pytest.fixture
def server(standing, monkeypatch, tmp_path):
    """Starts a real server that opens a browser; gives it, and the folder of the notes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("DISPLAY", ":4711")
    monkeypatch.setenv("BROWSER", "true")
    standing.done()
    notes = tmp_path / "state" / "burstlens" / "servers"
    started = []

    def start():
        command = [
            sys.executable,
            "-m",
            "burstlens",
            "serve",
            str(standing.runs / "done"),
            "--json",
        ]
        made = subprocess.Popen([*command, "--open"], stdout=subprocess.PIPE, text=True)
        started.append(made)
        assert made.stdout is not None
        token = json.loads(made.stdout.readline())["token"]
        end = time.monotonic() + 120
        while len(names := {path.suffix for path in notes.glob(f"*-{made.pid}-*")}) < 2:
            assert time.monotonic() < end, names
            time.sleep(0.05)
        assert all(token in path.read_text() for path in notes.glob(f"*-{made.pid}-*"))
        return made

    yield start, notes
    for made in started:
        made.kill()
        made.wait(120)


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP", "SIGQUIT"])
def test_no_file_holds_the_token_of_a_server_that_was_ended(server, number):
    start, notes = server
    made = start()
    made.send_signal(getattr(signal, number))
    assert made.wait(120) == 0
    assert list(notes.iterdir()) == []


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("command", ["list", "status", "serve", "word"])
def test_what_a_killed_server_left_goes_when_somebody_looks(server, run_dir, command, standing):
    start, notes = server
    made, other = start(), start()
    made.kill()
    made.wait(120)
    assert len(list(notes.iterdir())) == 4
    if command == "serve":
        start()
    elif command == "word":
        link_to(run_dir, token=False)
    else:
        words = [command, *([str(standing.runs / "done")] if command == "status" else [])]
        subprocess.run([sys.executable, "-m", "burstlens", *words], check=True, capture_output=True)
    assert not list(notes.glob(f"*-{made.pid}-*"))
    assert len(list(notes.glob(f"*-{other.pid}-*"))) == 2


@pytest.mark.parametrize(("name", "stays"), [
    ("elsewhere-{pid}-5.json", True), ("{host}-{pid}-{ticks}.json", True),
    ("{host}-{pid}-{ticks}.html", True), ("{host}-{pid}-5.json", False),
    (".{host}-{pid}-5.json.part", False), ("{host}-{pid}.json", True),
])  # fmt: skip
def test_a_note_is_judged_by_its_process(note, name, stays):
    own = note()
    name = name.format(host=socket.gethostname(), pid=os.getpid(), ticks=own.stem.split("-")[-1])
    path = own.with_name(name)
    path.write_text("{}")
    served.remove_dead_notes()
    assert path.exists() == stays
    path.touch(0o600)
    os.utime(path, (1, 1))
    served.remove_dead_notes()
    assert path.exists() == name.startswith(own.stem)  # an old one of another host, or without one
