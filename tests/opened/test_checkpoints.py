"""What clients show of the checkpoints from which a run can be resumed."""

from __future__ import annotations

import contextlib

import pytest

from burstlens.clients.opened.checkpoints import Checkpoint, checkpoint_text, checkpoints_of
from burstlens.core.run import events as ev
from burstlens.core.run.facts import RunFacts, write_facts
from burstlens.core.run.history import replay
from burstlens.core.run.journal import Journal
from burstlens.core.run.record import stamp
from burstlens.core.run.snapshot import checkpoint_parts, read_snapshot


def key(second: float) -> str:
    return f"t{second:012.3f}"


def whole(attempt: int, second: float) -> ev.CheckpointWhole:
    files = [f"state_{second:g}.{rank}" for rank in (0, 1)]
    return ev.CheckpointWhole(attempt=attempt, time=key(second), files=files, bytes=2048)


EVENTS = (
    ev.RunStarted(),
    ev.SimulationSubmitting(job="attempt-1", attempt=1),
    whole(1, 1),
    whole(1, 2),
    whole(1, 3),
    ev.CheckpointRemoved(attempt=1, time=key(1)),
    ev.SimulationSubmitting(job="attempt-2", attempt=2, checkpoint=key(2), written_by=1),
    whole(2, 4),
    whole(2, 5),
    ev.CheckpointSuspect(attempt=2, time=key(5), reason="stable: vz = 9"),
)


def states(unread: str | None, *more: ev.Event) -> list[tuple[str, int, str]]:
    parts = checkpoint_parts(replay((*EVENTS, *more)), unread)
    return [(one.time, one.attempt, one.state) for one in parts]


@pytest.mark.parametrize(
    ("unread", "state"), [(None, "good"), (key(4.5), "good"), (key(4), "unjudged")]
)
def test_one_is_good_once_guards_have_read_every_frame_up_to_its_time(unread, state):
    found = states(unread)
    assert found == [(key(2), 1, "good"), (key(4), 2, state), (key(5), 2, "suspect")]


def test_none_is_there_once_the_buffer_is_given_back():
    assert states(None, ev.BufferReleased()) == []


@pytest.fixture
def fresh(run_dir):
    facts = {"recipe": "any", "source": "any.toml", "table": {}, "site": "local", **stamp()}
    write_facts(run_dir, RunFacts(run=run_dir.id, buffer_folder="f", **facts))
    return run_dir


@pytest.fixture
def run(fresh):
    journal = Journal(fresh.journal, 1)
    for event in EVENTS:
        journal.append(event)
    journal.close()
    return fresh


def test_a_run_without_a_status_has_those_of_its_journal_which_nobody_has_judged(run):
    first, second, third = checkpoints_of(run, read_snapshot(run))
    assert first == Checkpoint(key(2), 1, "unjudged", ("state_2.0", "state_2.1"), 2048)
    assert (second.label, second.state) == ("t = 4 s", "unjudged")
    assert (third.state, third.why) == ("suspect", "stable: vz = 9")


def test_the_status_names_the_newest_and_why_one_is_suspect(run):
    text = checkpoint_text(read_snapshot(run))
    assert text.startswith("t = 2 s unjudged (2.00 KiB), ")
    assert text.endswith("t = 5 s suspect (2.00 KiB): stable: vz = 9")


def test_a_reason_of_several_that_follow_each_other_is_given_once(fresh):
    whole = ev.CheckpointWhole
    events = [ev.SimulationSubmitting(job="attempt-1", attempt=1)]
    for number in (1, 2, 3):
        events += [
            whole(attempt=1, time=key(number), files=["a"], bytes=1024),
            ev.CheckpointSuspect(attempt=1, time=key(number), reason=f"W{number // 3}"),
        ]
    with contextlib.closing(Journal(fresh.journal, 1)) as journal:
        for event in (ev.RunStarted(), *events):
            journal.append(event)
    assert checkpoint_text(read_snapshot(fresh)) == (
        "t = 1 s suspect (1.00 KiB), t = 2 s suspect (1.00 KiB): W0, t = 3 s suspect (1.00 KiB): W1"
    )


def test_a_run_without_checkpoints_has_none(fresh):
    status = read_snapshot(fresh)
    assert checkpoints_of(fresh, status) == ()
    assert checkpoint_text(status) == ""
