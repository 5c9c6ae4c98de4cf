"""Sending: batches on the viewing block, and what comes back of each of their orders."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from burstlens.workflows.making import tasks
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.making.results import read_results
from burstlens.workflows.ordering.batches import Batch, Costs
from burstlens.workflows.ordering.events import WorkReturned
from burstlens.workflows.ordering.graph import Graph
from burstlens.workflows.ordering.instructions import Make
from burstlens.workflows.placement.buffer import BufferRef

PAUSE_S = 0.02
"""How long it takes at least until batches are looked at again."""
_LATE_PART = 0.1
"""A result is seen late by this part of the time since the one before, at most."""
_CPU_PART, _WALL_PART = 0.03, 0.25
"""Reading files in vain takes at most these parts of a core and of the driver's time: each costs an
open, on a parallel file system a request to its server."""


class Sending:
    """Batches under way. Driver's thread only; ``incoming`` is the run's ``.incoming``."""

    def __init__(
        self,
        graph: Graph,
        buffer: BufferRef,
        incoming: Path,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.thread_time,
    ) -> None:
        self._graph = graph
        self._buffer = buffer
        self._incoming = incoming
        self._clock, self._cpu = clock, cpu
        self._batches: list[Batch] = []
        self._rest = 0.0
        """No file is read before this time."""
        self.costs = Costs()

    def __len__(self) -> int:
        return len(self._batches)

    def send(self, orders: Sequence[Order], priority: int) -> None:
        """Submit a batch."""
        batch = Batch(
            tuple(orders), self._make_file() if len(orders) > 1 else None, news=self._clock()
        )
        self._batches.append(batch)
        what = tasks.work, self._buffer, batch.orders, str(batch.file or "")
        self._graph.view(Make(batch), *what, priority=priority)

    def _make_file(self) -> Path | None:
        """A file for results, made here: a node that looked for it before it was there might not
        see it for a while. None where it cannot be made: the task returns all of its results."""
        path = self._incoming / f"{uuid.uuid4().hex}.results"
        try:
            path.touch(exist_ok=False)
        except OSError:
            return None
        return path

    def wait_s(self, longest: float) -> float:
        """How long the driver may wait before it looks for results."""
        now = self._clock()
        waits = [now - batch.news for batch in self._batches if batch.file is not None]
        if not waits:
            return longest
        return min(longest, max(PAUSE_S, _LATE_PART * min(waits), self._rest - now))

    def news(self) -> list[tuple[Order, OrderResult]]:
        """What became of orders of batches that are still under way; nothing when the last look was
        a moment ago."""
        if self._clock() < self._rest:
            return []
        found, wall_s, cpu_s = list[tuple[Order, OrderResult]](), 0.0, 0.0
        for batch in self._batches:
            if batch.file is None:
                continue
            at, cpu = self._clock(), self._cpu()
            answers = list(self._read(batch))
            found += answers
            if not answers:
                wall_s += self._clock() - at
                cpu_s += self._cpu() - cpu
        pause_s = max(wall_s * (1 / _WALL_PART - 1), cpu_s * (1 / _CPU_PART - 1))
        self._rest = self._clock() + max(PAUSE_S, pause_s)
        return found

    def _read(self, batch: Batch) -> Iterator[tuple[Order, OrderResult]]:
        if batch.file is None:
            return
        try:
            found, batch.offset = read_results(batch.file, batch.offset)
        except OSError:  # the task's end, or the next look, gives them
            return
        if found:
            batch.news = self._clock()
        for number, result in found.items():
            if number < len(batch.orders) and number not in batch.answered:
                yield self._answer(batch, number, result)

    def _answer(self, batch: Batch, number: int, result: OrderResult) -> tuple[Order, OrderResult]:
        batch.answered.add(number)
        order = batch.orders[number]
        if result.receipt is not None and not order.remakes:
            self.costs.note(order, result.receipt, first=batch.is_first(number))
        return order, result

    def returned(self, event: WorkReturned) -> Iterator[tuple[Order, OrderResult | None]]:
        """What is left of a batch that has ended. Of one whose worker died the first order without
        a result was under way; the others were not begun: None."""
        batch = event.batch
        self._batches.remove(batch)
        yield from self._read(batch)
        for number, result in event.results.items():
            if number not in batch.answered:
                yield self._answer(batch, number, result)
        left = [order for n, order in enumerate(batch.orders) if n not in batch.answered]
        if left and event.error is not None:
            yield left.pop(0), OrderResult(error=event.error)
        for order in left:
            yield order, None
        if batch.file is not None:
            with contextlib.suppress(OSError):
                batch.file.unlink(missing_ok=True)
