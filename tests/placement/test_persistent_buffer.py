"""Persistent buffers by Slurm's answers: what is made, adopted, given back, or not known."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from dataclasses import asdict, replace

import pytest
from burst_case import (
    EMPTY,
    SILENT,
    UNLISTED,
    buffer_of,
    holding,
    journalled,
    space_of,
)
from msgspec import structs

from burstlens.clients.opened.status import next_steps, read_status, text
from burstlens.cluster_configs.scheduler import SchedulerError
from burstlens.core.decode import record
from burstlens.core.durable import write_json
from burstlens.core.errors import SiteError
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import read
from burstlens.core.run.snapshot import read_snapshot
from burstlens.core.run.status_file import BufferPart, OutcomePart, RequestedBuffer
from burstlens.workflows.driver.free import free
from burstlens.workflows.placement.buffer import BufferRef

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("said", [SILENT, "", UNLISTED], ids=["silent", "nothing", "unlisted"])
def test_free_says_what_it_does_not_know_and_journals_nothing(slurm, new, said):
    run = new()
    journalled(run, ev.BufferCreated(**asdict(buffer_of(run))))
    slurm.answers(said)
    with pytest.raises(SchedulerError, match="which buffers exist is not known"):
        free(run)
    assert [event.event for event in read(run.journal)][-1] == "buffer.created"
    assert not [call for call in slurm.calls if call.startswith("sbatch")]


@pytest.mark.parametrize("said", [SILENT, "", UNLISTED], ids=["silent", "nothing", "unlisted"])
def test_a_known_buffer_is_not_made_again_while_it_is_not_known_to_be_gone(slurm, new, said):
    run = new()
    known = buffer_of(run)
    slurm.answers(said)
    with pytest.raises(SchedulerError, match="which buffers exist is not known"):
        space_of(run).provide(known)
    assert not [call for call in slurm.calls if call.startswith("sbatch")]
    slurm.answers(said, holding(known.name))
    assert space_of(run).provide(known) == (known, True)


@pytest.mark.parametrize("said", [SILENT, "", UNLISTED], ids=["silent", "nothing", "unlisted"])
def test_a_run_does_not_end_with_its_buffer_unknown(slurm, new, said):
    run = new()
    slurm.answers(said)
    with pytest.raises(SchedulerError, match="which buffers exist is not known"):
        space_of(run).give_back(buffer_of(run))


def test_a_buffer_is_destroyed_only_when_an_answer_lists_it_no_more(slurm, new):
    run = new()
    buffer = buffer_of(run)
    slurm.answers(holding(buffer.name))
    slurm.on("sbatch", slurm.becomes(SILENT) + "\nprintf '%s' '" + EMPTY + "' > burst.1")
    space_of(run).give_back(buffer)
    assert "destroy_persistent" in (slurm.folder / "script-1").read_text()
    assert slurm.calls.count("scontrol show burst") >= 3


def test_a_buffer_that_is_gone_already_is_said_to_be(slurm, new):
    run = new()
    journalled(run, ev.BufferCreated(**asdict(buffer_of(run))))
    assert free(run) == f"buffer {space_of(run).name} is gone already"
    assert history_of(run.journal).buffer_released


LATER, EARLIER = "2026-11-26T11:21:48", "2026-11-26T11:21:46"
OTHER = ("3", "COMPLETED", "#BB create_persistent name=storms capacity=1GiB type=scratch")
ORIGINS = {
    "made by the run's job": (LATER, (), "300 sec", "2026-11-26T11:21:50", True),
    "made before it was asked for": (EARLIER, (), "300 sec", "2026-11-26T11:21:50", False),
    "asked for by another job": (LATER, (OTHER,), "300 sec", "2026-11-26T11:21:50", False),
    "asked for by who knows whom": (LATER, (), "300 sec", "2026-11-26T11:31:50", False),
    "long ago, and no job is forgotten": (LATER, (), "0 sec", "2026-11-26T11:31:50", True),
    "without a time": ("Unknown", (), "300 sec", "2026-11-26T11:21:50", False),
}


@pytest.mark.parametrize(
    ("created", "others", "age", "now", "owned"), ORIGINS.values(), ids=ORIGINS
)
def test_a_named_buffer_is_the_runs_only_if_nobody_else_can_have_made_it(
    slurm, new, created, others, age, now, owned
):
    run = new("storms")
    slurm.jobs(*others)
    slurm.config(age, now)
    slurm.on("sbatch", slurm.becomes(holding("storms", created=created)))
    buffer, found = space_of(run).provide(None)
    assert (buffer.name, buffer.owned, buffer.created, found) == ("storms", owned, created, False)
    origin = space_of(run).origin(buffer)
    assert origin is not None
    assert (origin.job, origin.absent, origin.owned) == ("1", True, owned)
    assert origin.others == [job for job, *_ in others]
    assert any(call.startswith("scancel") for call in slurm.calls) is not owned
    # What was seen counts, when nobody can see it any more.
    slurm.jobs()
    slurm.config("0 sec")
    assert space_of(run).left(None) == buffer
    calls = len(slurm.calls)
    space_of(run).give_back(replace(buffer, owned=False))
    assert len(slurm.calls) == calls, "a buffer of others is destroyed"


def test_a_job_that_ended_before_the_run_asked_for_it_has_not_made_its_buffer(slurm, new):
    run = new("storms")
    slurm.jobs(OTHER, ends=EARLIER)
    slurm.on("sbatch", slurm.becomes(holding("storms")))
    buffer, _ = space_of(run).provide(None)
    assert buffer.owned


def test_a_named_buffer_that_was_there_is_adopted(slurm, new):
    run = new("storms")
    slurm.answers(holding("storms"))
    buffer, _ = space_of(run).provide(None)
    assert not buffer.owned
    assert not [call for call in slurm.calls if call.startswith("sbatch")]


def test_a_driver_that_was_killed_after_its_submission_finds_whose_the_buffer_is(slurm, new):
    run = new("storms")
    # As with a kill, the job is in the queue and its number is not known.
    slurm.on("sbatch", slurm.becomes(holding("storms")) + "\nexit 1")
    with pytest.raises(SchedulerError):
        space_of(run).provide(None)
    assert (run.path / "steps" / "buffer-create-1" / "submitting").exists()
    buffer, _ = space_of(run).provide(None)
    assert buffer.owned


@pytest.mark.parametrize("mark", ["submitting", "withdrawn", "done", "said.log"])
def test_a_mark_that_cannot_be_seen_for_a_moment_changes_nothing(slurm, new, monkeypatch, mark):
    run = new("storms")
    slurm.on("sbatch", "exit 1")  # as with a kill
    with pytest.raises(SchedulerError):
        space_of(run).provide(None)
    slurm.on("sbatch", "")
    slurm.answers(EMPTY, EMPTY, EMPTY, holding("storms"))
    real, failed = os.stat, []

    def stale(path, **named):
        if str(path).endswith(f"/{mark}") and not failed:
            failed.append(path)
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)
        return real(path, **named)

    monkeypatch.setattr(os, "stat", stale)
    buffer, _ = space_of(run).provide(None)
    assert failed
    assert buffer.owned
    assert sum(call.startswith("sbatch") for call in slurm.calls) == 1


def test_a_driver_that_was_killed_before_another_made_the_buffer_adopts_it(slurm, new):
    run = new("storms")
    slurm.on("sbatch", "exit 1")
    with pytest.raises(SchedulerError):
        space_of(run).provide(None)
    slurm.on("sbatch", "")
    slurm.jobs(OTHER)
    slurm.answers(holding("storms"))
    buffer, _ = space_of(run).provide(None)
    assert not buffer.owned


def test_a_buffer_that_others_are_making_when_the_run_asks_again_is_not_the_runs(slurm, new):
    run = new("storms")
    slurm.on("sbatch", "exit 1")
    with pytest.raises(SchedulerError):
        space_of(run).provide(None)
    slurm.on("scancel", "")
    space_of(run).launcher.scheduler.cancel(
        ["1"]
    )  # the run's own job is over, and has made nothing
    asked_at = (slurm.folder / "clock").read_text()
    slurm.answers(holding("storms", created=asked_at, state="allocating"))
    slurm.on("sbatch", slurm.becomes(holding("storms", created=asked_at)))
    buffer, _ = space_of(run).provide(None)
    origin = space_of(run).origin(buffer)
    assert origin is not None
    assert (origin.job, origin.absent, origin.owned) == ("2", False, False)


def test_a_buffer_that_was_made_anew_by_others_is_not_the_runs(slurm, new):
    run = new("storms")
    known = replace(buffer_of(run), created=EARLIER)
    journalled(run, ev.BufferCreated(**asdict(known)))
    slurm.answers(holding("storms", created=LATER))
    buffer, found = space_of(run).provide(known)
    assert (found, buffer.owned, buffer.created) == (False, False, LATER)
    space_of(run).give_back(known)
    assert free(run) == "buffer storms is gone already"
    assert not [call for call in slurm.calls if call.startswith("sbatch")]


def test_the_read_status_a_killed_driver_names_the_buffer_and_its_job(slurm, new):
    run = new()
    name = space_of(run).name
    journalled(run, ev.BufferRequested(kind="datawarp", name=name))
    slurm.on("sbatch", slurm.becomes(SILENT))
    with pytest.raises(SchedulerError):
        space_of(run).provide(None)
    write_json(run.claim(1), {"host": socket.gethostname(), "pid": 2**22 + 1, "ticks": 1})
    driver = {"host": socket.gethostname(), "pid": 2**22 + 1, "ticks": 1, "epoch": 1}
    known = record(read_snapshot(run))
    write_json(run.status, known | {"state": "waiting for the buffer", "driver": driver})
    status = read_status(str(run.path), confirm_s=0.0)
    assert status.state == "lost"
    assert status.buffer_requested == RequestedBuffer(name, "1")
    shown = text(status)
    assert f"buffer {name}, which job 1 was to make" in shown
    assert "burstlens free storm" in shown
    slurm.answers(EMPTY)
    assert free(run).startswith("cancelled job 1")
    shown = text(read_status(str(run.path), confirm_s=0.0))
    assert name not in shown
    assert "burstlens free" not in shown


def test_nobody_proposes_to_free_an_adopted_buffer(new):
    run = new("storms")
    buffer = BufferPart("$B/storm", False, 0.0, 1, 2, "storms", None, owned=False)
    failed = {"state": "failed", "outcome": OutcomePart("failed", 1), "buffer": buffer}
    steps = next_steps(structs.replace(read_status(str(run.path)), **failed))
    assert not [step for step in steps if "free storm" in step]
    assert "delete $B/storm in a job that mounts it" in steps[-1]


@pytest.fixture
def shared(slurm, new) -> Callable[..., tuple[RunDir, BufferRef, RunDir]]:
    """A run that made buffer ``storms`` and another one on it: both runs, and the buffer."""

    def make(*, released: bool = False) -> tuple[RunDir, BufferRef, RunDir]:
        runs = new("storms", "maker"), new("storms", "user")
        buffer = replace(buffer_of(runs[0]), created=LATER)
        for run in runs:
            part = BufferPart("$B", False, 0.0, 1, 2, "storms", created=LATER, owned=run is runs[0])
            gone = structs.replace(part, released=released and run is runs[1])
            write_json(run.status, record(structs.replace(read_snapshot(run), buffer=gone)))
        slurm.answers(holding("storms", created=LATER))
        slurm.on("sbatch", slurm.becomes(EMPTY))
        return runs[0], buffer, runs[1]

    return make


def test_the_maker_of_a_buffer_does_not_destroy_it_while_files_of_another_run_are_there(
    slurm, shared
):
    maker, buffer, _ = shared()
    with pytest.raises(SiteError, match=r"files of others may be on it \(run user, folder mine\)"):
        space_of(maker).give_back(buffer, ["mine"])
    assert not [call for call in slurm.calls if call.startswith(("sbatch", "scancel"))]
    space_of(maker).give_back(buffer, ["mine"], discard=True)
    assert [call for call in slurm.calls if call.startswith("sbatch")]


def test_a_run_that_has_given_its_space_back_holds_no_buffer_up(slurm, shared):
    maker, buffer, user = shared(released=True)
    folder = str(facts_of(user).buffer_folder)
    space_of(maker).give_back(buffer, [folder])
    assert [call for call in slurm.calls if call.startswith("sbatch")]


def test_the_read_status_a_run_on_a_buffer_of_another_knows_when_it_is_gone(shared):
    maker, _, user = shared()
    driver = {"host": socket.gethostname(), "pid": 2**22 + 1, "ticks": 1, "epoch": 1}
    outcome = {"state": "failed", "exit_code": 1}
    ended = {"state": "failed", "outcome": outcome, "driver": driver}
    write_json(user.status, record(read_snapshot(user)) | ended)
    assert read_status(str(user.path), confirm_s=0.0).buffer.released is False
    part = read_snapshot(maker).buffer
    assert part is not None
    gone = structs.replace(part, released=True)
    write_json(maker.status, record(structs.replace(read_snapshot(maker), buffer=gone)))
    status = read_status(str(user.path), confirm_s=0.0)
    assert status.buffer.released is True
    assert "buffer storms is gone: run maker had made it" in text(status)
    assert "its files stay" not in text(status)
