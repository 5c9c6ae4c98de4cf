"""The world of a run's state, in memory: what the state wants done happens, later or never.

No process, no file, no clock. While the state handles an event, a call that asks the system for
anything is an error, and so is an instruction that must not come then.
"""

from __future__ import annotations

import contextlib
import sys
import zlib
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from burstlens.cluster_configs.site import Site
from burstlens.core.errors import SiteError, StagingError
from burstlens.core.model import Failure, Frame, Receipt
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.event import Event
from burstlens.core.run.history import History, replay
from burstlens.core.run.journal import Journal
from burstlens.core.run.requests import STOPS
from burstlens.workflows.deciding.launched import LaunchedRun
from burstlens.workflows.deciding.state import Policy, RunState
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import FolderReport, Report
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.guards.finding import Breach, Reading
from burstlens.workflows.look.driving.attached_run import AttachedRun
from burstlens.workflows.look.observer.observer import Observer
from burstlens.workflows.look.options import Look
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.ordering.events import StateEvent
from burstlens.workflows.ordering.shown_points import ShownPoints
from burstlens.workflows.placement.buffer import BufferRef, Home
from burstlens.workflows.placement.buffer import Released as Deleted
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.publish import _fields
from burstlens.workflows.recipe.recipe import Recipe
from burstlens.workflows.tuning.course import Course
from burstlens.workflows.tuning.driving.collected import Collected
from burstlens.workflows.tuning.driving.trial_files import TrialFiles
from burstlens.workflows.tuning.driving.trials_run import TrialsRun
from burstlens.workflows.tuning.space import Measured

FRAMES = 5
"""Frames of an attempt."""
TURNS = 400
"""Turns of the loop in which every run ends once nothing goes wrong any more."""
BUFFER = BufferRef("posix", "/nowhere", "storm-1")
BAD = Breach("finite", "T2 is NaN", "T2")
SYSTEM = ("open", "os.", "subprocess.", "socket.", "shutil.", "tempfile.", "glob.")
"""Audit events of calls that ask the system for something."""
LAST = (
    Event, todo.Publish, todo.Discard, todo.Sync, todo.Request, todo.PrepareWord, todo.SendWord,
)  # fmt: skip
"""What may be done once the run has its outcome."""
_watched = {"on": False}


def _audit(name: str, args: tuple[Any, ...]) -> None:
    if _watched["on"] and name.startswith(SYSTEM):
        if name == "open" and str(args[0]).endswith((".py", ".pyc")):
            return  # an import
        raise AssertionError(f"the state asks the system: {name} {args}")


sys.addaudithook(_audit)


@contextlib.contextmanager
def nothing_asked() -> Iterator[None]:
    """A block in which the system must not be asked for anything."""
    _watched["on"] = True
    try:
        yield
    finally:
        _watched["on"] = False


class World:
    """One run from its first driver to its end, of the ``kind`` launched, attached or trials."""

    def __init__(self, kind: str, recipe: Recipe, site: Site, folder: Path, course: Course) -> None:
        self.kind, self.recipe, self.site, self.course = kind, recipe, site, course
        self.run = RunDir(folder)
        self.events: list[Event] = []
        """What the journal has."""
        self.now, self.epoch = 100.0, 0
        self.control: str | None = None
        self.reason: dict[str, Any] = {}
        self.outcomes: list[Outcome] = []
        self.staged: dict[str, Receipt] = {}
        """What lies in ``.incoming``, by its unique name."""
        self.published: Counter[tuple[str, str, str, int]] = Counter()
        self.ended: dict[str, Ended] = {}
        """Jobs whose ends their supervisors have reported."""
        self.begun: set[str] = set()
        self.frames: dict[int, int] = {}
        """How many frames of each attempt the model has written."""
        self.serial = self.count = 0
        self.block_gone = self.refuses = False
        self.quiet_s = 0.0
        self.begin()

    # Drivers.

    def begin(self) -> None:
        """A driver begins, the next one if there was one."""
        self.epoch += 1
        history = replay(self.events)
        self.journal = Journal(self.run.journal, self.epoch, history.apply)
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
        if self.kind == "launched":
            return LaunchedRun(state, ShownPoints(), buffer_name="", lasts=True)
        if self.kind == "attached":
            look = Look("/model", "command", "its files", page=False)
            return AttachedRun(
                state, look, Observer(), Observer, place={}, shown=ShownPoints(), table={}
            )
        files = TrialFiles(state.context, provision=None)  # type: ignore[arg-type]
        return TrialsRun(state, self.course, files, buffer_name="", lasts=True, hosted=False)

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
                # A resume looks for the end of an attempt that was done.
                assert known is None or known.outcome in {None, "done"}, f"{name} has ended already"
            case todo.Destroy():
                assert not kinds[node.kind], "the space is freed twice"
                assert not self.freed, "the space was freed already"
                assert not (node.outcome.state == "done" and self._unsettled()), "products are lost"
        if isinstance(node, todo.BringHome):
            assert not kinds["job"], "a job still runs"
        self.over |= isinstance(node, todo.BringHome | todo.Destroy)
        self.nodes.append(node)

    def _unsettled(self) -> list[tuple[str, str, str]]:
        attempt = self.history.attempt
        return [
            key
            for stream, time, number in self.history.frames
            for key in ((product.name, stream, time) for product in self.recipe.products)
            if number == attempt and not self.history.settled(key, attempt)
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
            self.take(self._made(node, how, number))
        elif how == "good":
            self.take(self._good(node, number))
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
        self.ended.setdefault(name, self._end_of_job(how))
        self.take(happened.JobEnded(name, self.ended[name]))

    def _end_of_job(self, how: str) -> Ended:
        if self.control is not None:
            return Ended(None, "SIGTERM", self.control, why=self.reason)
        reason = "lost" if how == "lost" else "exited"
        return Ended(0 if how == "good" else 1, None, reason)

    def _good(self, node: todo.Node, number: int) -> StateEvent:
        match node:
            case todo.ProvideBuffer():
                known = node.known
                return happened.BufferReady(known or BUFFER, adopted=known is not None)
            case todo.StageIn():
                return happened.StagedIn(1, 1000, 0)
            case todo.Watch():
                return happened.FramesFound(self._report(node, number))
            case todo.Release():
                size = sum(frame.bytes for frame in node.frames)
                return happened.FramesReleased(node.frames, Deleted(len(node.frames), 0, size))
            case todo.BringHome():
                return happened.BroughtHome(node.buffer, Home([], []))
            case todo.Destroy():
                self.freed = True
                return happened.BufferFreed(node.buffer, node.outcome)
            case todo.Ask():
                return happened.QuestionAnswered(node, self._worker_answer(node, number))
        raise AssertionError(node)

    def _worker_answer(self, ask: todo.Ask, number: int) -> Any:
        if ask.kind == "collected":
            return Collected(Measured({"out": 1.0 + number}, {"out": 3}), "", 0.1)
        if ask.kind == "compare":
            order = ask.about.orders[0]
            return OrderResult(self._stage(order, alike=number % 2 == 0))
        return {"described": "", "stopped": "no"}[ask.kind]

    def _report(self, node: todo.Watch, number: int) -> Report:
        attempt = node.attempt
        job_over = self.kind == "attached" or f"attempt-{attempt}" in self.ended
        written = FRAMES if job_over else min(FRAMES, self.frames.get(attempt, 0) + number % 3)
        self.frames[attempt] = written
        first, last = self.reported[attempt], min(written, self.reported[attempt] + 2)
        self.reported[attempt] = last
        frames = tuple(self._frame(attempt, n) for n in range(first, last))
        all_out = job_over and last == written
        folder = None
        if self.kind == "attached":
            folder = FolderReport((1, 2), newest="out.nc", written=1.0, quiet_s=self.quiet_s)
        return Report(
            frames, (), Cursor(speech=Speech(ended_well=all_out)), ended=all_out and not folder,
            stopping=self.control is not None, folder=folder,
        )  # fmt: skip

    def _frame(self, attempt: int, number: int) -> Frame:
        paths = (f"storm-1/{attempt}/out_{number:08d}.nc",)
        about = attempt, "output", f"t{number:08d}.000", paths, 0, 1000, 1.0, 1.1, "header"
        return Frame("storm-1", *about, fingerprint=(1, number, 1000, 10))

    def _made(self, node: todo.Make, how: str, number: int) -> StateEvent:
        orders = node.batch.orders
        if how == "lost":
            return happened.WorkReturned(node.batch, error=RuntimeError("killed"))
        if how == "refused":
            full = StagingError("full", path="x", number=28)
            return happened.WorkReturned(
                node.batch, {n: OrderResult(error=full) for n in range(len(orders))}
            )
        results = {n: self._result(order, number + n) for n, order in enumerate(orders)}
        return happened.WorkReturned(node.batch, results)

    def _result(self, order: Order, number: int) -> OrderResult:
        frame = order.frame
        at = frame.stream, frame.time, frame.attempt
        breach = BAD if number % 11 == 10 else None
        readings = tuple(
            Reading(guard.called, *at, 0.0, 1.0, 0.5, breach=breach) for guard in order.guards
        ) if order.inspects else ()  # fmt: skip
        if not order.kind:
            return OrderResult(readings=readings)
        if number % 7 == 6:
            failure = Failure(order.context.product, *at, "no such variable")
            return OrderResult(failure=failure, readings=readings)
        return OrderResult(self._stage(order, alike=False), readings=readings)

    def _stage(self, order: Order, *, alike: bool) -> Receipt:
        self.serial += 1
        frame, product = order.frame, order.context.product
        name = f"u{self.serial}"
        limits = None
        if order.context.limits is not None or product == "widening":
            low, high = order.context.limits or (0.0, 0.0)
            limits = min(low, -float(self.serial % 4)), max(high, 1.0)
        content = f"{product} {frame.time} {'' if alike else name}".encode()
        receipt = Receipt(
            product, frame.stream, frame.time, frame.attempt, name, f".incoming/{name}",
            f"{product}/{frame.time}.png", len(content), zlib.crc32(content), limits=limits,
        )  # fmt: skip
        self.staged[name] = receipt
        return receipt

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
        twice = [key for key, times in self.published.items() if times > 1 and "plain" in key]
        assert not twice, f"published twice: {twice}"


def summary(history: History) -> tuple[object, ...]:
    """What must be the same after a replay."""
    return (
        history.state, history.attempt, sorted(history.frames), dict(history.published),
        dict(history.failed), history.buffer, history.buffer_released, history.brought_home,
        {name: job.outcome for name, job in history.jobs.items()}, list(history.trials),
    )  # fmt: skip
