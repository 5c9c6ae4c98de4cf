"""The status of runs, from their directories alone."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import time

import pytest
from msgspec.structs import replace

from burstlens.clients.cli.looking import list_runs
from burstlens.clients.opened.status import facts, next_steps, read_status, rows, text
from burstlens.core.decode import record
from burstlens.core.durable import read_json, write_json
from burstlens.core.run.directory import RunDir
from burstlens.core.run.places import remember_folder


@pytest.fixture
def changed(standing, tmp_path, monkeypatch):
    """A copy of a real run whose snapshot is changed; returns how it stands then."""

    def make(name, **fields):
        getattr(standing, name)()
        run = RunDir(tmp_path / "runs" / name)
        run.path.mkdir(parents=True, exist_ok=True)
        shutil.copy(standing.runs / name / "run.json", run.facts)
        write_json(run.status, {**read_json(standing.runs / name / "status.json"), **fields})
        monkeypatch.setenv("BURSTLENS_RUNS", str(run.path.parent))
        return read_status(name)

    return make


@pytest.mark.slow
def test_a_driver_that_was_killed_leaves_a_run_that_is_lost_and_can_be_resumed(own_runs):
    driver = own_runs.start("storm")
    assert own_runs.call("status", "storm").stdout.startswith("storm: running\n")
    driver.send_signal(signal.SIGKILL)
    # Not waited for: a zombie drives nothing either.
    own_runs.await_that(
        lambda: not json.loads(own_runs.call("status", "storm", "--json").stdout)["driver_alive"],
        "storm",
    )
    said = own_runs.call("status", "storm").stdout.splitlines()
    assert said[:2] == [
        "storm: lost",
        "  its driver is gone; a model that was started may go on",
    ]
    assert said[-2:] == [
        "  go on with: burstlens resume storm",
        "  give its buffer back: burstlens free storm",
    ]
    driver.wait()


@pytest.mark.fault  # the test before it has a run whose driver was killed
def test_whether_the_model_has_ended_is_shown_and_heeded_without_a_driver(own_runs):
    driver = own_runs.start("storm")
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    first = own_runs.call("stop", "storm", "--now")
    assert "its driver is gone, burstlens status storm shows when the model" in first.stdout
    own_runs.await_that(
        lambda: json.loads(own_runs.call("status", "storm", "--json").stdout)["model_ended"],
        "storm",
    )
    said = own_runs.call("status", "storm").stdout.splitlines()
    assert said[1] == "  its driver is gone, and the model has ended"
    (own_runs.runs / "storm" / "control" / "stop-now").unlink()
    again = own_runs.call("stop", "storm")
    assert again.stdout.startswith("the model of storm has ended already")
    assert not list((own_runs.runs / "storm" / "control").glob("stop*"))


def test_a_driver_on_another_host_is_known_by_its_heartbeat(changed):
    elsewhere = {"host": f"not-{socket.gethostname()}", "pid": 1, "ticks": 1}
    stale = {**elsewhere, "heartbeat": time.time() - 60}
    assert changed("live", state="running", driver=stale).state == "lost"
    fresh = {**elsewhere, "heartbeat": time.time()}
    assert changed("live", state="running", driver=fresh).state == "running"
    assert changed("done", driver=stale).state == "done"


def test_a_run_that_has_not_begun_is_new_and_lost_without_a_driver(run_dir, monkeypatch):
    monkeypatch.setenv("BURSTLENS_RUNS", str(run_dir.path.parent))
    write_json(run_dir.facts, {"title": "Storm", "created": time.time()})
    assert text(read_status("storm-1")).startswith("storm-1: new\n  frames    0 ready")
    write_json(run_dir.facts, {"title": "Storm", "created": time.time() - 60})
    assert read_status("storm-1").state == "lost"


def test_the_pictures_are_said_to_be_where_the_run_is_and_not_where_it_was(changed, tmp_path):
    moved = changed("done", pictures="/another/mount/runs/done/products")
    assert dict(facts(moved))["pictures"] == str(tmp_path / "runs" / "done" / "products")


def test_a_run_that_was_renamed_is_called_by_the_name_of_its_directory(changed):
    assert text(changed("done", run="before")).startswith("done: done\n")


def test_a_snapshot_that_is_not_json_is_ignored(run_dir, monkeypatch):
    monkeypatch.setenv("BURSTLENS_RUNS", str(run_dir.path.parent))
    write_json(run_dir.facts, {"title": "Storm", "created": time.time()})
    run_dir.status.write_text('{"state": "run')
    assert read_status("storm-1").state == "new"


def test_two_runs_of_one_id_are_both_listed_with_their_folders(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("BURSTLENS_RUNS")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for project, name in (("a", "storm"), ("b", "storm"), ("b", "quake")):
        run = RunDir(tmp_path / project / "runs" / name)
        run.create()
        write_json(run.facts, {"run": name})
        remember_folder(run.path.parent)
    monkeypatch.chdir(tmp_path)
    list_runs()
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 3
    storms = [line for line in said if line.startswith("storm")]
    for folder in (tmp_path / "a" / "runs", tmp_path / "b" / "runs"):
        assert sum(line.endswith(f", in {folder}") for line in storms) == 1
    (quake,) = (line for line in said if line.startswith("quake"))
    assert ", in " not in quake


def test_runs_are_listed_the_newest_first(standing, monkeypatch):
    standing.done()
    standing.failed()
    monkeypatch.setenv("BURSTLENS_RUNS", str(standing.runs))
    states = {row["run"]: row["state"] for row in rows()}
    assert [name for name in states if name in {"done", "failed"}] == ["failed", "done"]
    assert (states["done"], states["failed"]) == ("done", "failed")


def test_what_is_shown_of_a_run_in_progress(standing, changed):
    standing.live()  # before the heartbeat below, which a slow start would make a stale one
    progress = {"time": "00010101T010000", "fraction": 0.5, "speed": 48.2, "eta_s": 75.0,
                "rate_mpps": None, "phase": "running"}  # fmt: skip
    shown = dict(facts(changed(
        "live", state="running", progress=progress, backlog=1, block="queued",
        waits_for="Resources", frames={"ready": 3, "damaged": 1}, block_waits="Priority\x1b",
        products={"w": {"published": 2, "failed": 1}},
        ledger={"raw_bytes": 16_000_000, "product_bytes": 10_000_000},
        driver={"host": "elsewhere", "heartbeat": time.time()},
    )))  # fmt: skip
    assert shown["model"] == "50 %, 0001-01-01 01:00:00 UTC, 48.2 times real time, ETA 1 min 15 s"
    assert shown["frames"] == "3 ready, 1 damaged, 1 product to be made"
    assert shown["w"] == "2 published, 1 failed"
    assert shown["ledger"] == "15.3 MiB raw, 9.54 MiB brought out, 1.6 times less"
    assert shown["waits"] == "in the scheduler's queue: Resources"
    assert shown["viewing"] == "queued: Priority"
    assert "took" not in shown


def test_a_model_is_at_100_percent_when_it_has_ended_and_not_before(changed):
    shown = dict(facts(changed("done", progress={"fraction": 0.997})))
    assert shown["model"] == "99 %"
    assert dict(facts(changed("done", progress={"fraction": 1.0})))["model"] == "100 %"


def test_what_is_shown_of_a_run_that_is_over(changed):
    ended = changed("done", started=1000.0, took_s=85.0, backlog=0, driver={"heartbeat": 9085.0})
    shown = dict(facts(ended))
    assert (shown["frames"], shown["took"]) == ("3 ready", "1 min 25 s")
    resumed = dict(facts(replace(ended, idle_s=8000.0)))
    assert resumed["took"] == (
        "1 min 25 s, without 2 h 13 min in which neither driver nor model ran"
    )
    assert "ETA" not in shown["model"]
    assert not {"buffer", "waits", "viewing"} & set(shown)
    assert next_steps(ended) == []


def test_a_buffer_that_is_kept_is_named_with_the_command_that_gives_it_back(changed):
    kept = changed("failed")
    assert dict(facts(kept))["buffer"] == f"kept, {kept.buffer.path}"
    assert next_steps(kept)[1] == "give its buffer back: burstlens free failed"
    kept = replace(kept, buffer=replace(kept.buffer, name="case"))
    assert dict(facts(kept))["buffer"] == "kept, case"
    kept = replace(kept, buffer=replace(kept.buffer, released=True))
    assert "buffer" not in dict(facts(kept))
    assert next_steps(kept) == ["go on with: burstlens resume failed"]


@pytest.mark.parametrize(
    ("part", "home", "told"),
    [
        ({"name": ""}, 0, ("not given back, {path}", "none in output/; they go with the buffer")),
        ({"name": "case"}, 2, ("not given back, case",
                               "2 files (2.00 MiB) in output/; the others go with the buffer")),
        ({"name": "", "path": "$B/r"}, 0, ("not given back, that of its job",
                                           "none in output/; they go with the buffer")),
        ({"name": "case", "owned": False}, 0, ("kept, case", "still on the buffer")),
    ],
)  # fmt: skip
def test_a_buffer_that_is_left_was_not_kept(changed, part, home, told):
    buffer = record(changed("done").buffer) | {"released": False} | part
    outcome = {"state": "done", "exit_code": 8, "left": "it is left"}
    raw = {"home": home, "home_bytes": home * 1024**2, "released": 0}
    shown = dict(facts(changed("done", outcome=outcome, buffer=buffer, raw=raw)))
    expected = tuple(text.format(path=buffer["path"]) for text in told)
    assert (shown["buffer"], shown["raw files"]) == expected


def test_a_guard_that_has_judged_nothing_is_not_called_quiet(changed):
    guards = [{"name": name, "state": name} for name in ("good", "waiting", "tripped")]
    shown = dict(facts(changed("done", guards=guards)))["guards"]
    assert shown == "tripped tripped, 1 quiet, 1 waiting"


def test_a_run_that_a_guard_has_stopped_says_that_the_guard_looks_again(changed):
    outcome = {"state": "stopped", "exit_code": 3, "message": "stopped by guard"}
    (step, *_) = next_steps(changed("failed", state="stopped", outcome=outcome))
    assert step == "go on with: burstlens resume failed; the guard that stopped it looks again"


KEPT = "which [stage_out] keep names"


@pytest.mark.parametrize(
    ("released", "home", "gone", "said"),
    [
        (
            True,
            2,
            0,
            f"deleted, but for 2 files (2.00 MiB) in output/, {KEPT}",
        ),
        (True, 0, 0, "deleted, all: [stage_out] keep brought none home"),
        (False, 0, 0, "still on the buffer"),
        (False, 1, 3, "still on the buffer, but of 3 frames; 1 file (1.00 MiB) in output/"),
    ],
)
def test_the_end_says_in_one_line_which_raw_files_were_deleted(changed, released, home, gone, said):
    raw = {"home": home, "home_bytes": home * 1024**2, "released": gone}
    buffer = record(changed("done").buffer) | {"released": released}
    assert dict(facts(changed("done", raw=raw, buffer=buffer)))["raw files"] == said


def test_a_run_that_is_done_kept_what_its_recipe_names(changed):
    status = changed("done")
    assert status.raw.home == status.frames.ready
    assert dict(facts(status))["raw files"].startswith("deleted, but for 3 files (")
