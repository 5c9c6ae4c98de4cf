"""The driver's loop without a graph: what parts of a run's state want done is carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from workers_case import Block

from burstlens.core.model import Frame
from burstlens.workflows.deciding.state import Policy, RunState
from burstlens.workflows.deciding.steering import Steering
from burstlens.workflows.driver.dispatch import Dispatch
from burstlens.workflows.driver.inbox import Inbox
from burstlens.workflows.driver.loop import Loop
from burstlens.workflows.guards.finding import Reading
from burstlens.workflows.ordering.events import (
    GuardRecord,
    PauseSeen,
    RunOver,
    StateEvent,
    Tick,
)
from burstlens.workflows.ordering.guarding import Guarding
from burstlens.workflows.publishing.context import RunContext

T = TypeVar("T")


class GuardedRun(Policy):
    """A kind of run that has guards and is steered, and nothing else."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.guarding = Guarding(state.context, state.outbox)
        self.steering = Steering(state.context, state.outbox)
        self.ends_well = False

    def guard_records_read(self, event: GuardRecord) -> None:
        """Let the guards take it."""
        self.guarding.take_record(event)

    def stop_requested(self) -> None:
        """Tell the guards."""
        self.guarding.stop_reason = self.state.stop.reason

    def pause_seen(self, event: PauseSeen) -> None:
        """Pause, or go on."""
        self.steering.pause(event, None, over=False)

    def settle(self) -> None:
        """Let guards that have judged nothing say so."""
        self.guarding.settle(done=self.ends_well)


class LoopCase:
    """A loop that a test turns by hand."""

    def __init__(
        self, context: RunContext, make_policy: Callable[[RunState], Policy] = GuardedRun
    ) -> None:
        self.context, self.snapshot = context, context.snapshot
        self.history, self.journal = context.history, context.journal
        graph = Block(context.site, context.run, 1)
        self.inbox = Inbox(context)
        self.state = RunState(context, make_policy)
        dispatch = Dispatch(context, graph)
        self.loop = Loop(context, graph, dispatch, self.inbox, self.state, lambda _: None)
        for event in self.inbox.begin():
            self.take(event)

    def take(self, event: StateEvent) -> None:
        """An event reaches the state, and what follows is done."""
        self.loop._take(event)

    def after(self, call: Callable[..., T], *args: object, **named: object) -> T:
        """Call a part of the state as a policy does; what follows is done."""
        self.take(Tick())  # what may be its cause is told before
        value = call(*args, **named)
        for instruction in self.state.outbox.take():
            self.loop._carry_out(instruction)
        return value

    def look(self) -> None:
        """The loop looks around, once."""
        for event in self.inbox.look(adds=False):
            self.take(event)

    # Guards.

    @property
    def guarding(self) -> Guarding:
        """Those of the run."""
        assert isinstance(self.state.policy, GuardedRun)
        return self.state.policy.guarding

    def read(self, frame: Frame, readings: Sequence[Reading]) -> None:
        """A worker has read a frame for the guards."""
        self.after(self.guarding.read, frame, readings)

    def settle(self, *, done: bool) -> None:
        """The run is over."""
        assert isinstance(self.state.policy, GuardedRun)
        self.state.policy.ends_well = done
        self.look()
        self.take(RunOver())
