"""What is still to be made: which products of which frames, in which order, how often tried.

Pure: it uses neither Parsl nor files. Products that need no other one are made newest frame first,
so that people see the present even while older frames wait.
"""

from __future__ import annotations

import bisect
import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from burstlens.core.model import Damage, Frame, Receipt
from burstlens.core.run.events import Key
from burstlens.core.run.history import History
from burstlens.viz.product import Context
from burstlens.workflows.frames.arrival import coarseness
from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.guards.shown_units import units_of_maps
from burstlens.workflows.making.order import Order, damage_frame
from burstlens.workflows.ordering.needs import Needs
from burstlens.workflows.ordering.shown_points import ShownPoints
from burstlens.workflows.recipe.recipe import MadeProduct

RETRY_FIRST_S = 1.0
RETRY_MOST_S = 30.0


@dataclass(slots=True)
class Backlog:
    """Orders that wait, and those under way."""

    products: Sequence[MadeProduct]
    history: History
    context: Context
    first_stream: str | None
    folder: str
    guards: Sequence[Guard] = ()
    streams: Sequence[str] = ()
    waiting: list[tuple[tuple[int, ...], int, Order]] = field(default_factory=list)
    later: list[tuple[float, int, Order]] = field(default_factory=list)
    inspections: list[Order] = field(default_factory=list)
    """Frames that guards look at without a product: never held back."""
    coarseness: dict[tuple[str, str], int] = field(default_factory=dict)
    """Ranks of frames that were there on arrival: a smaller one is made first."""
    _arrived: Counter[str] = field(default_factory=Counter)
    arriving: bool = False
    """Whether older frames than those that are known may still come."""
    under_way: int = 0
    pieces: dict[tuple[str, Frame, int], dict[int, Receipt]] = field(default_factory=dict)
    """By :attr:`.Order.volume`, the pieces that are staged of what is made in pieces."""
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    shown: ShownPoints = field(default_factory=ShownPoints)
    _times: dict[str, list[str]] = field(default_factory=dict)
    needs: Needs = field(init=False)
    _count: int = 0
    _inspecting: set[tuple[str, str, int]] = field(default_factory=set)
    _remaking: set[tuple[str, str, str, int]] = field(default_factory=set)
    _kept: set[tuple[str, str, str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        for stream, valid, _ in self.history.frames | self.history.damaged:
            self.count(stream, valid)
        self.needs = Needs(self.streams)
        self.needs.enter(self.products, self.first_stream)
        for stream, valid, attempt in sorted(self.history.frames):
            self.needs.saw(stream, valid, attempt)

    def rank_arrived(self, frames: Sequence[Frame]) -> None:
        """Let frames that were there on arrival be made coarse to fine, back from the newest."""
        for frame in sorted(frames, key=lambda frame: frame.time, reverse=True):
            number = self._arrived[frame.stream]
            self._arrived[frame.stream] += 1
            self.coarseness[frame.stream, frame.time] = coarseness(number)

    def count(self, stream: str, valid: str) -> None:
        """Count that valid time, of a whole or a damaged frame, for products of each nth frame.

        All times of a report are counted before its first order, so that its order plays no role.
        Times of all attempts: a model that restarts midway must not shift each n-th frame.
        """
        times = self._times.setdefault(stream, [])
        place = bisect.bisect_left(times, valid)
        if place == len(times) or times[place] != valid:
            times.insert(place, valid)

    def enter(self, products: Sequence[MadeProduct]) -> None:
        """Order these products as well from now on."""
        self.products = (*self.products, *products)
        self.needs.enter(products, self.first_stream)

    def fit(self, products: Sequence[MadeProduct], guards: Sequence[Guard]) -> None:
        """Order these from now on, of those that were to be made."""
        self.products, self.guards = tuple(products), tuple(guards)

    def add(self, frame: Frame, names: Collection[str] | None = None) -> tuple[str, ...]:
        """Order each product of a ready frame that is not settled yet, only those in ``names`` if
        given; returns their names."""
        wanting = [
            product for product in self._wanting_of(frame) if names is None or product.name in names
        ]
        inspects = self._is_to_inspect(frame)
        for product in wanting:
            self.needs.expect(product.name, frame)
        for product in wanting:
            order = self._order(product, frame)
            if inspects and not self.needs.waits(product.name):
                order, inspects = self._inspecting_too(order), False
            self._push(order)
        if inspects:
            self.inspections.append(self._inspection(frame))
        return tuple(product.name for product in wanting)

    def repeat(self, frame: Frame) -> None:
        """Note that what was made of an earlier record of a frame's time is to be made again."""
        self._inspecting.discard((frame.stream, frame.time, frame.attempt))
        for product in self.products:
            self.remade(product.name, frame.stream, frame.time, frame.attempt)
            self.needs.let_go(product.name, frame.stream, frame.time, frame.attempt)
            self._kept.discard(_this(product.name, frame))

    def refresh(self, frame: Frame) -> None:
        """Order each picture of a frame again if its colour limits are outgrown."""
        for product in self.products:
            name = product.name
            key, this = (name, frame.stream, frame.time), _this(name, frame)
            if (
                self.history.outgrown(key)
                and self.history.published[key] == frame.attempt
                and this not in self._remaking
                and this not in self._kept
            ):
                self._remaking.add(this)
                self._go(replace(self._order(product, frame), remakes=True))

    def widens(self, product: str) -> bool:
        """Whether the colour limits of that product follow its frames."""
        found = (one for one in self.products if one.name == product)
        return any(one.kind.widens(one.options) for one in found)

    def remade(self, product: str, stream: str, time: str, attempt: int) -> None:
        """Note that this picture is not being made again any more."""
        self._remaking.discard((product, stream, time, attempt))

    def keep(self, order: Order) -> None:
        """Leave a picture that cannot be made again as it is."""
        self._remaking.discard(order.about)
        self._kept.add(order.about)

    def remakes(self, frame: Frame) -> bool:
        """Whether a picture of that frame is to be made again."""
        return any(_this(product.name, frame) in self._remaking for product in self.products)

    def watching(self, frame: Frame) -> tuple[Guard, ...]:
        """The guards that look at the fields of that frame."""
        return tuple(
            guard for guard in self.guards if guard.looks_at(frame.stream, self.first_stream)
        )

    def _is_to_inspect(self, frame: Frame) -> bool:
        this = (frame.stream, frame.time, frame.attempt)
        if not self.watching(frame) or this in self.history.inspected or this in self._inspecting:
            return False
        if self.history.is_stale(*this):
            return False
        self._inspecting.add(this)
        return True

    def _inspecting_too(self, order: Order) -> Order:
        shown = units_of_maps(product.options for product in self.products)
        guards = self.watching(order.frame)
        return replace(order, guards=guards, inspects=True, shown_units=shown)

    def _inspection(self, frame: Frame) -> Order:
        context = replace(
            self.context, stream=frame.stream, time=frame.time, attempt=frame.attempt,
            calendar=frame.calendar,
        )  # fmt: skip
        return self._inspecting_too(Order("", None, context, frame, self.folder))

    def add_damage(self, damage: Damage) -> None:
        """Order a placeholder in each series that a damaged frame leaves a hole in."""
        if damage.time is None:
            return
        frame = damage_frame(damage)
        for product in self._wanting_of(frame):
            self._push(replace(self._order(product, frame), damage=damage.reason))

    def _wanting_of(self, frame: Frame) -> Iterable[MadeProduct]:
        self.needs.saw(frame.stream, frame.time, frame.attempt)
        return self._wanting(frame.stream, frame.time, frame.attempt)

    def _wanting(self, of: str, time: str, attempt: int) -> Iterable[MadeProduct]:
        self.count(of, time)
        if self.history.is_stale(of, time, attempt):
            return
        place = bisect.bisect_left(self._times[of], time)
        for product in self.products:
            stream = product.common.stream or self.first_stream or of
            if (
                stream == of
                and place % product.common.every == 0
                and (of, time, attempt) not in self.history.passed_over.get(product.name, ())
                and self._is_to_make((product.name, of, time), attempt)
            ):
                yield product

    def _is_to_make(self, key: Key, attempt: int) -> bool:
        again = key in self.history.retried and self.history.failed.get(key) == attempt
        return again or not self.history.settled(key, attempt)

    def unsettled(self) -> int:
        """How many products of all frames so far, of their latest attempt, are neither published
        nor failed for good; also of frames that this driver has not seen."""
        latest = {(stream, time): attempt for stream, time, attempt in sorted(self.history.frames)}
        for frame in latest:
            self.count(*frame)
        return sum(1 for frame, number in latest.items() for _ in self._wanting(*frame, number))

    def times_of(self, product: MadeProduct) -> Sequence[str]:
        """The valid times so far that the product is made of, in order."""
        stream = product.common.stream or self.first_stream
        times = self._times.get(stream, []) if stream else []
        return times[:: product.common.every]

    def _order(self, product: MadeProduct, frame: Frame) -> Order:
        context = replace(
            self.context,
            product=product.name,
            stream=frame.stream,
            time=frame.time,
            attempt=frame.attempt,
            calendar=frame.calendar,
            size=self.sizes.get(product.name),
        )
        shown = getattr(product.options, "variable", None)
        marking = tuple(guard for guard in self.watching(frame) if shown in guard.variables)
        return Order(product.kind.name, product.options, context, frame, self.folder, marking)

    def _push(self, order: Order) -> None:
        if order.damage or self.needs.admit(order):
            self._go(order)

    def _go(self, order: Order) -> None:
        # Negative digits: a heap gives the smallest, and the newest frame is wanted. Orders in
        # which guards inspect the frame come first, pictures that are made again last.
        frame = order.frame
        rank = 0 if order.inspects else 2 if order.remakes else 1
        coarse = self.coarseness.get((frame.stream, frame.time), 0)
        newest_first = (rank, coarse, *(-ord(sign) for sign in frame.time))
        self._count += 1
        heapq.heappush(self.waiting, (newest_first, self._count, order))

    def take(self, now: float, slots: int) -> Iterable[Order]:
        """Orders to submit now, so that no more than ``slots`` are under way; while products are
        paused, inspections alone."""
        if self.history.paused:
            self._inspect_alone()
        while self.inspections and self.under_way < slots:
            yield self._sent(self.inspections.pop())
        if self.history.paused:
            return
        if not self.arriving:  # a chain begins at the oldest frame, which is read last
            for order in self.needs.freed():
                self._push(order)
            for order in self.needs.next():
                self._go(order)
        while self.later and self.later[0][0] <= now:
            self._go(heapq.heappop(self.later)[2])
        while self.waiting and self.under_way < slots:
            yield self._sent(heapq.heappop(self.waiting)[2])

    def _sent(self, order: Order) -> Order:
        context = order.context
        limits = self.history.limits.get(context.product)  # they may have widened
        points = self.shown.of(context.product, context.stream)
        context = replace(context, limits=limits, points=points)
        self.under_way += 1
        return replace(order, context=context, tries=order.tries + 1)

    def _inspect_alone(self) -> None:
        """Let frames be inspected without the products that they wait for."""
        for place, (rank, number, order) in enumerate(self.waiting):
            if order.inspects:
                self.inspections.append(self._inspection(order.frame))
                self.waiting[place] = rank, number, replace(order, guards=(), inspects=False)

    def returned(self) -> None:
        """Note that an order has come back, well or not."""
        self.under_way -= 1

    def split(self, order: Order, count: int) -> None:
        """Order a product in so many pieces; the last one that is staged orders their table."""
        orders = [replace(order, guards=(), tries=0, piece=(n, count)) for n in range(count)]
        if orders[0].volume not in self.pieces:  # else its frame was reported twice
            self.pieces[orders[0].volume] = {}
            for piece in orders:
                self._go(piece)

    def take_piece(self, order: Order, receipt: Receipt) -> bool:
        """Note that a piece is staged; False where it is not wanted any more."""
        staged = self.pieces.get(order.volume)
        if staged is None or order.piece is None:
            return False
        number, count = order.piece
        if number in staged:
            return staged[number].uuid == receipt.uuid
        staged[number] = receipt
        if len(staged) == count:
            joins = tuple(staged[n] for n in range(count))
            self._go(replace(order, piece=None, joins=joins, tries=0))
        return True

    def is_given_up(self, order: Order) -> bool:
        """Whether it is a piece of a product that is not made any more."""
        return order.piece is not None and order.volume not in self.pieces

    def forget_pieces(self, order: Order) -> Iterable[Receipt]:
        """Expect no more pieces of that order's product; returns those that are staged."""
        return self.pieces.pop(order.volume, {}).values()

    def put_back(self, order: Order) -> None:
        """Order again what came back without having been begun."""
        self._go(replace(order, tries=order.tries - 1))

    @property
    def upcoming(self) -> Order | None:
        """What :meth:`take` gives next, of what is known to wait."""
        return self.waiting[0][2] if self.waiting else None

    def again(self, order: Order, now: float) -> None:
        """Try it again after a pause that grows with each try."""
        pause = min(RETRY_MOST_S, RETRY_FIRST_S * 2 ** (order.tries - 1))
        self._count += 1
        heapq.heappush(self.later, (now + pause, self._count, order))

    def note_size(self, receipt: Receipt) -> None:
        """Remember the size of a series' pictures: a placeholder gets the same."""
        size = receipt.facts.get("size")
        if isinstance(size, list) and len(size) == 2:
            self.sizes[receipt.product] = (int(size[0]), int(size[1]))

    @property
    def size(self) -> int:
        """Orders that are not settled."""
        waiting = len(self.waiting) + len(self.later) + len(self.inspections)
        return waiting + len(self.needs.waiting) + self.under_way

    @property
    def empty(self) -> bool:
        """Whether everything ordered is settled."""
        return self.size == 0


def _this(product: str, frame: Frame) -> tuple[str, str, str, int]:
    return product, frame.stream, frame.time, frame.attempt
