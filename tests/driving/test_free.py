"""Giving back the space of a run that is over: what is refused, and what is really gone."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

from burstlens.core.run import events as ev
from burstlens.core.run.facts import facts_of
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.plan.commands import new_run


def test_the_space_of_a_run_with_a_driver_is_not_given_back(standing):
    standing.live()
    done = standing.call("free", "live")
    assert done.returncode == 1
    assert done.stderr.startswith("burstlens: run live has a driver already (pid ")
    assert any(standing.on_buffer("live").iterdir())


@pytest.mark.slow
def test_raw_files_that_are_not_home_are_given_up_only_with_discard(own_runs):
    driver = own_runs.start("storm")
    driver.send_signal(signal.SIGKILL)  # so that no driver brings them home
    driver.wait()
    own_runs.call("stop", "storm", "--now")
    ended = own_runs.runs / "storm" / "attempts" / "1" / "ended.json"
    own_runs.await_that(ended.exists, "storm")
    folder = own_runs.on_buffer("storm")
    kept = sorted(path.name for path in folder.rglob("wrfout_*"))
    assert kept
    refused = own_runs.call("free", "storm")
    assert refused.returncode == 1
    assert refused.stderr == (
        "burstlens: wrfout_* of storm are not home: burstlens resume storm continues "
        "the run, --discard gives them up\n"
    )
    assert sorted(path.name for path in folder.rglob("wrfout_*")) == kept
    assert "buffer.released" not in own_runs.events("storm")

    freed = own_runs.call("free", "storm", "--discard")
    assert (freed.returncode, freed.stdout) == (0, f"freed {folder}\n")
    assert not folder.exists()
    assert own_runs.events("storm").count("buffer.released") == 1
    said = own_runs.call("status", "storm").stdout
    assert "go on with: burstlens resume storm" in said
    assert "free" not in said
    again = own_runs.call("free", "storm", "--discard")
    assert (again.returncode, again.stdout) == (0, "run storm holds no space on a buffer\n")
    assert own_runs.events("storm").count("buffer.released") == 1


@pytest.mark.slow
def test_a_stopped_run_whose_raw_files_are_home_gives_its_space_back(own_runs):
    driver = own_runs.start("storm")
    own_runs.call("stop", "storm", "--now")
    assert driver.wait(60) == 4
    folder = own_runs.on_buffer("storm")
    kept = {path.name: path.stat().st_size for path in folder.rglob("wrfout_*")}
    home = own_runs.runs / "storm" / "output"
    assert kept == {path.name: path.stat().st_size for path in home.iterdir()}
    freed = own_runs.call("free", "storm")
    assert (freed.returncode, freed.stdout) == (0, f"freed {folder}\n")
    assert not folder.exists()


@pytest.mark.slow
def test_the_space_of_a_model_that_still_runs_without_its_driver_is_not_given_back(own_runs):
    driver = own_runs.start("storm")
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    for words in (["free", "storm"], ["free", "storm", "--discard"]):
        refused = own_runs.call(*words)
        assert refused.returncode == 1
        assert refused.stderr == (
            "burstlens: the model of storm has not ended; burstlens stop storm ends it\n"
        )
    ended = own_runs.runs / "storm" / "attempts" / "1" / "ended.json"
    assert not ended.exists()
    assert any(own_runs.on_buffer("storm").iterdir())

    # The supervisor obeys a stop by itself; then nothing holds the space.
    own_runs.call("stop", "storm", "--now")
    own_runs.await_that(ended.exists, "storm")
    assert own_runs.call("free", "storm", "--discard").returncode == 0
    assert not own_runs.on_buffer("storm").exists()
    assert [path for path in own_runs.case.buffer.rglob("*") if path.is_file()] == []


def test_a_folder_that_a_killed_driver_made_and_never_journalled_is_given_back(
    burstlens, recipe_file, tmp_path, monkeypatch
):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path / "buffer"))
    run, _ = new_run(str(recipe_file()), name="storm")
    with contextlib.closing(Journal(run.journal, 1)) as journal:
        journal.append(ev.RunStarted(host="here"))
        journal.append(ev.BufferRequested(kind="posix", name=""))
    folder = tmp_path / "buffer" / f"burstlens-{os.getuid()}" / str(facts_of(run).buffer_folder)
    (folder / "inputs").mkdir(parents=True)
    done = burstlens("free", "storm")
    assert (done.returncode, done.stdout) == (0, f"freed {folder}\n")
    assert not folder.exists()
    assert [event.event for event in read(run.journal)][-1] == "buffer.released"


def test_a_run_that_never_began_holds_nothing(burstlens, recipe_file, tmp_path, monkeypatch):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    new_run(str(recipe_file()), name="storm")
    done = burstlens("free", "storm")
    assert (done.returncode, done.stdout) == (0, "run storm holds no space on a buffer\n")
