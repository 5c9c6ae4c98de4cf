"""An order for a worker, on its way."""

from __future__ import annotations

from dataclasses import dataclass

from burstlens.workflows.production.order import Order
from burstlens.workflows.production.volume import Volume


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
