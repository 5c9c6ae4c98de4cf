"""The state of a run as its driver knows it: a function of typed events.

``handle`` takes what happened and returns what is to be done. What is common to all kinds of run is
here; what one kind decides is its :class:`.Policy`. :mod:`.loop` carries the instructions out.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import assert_never

from burstlens.core.errors import BurstlensError, RunError
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.workflows.deciding.steering import Steering
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.ordering.guarding import Guarding
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.snapshot import JobsNow

_log = logging.getLogger(__name__)
FIRST_S = 5.0
"""How long a block of this machine is held back for the early worker's first picture."""
LOSSES = 8
"""How often in a row a node is tried again; the pause doubles each time, so that this is most of a
minute."""
LOSS_PAUSE_S = 0.1
BLOCKS = 5
"""Viewing blocks in a row that may end without a result."""
_GIVES: dict[type[happened.StateEvent], str] = {
    happened.BufferReady: "buffer",
    happened.StagedIn: "stagein",
    happened.JobsDescribed: "start",
    happened.FramesFound: "watch",
    happened.BroughtHome: "home",
    happened.BufferFreed: "freed",
}
"""The kinds of nodes whose losses in a row end with such an event."""
_LAST = happened.ResultsRead, happened.WorkReturned, happened.RunOver


class Policy:
    """A kind of run: a method for each event that it can meet."""

    production: Production | None = None
    """What orders its products, once there is a place for frames."""
    guarding: Guarding | None = None

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.drawn = False
        """Whether anything of a product has come back."""
        self._steering = Steering(state.context, state.outbox)

    @property
    def model_over(self) -> bool:
        """Whether the model has ended."""
        return False

    def jobs_now(self) -> JobsNow:
        """The model's jobs, as the snapshot shows them."""
        return JobsNow()

    def settle(self) -> None:
        """The run is over: say what is left to be said."""

    def begin(self) -> None:
        """The loop has begun."""

    def wants(self, instruction: todo.Instruction) -> bool:
        """Whether what has failed, or was put off, is still to be done."""
        return True

    def go_on(self, instruction: todo.Instruction) -> None:
        """What was put off is due."""
        self.state.do(instruction)

    def refused(self, event: happened.NodeFailed) -> None:
        """A node has failed for good."""

    def buffer_ready(self, event: happened.BufferReady) -> None:
        """The run has its space."""

    def staged_in(self, event: happened.StagedIn) -> None:
        """The inputs are there."""

    def jobs_described(self) -> None:
        """The jobs can be started."""

    def job_submitted(self, event: happened.JobSubmitted) -> None:
        """A job has its id."""

    def job_ended(self, event: happened.JobEnded) -> None:
        """A job has ended."""

    def jobs_seen(self, event: happened.JobsSeen) -> None:
        """Its jobs were looked at."""

    def frames_found(self, event: happened.FramesFound) -> None:
        """The watcher has reported."""

    def results_read(self, event: happened.ResultsRead) -> None:
        """Take what has come of a batch."""
        if self.production is not None:
            self.production.read(event)
            self.drawn = True

    def work_returned(self, event: happened.WorkReturned) -> None:
        """Take what a batch has given."""
        if self.production is not None:
            self.production.returned(event)
            self.drawn = True

    def published(self, event: happened.ProductsPublished) -> None:
        """Products are published, or could not be."""

    def released(self, event: happened.FramesReleased) -> None:
        """Note what is gone from the buffer."""
        if self.production is not None:
            self.production.releases.returned(event)

    def brought_home(self, event: happened.BroughtHome) -> None:
        """What the recipe keeps is home."""

    def buffer_freed(self, event: happened.BufferFreed) -> None:
        """The space is given back."""

    def pause_seen(self, event: happened.PauseSeen) -> None:
        """Pause, or go on."""
        self._steering.pause(event, self.production, over=self.model_over)

    def addition_requested(self, event: happened.AdditionRequested) -> None:
        """Make more products."""
        if self.production is not None:
            self._steering.add(event, self.production)

    def guard_records_read(self, event: happened.GuardRecord) -> None:
        """Let the guards take it."""
        if self.guarding is not None:
            self.guarding.take_record(event)

    def answered(self, event: happened.QuestionAnswered) -> None:
        """A question of its own has its answer."""

    def stop_requested(self) -> None:
        """The request to stop has changed."""

    def turn(self) -> None:
        """All that had happened is taken: publish what has come back."""
        if self.production is not None:
            state = self.state
            self.production.meet(state.workers, early=state.early, block=state.block.state)
            self.publish(self.production)

    def publish(self, production: Production) -> None:
        """Have it published."""
        production.publish()

    def tick(self) -> None:
        """Half a second has passed."""


class RunState:
    """What a driver knows of its run. ``make_policy`` makes the policy of its kind of run.

    ``stop`` is the request to stop that stands, ``block`` the viewing block as it was seen last;
    so many ``workers`` make products, or only an ``early`` one. ``end`` is the run's outcome, once
    it has one.
    """

    def __init__(self, context: RunContext, make_policy: Callable[[RunState], Policy]) -> None:
        self.context = context
        self.run, self.recipe, self.site = context.run, context.recipe, context.site
        self.outbox, self.history = Outbox(context.journal, context.history.last), context.history
        self.snapshot = context.snapshot
        self.snapshot.messages.clock = lambda: self.t
        self.stop = happened.StopRequested(None)
        self.block = happened.BlockSeen()
        self.workers, self.early = 1, False
        self.end: Outcome | None = None
        self._later: list[tuple[float, todo.Instruction]] = []
        self._losses: Counter[str] = Counter()
        self._blocks_ended = 0
        self.policy = make_policy(self)

    def handle(self, event: happened.StateEvent) -> list[todo.Instruction]:
        """Take an event; returns what is to be done, in order. Once the run has its outcome, what
        comes back is still taken, and published with the last words; nothing else follows."""
        if self.end is not None and not isinstance(event, _LAST):
            return self.outbox.take()
        self.outbox.now, self.outbox.t = event.now, event.t
        policy = self.policy
        match event:
            case happened.LoopBegun():
                policy.begin()
            case happened.BufferReady():
                policy.buffer_ready(event)
            case happened.StagedIn():
                policy.staged_in(event)
            case happened.JobsDescribed():
                policy.jobs_described()
            case happened.JobSubmitted():
                policy.job_submitted(event)
            case happened.JobEnded():
                policy.job_ended(event)
            case happened.JobsSeen():
                policy.jobs_seen(event)
            case happened.FramesFound():
                policy.frames_found(event)
            case happened.ResultsRead():
                policy.results_read(event)
            case happened.WorkReturned():
                policy.work_returned(event)
            case happened.ProductsPublished():
                policy.published(event)
            case happened.FramesReleased():
                policy.released(event)
            case happened.BroughtHome():
                policy.brought_home(event)
            case happened.BufferFreed():
                policy.buffer_freed(event)
            case happened.PauseSeen():
                policy.pause_seen(event)
            case happened.AdditionRequested():
                policy.addition_requested(event)
            case happened.GuardsRecalled() | happened.TripsFound() | happened.EndReported():
                policy.guard_records_read(event)
            case happened.QuestionAnswered():
                policy.answered(event)
            case happened.NodeFailed():
                self._take_failure(event)
            case happened.BlockOpened():
                self.outbox.append(ev.ViewingQueued(label=event.label))
            case happened.BlockReplaced():
                self._replace_block(event)
            case happened.BlockSeen():
                self._see_block(event)
            case happened.StopRequested():
                self.stop = event
                if policy.guarding is not None:
                    policy.guarding.stop_reason = event.reason
                policy.stop_requested()
            case happened.Turn():
                self.workers, self.early = event.workers, event.early
                self._do_due()
                policy.turn()
            case happened.Tick():
                policy.tick()
            case happened.RunOver():
                policy.settle()
                if policy.production is not None:
                    policy.publish(policy.production)
            case _:
                assert_never(event)
        ask = event.ask if isinstance(event, happened.QuestionAnswered) else None
        kind = ask.kind if ask is not None else _GIVES.get(type(event))
        if kind is not None:
            self._losses[kind] = 0
            if ask is None or ask.place is todo.AskPlace.BLOCK:
                self._blocks_ended = 0
        return self.outbox.take()

    # What policies do with it.

    @property
    def now(self) -> float:
        """When the event that is handled came, in monotonic seconds."""
        return self.outbox.now

    @property
    def t(self) -> float:
        """The same in Unix seconds."""
        return self.outbox.t

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of products, which workers import ahead."""
        return tuple(sorted({one.kind.name for one in self.recipe.products}))

    def do(self, instruction: todo.Instruction) -> None:
        """Have it carried out, after what is to be done already."""
        self.outbox.do(instruction)

    def later(self, pause_s: float, instruction: todo.Instruction) -> None:
        """Have it carried out after a pause, if the policy still wants it then."""
        self._later.append((self.now + pause_s, instruction))

    def finish(self, outcome: Outcome | None) -> None:
        """End the run; the first outcome counts."""
        if self.end is None and outcome is not None:
            self.end = outcome
            self.do(todo.End(outcome))

    def fail(self, error: Exception) -> None:
        """End the driver, not the run: it can be resumed."""
        self.do(todo.Fail(error))

    def alarm(self, text: str) -> None:
        """Journal and show what a person should see."""
        self.outbox.append(ev.Alarm(text=text))

    def clear_requests(self) -> None:
        """Forget the request to stop, which is obeyed."""
        self.stop = happened.StopRequested(None)
        self.do(todo.ClearRequests())

    def open_block(self) -> None:
        """Have the first viewing block asked for."""
        self.do(todo.OpenBlock(self.kinds))

    def show(self) -> None:
        """Bring the snapshot up to date with the jobs and the viewing block."""
        block = self.block
        # Until the block answers, products come from the early worker: nothing waits.
        early = block.state == "queued" and block.early
        shown = "running" if early else block.state
        self.snapshot.look(self.policy.jobs_now(), shown, block.waits)

    # Losses.

    def _take_failure(self, event: happened.NodeFailed) -> None:
        """A node failed with what ran it, and is tried again, or has failed for good. An error of
        Burstlens itself (BurstlensError) is an answer, not a loss."""
        node, kind = event.node, event.node.kind
        if not self.policy.wants(node):
            return
        self._losses[kind] += 1
        losses = self._losses[kind]
        _log.warning("%s failed, %d in a row", kind, losses, exc_info=event.error)
        answer = isinstance(event.error, BurstlensError) or (
            isinstance(node, todo.Ask) and not node.again
        )
        if answer or losses > LOSSES:
            self.policy.refused(event)
            return
        self.snapshot.alarm(f"{kind} is tried again: {event.error}")
        self.later(LOSS_PAUSE_S * 2 ** (losses - 1), node)

    def _do_due(self) -> None:
        due = [one for moment, one in self._later if moment <= self.now]
        self._later = [(moment, one) for moment, one in self._later if moment > self.now]
        for one in due:
            if self.policy.wants(one):
                self.policy.go_on(one)

    # The viewing block.

    def _replace_block(self, event: happened.BlockReplaced) -> None:
        self._blocks_ended += 1
        self.outbox.append(ev.ViewingEnded(reason=event.reason))
        self.snapshot.alarm(f"viewing block: {event.reason}")
        if self._blocks_ended > BLOCKS:
            self.fail(
                RunError(
                    f"the viewing block ended {self._blocks_ended} times without a result (the "
                    f"last time: {event.reason}); its output is below {self.run.parsl}. When that "
                    f"is fixed: burstlens resume {self.run.id}"
                )
            )

    def _see_block(self, event: happened.BlockSeen) -> None:
        if event.state == "running" and self.block.state != "running":
            self.outbox.append(ev.ViewingStarted(label=event.label))
        self.block = event
