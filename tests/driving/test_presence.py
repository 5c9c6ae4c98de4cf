"""Whether the run directory still is this run's."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from events_case import event

from burstlens.core.durable import write_json
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.heartbeat import ticks_of
from burstlens.core.run.history import replay
from burstlens.workflows.driver.presence import AWAY_S, Presence

SUBMITTED = {"event": "simulation.submitted", "job": "attempt-1", "attempt": 1, "t": 1.0}


def make(run, token):
    """A run directory as a driver finds it."""
    if not run.path.exists():
        run.create()
    write_json(run.facts, {"title": "Storm", "buffer_folder": token})
    run.journal.touch()
    return run


@pytest.fixture
def present(run_dir):
    """The presence check of a driver whose model runs: a live process with one under it."""
    make(run_dir, "storm-1-aa")
    job_id = f"local:{os.getppid()}:{ticks_of(os.getppid())}"
    found = Presence(run_dir, replay([event(SUBMITTED | {"job_id": job_id})]))
    yield found
    found.close()


def test_a_directory_that_is_away_and_comes_back_is_waited_for(run_dir, present):
    away = run_dir.path.with_name("away")
    run_dir.path.rename(away)
    for now in (0.0, AWAY_S - 1):
        present.look(now)
    away.rename(run_dir.path)
    present.look(AWAY_S + 1)
    run_dir.path.rename(away)
    present.look(2 * AWAY_S)  # a new absence
    assert not present.lost


def test_one_whose_file_system_is_away_is_waited_for_without_end(run_dir, present):
    folder = run_dir.path.parent
    folder.rename(folder.with_name("unmounted"))
    present.look(0.0)
    folder.mkdir()  # the mount point stays, another file system's
    present.look(10 * AWAY_S)
    present.look(30 * AWAY_S)


def test_one_that_stays_away_beside_others_ends_the_driver(run_dir, present):
    run_dir.path.rename(run_dir.path.with_name("moved"))
    present.look(0.0)
    with pytest.raises(RunError, match="has been away for 10 minutes; this driver ends"):
        present.look(AWAY_S + 1)


def test_a_deleted_one_ends_the_driver_and_the_error_names_what_is_left(run_dir, present):
    shutil.rmtree(run_dir.path)
    left = f"Its model is left running: kill {os.getppid()} ends it"
    with pytest.raises(RunError, match=rf"was deleted; .* {left}"):
        present.look(0.0)
    assert present.lost


def test_a_model_that_has_ended_meanwhile_is_not_said_to_run(run_dir):
    make(run_dir, "storm-1-aa")
    gone = f"local:{os.getppid()}:1"  # an earlier process of that number
    present = Presence(run_dir, replay([event(SUBMITTED | {"job_id": gone})]))
    shutil.rmtree(run_dir.path)
    with pytest.raises(RunError, match=r"was deleted; this driver ends$"):
        present.look(0.0)
    present.close()


@pytest.mark.parametrize("job_id", ["slurm:7", "hosted:7:attempt-1"])
def test_a_batch_job_that_is_left_is_named_with_the_schedulers_command(run_dir, job_id):
    make(run_dir, "storm-1-aa")
    present = Presence(run_dir, replay([event(SUBMITTED | {"job_id": job_id})]), "slurm")
    shutil.rmtree(run_dir.path)
    with pytest.raises(RunError, match=r"Its model is left running: scancel 7 ends it"):
        present.look(0.0)
    present.close()


def test_another_run_of_the_same_name_is_not_this_one(run_dir, present):
    shutil.rmtree(run_dir.path)
    make(RunDir(run_dir.path), "storm-1-bb")
    with pytest.raises(RunError, match="this driver ends"):
        present.look(0.0)


def test_another_run_in_place_of_one_that_was_moved_is_not_this_one(run_dir, present):
    run_dir.path.rename(run_dir.path.with_name("moved"))
    make(RunDir(run_dir.path), "storm-1-bb")
    with pytest.raises(RunError, match="is another run's now"):
        present.look(0.0)


def test_facts_that_were_copied_back_are_this_runs(run_dir, present):
    text = json.loads(run_dir.facts.read_text())
    os.unlink(run_dir.facts)
    write_json(run_dir.facts, text)
    present.look(0.0)


def test_a_volume_of_the_journal_that_is_deleted_does_not_end_the_driver(run_dir, present):
    run_dir.journal.rename(run_dir.path / "journal-000001.jsonl")  # as the driver continues it
    run_dir.journal.touch()
    present.look(0.0)
    (run_dir.path / "journal-000001.jsonl").unlink()
    present.look(1.0)
    assert not present.lost
    shutil.rmtree(run_dir.path)
    with pytest.raises(RunError, match="was deleted"):
        present.look(2.0)
