"""Batches: orders that go to a worker as one task, because they read the same frame or are small.

Pure. Products of one frame share its open files and what is read of it, so they go together, the
quickest first; what is dear goes to other workers while any is idle. Small products of several
frames go together, since a task costs the driver as much as a picture. What a product costs is
measured on the frames before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from burstlens.core.model import Receipt
from burstlens.workflows.making.order import Order

BATCH_S = 0.1
"""Frames share a batch up to this time: longer ones would hold up the next frame."""
WORTH_S = 0.1
"""Work of less time is not worth a worker of its own."""
LONGEST_S = 1.0
"""One frame's products are cut into batches of about this time."""
MOST = 64
"""Most orders of a batch."""
_UNKNOWN_S = 0.3
"""Taken for a product that was not made yet."""
_READINGS = 4
"""A batch takes so many times as long as reading its frame, before it is cut."""
_KEEP = 0.7
"""The weight of what was measured before."""


@dataclass(slots=True, eq=False)
class Batch:
    """Orders under way as one task, and the numbers of those whose results are known."""

    orders: tuple[Order, ...]
    answered: set[int] = field(default_factory=set)

    def is_first(self, number: int) -> bool:
        """Whether no order before that one is of its frame."""
        orders = self.orders
        return number == 0 or orders[number - 1].frame != orders[number].frame


@dataclass(slots=True)
class Costs:
    """Seconds on a worker by product: making it, and reading its frame where nothing was shared."""

    making: dict[str, float] = field(default_factory=dict)
    reading: dict[str, float] = field(default_factory=dict)

    def note(self, order: Order, receipt: Receipt, *, first: bool) -> None:
        """Note what an order took; ``first``: nothing of its frame was read before."""
        clock = receipt.clock
        if not {"started", "read", "staged", "reading_s"} <= clock.keys():
            return
        reading = clock["read"] - clock["started"] + clock["reading_s"]
        _blend(self.making, _name(order), clock["staged"] - clock["started"] - reading)
        if first:
            _blend(self.reading, _name(order), reading)

    def of(self, order: Order) -> float:
        """How long an order's product is expected to take, reading left out."""
        if order.damage or order.joins or not order.kind:
            return WORTH_S / 2
        return self.making.get(_name(order), _UNKNOWN_S)

    def reading_of(self, orders: Iterable[Order]) -> float:
        """How long their frame is expected to take to be read."""
        return max((self.reading.get(_name(order), 0.0) for order in orders), default=0.0)


def _name(order: Order) -> str:
    """What costs are known by: a piece costs something else than a whole product."""
    return order.context.product + ("/piece" if order.piece else "")


def _blend(known: dict[str, float], name: str, value: float) -> None:
    value = max(0.0, value)
    before = known.get(name)
    known[name] = value if before is None else _KEEP * before + (1 - _KEEP) * value


def batches(orders: Sequence[Order], idle: int, costs: Costs) -> list[list[Order]]:
    """The orders, most urgent first, in batches for ``idle`` idle workers and those that become
    idle later."""
    frames = [list(group) for _, group in groupby(orders, key=_together)]
    found: list[list[Order]] = []
    for frame in frames:
        for batch in _divided(frame, idle // len(frames), costs):
            last = found[-1] if found else []
            if last and len(frames) > idle and _fits(last, batch, costs):
                last += batch
            else:
                found.append(batch)
    return found


def _together(order: Order) -> Any:
    """Works with the same value may share a batch; one that failed before goes alone, since it may
    be what killed its worker."""
    frame = order.frame
    alone = id(order) if order.tries > 1 else 0
    return order.remakes, frame.stream, frame.time, frame.attempt, alone


def _fits(last: Sequence[Order], more: Sequence[Order], costs: Costs) -> bool:
    both = [*last, *more]
    seconds = sum(map(costs.of, both)) + costs.reading_of(last) + costs.reading_of(more)
    same = len({(order.remakes, order.inspects) for order in both}) == 1
    alone = any(order.tries > 1 for order in both)
    return same and not alone and len(both) <= MOST and seconds <= BATCH_S


def _divided(frame: list[Order], workers: int, costs: Costs) -> list[list[Order]]:
    """The orders of one frame for so many idle workers, of about equal time, the quickest first;
    cut further where they would take long, so that they do not hold up what is more urgent."""
    seconds, reading = sum(map(costs.of, frame)), costs.reading_of(frame)
    count = max(1, round(seconds / max(LONGEST_S, _READINGS * reading)))
    if workers > 0:  # each of them reads the frame
        count = max(count, min(workers, int(seconds / max(WORTH_S, reading))))
    count = min(count, len(frame))
    count = max(count, -(-len(frame) // MOST))
    parts, loads = [list[Order]() for _ in range(count)], [0.0] * count
    quickest_first = sorted(frame, key=costs.of)
    for order in quickest_first[::-1]:
        least = min(range(count), key=lambda n: (len(parts[n]) >= MOST, loads[n], len(parts[n])))
        parts[least].insert(0, order)
        loads[least] += costs.of(order)
    return [sorted(part, key=lambda order: not order.inspects) for part in parts]
