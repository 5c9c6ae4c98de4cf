"""Production: from the watcher's report to published products."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from burstlens.core.errors import StagingError
from burstlens.core.model import Failure, Frame, Receipt
from burstlens.core.run import events as ev
from burstlens.core.version import __version__
from burstlens.viz.product import Context
from burstlens.workflows.frames.promised import Promised
from burstlens.workflows.frames.report import Report
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.ordering.arrivals import Arrivals
from burstlens.workflows.ordering.backlog import Backlog
from burstlens.workflows.ordering.batches import BATCH_S, MOST, batches
from burstlens.workflows.ordering.events import WorkReturned
from burstlens.workflows.ordering.graph import Graph
from burstlens.workflows.ordering.guarding import Guarding
from burstlens.workflows.ordering.instructions import LAST, NEXT, URGENT
from burstlens.workflows.ordering.outputs import Outputs
from burstlens.workflows.ordering.releases import Releases
from burstlens.workflows.ordering.repeats import is_stale
from burstlens.workflows.ordering.sending import Sending
from burstlens.workflows.ordering.space import Space
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.publish import Publisher
from burstlens.workflows.recipe.recipe import MadeProduct

_log = logging.getLogger(__name__)
TRIES = 3
"""Chances of a product whose worker dies or whose function fails in an unforeseen way."""


class Production:
    """Orders products of frames, takes what comes back, publishes it."""

    def __init__(
        self,
        context: RunContext,
        graph: Graph,
        buffer: BufferRef,
        slots: int,
        guarding: Guarding,
    ) -> None:
        run, recipe, history = context.run, context.recipe, context.history
        self.run = run
        self.recipe = recipe
        self.graph = graph
        self.journal = context.journal
        self.history = history
        self.snapshot = context.snapshot
        self.buffer = buffer
        facts = recipe.model.facts(recipe.inputs)
        self.guarding = guarding
        self.sending = Sending(graph, buffer, run.incoming)
        about = Context(
            run.id, recipe.title, product="", stream="", time="", files=run.files,
            start=facts.start, version=__version__, cancel=run.control / "stop-now",
            time_variable=recipe.model.time_variable,
        )  # fmt: skip
        first = recipe.model.main_stream(recipe.inputs)
        folder = str(run.products)
        self.backlog = Backlog(
            recipe.products, history, about, first, folder, recipe.guards, facts.streams
        )
        self.space = Space(
            recipe, history, buffer, guarded=self.backlog.watching,
            beside=self.backlog.needs.keeps, outgrown=self.backlog.remakes,
        )  # fmt: skip
        state = self.space.fill, lambda: self.snapshot.speed
        self.releases = Releases(context, graph, buffer, self.space)
        self.publisher = Publisher(run, self.journal, history, facts.start, *state)
        if history.standing:
            self.backlog.shown.read(run.index)
        self.promised = Promised(run.id, buffer.folder, recipe.model, history, facts.streams)
        self.arrivals = Arrivals(self.journal, history, self.snapshot, self.backlog, self.space)
        self.outputs = Outputs(self.journal, history)
        self.trouble = ""
        self._bytes_each = 0
        self._last_good = time.monotonic()
        self.slots = slots
        self._receipts: list[Receipt] = []
        self._failures: list[Failure] = []

    def take(self, report: Report, attempt: int) -> None:
        """Journal what the watcher found in that attempt and order its products."""
        self.promised.hear(report.written)
        self.outputs.heard(report, attempt)
        self.backlog.needs.look()
        for damage in report.damaged:
            if damage.time is not None:
                self.backlog.count(damage.stream, damage.time)
        self.take_frames(report.frames)
        for undecoded in report.undecoded:
            self.arrivals.take_undecoded(undecoded, attempt)
        for damage in report.damaged:
            self.arrivals.take_damage(self.promised.placed(damage))
        for damage in self.promised.lost(report, attempt):
            self.arrivals.take_damage(damage)
        self.space.begun_bytes = sum(
            stat.size for unit in report.cursor.open if not unit.declared for stat in unit.stats
        )
        self.releases.open_files = {name for unit in report.cursor.open for name in unit.files}
        self.backlog.needs.ended = report.ended
        if report.ended:  # the model writes no more: pressure is over
            self.space.releasing = self.recipe.buffer.raw == "release"

    def take_frames(self, frames: Sequence[Frame]) -> None:
        """Journal these frames, where that was not done, and order their products."""
        if self.arrivals.take_frames(frames):
            for receipt in [one for one in self._receipts if self._is_outdated(one)]:
                self._receipts.remove(receipt)
                self.publisher.discard(receipt)
            self._failures = [one for one in self._failures if not self._is_outdated(one)]

    def enter(self, products: tuple[MadeProduct, ...]) -> None:
        """Make these products as well, of each frame on the buffer that they do not pass over."""
        self.graph.warm(sorted({product.kind.name for product in products}))
        known = {product.name for product in self.backlog.products}
        self.backlog.enter([product for product in products if product.name not in known])
        names = {product.name for product in products}
        for frame in self.space.frames():
            self.space.want(frame, self.backlog.add(frame, names))

    def gone(self, product: MadeProduct) -> int:
        """How many frames that the product would be made of are no longer on the buffer."""
        here = {(frame.stream, frame.time) for frame in self.space.frames()}
        stream = product.common.stream or self.backlog.first_stream
        return sum((stream, time) not in here for time in self.backlog.times_of(product))

    def returned(self, event: WorkReturned) -> None:
        """Take the results of a batch that has ended."""
        for order, result in self.sending.returned(event):
            self._take_result(order, result)

    def look(self) -> bool:
        """Take the results of batches that are under way; returns whether there were any."""
        results = self.sending.news()
        for order, result in results:
            self._take_result(order, result)
        return bool(results)

    def wait_s(self, longest: float) -> float:
        """How long to wait for the end of a batch before the next :meth:`look`."""
        return self.sending.wait_s(longest)

    def _take_result(self, order: Order, result: OrderResult | None) -> None:
        self.backlog.returned()
        if is_stale(self.history, order.frame):
            self._drop_stale(order, result)
        elif result is None:
            self.backlog.put_back(order)
        elif result.error is not None:
            self._take_error(order, result.error)
        else:
            self._take_answer(order, result)

    def _take_error(self, order: Order, error: BaseException) -> None:
        name, frame = order.context.product or "inspect", order.frame
        _log.warning("%s of %s %s, try %d: %r", name, frame.stream, frame.time, order.tries, error)
        now = time.monotonic()
        if isinstance(error, StagingError):
            self._note_trouble(error)
            self.backlog.again(order, now)
            return
        self._last_good = now
        if order.tries < TRIES or self.graph.block_state() == "broken":
            self.backlog.again(order, now)
            return
        reason = _reason(order, error)
        if order.inspects:
            self.guarding.miss(frame, order.guards, reason)
        if order.kind:
            self._fail(order, Failure(*order.about, reason=reason))

    def _take_answer(self, order: Order, result: OrderResult) -> None:
        self._last_good = time.monotonic()
        if order.inspects:
            self.guarding.read(order.frame, result.readings)
            # An order that is tried again, or was held, is not judged a second time.
            order = replace(order, inspects=False)
        if order.kind:
            self.snapshot.full_disk.room()
        receipt, failure = result.receipt, result.failure
        if failure is not None:
            unreadable = failure.unreadable or bool(order.damage)
            self._fail(order, replace(failure, unreadable=unreadable))
        elif result.pieces:
            self.backlog.split(order, result.pieces)
        elif receipt is None:
            return
        elif order.piece is not None:
            if not self.backlog.take_piece(order, receipt):
                self.publisher.discard(receipt)
        elif self.backlog.shown.is_other(order, receipt):
            self.publisher.discard(receipt)
            self.backlog.put_back(order)
        else:
            self.backlog.forget_pieces(order)
            self._take_receipt(order.complete(receipt))

    def _take_receipt(self, receipt: Receipt) -> None:
        self._bytes_each = receipt.bytes
        self._receipts.append(receipt)
        if "chain" in receipt.facts:
            self.snapshot.alarm(f"{receipt.product} of {receipt.time} {receipt.facts['chain']}")
        self.backlog.note_size(receipt)
        if text := self.backlog.shown.note(receipt):
            self.snapshot.alarm(text, product=receipt.product, stream=receipt.stream)
        self._widen(receipt)

    def _drop_stale(self, order: Order, result: OrderResult | None) -> None:
        """Drop what was made of a record whose time a later one has: that is ordered already."""
        staged = None if result is None else result.staged
        self._discard(staged, *self.backlog.forget_pieces(order))

    def _discard(self, *receipts: Receipt | None) -> None:
        for receipt in receipts:
            if receipt is not None:
                self.publisher.discard(receipt)

    def _fail(self, order: Order, failure: Failure) -> None:
        if self.backlog.is_given_up(order):  # another piece has said so
            return
        self._discard(*self.backlog.forget_pieces(order))
        if not order.remakes:
            self._failures.append(failure)
            return
        self.backlog.keep(order)
        self._discard(failure.placeholder)
        place = f"{failure.product} of {failure.stream} {failure.time}"
        self.snapshot.note(f"{place} keeps its narrower colour limits: {failure.reason}")

    def _widen(self, receipt: Receipt) -> None:
        """Widen the limits of a series by those of a picture, if they reach further."""
        product, limits = receipt.product, receipt.limits
        if limits is None or not self.backlog.widens(product):
            return
        before = self.history.limits.get(product, limits)
        wider = min(before[0], limits[0]), max(before[1], limits[1])
        if wider == self.history.limits.get(product):
            return
        # On disk with the first product.publishing that shows them.
        self.journal.append(
            ev.ProductLimits(
                product=product, limits=wider, stream=receipt.stream, time=receipt.time
            )
        )
        self.snapshot.note(f"colour limits of {product}: {wider[0]:g} to {wider[1]:g}")
        self._refresh()

    def _refresh(self) -> None:
        """Order pictures again whose limits their series has outgrown."""
        for frame in self.space.frames():
            self.backlog.refresh(frame)

    def publish(self) -> None:
        """Publish the products that have come back. Raises OSError when the target is full or
        away."""
        if self._receipts:
            stood = {receipt.key for receipt in self._receipts if self._stands(receipt)}
            for event in self.publisher.publish(self._receipts):
                if event.key not in stood:
                    self.snapshot.published(event)
            for receipt in self._receipts:
                self._settled(receipt)
            if any(self.history.outgrown(receipt.key) for receipt in self._receipts):
                self._refresh()  # the limits widened while these were made
            self._receipts.clear()
        while self._failures:
            self._publish_failure(self._failures[0])
            self._settled(self._failures.pop(0))
        self.publisher.flush()

    def _publish_failure(self, failure: Failure) -> None:
        key = failure.key
        stands = self.history.published.get(key, 0) >= failure.attempt
        made = stands and key not in self.history.holes and key not in self.history.outdated
        if failure.placeholder is not None:
            for event in self.publisher.publish([failure.placeholder]):
                self.snapshot.published(event)
        if made:  # by another order of that frame
            return
        of: dict[str, Any] = dict(zip(("product", "stream", "time"), key, strict=True))
        self.journal.append(ev.ProductFailed(**of, attempt=failure.attempt, reason=failure.reason))
        frame = failure.stream, failure.time, failure.attempt
        unreadable = failure.unreadable or frame in self.history.damaged
        self.snapshot.failed(replace(failure, unreadable=unreadable))

    def _is_outdated(self, about: Receipt | Failure) -> bool:
        """Whether it was made of a record whose time a later one has by now."""
        return (about.stream, about.time, about.attempt) in self.arrivals.repeated

    def _stands(self, receipt: Receipt) -> bool:
        return self.history.published.get(receipt.key) == receipt.attempt

    def _settled(self, about: Receipt | Failure) -> None:
        self.backlog.needs.settled(about.product, about.stream, about.time, about.attempt)
        self.backlog.remade(about.product, about.stream, about.time, about.attempt)

    def submit(self, now: float) -> int:
        """Hand the next orders to the viewing block; returns the bytes of the frames they read."""
        room = self.slots - len(self.sending)
        orders = list(self._next(now, room)) if room > 0 else []
        workers = 1 if self.graph.is_early else self.graph.workers
        idle = min(max(0, room), max(0, workers - len(self.sending)))
        for batch in batches(orders, idle, self.sending.costs):
            inspects = any(order.inspects for order in batch)
            self.sending.send(batch, URGENT if inspects else LAST if batch[0].remakes else NEXT)
        return sum({order.frame: order.frame.bytes for order in orders}.values())

    def _next(self, now: float, room: int) -> Iterator[Order]:
        """Orders for so many batches: up to the end of the frame that fills them."""
        seconds, count = 0.0, 0
        for order in self.backlog.take(now, self.backlog.under_way + room * MOST):
            needed = self.backlog.needs.of(order, self.history.states, self.space.newest)
            order = replace(order, needed=needed)
            if self._is_dropped(order):
                self.backlog.returned()
                continue
            yield order
            seconds, count = seconds + self.sending.costs.of(order), count + 1
            after = self.backlog.upcoming
            if (after is None or after.frame != order.frame) and (
                count >= room and seconds >= room * BATCH_S
            ):
                return

    def _is_dropped(self, order: Order) -> bool:
        """Whether an order is not carried out: its frame's time has a later record, a picture that
        stands cannot be made with what it was made with, or another piece has failed."""
        if is_stale(self.history, order.frame):
            self._drop_stale(order, None)
            return True
        if order.remakes and not self.backlog.needs.is_whole(order, order.needed):
            self.backlog.keep(order)
            return True
        return self.backlog.is_given_up(order)

    def _note_trouble(self, error: StagingError) -> None:
        """Report why a product cannot be staged: once where a disk is full."""
        self.trouble = str(error)
        waiting, each = self.backlog.size + 1, self._bytes_each
        if not self.snapshot.full_disk.take(error, waiting=waiting, bytes_each=each):
            self.snapshot.alarm(f"{error}; it is tried again")

    def stuck(self, now: float, patience_s: float) -> bool:
        """Whether products are outstanding and none has been staged for so long."""
        return bool(self.trouble) and not self.settled and now - self._last_good > patience_s

    @property
    def settled(self) -> bool:
        """Whether every product of every frame so far is published or has failed for good."""
        releasing = self.releases.under_way or self.releases.behind
        return self.backlog.empty and not (self._receipts or self._failures or releasing)


def _reason(order: Order, error: BaseException) -> str:
    """Why nothing was made, for the journal."""
    if type(error).__name__ == "WorkerLost":  # Parsl's, which need not be loaded
        kind = order.kind or "inspect"
        return (
            f"the worker that made it ({kind}) was killed {order.tries} times, most likely for "
            "want of memory: a crop, or fewer workers (viewing.workers of the site), need less"
        )
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[-1] if text else ''}"[:500]


def opening(context: RunContext, graph: Graph) -> Callable[[BufferRef, Guarding], Production]:
    """What opens the production of a run whose buffer is known: it goes on where an earlier driver
    has stopped. Raises OSError when ``products/`` cannot be read or written."""

    def produce(buffer: BufferRef, guarding: Guarding) -> Production:
        production = Production(context, graph, buffer, 2 * graph.workers, guarding)
        production.publisher.settle()
        production.publisher.clean_incoming()
        return production

    return produce
