"""What runs outside of a run's state, in memory: jobs, workers, files on the buffer."""

from __future__ import annotations

import zlib
from collections import Counter
from typing import Any

from burstlens.core.errors import StagingError
from burstlens.core.model import Failure, Frame, Receipt
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import FolderReport, Report, WholeCheckpoint
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.guards.finding import Breach, Reading
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.ordering.events import StateEvent
from burstlens.workflows.placement.buffer import BufferRef, Home
from burstlens.workflows.placement.buffer import Released as Deleted
from burstlens.workflows.placement.checkpoint_home import CheckpointCopy
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.tuning.driving.collected import Collected
from burstlens.workflows.tuning.space import Measured

FRAMES = 5
"""Frames of an attempt."""
ALL_FRAMES = 13
"""Frames of a run of several attempts, each of which ends with its job's time before the end."""
BUFFER = BufferRef("posix", "/nowhere", "storm-1")
BAD = Breach("finite", "T2 is NaN", "T2")


class SimulatedNodes:
    """What nodes of a run of that ``kind`` give."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.control: str | None = None
        self.reason: dict[str, Any] = {}
        """Who asks for a stop, and why."""
        self.staged: dict[str, Receipt] = {}
        """What lies in ``.incoming``, by its unique name."""
        self.ended: dict[str, Ended] = {}
        """Jobs whose ends their supervisors have reported."""
        self.frames: dict[int, int] = {}
        """How many frames of each attempt the model has written."""
        self.reported: Counter[int] = Counter()
        """How many of them this driver's watchers have reported."""
        self.serial = 0
        self.quiet_s = 0.0
        self.freed = False

    @property
    def is_cut(self) -> bool:
        """Whether the run has several attempts: in jobs beside a buffer, or each with its own."""
        return self.kind in {"cut", "jobs"}

    def begin_of(self, attempt: int) -> int:
        """The number of the attempt's first frame."""
        return 0

    def end_of(self, attempt: int) -> int:
        """The number after that of its last frame."""
        if not self.is_cut:
            return FRAMES
        return min(self.begin_of(attempt) + FRAMES, ALL_FRAMES)

    def end_of_job(self, how: str, name: str = "") -> Ended:
        """How a job ends."""
        if self.control is not None:
            return Ended(None, "SIGTERM", self.control, why=self.reason)
        kind, _, number = name.partition("-")
        is_attempt = self.is_cut and kind == "attempt" and how == "good"
        if is_attempt and self.end_of(int(number)) < ALL_FRAMES:
            return Ended(None, "SIGTERM", "walltime")
        reason = "lost" if how == "lost" else "exited"
        return Ended(0 if how == "good" else 1, None, reason)

    def good(self, node: todo.Node, number: int) -> StateEvent:
        """What a node gives that ends well; ``number`` chooses among what it may give."""
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
        if ask.kind in {"checkpoint", "checkpoint-home-removal"}:
            return None
        if ask.kind == "judgement":
            return ""
        if ask.kind == "checkpoint-home":
            *_, attempt, time, names = ask.args
            return CheckpointCopy(attempt, time, [(name, 1, 7) for name in names])
        if ask.kind == "compare":
            order = ask.about.orders[0]
            return OrderResult(self._stage(order, alike=number % 2 == 0))
        return {"described": "", "stopped": "no"}[ask.kind]

    def _report(self, node: todo.Watch, number: int) -> Report:
        attempt = node.attempt
        job_over = self.kind == "attached" or f"attempt-{attempt}" in self.ended
        begin, most = self.begin_of(attempt), self.end_of(attempt) - self.begin_of(attempt)
        written = most if job_over else min(most, self.frames.get(attempt, 0) + number % 3)
        self.frames[attempt] = written
        first, last = self.reported[attempt], min(written, self.reported[attempt] + 2)
        self.reported[attempt] = last
        frames = tuple(self._frame(attempt, begin + n) for n in range(first, last))
        found = [frame.time for frame in frames if self.is_cut and int(frame.time[1:9]) % 2]
        checkpoints = tuple(WholeCheckpoint(time, ("rst",), 1, 1.0, "name") for time in found)
        all_out = job_over and last == written
        folder = None
        if self.kind == "attached":
            folder = FolderReport((1, 2), newest="out.nc", written=1.0, quiet_s=self.quiet_s)
        return Report(
            frames, (), Cursor(speech=Speech(ended_well=all_out)), ended=all_out and not folder,
            stopping=self.control is not None, folder=folder, checkpoints=checkpoints,
        )  # fmt: skip

    def _frame(self, attempt: int, number: int) -> Frame:
        paths = (f"storm-1/{attempt}/out_{number:08d}.nc",)
        about = attempt, "output", f"t{number:08d}.000", paths, 0, 1000, 1.0, 1.1, "header"
        return Frame("storm-1", *about, fingerprint=(1, number, 1000, 10))

    def made(self, node: todo.Make, how: str, number: int) -> StateEvent:
        """What comes back of a batch."""
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
