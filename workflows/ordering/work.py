"""An order for a worker, on its way."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from burstlens.core.model import Receipt
from burstlens.workflows.making.order import Order
from burstlens.workflows.ordering.volume import Volume


@dataclass(slots=True)
class Work:
    """One order on its way. ``what``: ``produce``, ``placeholder``, ``inspect``, or ``remake``: a
    picture that stands, with the limits that its series has now; or ``piece``, and ``join`` for the
    table of pieces."""

    what: str
    order: Order
    tries: int = 0
    reason: str = ""
    submitted: float = 0.0
    volume: Volume | None = None
    """What it is a piece of, or the table of."""

    @property
    def names(self) -> tuple[str, str, str, int]:
        """The product, and the stream, time and attempt of its frame."""
        frame = self.order.frame
        return self.order.context.product, frame.stream, frame.time, frame.attempt

    def with_clock(self, receipt: Receipt) -> Receipt:
        """Its receipt, with when its frame was written and it was submitted and received, and what
        the frame says of itself."""
        frame = self.order.frame
        # What is made again is not late: it has no time since its frame.
        remade = self.what == "remake"
        seen = {} if remade else {"written": frame.written, "detected": frame.detected}
        clock = {**seen, "submitted": self.submitted, **receipt.clock, "received": time.time()}
        counted = {"calendar": frame.calendar} if frame.calendar else {}
        facts = {**receipt.facts, "signal": frame.signal, **counted}
        return replace(receipt, clock=clock, facts=facts)
