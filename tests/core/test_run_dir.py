from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from burstlens.core.durable import write_json
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir, all_runs, open_run_dir
from burstlens.core.run.facts import facts_of


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three runs, the newest last."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "many"))
    made = []
    for age, name in enumerate(["storm-1", "storm-2", "quake"]):
        run = RunDir(tmp_path / "many" / name)
        run.create()
        write_json(run.facts, {"run": name})
        os.utime(run.facts, (1000 + age, 1000 + age))
        made.append(run)
    return made


def test_a_run_is_found_by_id_start_path_and_as_the_last(runs):
    assert open_run_dir("storm-1").path == runs[0].path
    assert open_run_dir("qu").path == runs[2].path
    assert open_run_dir(str(runs[1].path)).path == runs[1].path
    assert open_run_dir("last").path == runs[2].path


def test_the_last_run_is_found_while_another_one_is_created(runs, monkeypatch):
    listed, iterdir = [], Path.iterdir

    def list_again(folder):
        if folder in listed:
            write_json(folder / "new" / "run.json", {"run": "new"})
        listed.append(folder)
        return iterdir(folder)

    (runs[0].path.parent / "new").mkdir()
    monkeypatch.setattr(Path, "iterdir", list_again)
    assert open_run_dir("last").path == runs[2].path


def test_an_unknown_run_is_reported_with_near_names(runs):
    with pytest.raises(RunError, match=r'no run "strom-1".*did you mean storm-1'):
        open_run_dir("strom-1")


def test_a_path_that_is_not_a_run_directory_is_reported_as_that(runs, tmp_path):
    with pytest.raises(RunError, match=r"/many is not a run directory: run\.json is missing"):
        open_run_dir(str(tmp_path / "many"))
    with pytest.raises(RunError, match="/many/gone does not exist; `burstlens list` shows"):
        open_run_dir(str(tmp_path / "many" / "gone"))


def test_a_start_that_several_runs_share_is_reported_with_their_names(runs):
    with pytest.raises(RunError, match="start of 2 runs: storm-2, storm-1"):
        open_run_dir("storm")


def test_runs_come_newest_first_and_other_folders_are_none(runs):
    (runs[0].path.parent / "notes").mkdir()
    assert [run.id for run in all_runs()] == ["quake", "storm-2", "storm-1"]


def test_no_folder_of_runs_holds_no_runs(tmp_path):
    assert list(all_runs(tmp_path / "absent")) == []


def test_a_run_is_never_made_twice(run_dir):
    with pytest.raises(RunError, match="exists already; --name takes another name"):
        run_dir.create()


def test_a_place_that_takes_no_folder_is_reported_with_a_remedy(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"Not a directory; BURSTLENS_RUNS names another"):
        RunDir(tmp_path / "file" / "run").create()


def test_folders_obey_the_umask_and_parsls_keys_are_the_users_alone(tmp_path):
    before = os.umask(0o027)
    try:
        run = RunDir(tmp_path / "run")
        run.create()
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (run.path, run.products)}
    assert set(modes.values()) == {0o750}
    assert stat.S_IMODE(run.parsl.stat().st_mode) == 0o700


def test_control_files_are_dropped_asked_for_and_taken_away(run_dir):
    assert run_dir.stop_requested() is None
    run_dir.request("stop")
    assert run_dir.stop_requested() == "stop"
    run_dir.request("stop-now")
    assert run_dir.stop_requested() == "stop-now"  # the stronger one
    run_dir.clear_control()
    run_dir.clear_control()
    assert run_dir.stop_requested() is None


def test_a_folder_without_facts_is_not_a_run(run_dir):
    with pytest.raises(RunError, match="not a complete run directory"):
        facts_of(run_dir)


def test_jobs_have_folders_by_kind(run_dir):
    assert run_dir.job("attempt-2") == run_dir.path / "attempts" / "2"
    assert run_dir.job("step-real-1") == run_dir.path / "steps" / "step-real-1"


def test_the_first_stop_stands_when_others_ask_later(run_dir):
    guard = {"by": "guard", "text": "w > 60"}
    run_dir.request("stop-now", guard)
    os.utime(run_dir.control / "stop-now", (1000, 1000))
    run_dir.request("stop")
    assert run_dir.stop_reason() == guard
    run_dir.clear_control()
    run_dir.request("stop-now")
    run_dir.request("stop", guard)
    assert (run_dir.stop_reason(), run_dir.stop_requested()) == ({}, "stop-now")
    assert not (run_dir.control / "stop").exists()


def test_of_guards_that_ask_at_once_the_first_stands(run_dir, monkeypatch):
    monkeypatch.setattr(
        type(run_dir), "stop_requested", lambda self: None
    )  # as both of them found it
    run_dir.request("stop", {"by": "guard", "text": "first"})
    run_dir.request("stop", {"by": "guard", "text": "second"})
    assert run_dir.stop_reason()["text"] == "first"


def test_a_guard_makes_a_persons_stop_quicker_and_it_stays_the_persons(run_dir):
    run_dir.request("stop")
    os.utime(run_dir.control / "stop", (1000, 1000))
    run_dir.request("stop-now", {"by": "guard"})
    assert (run_dir.stop_requested(), run_dir.stop_reason()) == ("stop-now", {})


@pytest.mark.parametrize(
    "make",
    [os.mkdir, os.mkfifo, lambda path: path.write_text("[" * 100_000),
     lambda path: path.write_text('{"by": "guard", "text": "' + "x" * (1 << 20) + '"}'),
     lambda path: path.symlink_to("../run.json"), lambda path: path.write_bytes(b"\xff")],
    ids=["folder", "pipe", "deep", "large", "link", "no-text"],
)  # fmt: skip
def test_a_foreign_stop_file_gives_no_reason(run_dir, make):
    write_json(run_dir.facts, {"by": "guard"})
    make(run_dir.control / "stop")
    assert run_dir.stop_reason() == {}


def test_a_request_follows_no_link(run_dir, tmp_path):
    (run_dir.control / "stop").symlink_to(tmp_path / "made")
    with pytest.raises(RunError, match="cannot write"):
        run_dir.request("stop")
    run_dir.clear_control()
    run_dir.control.rename(tmp_path / "elsewhere")
    run_dir.control.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="cannot write"):
        run_dir.request("stop-now")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (tmp_path / "made").exists()


def test_a_folder_in_the_place_of_a_stop_is_reported(run_dir):
    (run_dir.control / "stop").mkdir()
    with pytest.raises(RunError, match=r"cannot take .*control/stop away"):
        run_dir.clear_control()
