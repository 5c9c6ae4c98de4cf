"""The world of a run's state, in memory: what the state wants done happens, later or never.

No process, no file, no clock. While the state handles an event, a call that asks the system for
anything is an error, and so is an instruction that must not come then.
"""

from __future__ import annotations

from collections import Counter, deque
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from no_system_calls import nothing_asked
from simulated_nodes import ALL_FRAMES, SimulatedNodes

from burstlens.cluster_configs.site import Site
from burstlens.core.errors import RunError, SiteError, StagingError
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.event import Event
from burstlens.core.run.history import History, replay
from burstlens.core.run.journal import Journal
from burstlens.core.run.requests import STOPS
from burstlens.workflows.deciding.job_change import NEXT_JOB
from burstlens.workflows.deciding.launched import LaunchedRun
from burstlens.workflows.deciding.state import Policy, RunState
from burstlens.workflows.look.driving.attached_run import AttachedRun
from burstlens.workflows.look.observer.observer import Observer
from burstlens.workflows.look.options import Look
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.ordering.events import StateEvent
from burstlens.workflows.ordering.shown_points import ShownPoints
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.publish import _fields
from burstlens.workflows.recipe.recipe import Recipe
from burstlens.workflows.tuning.course import Course
from burstlens.workflows.tuning.driving.trial_files import TrialFiles
from burstlens.workflows.tuning.driving.trials_run import TrialsRun

TURNS = 400
"""Turns of the loop in which every run ends once nothing goes wrong any more."""
LAST = (
    Event, todo.Publish, todo.Discard, todo.Sync, todo.Request, todo.PrepareWord, todo.SendWord,
)  # fmt: skip
"""What may be done once the run has its outcome."""


class World(SimulatedNodes):
    """One run from its first driver to its end, of the ``kind`` launched, attached or trials."""

    def __init__(self, kind: str, recipe: Recipe, site: Site, folder: Path, course: Course) -> None:
        super().__init__(kind)
        if self.is_cut:
            cut = replace(recipe.simulation, segments="until done", retries=1)
            recipe = replace(recipe, simulation=cut)
        self.recipe, self.site, self.course = recipe, site, course
        self.run = RunDir(folder)
        self.events: list[Event] = []
        """What the journal has."""
        self.now, self.epoch = 100.0, 0
        self.outcomes: list[Outcome] = []
        self.published: Counter[tuple[str, str, str, int]] = Counter()
        self.begun: set[str] = set()
        self.count = 0
        self.block_gone = self.refuses = False
        self.files = ExitStack()
        """The journal of the driver: a walk has some thousand drivers."""
        self.begin()

    # Drivers.

    def begin(self) -> None:
        """A driver begins, the next one if there was one."""
        self.files.close()
        self.epoch += 1
        history = replay(self.events)
        journal = Journal(self.run.journal, self.epoch, history.apply)
        self.journal = self.files.enter_context(closing(journal))
        self.history = history
        self._note(ev.RunResumed() if self.events else ev.RunStarted())
        context = RunContext.of(self.run, self.recipe, self.site, self.journal, history)
        self.nodes: list[todo.Node] = []
        self.reported: Counter[int] = Counter()
        self.over = self.freed = False
        self.failed: Exception | None = None
        self.state = RunState(context, self._policy)
        self.take(happened.LoopBegun())

    def _policy(self, state: RunState) -> Policy:
        if self.kind == "launched" or self.is_cut:
            lasts = self.kind != "jobs"
            return LaunchedRun(state, ShownPoints(), buffer_name="", lasts=lasts)
        if self.kind == "attached":
            look = Look("/model", "command", "its files", page=False)
            return AttachedRun(
                state, look, Observer(), Observer, place={}, shown=ShownPoints(), table={}
            )
        files = TrialFiles(state.context, provision=None)  # type: ignore[arg-type]
        return TrialsRun(state, self.course, files, buffer_name="", lasts=True, hosted=False)

    def begin_of(self, attempt: int) -> int:
        """After the checkpoint that the attempt resumes from."""
        begin = self.history.lineage.begin_of(attempt)
        return int(begin[1:9]) + 1 if begin else 0

    def kill(self) -> None:
        """The driver dies; jobs, files and workers stay. The next one begins."""
        if not self.outcomes:
            self.begin()

    def _note(self, event: Event) -> None:
        self.events.append(self.journal.record(event, 1e9 + self.now))

    # The loop.

    def take(self, event: StateEvent) -> None:
        """Give the state an event, and what follows from it at once."""
        events = deque([event])
        while events and self.failed is None:
            event = events.popleft()
            if self.control != self.state.stop.control:
                events.extend(self._handle(happened.StopRequested(self.control, self.reason)))
            events.extend(self._handle(event))

    def _handle(self, event: StateEvent) -> list[StateEvent]:
        self.now += 0.01
        self.count += 1
        event = replace(event, now=self.now, t=1e9 + self.now)
        with nothing_asked():
            instructions = self.state.handle(event)
        found: list[StateEvent] = []
        for instruction in instructions:
            if self.failed is None:
                found += self._carry_out(instruction)
        return found

    def turn(self, seconds: float = 0.0) -> None:
        """The loop goes round, and looks around."""
        if self.outcomes or self.failed:
            return
        self.now += seconds
        self.take(happened.Turn(1))
        self.take(happened.BlockSeen("running", label="viewing-1"))
        if not self.outcomes:
            self.take(happened.Tick())

    # What the state wants done.

    def _carry_out(self, instruction: todo.Instruction) -> list[StateEvent]:
        if self.outcomes:
            assert isinstance(instruction, LAST), instruction
        match instruction:
            case Event():
                self._journalled(instruction)
            case todo.Publish():
                return [self._publish(instruction)]
            case todo.Discard():
                self.staged.pop(instruction.receipt.uuid, None)
            case todo.DescribeJobs():
                return [happened.JobsDescribed()]
            case todo.SeeJobs():
                return [happened.JobsSeen()]
            case todo.OpenBlock():
                return [happened.BlockOpened("viewing-1")]
            case todo.MendBlock() if self.block_gone:
                self.block_gone = False
                return [happened.BlockReplaced("it was gone")]
            case todo.Ask(place=todo.AskPlace.LOOP):
                return [happened.QuestionAnswered(instruction, self._answer(instruction))]
            case todo.Request():
                self.ask(instruction.name, dict(instruction.reason or {}))
            case todo.ClearRequests():
                self.control, self.reason = None, {}
            case todo.Fail():
                self.failed = instruction.error
            case todo.End(outcome=outcome) if outcome == NEXT_JOB:
                assert not self._unsettled(), "products are lost with the buffer"
                self.failed = RunError("the next driver has another buffer")
            case todo.End():
                self.outcomes.append(instruction.outcome)
            case _ if isinstance(instruction, todo.Node):
                self._order(instruction)
        return []

    def _journalled(self, event: Event) -> None:
        if isinstance(event, ev.SimulationSubmitting):
            known = [one.attempt for one in self.events if isinstance(one, type(event))]
            assert not known or event.attempt in {known[-1], known[-1] + 1}
        if isinstance(event, ev.ProductFailed):
            of = event.product, event.stream, event.time, event.attempt
            assert not self.published[of] or self.history.holes, f"{of} stands and is failed"
        self.events.append(event)

    def _order(self, node: todo.Node) -> None:
        """It is begun, if it may."""
        kinds = Counter(one.kind for one in self.nodes)
        match node:
            case todo.Watch() | todo.ProvideBuffer() | todo.StageIn() | todo.BringHome():
                assert not kinds[node.kind], f"a second {node.kind} is under way"
                late = self.over and not isinstance(node, todo.BringHome)
                assert not late, f"{node.kind} after the homecoming has begun"
            case todo.Launch(name=name):
                assert not self.over, f"{name} is launched after the homecoming has begun"
                under_way = {one.name for one in self.nodes if isinstance(one, todo.Launch)}
                assert name not in under_way, f"{name} is launched twice"
                known = self.history.jobs.get(name)
                # A resume looks for the end of an attempt that was done, or is to be followed.
                again = {None, "done"} | ({"cut", "failed"} if self.is_cut else set())
                assert known is None or known.outcome in again, f"{name} has ended already"
            case todo.Destroy():
                assert not kinds[node.kind], "the space is freed twice"
                assert not self.freed, "the space was freed already"
                assert not (node.outcome.state == "done" and self._unsettled()), "products are lost"
        if isinstance(node, todo.BringHome):
            assert not kinds["job"], "a job still runs"
        self.over |= isinstance(node, todo.BringHome | todo.Destroy)
        self.nodes.append(node)

    def _unsettled(self) -> list[tuple[str, str, str]]:
        return [
            key
            for stream, time, number in self.history.frames
            for key in ((product.name, stream, time) for product in self.recipe.products)
            if not self.history.is_stale(stream, time, number)
            and not self.history.settled(key, number)
        ]

    def _publish(self, instruction: todo.Publish) -> happened.ProductsPublished:
        if self.refuses:
            self.refuses = False
            return happened.ProductsPublished(OSError(5, "Input/output error", "/nowhere"))
        for receipt in instruction.receipts:
            assert receipt.uuid in self.staged, f"{receipt.key} is published without its file"
            if self.history.published.get(receipt.key, 0) >= receipt.attempt and not (
                self.history.outgrown(receipt.key)
            ):
                del self.staged[receipt.uuid]
                continue
            self._note(ev.ProductPublishing(**_fields(receipt)))
            self._note(ev.ProductPublished(**_fields(receipt)))
            del self.staged[receipt.uuid]
            self.published[*receipt.key, receipt.attempt] += 1
        return happened.ProductsPublished()

    def _answer(self, ask: todo.Ask) -> Any:
        if ask.kind == "observe":
            return ask.function(*ask.args)
        return {"link": None, "results": "it is faster", "silent": False}[ask.kind]

    # What happens.

    def ask(self, control: str, reason: dict[str, Any] | None = None) -> None:
        """Somebody asks for a stop."""
        if control in STOPS and self.control != "stop-now":
            self.reason = self.reason or dict(reason or {})
            self.control = control

    def end(self, which: int, how: str, number: int) -> None:
        """A node under way ends: ``good``, ``lost`` with what ran it, or ``refused``."""
        if not self.nodes or self.outcomes or self.failed:
            return
        node = self.nodes.pop(which % len(self.nodes))
        if isinstance(node, todo.Launch):
            self._go_on_with_job(node, how)
        elif isinstance(node, todo.Make):
            self.take(self.made(node, how, number))
        elif how == "good":
            self.take(self.good(node, number))
        elif isinstance(node, todo.Release):
            self.take(happened.FramesReleased(node.frames, error=RuntimeError("lost")))
        elif how == "lost":
            self.take(happened.NodeFailed(node, RuntimeError("the worker was killed")))
        else:
            error = SiteError("no") if isinstance(node, todo.ProvideBuffer) else None
            error = error or StagingError("no", path="/bb/x", number=13)
            self.take(happened.NodeFailed(node, error))

    def _go_on_with_job(self, node: todo.Launch, how: str) -> None:
        name = node.name
        if name not in self.begun and name not in self.ended:
            self.begun.add(name)
            self.nodes.append(node)
            self.take(happened.JobSubmitted(name, f"local:1:{len(self.begun)}"))
            return
        self.begun.discard(name)
        self.ended.setdefault(name, self.end_of_job(how, name))
        self.take(happened.JobEnded(name, self.ended[name]))

    # What must hold.

    def check(self) -> None:
        """The state knows what its journal adds up to, and ends once."""
        assert len(self.outcomes) <= 1
        assert summary(self.history) == summary(replay(self.events))

    def finish(self) -> None:
        """Nothing goes wrong any more: the run comes to its end, and nothing is left over."""
        self.refuses = self.block_gone = False
        for number in range(TURNS):
            if self.failed is not None:
                self.begin()
            if self.outcomes:
                break
            self.quiet_s = 1e6
            for _ in range(len(self.nodes)):
                self.end(0, "good", 1)
            self.turn(40.0 if number > TURNS // 2 else 1.0)
        assert self.outcomes, f"the run does not end: {self.nodes}"
        self.check()
        (outcome,) = self.outcomes
        if outcome.state == "done" and self.kind != "trials":
            assert not self._unsettled()
            assert self.kind == "attached" or self.freed or outcome.left
        if outcome.state == "done" and self.is_cut:
            assert len(self.history.ready) == ALL_FRAMES, "frames are missing"
        twice = [key for key, times in self.published.items() if times > 1 and "plain" in key]
        assert not twice, f"published twice: {twice}"
        self.files.close()


def summary(history: History) -> tuple[object, ...]:
    """What must be the same after a replay."""
    return (
        history.state, history.attempt, sorted(history.frames), dict(history.published),
        dict(history.failed), history.buffer, history.buffer_released, history.brought_home,
        {name: job.outcome for name, job in history.jobs.items()}, list(history.trials),
    )  # fmt: skip
