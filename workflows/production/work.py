"""An order for a worker, on its way."""

from __future__ import annotations

from dataclasses import dataclass

from burstlens.workflows.production.order import Order


@dataclass(slots=True)
class Work:
    """One order on its way. ``what``: ``produce``, ``placeholder``, ``inspect``, or ``remake``: a
    picture that stands, with the limits that its series has now."""

    what: str
    order: Order
    tries: int = 0
    reason: str = ""
    submitted: float = 0.0
