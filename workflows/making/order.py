"""Orders, as the driver sends them to workers, and what comes back: plain values that pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from burstlens.core.model import NOTHING_NEEDED, Damage, Failure, Frame, Needed, Receipt, State
from burstlens.viz.product import Context
from burstlens.workflows.guards.finding import Reading
from burstlens.workflows.guards.guard import Guard


@dataclass(frozen=True, slots=True)
class Order:
    """One product to make of one frame; where ``kind`` is empty, only guards look at the frame.

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
    """Which piece of how many to make, of a product that is made in pieces."""
    joins: tuple[Receipt, ...] = ()
    """The pieces whose table is to be made, which is the product."""
    damage: str = ""
    """Why the frame is damaged: a placeholder is made."""
    remakes: bool = False
    """Whether a picture stands, and is made again with the limits that its series has now."""
    tries: int = 0
    submitted: float = 0.0

    @property
    def about(self) -> tuple[str, str, str, int]:
        """The product, and the stream, time and attempt of its frame."""
        frame = self.frame
        return self.context.product, frame.stream, frame.time, frame.attempt

    @property
    def volume(self) -> tuple[str, Frame, int]:
        """What its pieces are known by: product, frame and their number; 0 where it has none."""
        return self.context.product, self.frame, self.piece[1] if self.piece else len(self.joins)

    def complete(self, receipt: Receipt, received: float) -> Receipt:
        """Its receipt, ``received`` then, with when its frame was written and itself submitted,
        what the frame says of itself, and its pieces."""
        frame = self.frame
        # What is made again is not late: it has no time since its frame.
        seen = {} if self.remakes else {"written": frame.written, "detected": frame.detected}
        clock = {**seen, "submitted": self.submitted, **receipt.clock, "received": received}
        counted = {"calendar": frame.calendar} if frame.calendar else {}
        facts = {**receipt.facts, "signal": frame.signal, **counted}
        pieces = tuple(State(one.incoming, one.name, one.bytes, one.crc32) for one in self.joins)
        return replace(receipt, clock=clock, facts=facts, pieces=pieces)


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


def damage_frame(damage: Damage) -> Frame:
    """A frame that stands in for a damaged one, for its placeholder."""
    return Frame(
        damage.run, damage.attempt, damage.stream, damage.time or "", damage.paths, damage.record,
        0, 0.0, 0.0, "damaged",
    )  # fmt: skip
