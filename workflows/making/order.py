"""Orders, as the driver sends them to workers, and what comes back: plain values that pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from burstlens.core.model import NOTHING_NEEDED, Damage, Failure, Frame, Needed, Receipt
from burstlens.viz.product import Context, Made
from burstlens.workflows.guards.finding import Reading
from burstlens.workflows.guards.guard import Guard


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece that was made; ``name`` is its final path relative to its table's folder."""

    name: str
    made: Made


@dataclass(frozen=True, slots=True)
class Order:
    """One product to make of one frame (none where ``kind`` is empty).

    ``guards`` judge the frame before anything is made of it. With ``inspects`` they are all guards
    of its stream, and a breach stops the model; else those of the variable that the product shows,
    and a breach is marked in it.
    """

    kind: str
    options: Any
    context: Context
    frame: Frame
    products: str
    guards: tuple[Guard, ...] = ()
    inspects: bool = False
    shown_units: Mapping[str, str] = field(default_factory=dict)
    """By variable, the units in which the alarms of ``guards`` give its values."""
    needed: Needed = NOTHING_NEEDED
    piece: tuple[int, int] | None = None
    """Which piece of how many to make, of a product that is split."""
    joins: tuple[Piece, ...] = ()
    """The pieces of a table."""


@dataclass(frozen=True, slots=True)
class OrderResult:
    """What became of an order: what was staged, or why it failed, or in how many ``pieces`` it is
    to be made, and what its guards read. ``error``: it may be tried again."""

    receipt: Receipt | None = None
    failure: Failure | None = None
    pieces: int = 0
    readings: tuple[Reading, ...] = ()
    error: BaseException | None = None

    @property
    def staged(self) -> Receipt | None:
        """What stands in ``.incoming``: the product, or the placeholder of a failure."""
        return self.failure.placeholder if self.failure is not None else self.receipt


class Task(NamedTuple):
    """What to do with an order: ``produce``, ``inspect``, ``join``, or ``placeholder`` for that
    reason."""

    what: str
    order: Order
    reason: str = ""


def damage_frame(damage: Damage) -> Frame:
    """A frame that stands in for a damaged one, for its placeholder."""
    return Frame(
        damage.run, damage.attempt, damage.stream, damage.time or "", damage.paths, damage.record,
        0, 0.0, 0.0, "damaged",
    )  # fmt: skip
