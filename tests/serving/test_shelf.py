"""Shelves of runs in several folders: which run is served, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from burstlens.clients.serving.server import Address, _start_text
from burstlens.clients.serving.shelf import Shelf, shelf_of, shelf_of_runs
from burstlens.core.durable import write_json
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir

ADDRESS = Address("http://127.0.0.1:1/x/?token=y", 1, "y", "ssh")


def made(folder, name, title="Storm"):
    run = RunDir(folder / name)
    run.create()
    write_json(run.facts, {"run": name, "title": title})
    return run


@pytest.fixture
def two(tmp_path, monkeypatch):
    """The user's runs, and those in the state folder."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "mine", tmp_path / "state" / "burstlens" / "runs"


def text(shelf, run):
    with shelf.locate(run, ["run.json"]) as handle:
        return json.loads(open(f"/proc/self/fd/{handle.fileno()}").read())["title"]


def test_without_a_place_the_runs_of_both_folders_are_served(two):
    mine, state = two
    made(mine, "storm", "mine")
    made(state, "storm", "hidden")
    made(state, "look", "looks")
    shelf = shelf_of(None)
    assert {row["run"]: row["title"] for row in shelf.rows()} == {"storm": "mine", "look": "looks"}
    assert (text(shelf, "storm"), text(shelf, "look")) == ("mine", "looks")
    assert shelf.only is None


def test_what_is_served_is_named_at_the_start(two):
    mine, state = two
    assert _start_text(shelf_of(None), ADDRESS, False).startswith(f"the runs in {mine}, without")
    names = [made(state, f"look-{number}") for number in range(6)]
    text = _start_text(shelf_of(None), ADDRESS, True)
    assert text.startswith(f"the runs in {mine} and {state}, with Stop:\n")
    assert _start_text(shelf_of_runs(names[:1]), ADDRESS, False).startswith("look-0, without")
    text = _start_text(shelf_of_runs(names), ADDRESS, False)
    assert text.startswith("look-0, look-1, look-2, look-3 and 2 more, without Stop:\n")


def test_exactly_the_runs_that_are_given_are_served(two):
    mine, state = two
    first, second = made(mine, "storm"), made(state, "look")
    made(mine, "other")
    shelf = shelf_of_runs([second, first])
    assert [row["run"] for row in shelf.rows()] == ["look", "storm"]
    assert shelf.run_dir("look").path == second.path
    with pytest.raises(FileNotFoundError):
        shelf.run_dir("other")
    assert shelf_of_runs([first]).only == "storm"


def test_two_runs_of_one_id_cannot_be_served_at_once(two):
    first, second = made(two[0], "storm"), made(two[1], "storm")
    assert shelf_of_runs([first, first]).only == "storm"
    with pytest.raises(RunError, match=r"two runs are called storm, in .*mine and .*runs"):
        shelf_of_runs([first, second])


@pytest.mark.parametrize("number", [0, 1])
def test_no_link_is_followed_in_either_folder(two, tmp_path, number):
    run = made(two[number], "storm")
    made(tmp_path / "elsewhere", "secret")
    (two[number] / "linked").symlink_to(tmp_path / "elsewhere" / "secret")
    (run.path / "logs" / "out").symlink_to(tmp_path / "elsewhere" / "secret" / "run.json")
    (run.path / "recipe.toml").symlink_to(tmp_path / "elsewhere" / "secret" / "run.json")
    shelf = Shelf(two)
    for name, parts in [("linked", ["run.json"]), ("storm", ["logs", "out"]),
                        ("storm", ["recipe.toml"]), ("storm", ["control", "stop"])]:  # fmt: skip
        with pytest.raises(OSError):
            shelf.locate(name, parts)
    assert [row["run"] for row in shelf.rows()] == ["storm"]


def test_a_run_that_the_first_folder_holds_is_never_taken_from_the_second(two, tmp_path):
    made(two[1], "storm")
    two[0].mkdir()
    (two[0] / "storm").symlink_to(tmp_path)
    with pytest.raises(NotADirectoryError):
        Shelf(two).run_dir("storm")


START = """
import sys
from burstlens.clients.serving.server import serve
from burstlens.clients.serving.shelf import shelf_of_runs
from burstlens.core.run.directory import open_run_dir
serve(shelf_of_runs([open_run_dir(it) for it in sys.argv[1:]]), port=0, allow_stop=False,
      as_json=True, open_browser=False)
"""


@pytest.fixture
def looks(standing, two):
    """Two real runs in two folders, and one that is not to be served."""
    assert standing.done().returncode == 0
    places = [two[0] / "storm", two[1] / "look", two[0] / "other"]
    for place in places:
        shutil.copytree(standing.runs / "done", place)
    return places


def test_a_server_of_several_runs_lists_just_these_and_they_can_be_compared(looks, page):
    command = [sys.executable, "-c", START, *map(str, looks[:2])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as server:
        try:
            page.goto(json.loads(server.stdout.readline())["url"])
            page.get_by_text("2 in all").wait_for()
            assert page.get_by_role("link").count() == 2
            page.get_by_role("link", name="storm").click()
            page.wait_for_url("**/storm/products/index.html")
            page.get_by_label("Compare with").fill("look")
            page.keyboard.press("Enter")
            page.locator(".theirs").get_by_text("look").wait_for()
            page.goto("about:blank")
        finally:
            server.terminate()


def test_a_server_of_one_run_shows_its_page_at_once(looks, page):
    command = [sys.executable, "-c", START, str(looks[1])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as server:
        try:
            page.goto(json.loads(server.stdout.readline())["url"])
            page.wait_for_url("**/look/products/index.html")
            page.goto("about:blank")
        finally:
            server.terminate()


def test_all_files_of_a_long_journal_are_served_and_no_other_file(two):
    mine, _ = two
    run = made(mine, "storm")
    for name in ("journal.jsonl", "journal-000001.jsonl", "journal-000001.history", "driver-1"):
        (run.path / name).write_text("{}\n")
    shelf = shelf_of(None)
    for path in run.journal_files:
        shelf.locate("storm", [path.name]).close()
    for name in ("journal-000001.history", "journal-1.jsonl", "driver-1"):
        with pytest.raises(FileNotFoundError):
            shelf.locate("storm", [name])
