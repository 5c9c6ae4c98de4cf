"""What a job's host brings home when no driver does, and what the next driver makes of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from awm_texts import PARAMETERS

from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import RunFacts, write_facts
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import Journal
from burstlens.core.run.record import stamp
from burstlens.workflows.driver.home_taken import settle_home
from burstlens.workflows.driver.run import recipe_of
from burstlens.workflows.placement import host as hosts
from burstlens.workflows.publishing.context import RunContext

pytestmark = pytest.mark.integration

FOLDER = "storm-1-0a1b"


def key(second: float) -> str:
    return f"t{second:012.3f}"


def name(second: float) -> str:
    return f"checkpoint_{round(100 * second):07d}.awm"


@pytest.fixture
def run(tmp_path: Path, run_dir: RunDir) -> RunDir:
    """A run whose driver died in attempt 1, which has left two checkpoints and a frame."""
    inputs, folder = tmp_path / "inputs", tmp_path / "buffer" / FOLDER / "1"
    inputs.mkdir()
    folder.mkdir(parents=True)
    (inputs / "awm.toml").write_text(PARAMETERS)
    (folder / "awm.toml").write_text(PARAMETERS)
    for file in (name(1.0), name(2.0), "surface_000000.nc", "model.log"):
        (folder / file).write_bytes(file.encode())
    table = {
        "simulation": {"model": "awm", "inputs": str(inputs)}, "product": [],
        "stage_out": {"keep": ["*.nc"]},
    }  # fmt: skip
    facts = {"recipe": "any", "source": "any.toml", "table": table, "site": "local", **stamp()}
    write_facts(run_dir, RunFacts(run=run_dir.id, buffer_folder=FOLDER, **facts))
    buffer = {"kind": "posix", "path": "$BURSTLENS_JOB_BUFFER", "folder": FOLDER}
    with_driver(
        run_dir, ev.RunStarted(), ev.BufferCreated(**buffer),
        ev.SimulationSubmitting(job="attempt-1", attempt=1),
        ev.CheckpointWhole(attempt=1, time=key(1.0), files=[name(1.0)], bytes=1),
    )  # fmt: skip
    job = run_dir.job("attempt-1")
    job.mkdir(parents=True)
    (job / "baseline.json").write_text("{}")
    (job / "ended.json").write_text("{}")
    run_dir.status.write_text("{}")
    return run_dir


def with_driver(run: RunDir, *events: ev.Event) -> None:
    journal = Journal(run.journal, 1)
    for event in events:
        journal.append(event)
    journal.close()


def leave(run: RunDir, tmp_path: Path) -> Path:
    """The host of the job gets its signal; returns its folder, when it has ended."""
    host = run.path / "steps" / "host-1"
    host.mkdir(parents=True)
    with (tmp_path / "host.log").open("w") as log:
        child = subprocess.Popen(
            [sys.executable, "-P", hosts.__file__, str(host), "BURSTLENS_JOB_BUFFER", FOLDER],
            env={**os.environ, "BURSTLENS_JOB_BUFFER": str(tmp_path / "buffer")},
            stdout=log, stderr=log,
        )  # fmt: skip
    end = time.monotonic() + 60
    while not (host / "host.json").exists() and time.monotonic() < end:
        time.sleep(0.02)
    child.send_signal(signal.SIGTERM)
    assert child.wait(120) == 0, (tmp_path / "host.log").read_text()
    return host


def take(run: RunDir) -> RunContext:
    """The next driver takes what is there."""
    recipe, site = recipe_of(run)
    history = history_of(run.journal)
    journal = Journal(run.journal, 2, history.apply)
    context = RunContext.of(run, recipe, site, journal, history)
    settle_home(context)
    journal.close()
    return context


def test_the_newest_checkpoint_and_kept_files_come_home_without_a_driver(run, tmp_path):
    host = leave(run, tmp_path)
    assert json.loads((host / hosts.HOME).read_text()) == {
        "files": [["surface_000000.nc", 17]], "checkpoint": [1, key(2.0)],
    }, (tmp_path / "host.log").read_text()  # fmt: skip
    assert (run.checkpoint(1, key(2.0)) / name(2.0)).read_text() == name(2.0)
    assert (run.output / "surface_000000.nc").read_text() == "surface_000000.nc"
    assert (run.logs / "attempt-1" / "model.log").exists()
    assert not (tmp_path / "buffer" / FOLDER).exists(), "the buffer is gone"
    context = take(run)
    newest = context.history.checkpoints.find(1, key(2.0))
    assert newest is not None
    assert (newest.ahead, newest.bytes) == (True, len(name(2.0)))
    assert context.history.kept_home
    take(run)
    found = [line for line in run.journal.read_text().splitlines() if "stageout.done" in line]
    assert len(found) == 1, "it is journalled once"


def test_a_checkpoint_after_a_trip_of_the_sentinel_does_not_come(run, tmp_path):
    trip = {"guard": "stable", "then": "stop", "attempt": 1, "time": key(1.5), "stream": "surface"}
    run.sentinel.write_text(json.dumps(trip) + "\n")
    host = leave(run, tmp_path)
    assert json.loads((host / hosts.HOME).read_text())["checkpoint"] == [1, key(1.0)]


def test_the_newest_before_the_end_of_the_run_comes(run, tmp_path):
    (tmp_path / "buffer" / FOLDER / "1" / name(4.0)).write_bytes(b"at the end")
    host = leave(run, tmp_path)
    assert json.loads((host / hosts.HOME).read_text())["checkpoint"] == [1, key(2.0)]


def test_nothing_is_brought_when_a_driver_has_asked_the_host_to_leave(run, tmp_path):
    host = run.path / "steps" / "host-1"
    host.mkdir(parents=True)
    (host / "leave").touch()
    done = subprocess.run(
        [sys.executable, "-P", hosts.__file__, str(host), "BURSTLENS_JOB_BUFFER", FOLDER],
        env={**os.environ, "BURSTLENS_JOB_BUFFER": str(tmp_path / "buffer")}, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert not run.checkpoints.exists()


def test_a_copy_of_which_the_journal_has_no_line_is_taken_and_one_that_is_gone_forgotten(run):
    home = run.checkpoint(1, key(2.0))
    home.mkdir(parents=True)
    (home / name(2.0)).write_text("data")
    (home / ".files.json").write_text(json.dumps({"files": [[name(2.0), 4, 7]]}))
    files = [(name(1.0), 4, 7)]
    with_driver(run, ev.CheckpointHome(attempt=1, time=key(1.0), files=files, bytes=4))
    checkpoints = take(run).history.checkpoints
    assert checkpoints.find(1, key(1.0)).home == []
    assert checkpoints.find(1, key(2.0)).home == [(name(2.0), 4, 7)]
