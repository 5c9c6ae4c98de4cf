"""Workers that a test plays: a graph whose viewing block is a list, and what comes back from it.

Only the last step to Parsl is replaced. A worker puts files of its own into ``products/.incoming``,
as a real one does, and answers with a receipt, a failure or an error; or nobody hears of it.
"""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from burstlens.core.errors import StagingError
from burstlens.core.model import Failure, Frame, Receipt, State
from burstlens.core.run.directory import RunDir
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.making.results import Results
from burstlens.workflows.ordering import events
from burstlens.workflows.ordering.batches import Batch
from burstlens.workflows.ordering.events import WorkReturned
from burstlens.workflows.ordering.instructions import Make, Node, Release
from burstlens.workflows.placement.buffer import Released
from burstlens.workflows.recipe.recipe import MadeProduct
from burstlens.workflows.viewing.graph import Graph


@dataclass(slots=True)
class Task:
    """What a driver has submitted to the viewing block."""

    kind: str
    about: Any
    file: str = ""
    """Where the results of a batch are written."""


class Block(Graph):
    """A graph whose viewing block is the test."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.tasks: list[Task] = []

    def view(self, node: Node, *args: Any, **named: Any) -> None:
        """Keep it until the test takes it."""
        match node:
            case Make():
                self.tasks.append(Task(node.kind, node.batch, str(args[-1])))
            case Release():
                self.tasks.append(Task(node.kind, list(node.frames)))
            case _:
                self.tasks.append(Task(node.kind, node))


@dataclass(slots=True)
class Workers:
    """Workers on the buffer of a run, those of dead drivers as well."""

    run: RunDir
    products: Mapping[str, MadeProduct]
    gone: set[tuple[str, int]] = field(default_factory=set)
    """Valid time and attempt of the raw frames that they have deleted."""
    astray: set[str] = field(default_factory=set)
    """Files in ``.incoming`` whose receipts nobody gets."""

    def end(self, task: Task, outcome: str, reach: int) -> WorkReturned | events.FramesReleased:
        """What comes of a task: it is ``made``; the ``same`` picture as before is made; it
        ``failed``; the target ``refused`` one of its products; the worker is ``lost`` before one
        of them or, as a ``zombie``, after that is staged, and has written what it did before.
        Values of a picture reach from -``reach`` to ``reach``; volumes have two pieces."""
        if task.kind == "released":
            frames: list[Frame] = task.about
            self.gone |= {(frame.time, frame.attempt) for frame in frames}
            size = sum(frame.bytes for frame in frames)
            return events.FramesReleased(tuple(frames), Released(len(frames), 0, size))
        batch: Batch = task.about
        struck = (reach - 1) % len(batch.orders)
        if outcome in {"lost", "zombie"}:
            self._write(batch, task.file, struck, reach)
            if outcome == "zombie":
                self.unheard(self._stage(batch.orders[struck], alike=False, reach=reach))
            return WorkReturned(batch, error=RuntimeError("the worker was killed"))
        given = {
            number: self._give(order, outcome, reach)
            for number, order in enumerate(batch.orders)
            if outcome != "refused" or number != struck
        }
        if outcome == "refused":
            given[struck] = OrderResult(error=StagingError("full", path="x", number=28))
        return WorkReturned(batch, given)

    def _write(self, batch: Batch, file: str, count: int, reach: int) -> None:
        """The worker has done so many orders of a batch, and is killed in the next one."""
        results = Results(file)
        for number, order in enumerate(batch.orders[:count]):
            result = self._give(order, "made", reach)
            if results.write({number: result}):  # not written: nobody hears of it
                self.unheard(result.staged)

    def _give(self, order: Order, outcome: str, reach: int) -> OrderResult:
        frame = order.frame
        gone = (frame.time, frame.attempt) in self.gone
        if order.damage or outcome == "failed" or gone:
            return OrderResult(failure=self._failure(order))
        if order.kind == "vtk" and order.piece is None and not order.joins:
            return OrderResult(pieces=2)
        return OrderResult(self._stage(order, alike=outcome == "same", reach=reach))

    def unheard(self, receipt: Receipt | None) -> None:
        """Nobody hears of what a worker has staged."""
        if receipt is not None:
            parts = (receipt, receipt.state)
            self.astray |= {part.incoming for part in parts if part is not None}

    def _failure(self, order: Order) -> Failure:
        frame, made = order.frame, self.products[order.context.product]
        about = made.name, frame.stream, frame.time, frame.attempt, "no such variable"
        if "png" not in made.kind.extensions(made.options):
            return Failure(*about)
        facts = {"placeholder": True, "reason": "no such variable"}
        receipt = self._stage(order, alike=False, reach=0)
        return Failure(*about, replace(receipt, facts=facts, limits=None))

    def _stage(self, order: Order, *, alike: bool, reach: int) -> Receipt:
        made = self.products[order.context.product]
        frame, product = order.frame, made.name
        for name in (*order.needed.previous[:1], *order.needed.followed.values()):
            assert (self.run.products / name).is_file(), f"{name} is needed and does not stand"
        limits = None
        if made.kind.widens(made.options):
            given = order.context.limits or (0.0, 0.0)
            limits = min(given[0], -float(reach)), max(given[1], float(reach))
        name = uuid.uuid4().hex
        place = f"{product}_{frame.stream}_{frame.time}"
        final = f"{product}/{place}.{made.kind.extensions(made.options)[0]}"
        if order.piece is not None:
            piece = f"{frame.stream}_{frame.time}_{frame.attempt}_{order.piece[0]:04d}"
            final = f"{product}/pieces/{piece}.vti"
        incoming = f".incoming/{product}.{frame.stream}.{frame.time}.{name}"
        content = f"{final} {limits} {'' if alike else name}".encode()

        def put(incoming: str, final: str) -> tuple[str, str, int, int]:
            (self.run.products / incoming).write_bytes(content)
            return incoming, final, len(content), zlib.crc32(content)

        state = None
        if made.kind.wants(made.options).chained:
            state = State(*put(f"{incoming}.state", f".states/{place}_{frame.attempt}"))
        about = product, frame.stream, frame.time, frame.attempt, name
        return Receipt(*about, *put(incoming, final), state=state, limits=limits)
