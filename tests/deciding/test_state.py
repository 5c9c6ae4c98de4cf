"""The state of a run: losses, requests, viewing blocks; no process, no clock."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

import pytest

from burstlens.cluster_configs.site import choose
from burstlens.core.errors import RunError, SiteError
from burstlens.core.outcome import Outcome
from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal
from burstlens.workflows.deciding.state import BLOCKS, LOSSES, Policy, RunState
from burstlens.workflows.ordering.events import (
    BlockReplaced,
    BlockSeen,
    NodeFailed,
    QuestionAnswered,
    StopRequested,
    Turn,
)
from burstlens.workflows.ordering.instructions import (
    Ask,
    AskPlace,
    ClearRequests,
    End,
    Fail,
    Instruction,
)
from burstlens.workflows.publishing.context import RunContext


class Noting(Policy):
    """Notes what is refused, and wants what it is told to."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.refusals: list[NodeFailed] = []
        self.wanted = True

    def wants(self, instruction: Instruction) -> bool:
        """Whatever the test says."""
        return self.wanted

    def refused(self, event: NodeFailed) -> None:
        """Note it."""
        self.refusals.append(event)


@pytest.fixture
def state(run_dir, recipe) -> Iterator[RunState]:
    history = History()
    with contextlib.closing(Journal(run_dir.journal, 1, history.apply)) as journal:
        yield RunState(RunContext.of(run_dir, recipe(), choose("local"), journal, history), Noting)


def ask(*, again: bool = True, place: AskPlace = AskPlace.BLOCK) -> Ask:
    return Ask("question", print, place=place, again=again)


def test_a_lost_node_is_tried_again_after_a_pause_that_doubles_and_then_refused(state):
    now, pauses = 0.0, []
    for _ in range(LOSSES):
        assert state.handle(NodeFailed(ask(), ValueError("gone"), now=now)) == []
        begun = now
        for step in itertools.count(1):
            now = begun + step * 0.05
            if state.handle(Turn(now=now)):
                break
        pauses.append(round((now - begun) / 0.1))
    assert pauses == [2**number for number in range(LOSSES)]
    assert not state.policy.refusals
    state.handle(NodeFailed(ask(), ValueError("gone"), now=now))
    assert len(state.policy.refusals) == 1
    alarms = [alarm.text for alarm in state.snapshot.alarms]
    assert alarms == ["question is tried again: gone"] * LOSSES


def test_a_result_between_two_losses_begins_their_count_again(state):
    for _ in range(2 * LOSSES):
        state.handle(NodeFailed(ask(), ValueError("gone")))
        state.handle(QuestionAnswered(ask(), None))
    assert not state.policy.refusals


@pytest.mark.parametrize(
    ("node", "error"),
    [(ask(), SiteError("no")), (ask(again=False), ValueError("gone"))],
    ids=["an-answer", "asked-once"],
)
def test_an_answer_and_what_is_asked_once_are_refused_at_once(state, node, error):
    state.handle(NodeFailed(node, error))
    assert [one.error for one in state.policy.refusals] == [error]
    assert state.handle(Turn(now=1e9)) == []


def test_what_is_wanted_no_more_is_neither_tried_again_nor_refused(state):
    state.handle(NodeFailed(ask(), ValueError("gone")))
    state.policy.wanted = False
    state.handle(NodeFailed(ask(), ValueError("gone")))
    assert state.handle(Turn(now=1e9)) == []
    assert not state.policy.refusals


def test_blocks_that_end_one_after_another_without_a_result_end_the_driver(state):
    for number in range(1, BLOCKS + 2):
        # What the loop itself answers says nothing about a block.
        state.handle(QuestionAnswered(ask(place=AskPlace.LOOP), None))
        ended, *todo = state.handle(BlockReplaced("it is gone"))
        assert (ended.event, bool(todo)) == ("viewing.ended", number > BLOCKS)
    (failed,) = todo
    assert isinstance(failed, Fail)
    assert isinstance(failed.error, RunError)
    assert f"ended {BLOCKS + 1} times without a result" in str(failed.error)
    assert state.end is None


def test_a_result_of_a_block_forgives_those_before_it(state):
    for _ in range(3 * BLOCKS):
        assert len(state.handle(BlockReplaced("it is gone"))) == 1
        state.handle(QuestionAnswered(ask(), None))


def test_each_beginning_of_a_block_is_journalled_once(state):
    seen = ("queued", "running", "running", "gone", "running")
    written = [event for one in seen for event in state.handle(BlockSeen(one, label="v-1"))]
    assert [event.event for event in written] == ["viewing.started"] * 2


def test_the_first_outcome_counts(state):
    state.finish(None)
    state.finish(Outcome("failed", 1, "first"))
    state.finish(Outcome("done", 0))
    assert state.end == Outcome("failed", 1, "first")
    assert state.handle(Turn()) == [End(state.end)]


def test_a_request_that_is_obeyed_is_forgotten_and_taken_away(state):
    state.handle(StopRequested("stop", {"by": "guard"}))
    assert state.stop.reason == {"by": "guard"}
    state.clear_requests()
    assert state.stop.control is None
    assert state.handle(Turn()) == [ClearRequests()]
