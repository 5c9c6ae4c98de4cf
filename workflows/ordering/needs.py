"""What products need besides their frame: which orders wait, and what each gets when it is sent.

Pure, as the backlog that it is part of. See :class:`burstlens.viz.product.Wants`.
"""

from __future__ import annotations

import bisect
import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from burstlens.core.model import NOTHING_NEEDED, Frame, Needed
from burstlens.core.run.product_record import States
from burstlens.viz.product import Wants

if TYPE_CHECKING:
    from burstlens.workflows.making.order import Order
    from burstlens.workflows.recipe.recipe import MadeProduct

Series = tuple[str, str]
"""A product, and the stream that it is made of."""


AHEAD = 16
"""How many frames of a stream are kept when it is ahead of the stream whose maps show it."""


class Needs:
    """Orders that wait for what they need. ``streams`` are all the streams that there can be; no
    order waits for another one (empty: they are not known)."""

    def __init__(self, streams: Sequence[str] = ()) -> None:
        self.ended = False
        """Whether no more frames will come."""
        self._streams = frozenset(streams)
        self._wants: dict[str, Wants] = {}
        self._looked_at: defaultdict[str, set[str]] = defaultdict(set)
        self._times: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        self._before_look: dict[tuple[str, int], str] = {}
        self._attempt = 0
        self._open: defaultdict[Series, dict[str, set[int]]] = defaultdict(dict)
        self._line: defaultdict[Series, list[tuple[str, int, Order]]] = defaultdict(list)
        self._behind: defaultdict[Series, list[tuple[str, int, Order]]] = defaultdict(list)
        self._abreast: list[Order] = []
        self._busy: dict[Series, tuple[str, int]] = {}
        """Time and attempt of each chain's order under way."""
        self._count = 0

    def enter(self, products: Sequence[MadeProduct], first_stream: str | None) -> None:
        """Note that these products are made from now on."""
        for product in products:
            found = product.kind.wants(product.options)
            if found:
                self._wants[product.name] = found
            for stream in found.beside:
                self._looked_at[stream].add(product.common.stream or first_stream or "")

    def look(self) -> None:
        """Note that the frames seen from now on were found by the watcher's next look.

        One look reads the files of a running model one after the other: it may see two frames of
        one stream and none of another that was written between them. The next look sees it.
        """
        self._before_look = {series: times[-1] for series, times in self._times.items()}

    def saw(self, stream: str, time: str, attempt: int) -> None:
        """Note that a frame is there, or will never be whole. Attempts of the model are kept apart:
        an attempt that was started again is behind the former one."""
        if self._streams:  # it is written, whatever the settings say
            self._streams |= {stream}
        times = self._times[stream, attempt]
        place = bisect.bisect_left(times, time)
        if place == len(times) or times[place] != time:
            times.insert(place, time)
        self._attempt = max(self._attempt, attempt)

    def waits(self, product: str) -> bool:
        """Whether that product's orders may have to wait."""
        return product in self._wants

    def expect(self, product: str, frame: Frame) -> None:
        """Note that this product will be made of that frame: others may wait for it from now on."""
        if product in self._wants:
            times = self._open[product, frame.stream]
            times.setdefault(frame.time, set()).add(frame.attempt)

    def settled(self, product: str, stream: str, time: str, attempt: int) -> None:
        """Note that it is published, or has failed for good."""
        series = product, stream
        times = self._open.get(series, {})
        times.get(time, set()).discard(attempt)
        if not times.get(time, {0}):
            del times[time]
        self.let_go(product, stream, time, attempt)

    def let_go(self, product: str, stream: str, time: str, attempt: int) -> None:
        """Note that an order is under way no more, or given up: its chain may go on."""
        if self._busy.get((product, stream)) == (time, attempt):
            del self._busy[product, stream]

    def admit(self, order: Order) -> bool:
        """Whether it can go now; else it is kept until :meth:`freed` or :meth:`next` gives it."""
        needs = self._wants.get(order.context.product)
        if needs is None:
            return True
        frame = order.frame
        if not self._is_abreast(needs, frame):
            self._abreast.append(order)
            return False
        for name in needs.follows:
            if self._is_open((name, frame.stream), frame.time):
                self._queue(self._behind[name, frame.stream], order)
                return False
        if needs.chained:
            self._queue(self._line[order.context.product, frame.stream], order)
        return not needs.chained

    def _queue(self, queue: list[tuple[str, int, Order]], order: Order) -> None:
        self._count += 1
        heapq.heappush(queue, (order.frame.time, self._count, order))

    def _is_abreast(self, needs: Wants, frame: Frame) -> bool:
        """Whether the other streams are as far, or are not expected to be."""
        if self.ended or frame.attempt < self._attempt:
            return True
        if self._before_look.get((frame.stream, frame.attempt), "") > frame.time:
            return True
        streams = [s for s in needs.beside if not self._streams or s in self._streams]
        return all(self._is_far(stream, frame) for stream in streams)

    def _is_far(self, stream: str, frame: Frame) -> bool:
        return self._times.get((stream, frame.attempt), [""])[-1] >= frame.time

    def _is_open(self, series: Series, time: str) -> bool:
        return any(open_time <= time for open_time in self._open.get(series, ()))

    def freed(self) -> Iterator[Order]:
        """The orders that no longer wait for another product or stream, to be admitted again."""
        abreast, self._abreast = self._abreast, []
        yield from abreast
        for series, queue in list(self._behind.items()):  # a freed order may have to wait again
            oldest = min(self._open.get(series, ()), default=None)
            while queue and (oldest is None or queue[0][0] < oldest):
                yield heapq.heappop(queue)[2]

    def next(self) -> Iterator[Order]:
        """The oldest order of each chain that has no order under way."""
        for series, line in self._line.items():
            if line and series not in self._busy and not self._has_older(series, line[0][0]):
                order = heapq.heappop(line)[2]
                self._busy[series] = order.frame.time, order.frame.attempt
                yield order

    def _has_older(self, series: Series, time: str) -> bool:
        return any(open_time < time for open_time in self._open.get(series, ()))

    def of(
        self, order: Order, states: States, newest: Callable[[str, Frame], Frame | None]
    ) -> Needed:
        """What an order gets when it is sent. ``newest`` gives a stream's newest frame up to
        another frame."""
        product, frame = order.context.product, order.frame
        needs = self._wants.get(product)
        if needs is None:
            return NOTHING_NEEDED
        followed = {name: states.newest(name, frame.stream, frame.time) for name in needs.follows}
        beside = {stream: newest(stream, frame) for stream in needs.beside}
        return Needed(
            states.before(product, frame.stream, frame.time) if needs.chained else (),
            {name: state for name, state in followed.items() if state},
            {stream: found for stream, found in beside.items() if found is not None},
        )

    def is_whole(self, order: Order, needed: Needed) -> bool:
        """Whether everything that a picture was made with is still there to make it again."""
        needs, frame = self._wants.get(order.context.product), order.frame
        if needs is None:
            return True
        return all(name in needed.followed for name in needs.follows) and all(
            self._is_newest(needed.beside.get(stream), stream, frame) for stream in needs.beside
        )

    def _is_newest(self, found: Frame | None, stream: str, beside: Frame) -> bool:
        times = self._times.get((stream, beside.attempt), [])
        place = bisect.bisect_right(times, beside.time)
        return not place or (found is not None and found.time == times[place - 1])

    def keeps(self, frame: Frame) -> bool:
        """Whether a product of another stream may still want that frame."""
        return any(
            self._is_wanted(frame, stream) for stream in self._looked_at.get(frame.stream, ())
        )

    def _is_wanted(self, frame: Frame, by: str) -> bool:
        """Whether the frame is the newest one up to the oldest frame that is still to be made (or
        up to the newest frame there is), or comes after that one."""
        still = [
            time
            for (product, stream), times in self._open.items()
            if stream == by and frame.stream in self._wants[product].beside
            for time, attempts in times.items()
            if frame.attempt in attempts
        ]
        over = self.ended or frame.attempt < self._attempt
        if over and not still:
            return False
        own = self._times.get((by, frame.attempt), [])
        since = min(still, default=own[-1] if own else "")
        times = self._times[frame.stream, frame.attempt]  # the frame's own is among them
        first = max(bisect.bisect_right(times, since) - 1, 0)
        if not still:
            first = max(first, len(times) - AHEAD)
        return frame.time >= times[first]

    @property
    def waiting(self) -> list[Order]:
        """All orders that wait."""
        queues = [*self._line.values(), *self._behind.values()]
        return [*self._abreast, *(order for queue in queues for _, _, order in queue)]
