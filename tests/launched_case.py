"""The state of a launched run, told event by event what happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from no_system_calls import nothing_asked
from simulated_nodes import BUFFER

from burstlens.cluster_configs.site import choose
from burstlens.core.outcome import Outcome
from burstlens.core.run.directory import RunDir
from burstlens.core.run.event import Event
from burstlens.core.run.history import replay
from burstlens.core.run.journal import Journal
from burstlens.workflows.deciding.launched import LaunchedRun
from burstlens.workflows.deciding.state import RunState
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.ordering.events import StateEvent
from burstlens.workflows.ordering.shown_points import ShownPoints
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.recipe import Recipe

WELL = Ended(0, None, "exited")


class Case:
    """A run whose journal has these events; ``tell`` gives what is to be done about an event."""

    def __init__(
        self,
        run: RunDir,
        recipe: Recipe,
        events: Sequence[Event] = (),
        *,
        batch: bool = False,
        lasts: bool = True,
    ) -> None:
        history = replay(events)
        journal = Journal(run.journal, 1, history.apply)
        site = choose("local")
        if batch:
            viewing = replace(site.viewing, placement="separate" if lasts else "same-job")
            site = replace(site, scheduler="slurm", viewing=viewing)
        context = RunContext.of(run, recipe, site, journal, history)
        self.run, self.now, self.snapshot = run, 0.0, context.snapshot
        self.events = list(events)
        """What is journalled."""
        self.state = RunState(
            context, lambda state: LaunchedRun(state, ShownPoints(), buffer_name="", lasts=lasts)
        )

    def tell(self, event: StateEvent, after_s: float = 0.01) -> list[todo.Instruction]:
        """What is to be done, events of the journal among it."""
        self.now += after_s
        with nothing_asked():
            done = self.state.handle(replace(event, now=self.now, t=1e9 + self.now))
        self.events += [one for one in done if isinstance(one, Event)]
        return done

    def start(self) -> list[todo.Instruction]:
        """Up to the launch of its jobs."""
        self.tell(happened.LoopBegun())
        self.tell(happened.BufferReady(BUFFER))
        self.tell(happened.StagedIn(1, 1000, 0))
        return self.tell(happened.JobsDescribed())

    def go_home(self) -> None:
        """From the start to a model that has ended well, with nothing made."""
        self.start()
        self.tell(happened.JobEnded("attempt-1", WELL))
        ended = Report((), (), Cursor(speech=Speech(ended_well=True)), ended=True)
        self.tell(happened.FramesFound(ended))
        self.tell(happened.Turn())

    @property
    def end(self) -> Outcome:
        assert self.state.end is not None
        return self.state.end


def kinds(instructions: Sequence[todo.Instruction]) -> list[str]:
    """The names of events and of instructions."""
    return [one.event if isinstance(one, Event) else type(one).__name__ for one in instructions]
