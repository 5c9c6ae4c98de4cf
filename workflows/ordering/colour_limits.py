"""Colour limits of series: they widen with the pictures, and an attempt may undo that."""

from __future__ import annotations

from burstlens.core.model import Receipt
from burstlens.core.run import events as ev
from burstlens.core.run.history import History
from burstlens.workflows.making.order import Order
from burstlens.workflows.ordering.backlog import Backlog
from burstlens.workflows.ordering.outbox import Outbox


class ColourLimits:
    """Journals the limits that pictures need."""

    def __init__(self, outbox: Outbox, history: History, backlog: Backlog) -> None:
        self._outbox, self._history, self._backlog = outbox, history, backlog

    def widen(self, receipt: Receipt) -> bool:
        """Widen the limits of a series by those of a picture; returns whether they reach
        further."""
        product, limits = receipt.product, receipt.limits
        if limits is None or not self._backlog.widens(product):
            return False
        before = self._history.limits.get(product, limits)
        wider = min(before[0], limits[0]), max(before[1], limits[1])
        if wider == self._history.limits.get(product):
            return False
        # On disk with the first product.publishing that shows them.
        self._outbox.append(
            ev.ProductLimits(
                product=product, limits=wider, stream=receipt.stream, time=receipt.time,
                attempt=receipt.attempt,
            )
        )  # fmt: skip
        return True

    def is_too_wide(self, order: Order) -> bool:
        """Whether it was ordered with limits whose widening is undone since."""
        narrowed = self._history.narrowed.get(order.context.product)
        return narrowed is not None and order.submitted < narrowed
