"""Which checkpoint ``resume --from`` means, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from awm_texts import PARAMETERS

from burstlens.core.errors import BurstlensError, RecipeError, RunError
from burstlens.core.run import events as ev
from burstlens.core.run.continuation import ContinuationWanted, read_wanted
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import RunFacts, write_facts
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import Journal
from burstlens.core.run.record import stamp
from burstlens.workflows.driver.claim import take_over
from burstlens.workflows.driver.continuing import changes_of, want_continuation
from burstlens.workflows.driver.free import free


def key(second: float) -> str:
    return f"t{second:012.3f}"


def whole(attempt: int, second: float) -> ev.CheckpointWhole:
    files = [f"checkpoint_{round(100 * second):07d}.awm"]
    return ev.CheckpointWhole(attempt=attempt, time=key(second), files=files, bytes=10)


EVENTS = (
    ev.RunStarted(),
    ev.SimulationSubmitting(job="attempt-1", attempt=1),
    whole(1, 1.0),
    whole(1, 2.0),
    whole(1, 3.0),
    ev.CheckpointSuspect(attempt=1, time=key(3.0), reason="stable: vz = 9"),
    ev.SimulationEnded(job="attempt-1", attempt=1, outcome="stopped"),
    ev.RunEnded(outcome="stopped", exit_code=3),
)


@pytest.fixture
def run(tmp_path: Path, run_dir: RunDir):
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    (inputs / "awm.toml").write_text(PARAMETERS)
    table = {"simulation": {"model": "awm", "inputs": str(inputs)}, "product": []}
    facts = {"recipe": "any", "source": "any.toml", "table": table, "site": "local", **stamp()}
    write_facts(run_dir, RunFacts(run=run_dir.id, buffer_folder="f", **facts))
    write(run_dir, *EVENTS)
    return run_dir


AT_2 = "00010101T000200"
WRF_EVENTS = (
    ev.RunStarted(),
    ev.SimulationSubmitting(job="attempt-1", attempt=1),
    ev.CheckpointWhole(
        attempt=1, time=AT_2, files=["wrfrst_d01_0001-01-01_00:02:00"], bytes=10
    ),
    ev.SimulationEnded(job="attempt-1", attempt=1, outcome="failed"),
    ev.RunEnded(outcome="failed", exit_code=1),
)  # fmt: skip


@pytest.fixture
def wrf_run(run_dir: RunDir):
    inputs = Path(__file__).parents[1] / "data" / "wrf" / "restart" / "A1"
    table = {"simulation": {"model": "wrf", "inputs": str(inputs)}, "product": []}
    facts = {"recipe": "any", "source": "any.toml", "table": table, "site": "local", **stamp()}
    write_facts(run_dir, RunFacts(run=run_dir.id, buffer_folder="f", **facts))
    write(run_dir, *WRF_EVENTS)
    return run_dir


def write(run: RunDir, *events: ev.Event) -> None:
    journal = Journal(run.journal, 1)
    for event in events:
        journal.append(event)
    journal.close()


def copied(run: RunDir, second: float) -> list[tuple[str, int, int]]:
    """The files of a copy of that checkpoint in the run directory."""
    folder, (name,) = run.checkpoint(1, key(second)), whole(1, second).files
    folder.mkdir(parents=True)
    (folder / name).write_text("data")
    files = [(name, 4, 7)]
    (folder / ".files.json").write_text(json.dumps({"files": files}))
    return files


def test_the_latest_is_the_newest_that_is_not_suspect(run):
    wanted = want_continuation(run, "latest", settings={}, walltime_s=60.0)
    assert wanted == ContinuationWanted(key(2.0), 1, walltime_s=60.0)
    assert read_wanted(run) == wanted


def test_a_suspect_one_needs_force_and_is_named_with_its_reason(run):
    with pytest.raises(RunError, match=r"that checkpoint is suspect \(stable: vz = 9\): --force"):
        want_continuation(run, "3", settings={})
    assert read_wanted(run) is None
    assert want_continuation(run, "3", settings={}, force=True).checkpoint == key(3.0)


@pytest.mark.parametrize("time", ["1", "1.0", key(1.0), "t = 1 s"])
def test_a_time_is_given_as_people_write_it_as_its_key_or_as_it_is_shown(run, time):
    assert want_continuation(run, time, settings={}).checkpoint == key(1.0)


def test_settings_are_given_as_key_and_value():
    assert changes_of(["a.b=1", "c=d=e"]) == {"a.b": "1", "c": "d=e"}
    with pytest.raises(RecipeError, match="--set a: expected KEY=VALUE"):
        changes_of(["a"])


@pytest.mark.parametrize(
    ("time", "near"),
    [
        ("1.5", "the one before is of t = 1 s, the one after is of t = 2 s"),
        ("0.5", "the one after is of t = 1 s"),
        ("9", "the one before is of t = 3 s"),
    ],
)
def test_a_time_without_a_checkpoint_names_its_neighbours(run, time, near):
    with pytest.raises(RunError, match=near):
        want_continuation(run, time, settings={})


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (ev.BufferReleased(), "the buffer of run .* was given back, and its checkpoints with it"),
        (ev.SimulationSubmitting(job="attempt-2", attempt=2), "no checkpoint of this run is known"),
    ],
)
def test_where_there_is_nothing_to_resume_from_the_reason_is_given(run, event, why):
    write(run, event)
    write(run, ev.SimulationEnded(job="attempt-2", attempt=2, outcome="stopped"))
    with pytest.raises(RunError, match=why):
        want_continuation(run, "latest", settings={})


def test_an_attempt_that_may_still_run_is_taken_up_not_doubled(run):
    write(run, ev.SimulationSubmitting(job="attempt-2", attempt=2, checkpoint=key(1), written_by=1))
    with pytest.raises(RunError, match=r"attempt-2 of run .* may still run, without a driver"):
        want_continuation(run, "latest", settings={})
    folder = run.job("attempt-2")
    folder.mkdir(parents=True)
    (folder / "ended.json").write_text("{}")
    assert want_continuation(run, "latest", settings={}).checkpoint == key(1)


def test_what_the_model_cannot_do_is_refused_before_anything_starts(run):
    with pytest.raises(BurstlensError, match=r"awm takes its parameters from awm\.toml alone"):
        want_continuation(run, "2", settings={"namelist.domains.time_step": "20"})
    assert read_wanted(run) is None


def test_what_is_no_time_is_refused(run):
    with pytest.raises(RunError, match=r"--from: expected latest or a time such as"):
        want_continuation(run, "noon", settings={})


def test_a_driver_that_goes_on_has_what_was_wanted_until_an_attempt_begins(run):
    changes = {"namelist.domains.time_step": "20"}
    about = {"checkpoint": key(2.0), "written_by": 1, "settings": changes, "walltime_s": 60.0}
    write(run, ev.RunResumed(**about))
    history = history_of(run.journal)
    assert history.wanted is not None
    assert (history.wanted.checkpoint, history.settings) == (key(2.0), changes)
    submitting = {"attempt": 2, "checkpoint": key(2.0), "written_by": 1}
    write(run, ev.SimulationSubmitting(job="attempt-2", **submitting))
    history = history_of(run.journal)
    assert history.wanted is None
    assert (history.settings, history.walltime_s) == (changes, 60.0)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("namelist.domains.time_stop", "20"),
        ("namelist.domains.e_we", "100"),
        ("namelist.domains.max_dom", "2"),
        ("namelist.domains.dx", "500"),
        ("namelist.physics.mp_physics", "8"),
    ],
)
def test_a_key_that_is_not_there_and_changes_of_domains_grid_and_physics_are_refused(
    wrf_run, key, value
):
    with pytest.raises(BurstlensError, match=key.rpartition(".")[2]):
        want_continuation(wrf_run, "latest", settings={key: value})
    assert read_wanted(wrf_run) is None


def test_another_time_step_is_taken_and_noted_for_the_next_driver(wrf_run):
    changes = {"namelist.domains.time_step": "6"}
    wanted = want_continuation(wrf_run, "0001-01-01 00:02", settings=changes)
    assert wanted == ContinuationWanted(AT_2, 1, changes)
    with pytest.raises(RunError, match="the one before is of 0001-01-01 00:02"):
        want_continuation(wrf_run, "0001-01-01 00:03", settings=changes)


def test_a_run_that_is_driven_is_refused(run):
    take_over(run)
    with pytest.raises(RunError, match="driver"):
        want_continuation(run, "latest", settings={})
    assert read_wanted(run) is None


def test_a_run_whose_buffer_is_gone_continues_from_a_checkpoint_at_home_alone(run):
    files = copied(run, 1.0)
    write(run, ev.CheckpointHome(attempt=1, time=key(1.0), files=files, bytes=4))
    write(run, ev.BufferReleased())
    assert want_continuation(run, "latest", settings={}).checkpoint == key(1.0)
    with pytest.raises(RunError, match="no checkpoint of t = 2 s: the one before is of t = 1 s"):
        want_continuation(run, "2", settings={})


def test_a_copy_that_the_host_brought_since_the_last_driver_counts(run):
    copied(run, 3.5)
    before = run.journal.read_text()
    assert want_continuation(run, "latest", settings={}) == ContinuationWanted(key(3.5), 1)
    assert run.journal.read_text() == before, "the next driver journals it"


def test_free_brings_the_newest_good_checkpoint_home_first(run, tmp_path):
    buffer = {"kind": "posix", "path": str(tmp_path / "buffer"), "folder": "f"}
    folder = tmp_path / "buffer" / "f" / "1"
    folder.mkdir(parents=True)
    for second in (100, 200, 300):
        (folder / f"checkpoint_{second:07d}.awm").write_bytes(b"ten bytes.")
    write(run, ev.BufferAdopted(**buffer))
    assert free(run) == f"freed {tmp_path}/buffer/f"
    assert not folder.exists()
    (record,) = history_of(run.journal).checkpoints.records
    assert (record.time, record.on_buffer) == (key(2.0), False)
    assert (run.checkpoint(1, key(2.0)) / "checkpoint_0000200.awm").read_bytes() == b"ten bytes."


def test_free_with_discard_brings_none(run, tmp_path):
    buffer = {"kind": "posix", "path": str(tmp_path / "buffer"), "folder": "f"}
    (tmp_path / "buffer" / "f" / "1").mkdir(parents=True)
    write(run, ev.BufferAdopted(**buffer))
    free(run, discard=True)
    assert not run.checkpoints.exists()
    assert history_of(run.journal).checkpoints.records == []
