"""Where runs lie and are found: the folder of the user's choice, ./runs, the state folder."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from burstlens.core.durable import write_json
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir, all_runs, folder_for, open_run_dir, runs_in
from burstlens.core.run.making import made_aside
from burstlens.core.run.places import (
    all_folders,
    remember_folder,
    runs_folder,
    runs_folders,
    state_folder,
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The user's current folder, without BURSTLENS_RUNS."""
    monkeypatch.delenv("BURSTLENS_RUNS")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def made(folder, name, age=0):
    run = RunDir(folder / name)
    with made_aside(run) as aside:
        write_json(aside.facts, {"run": name, "title": str(folder)})
    os.utime(run.facts, (1000 + age, 1000 + age))
    return run


def test_a_look_at_another_folder_lies_in_runs_of_the_current_one(home, tmp_path):
    assert folder_for(tmp_path / "elsewhere") == home / "runs"
    assert list((home / "runs").iterdir()) == []


@pytest.mark.parametrize("looked_at", [".", "..", "runs", "link"])
def test_nothing_is_written_below_the_folder_that_is_looked_at(home, tmp_path, looked_at):
    (home / "link").symlink_to(home)
    # The state folder of a user who looks at his whole home folder lies there as well.
    os.environ["XDG_STATE_HOME"] = str(tmp_path.parent / f"{tmp_path.name}-state")
    assert folder_for(home / looked_at) == state_folder()
    assert not (home / "runs").exists()


def test_a_link_of_runs_into_the_folder_is_followed(home, tmp_path):
    inside = tmp_path / "model" / "runs"
    inside.mkdir(parents=True)
    (home / "runs").symlink_to(inside)
    assert folder_for(tmp_path / "model") == state_folder()
    assert folder_for(tmp_path / "other") == inside


def test_where_runs_cannot_be_made_the_state_folder_serves(home, tmp_path):
    (home / "runs").write_text("a file")
    assert folder_for(tmp_path / "model") == tmp_path / "state" / "burstlens" / "runs"


@pytest.mark.integration
def test_in_a_folder_without_write_permission_the_state_folder_serves(home, tmp_path, ordinary):
    home.chmod(0o555)
    code = "from burstlens.core.run.directory import folder_for; print(folder_for('/nowhere'))"
    done = subprocess.run(
        [*ordinary, sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(state_folder())
    home.chmod(0o755)
    (home / "runs").mkdir(mode=0o555)
    done = subprocess.run(
        [*ordinary, sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(state_folder())
    assert list((home / "runs").iterdir()) == []


def test_a_current_folder_that_is_gone_is_passed_over(home, tmp_path):
    home.rmdir()
    assert folder_for(tmp_path / "model") == state_folder()


def test_the_place_that_is_named_counts_and_may_not_lie_below_the_folder(
    home, tmp_path, monkeypatch
):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "mine"))
    assert folder_for(home) == tmp_path / "mine"
    with pytest.raises(RunError, match=r"below .*: nothing is written there; BURSTLENS_RUNS"):
        folder_for(tmp_path)


def test_a_state_folder_below_the_folder_is_refused(home, tmp_path):
    with pytest.raises(RunError, match="state/burstlens/runs, which is below"):
        folder_for(tmp_path)


def test_runs_of_both_folders_are_found_and_a_name_means_the_one_in_the_first(home):
    mine = made(home / "runs", "storm", age=1)
    namesake = made(state_folder(), "storm", age=9)
    look = made(state_folder(), "look-model", age=2)
    assert {run.path for run in all_runs()} == {look.path, mine.path, namesake.path}
    assert open_run_dir("storm").path == mine.path
    assert open_run_dir("look").path == look.path
    assert open_run_dir("last").path == look.path
    assert [run.id for run in all_runs(home / "runs")] == ["storm"]


def test_an_unknown_run_is_reported_with_the_folders_that_exist(home):
    made(home / "runs", "storm")
    with pytest.raises(RunError, match=rf'no run "x" in {home}/runs; there are storm'):
        open_run_dir("x")
    made(state_folder(), "look-model")
    with pytest.raises(RunError, match=rf'no run "x" in {home}/runs and .*/burstlens/runs; '):
        open_run_dir("x")


def test_the_same_folder_is_looked_through_once(home, monkeypatch):
    monkeypatch.setenv("BURSTLENS_RUNS", str(state_folder()))
    assert runs_folders() == (runs_folder(),)


@pytest.mark.integration
def test_a_state_folder_that_cannot_be_read_hides_no_other_run(home, ordinary):
    made(home / "runs", "storm")
    made(state_folder(), "look")
    state_folder().chmod(0)
    code = "from burstlens.core.run.directory import all_runs; print(*[it.id for it in all_runs()])"
    done = subprocess.run(
        [*ordinary, sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["storm"]


def test_runs_are_found_wherever_a_command_is_called(home, tmp_path, monkeypatch):
    storm = made(home / "runs", "storm", age=1)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    here = made(elsewhere / "runs", "quake", age=2)
    monkeypatch.chdir(tmp_path)
    assert [run.path for run in all_runs()] == [here.path, storm.path]
    assert open_run_dir("last").path == here.path
    monkeypatch.setenv("BURSTLENS_RUNS", str(home / "runs"))
    assert [run.path for run in all_runs()] == [storm.path]


def test_where_a_project_has_runs_a_command_means_these(home, tmp_path, monkeypatch):
    storm = made(home / "runs", "storm-1", age=1)
    quake = made(tmp_path / "elsewhere" / "runs", "storm-quake", age=2)
    assert open_run_dir("last").path == storm.path
    assert open_run_dir("storm").path == storm.path
    assert open_run_dir("storm-quake").path == quake.path


def test_the_newest_hundred_folders_are_kept_in_mind(home):
    for number in range(103):
        remember_folder(home / f"caf\udce9{number}")
        remember_folder(home / f"caf\udce9{number}")
    known = all_folders()[2:]
    assert known == tuple(home / f"caf\udce9{number}" for number in range(102, 2, -1))


def test_a_state_folder_that_is_a_file_keeps_no_run_from_being_made(home, tmp_path):
    (tmp_path / "state").write_text("")
    assert made(home / "runs", "storm").path.is_dir()
    assert [run.id for run in all_runs()] == ["storm"]


def test_of_two_runs_of_one_id_elsewhere_the_path_says_which(home, tmp_path, monkeypatch):
    storm = made(home / "runs", "storm", age=1)
    namesake = made(tmp_path / "elsewhere" / "runs", "storm", age=2)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    with pytest.raises(RunError, match="the id of 2 runs") as raised:
        open_run_dir("storm")
    for run in (storm, namesake):
        assert str(run.path) in str(raised.value)
        assert open_run_dir(str(run.path)).path == run.path


def test_the_start_of_an_id_that_two_runs_have_elsewhere_is_refused_and_last_is_the_newest(
    home, tmp_path, monkeypatch
):
    made(home / "runs", "demo-1", age=1)
    namesake = made(tmp_path / "b" / "runs", "demo-1", age=9)
    other = made(tmp_path / "c" / "runs", "other-1", age=5)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    with pytest.raises(RunError, match="the id of 2 runs"):
        open_run_dir("demo")
    assert open_run_dir("oth").path == other.path
    assert open_run_dir("last").path == namesake.path


def test_a_folder_of_runs_under_two_names_has_each_run_once(home, tmp_path):
    storm = made(home / "runs", "storm")
    (tmp_path / "link").symlink_to(home / "runs")
    assert [run.id for run in runs_in([home / "runs", tmp_path / "link"])] == [storm.id]
