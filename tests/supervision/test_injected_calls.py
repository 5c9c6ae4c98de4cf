"""A supervisor whose calls fail for a while: its program runs once, and its end is written."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from burstlens.core.durable import read_json
from burstlens.stagers.base import checksum

# The call, the path, the number of the first that fails and how many fail.
FAULTS = {
    "job-open": ("open", "*/job.json", 1, 2),
    "job-read": ("read", "*/job.json", 1, 2),
    "claim": ("open", "*/.claim.*.part", 1, 2),
    "claim-write": ("write", "*/.claim.*.part", 1, 1),
    "claim-read-for-baseline": ("open", "*/claim", 1, 1),
    "claim-read-for-started": ("open", "*/claim", 2, 1),
    "claim-read-for-ended": ("open", "*/claim", 3, 1),
    "folder": ("mkdir", "*/buffer/storm-1*", 1, 2),
    "program-log": ("open", "*/model.log", 1, 1),
    "baseline-rename": ("rename", "*/baseline.json", 1, 2),
    "started-open": ("open", "*/.started.json.part", 1, 2),
    "started-write": ("write", "*/.started.json.part", 1, 2),
    "ended-write": ("write", "*/.ended.json.part", 1, 2),
    "ended-fsync": ("fsync", "*/.ended.json.part", 1, 2),
    "ended-rename": ("rename", "*/ended.json", 1, 2),
    "log-home-read": ("read", "*/model.log", 1, 1),
    "log-home-write": ("write", "*/.model.log.*.part", 1, 1),
    "log-home-rename": ("rename", "*/logs/attempt-1/model.log", 1, 1),
}


@pytest.mark.parametrize(
    "number", [errno.EIO, pytest.param(errno.EINTR, marks=pytest.mark.slow)], ids=["EIO", "EINTR"]
)
@pytest.mark.parametrize("name", FAULTS)
def test_calls_that_fail_for_a_while_do_not_change_the_end(
    name: str, number: int, injector: Path, job: Any, supervise: Any, run_dir: Any, tmp_path: Path
):
    log = tmp_path / "injected"
    call, path, first, times = FAULTS[name]
    folder = job("echo once; exit 3")
    child = supervise(
        folder,
        LD_PRELOAD=str(injector),
        INJECT_COMMAND="*supervisor.py*",
        INJECT_CALL=call,
        INJECT_PATH=path,
        INJECT_FIRST=str(first),
        INJECT_TIMES=str(times),
        INJECT_ERRNO=str(number),
        INJECT_LOG=str(log),
    )
    code = child.wait(60)
    assert log.exists(), "no such call was made"
    assert code == 0, child.stderr.read()
    end = read_json(folder / "ended.json")
    assert (end["exit_code"], end["reason"]) == (3, "exited"), end
    assert (run_dir.logs / "attempt-1" / "model.log").read_text() == "once\n"
    left = [path for path in run_dir.path.rglob(".*") if path.name.endswith(".part")]
    assert not left


@pytest.mark.parametrize(
    ("call", "first"),
    [("write", 1), ("write", 3), ("read", 3), ("open", 1), ("fsync", 1), ("rename", 1)],
)
@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE], ids=["EIO", "ESTALE"])
def test_a_model_starts_on_whole_inputs_though_a_copy_failed_half_way(
    call: str, first: int, number: int, injector: Path, job: Any, supervise: Any, tmp_path: Path
):
    log, inputs = tmp_path / "injected", tmp_path / "buffer" / "storm-1" / "inputs"
    inputs.mkdir(parents=True)
    (inputs / "namelist.input").write_bytes(os.urandom(9 << 20))
    folder = job("cksum namelist.input; ls -A", inputs="storm-1/inputs", copied="namelist.*")
    child = supervise(
        folder,
        LD_PRELOAD=str(injector),
        INJECT_COMMAND="*supervisor.py*",
        INJECT_CALL=call,
        INJECT_PATH="*/storm-1/inputs/namelist.input" if call == "read" else "*/1/*namelist.input*",
        INJECT_FIRST=str(first),
        INJECT_TIMES="1",
        INJECT_ERRNO=str(number),
        INJECT_LOG=str(log),
    )
    assert child.wait(60) == 0, child.stderr.read()
    assert log.exists(), "no such call was made"
    assert read_json(folder / "ended.json")["reason"] == "exited"
    copied = tmp_path / "buffer" / "storm-1" / "1" / "namelist.input"
    assert checksum(copied) == checksum(inputs / "namelist.input")
    assert sorted(path.name for path in copied.parent.iterdir()) == ["model.log", "namelist.input"]


# Calls that do their work and report an error: the call and the path.
DONE = {
    "claim": ("link", "*/claim"),
    "model-folder": ("mkdir", "*/buffer/storm-1*"),
    "input-link": ("symlink", "*/storm-1/1/table"),
    "input-copy": ("rename", "*/storm-1/1/namelist.input"),
    "baseline": ("rename", "*/baseline.json"),
    "started": ("rename", "*/started.json"),
    "ended": ("rename", "*/ended.json"),
    "log-home": ("rename", "*/logs/attempt-1/model.log"),
}


@pytest.mark.parametrize("name", DONE)
def test_a_call_that_was_done_and_reported_as_failed_counts_as_done(
    name: str, injector: Path, job: Any, supervise: Any, run_dir: Any, tmp_path: Path
):
    log, inputs = tmp_path / "injected", tmp_path / "buffer" / "storm-1" / "inputs"
    inputs.mkdir(parents=True)
    (inputs / "namelist.input").write_text("settings")
    (inputs / "table").write_text("values")
    folder = job("cat namelist.input table; exit 3", inputs="storm-1/inputs", copied="namelist.*")
    child = supervise(
        folder,
        LD_PRELOAD=str(injector),
        INJECT_COMMAND="*supervisor.py*",
        INJECT_CALL=DONE[name][0],
        INJECT_PATH=DONE[name][1],
        INJECT_EFFECT="done",
        INJECT_ERRNO=str(errno.ESTALE),
        INJECT_LOG=str(log),
    )
    assert child.wait(60) == 0, child.stderr.read()
    assert log.exists(), "no such call was made"
    end = read_json(folder / "ended.json")
    assert (end["exit_code"], end["reason"]) == (3, "exited"), end
    assert (run_dir.logs / "attempt-1" / "model.log").read_text() == "settingsvalues"


@pytest.mark.parametrize("name", ["frame-done", "stop-now", "ended.json", "notify.json"])
def test_what_cannot_be_seen_while_the_model_runs_does_not_end_the_supervisor(
    name: str, injector: Path, job: Any, supervise: Any, run_dir: Any, wait_for: Any, tmp_path: Path
):
    log = tmp_path / "injected"
    sentinel = {"after_s": 600.0, "guards": False, "word": False}
    folder = job(
        f"sleep {60 if name == 'frame-done' else 3}; exit 3", stop_grace_s=1.0, sentinel=sentinel
    )
    child = supervise(
        folder,
        LD_PRELOAD=str(injector),
        INJECT_COMMAND="*supervisor.py*",
        INJECT_CALL="stat",
        INJECT_PATH=f"*/{name}",
        INJECT_TIMES="1000000",
        INJECT_ERRNO=str(errno.ESTALE),
        INJECT_LOG=str(log),
    )
    if name == "frame-done":
        wait_for((folder / "started.json").exists)
        run_dir.request("stop")
    assert child.wait(60) == 0, child.stderr.read()
    assert log.exists(), "no such call was made"
    end = read_json(folder / "ended.json")
    assert end["reason"] in ({"stop"} if name == "frame-done" else {"exited"}), end


def test_a_job_that_stays_unreadable_is_not_run(
    injector: Path, job: Any, supervise: Any, tmp_path: Path
):
    folder = job("echo once")
    (folder / "job.json").write_text("{")
    child = supervise(folder)
    assert child.wait(60) == 0
    end = read_json(folder / "ended.json")
    assert end["reason"] == "not started"
    assert "job.json" in end["message"]
