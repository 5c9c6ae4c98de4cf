"""What the state of a run wants done: instructions, and events for the journal, in one order."""

from __future__ import annotations

from typing import TypeVar

from burstlens.core.run.event import Event
from burstlens.core.run.journal import Journal
from burstlens.workflows.ordering.instructions import Instruction

E = TypeVar("E", bound=Event)


class Outbox:
    """Collects what follows from one event. ``now`` and ``t`` are its moment, by both clocks.

    An event for the journal counts at once: the history has it. The file gets it in its turn, after
    what was to be done before it and ahead of what is to be done after it.
    """

    def __init__(self, journal: Journal, t: float = 0.0) -> None:
        self._journal = journal
        self._todo: list[Instruction] = []
        self.now, self.t = 0.0, t

    def append(self, event: E) -> E:
        """Have an event journalled; returns it with its time and the driver's epoch."""
        event = self._journal.record(event, self.t)
        self._todo.append(event)
        return event

    def do(self, instruction: Instruction) -> None:
        """Have an instruction carried out."""
        self._todo.append(instruction)

    def take(self) -> list[Instruction]:
        """All that is to be done, in order; it is forgotten here."""
        todo, self._todo = self._todo, []
        return todo
