"""Sending: batches under way, and what comes back of each of their orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.ordering.batches import Batch, Costs
from burstlens.workflows.ordering.events import WorkReturned
from burstlens.workflows.ordering.instructions import Make
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.placement.buffer import BufferRef

Taken = tuple[Order, OrderResult | None]
"""An order and what became of it; None: it was not begun."""


class Sending:
    """Batches under way. ``costs`` is what products have cost so far."""

    def __init__(self, outbox: Outbox, buffer: BufferRef) -> None:
        self._outbox, self._buffer = outbox, buffer
        self._batches: list[Batch] = []
        self.costs = Costs()

    def __len__(self) -> int:
        return len(self._batches)

    def send(self, orders: Sequence[Order], priority: int) -> None:
        """Have a batch made."""
        batch = Batch(tuple(orders))
        self._batches.append(batch)
        self._outbox.do(Make(self._buffer, batch, priority))

    def take(self, batch: Batch, results: Mapping[int, OrderResult]) -> Iterator[Taken]:
        """What is new of these results of a batch."""
        for number, result in results.items():
            if number < len(batch.orders) and number not in batch.answered:
                batch.answered.add(number)
                order = batch.orders[number]
                if result.receipt is not None and not order.remakes:
                    self.costs.note(order, result.receipt, first=batch.is_first(number))
                yield order, result

    def returned(self, event: WorkReturned) -> Iterator[Taken]:
        """What is left of a batch that has ended. Of one whose worker died the first order without
        a result was under way; the others were not begun."""
        batch = event.batch
        self._batches.remove(batch)
        yield from self.take(batch, event.results)
        left = [order for n, order in enumerate(batch.orders) if n not in batch.answered]
        if left and event.error is not None:
            yield left.pop(0), OrderResult(error=event.error)
        for order in left:
            yield order, None
