"""A run that is done and could not give its buffer back, one of its own or a job's."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

import pytest
from burst_case import EMPTY, SILENT, SlurmPrograms, buffer_of, holding, journalled
from events_case import event

from burstlens.clients.opened.status import facts, next_steps, read_status, text
from burstlens.core.decode import record
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import read
from burstlens.workflows.driver.free import free
from burstlens.workflows.driver.resuming import resumable
from burstlens.workflows.driver.run import execute
from burstlens.workflows.placement.buffer import BufferRef

pytestmark = pytest.mark.integration
ENDED = ev.RunEnded(outcome="done", exit_code=8, message="", left="buffer b is left: burstlens ...")
JOB = "JobId=7 JobName=host-1 SubmitTime=2026-11-26T11:21:47 JobState={} Reason=None\n"
AWAY = "echo slurm_load_jobs error: Access denied >&2; exit 1"


@dataclass(frozen=True)
class Left:
    """Such a run; what its buffer is called, and what ``free`` says at last."""

    run: RunDir
    called: str
    freed: str


@pytest.fixture
def persistent(slurm: SlurmPrograms, new: Callable[..., RunDir]) -> Left:
    run = new()
    buffer = buffer_of(run)
    _end(run, buffer)
    slurm.answers(holding(buffer.name))
    slurm.on("sbatch", slurm.becomes(EMPTY))
    return Left(run, f"buffer {buffer.name}", f"freed buffer {buffer.name}")


@pytest.fixture
def of_a_job(slurm: SlurmPrograms, new: Callable[..., RunDir]) -> Left:
    run = new(site="frontier")
    folder = str(facts_of(run).buffer_folder)
    _end(run, BufferRef("posix", "$BURSTLENS_JOB_BUFFER", folder))
    host = run.path / "steps" / "host-1"
    host.mkdir(parents=True)
    (host / "job_id").write_text("7")
    (slurm.folder / "job-7").write_text(JOB.format("COMPLETED"))
    return Left(run, "the buffer of its job", "run storm holds no space on a buffer")


def _end(run: RunDir, buffer: BufferRef) -> None:
    """Journal such a run to its end."""
    journalled(
        run,
        ev.BufferRequested(kind=buffer.kind, name=buffer.name),
        ev.BufferCreated(**asdict(buffer)),
        ev.StageInDone(files=1),
        event({"event": "frame.ready", "stream": "output"}),
        event({"event": "product.published", "product": "t2", "stream": "output"}),
        ev.StageOutDone(outcome="done", exit_code=0),
        ENDED,
    )
    run.status.unlink()


@pytest.fixture(params=["persistent", "of_a_job"])
def left(request: pytest.FixtureRequest) -> Left:
    """One with either buffer, which could be given back now."""
    found: Left = request.getfixturevalue(request.param)
    return found


def test_it_is_finished_by_free(left):
    assert resumable(left.run) is None
    status = read_status(str(left.run.path))  # by the journal alone
    assert next_steps(status) == [ENDED.left]
    assert status.buffer.released is False
    assert free(left.run).startswith(left.freed)
    outcome = history_of(left.run.journal).outcome
    assert outcome is not None
    assert (outcome["state"], outcome["exit_code"], outcome["left"]) == ("done", 0, None)
    status = read_status(str(left.run.path))
    assert "burstlens free" not in text(status)
    assert (status.outcome.exit_code, next_steps(status)) == (0, [])


def test_it_is_finished_by_resume(left):
    outcome = execute(left.run)
    assert (outcome.state, outcome.exit_code, outcome.left) == ("done", 0, None)
    names = [event.event for event in read(left.run.journal)]
    assert names[-2:] == ["buffer.released", "run.ended"]


@pytest.mark.parametrize(
    ("kind", "said"),
    [("persistent", "unknown"), ("persistent", "cancelled"), ("of_a_job", "away")],
)
def test_what_cannot_be_given_back_is_named_once_with_exit_code_8(kind, said, slurm, request):
    left = request.getfixturevalue(kind)
    if said == "unknown":
        slurm.on("sbatch", slurm.becomes(SILENT))
    elif said == "cancelled":
        slurm.on("sbatch", "sed -i s/PENDING/CANCELLED/ job-$n queue")
    else:
        slurm._set("scontrol", AWAY)
    outcome = execute(left.run)
    assert (outcome.state, outcome.exit_code) == ("done", 8)
    assert outcome.left is not None
    assert left.called in outcome.left
    assert outcome.left.endswith("burstlens free storm gives it back")
    (last,) = list(read(left.run.journal))[-1:]
    assert isinstance(last, ev.RunEnded)
    assert (last.outcome, last.exit_code, last.left) == ("done", 8, outcome.left)
    status = read_status(str(left.run.path))
    assert (status.state, status.outcome.exit_code) == ("done", 8)
    assert status.outcome.left == outcome.left
    assert [line.strip() for line in text(status).splitlines()][-1] == outcome.left
    assert status.alarms == []  # it is said once
    shown = dict(facts(status))
    assert shown["buffer"].startswith("not given back, ")
    assert "$" not in shown["buffer"]
    feed = (left.run.products / "live" / "status.js").read_text()
    page = json.loads(feed.removeprefix("burstlensFeed(").rstrip().removesuffix(");"))
    assert page["outcome"] == record(status.outcome)
