"""Production: from the watcher's report to published products."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
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
from burstlens.workflows.ordering.colour_limits import ColourLimits
from burstlens.workflows.ordering.events import ProductsPublished, ResultsRead, WorkReturned
from burstlens.workflows.ordering.guarding import Guarding
from burstlens.workflows.ordering.instructions import LAST, NEXT, URGENT, Discard, Publish, Warm
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.ordering.outputs import Outputs
from burstlens.workflows.ordering.releases import Releases
from burstlens.workflows.ordering.repeats import frame_key, is_stale
from burstlens.workflows.ordering.sending import Sending, Taken
from burstlens.workflows.ordering.shown_points import ShownPoints
from burstlens.workflows.ordering.space import Space
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.snapshot import Load
from burstlens.workflows.recipe.recipe import MadeProduct

_log = logging.getLogger(__name__)
TRIES = 3
"""Chances of a product whose worker dies or whose function fails in an unforeseen way."""


class Production:
    """Orders products of frames, takes what comes back, has it published.

    ``workers`` is how many make products, ``early``: only one that was started ahead does;
    ``broken``: the interchange of the viewing block has died.
    """

    def __init__(
        self,
        context: RunContext,
        outbox: Outbox,
        buffer: BufferRef,
        guarding: Guarding,
        shown: ShownPoints | None = None,
    ) -> None:
        run, recipe, history = context.run, context.recipe, context.history
        self.recipe = recipe
        self.outbox = outbox
        self.history = history
        self.snapshot = context.snapshot
        self.buffer = buffer
        self.guarding = guarding
        self.sending = Sending(outbox, buffer)
        facts = context.facts
        about = Context(
            run.id, recipe.title, product="", stream="", time="", files=run.files,
            start=facts.start, version=__version__, cancel=run.control / "stop-now",
            time_variable=recipe.model.time_variable,
        )  # fmt: skip
        self.backlog = Backlog(
            recipe.products, history, about, context.main_stream, str(run.products),
            recipe.guards, facts.streams, shown=shown or ShownPoints(),
        )  # fmt: skip
        self.space = Space(
            recipe, history, buffer, guarded=self.backlog.watching,
            beside=self.backlog.needs.keeps, outgrown=self.backlog.remakes,
        )  # fmt: skip
        self.releases = Releases(context, outbox, buffer, self.space)
        self.promised = Promised(run.id, buffer.folder, recipe.model, history, facts.streams)
        self.arrivals = Arrivals(outbox, history, self.snapshot, self.backlog, self.space)
        self.outputs = Outputs(outbox, history)
        self.limits = ColourLimits(outbox, history, self.backlog)
        self.trouble = ""
        self.slots = 2
        self.workers, self.early, self.broken = 1, False, False
        self._bytes_each = 0
        self._last_good = outbox.now
        self._receipts: list[Receipt] = []
        self._failures: list[Failure] = []
        self._handed: tuple[list[Receipt], list[Failure]] = [], []
        """What the last :class:`.Publish` was of."""

    def meet(self, workers: int, *, early: bool, block: str) -> None:
        """Note how many workers there are, and the state of their block."""
        self.workers, self.early, self.broken = workers, early, block == "broken"

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
                self._discard(receipt)
            self._failures = [one for one in self._failures if not self._is_outdated(one)]

    def begin_attempt(self) -> None:
        """Another attempt begins: what is made of frames that it owns by now is dropped, and
        pictures whose colours followed such frames are made again."""
        self.promised.forget()
        for receipt in [one for one in self._receipts if self._is_stale(one)]:
            self._receipts.remove(receipt)
            self._discard(receipt)
            self.backlog.needs.settled(*receipt.key, receipt.attempt)
        self._failures = [one for one in self._failures if not self._is_stale(one)]
        self._refresh()

    def _is_stale(self, about: Receipt | Failure) -> bool:
        return self.history.is_stale(about.stream, about.time, about.attempt)

    def enter(self, products: tuple[MadeProduct, ...]) -> None:
        """Make these products as well, of each frame on the buffer that they do not pass over."""
        self.outbox.do(Warm(tuple(sorted({product.kind.name for product in products}))))
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

    def read(self, event: ResultsRead) -> None:
        """Take results of a batch that is under way."""
        self._take_results(self.sending.take(event.batch, event.results))

    def returned(self, event: WorkReturned) -> None:
        """Take the results of a batch that has ended."""
        self._take_results(self.sending.returned(event))

    def _take_results(self, results: Iterable[Taken]) -> None:
        for order, result in results:
            self._take_result(order, result)

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
        now = self.outbox.now
        if isinstance(error, StagingError):
            self._note_trouble(error)
            self.backlog.again(order, now)
            return
        self._last_good = now
        if order.tries < TRIES or self.broken:
            self.backlog.again(order, now)
            return
        reason = _reason(order, error)
        if order.inspects:
            self.guarding.miss(frame, order.guards, reason)
        if order.kind:
            self._fail(order, Failure(*order.about, reason=reason))

    def _take_answer(self, order: Order, result: OrderResult) -> None:
        self._last_good = self.outbox.now
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
                self._discard(receipt)
        elif self.backlog.shown.is_other(order, receipt) or self.limits.is_too_wide(order):
            self._discard(receipt)
            self.backlog.put_back(order)
        else:
            self.backlog.forget_pieces(order)
            self._take_receipt(order.complete(receipt, self.outbox.t))

    def _take_receipt(self, receipt: Receipt) -> None:
        self._bytes_each = receipt.bytes
        self._receipts.append(receipt)
        if "chain" in receipt.facts:
            self.snapshot.alarm(f"{receipt.product} of {receipt.time} {receipt.facts['chain']}")
        self.backlog.note_size(receipt)
        if text := self.backlog.shown.note(receipt):
            self.snapshot.alarm(text, product=receipt.product, stream=receipt.stream)
        if self.limits.widen(receipt):
            self._refresh()

    def _drop_stale(self, order: Order, result: OrderResult | None) -> None:
        """Drop what was made of a record whose time a later one has: that is ordered already. Of a
        frame that another attempt owns nothing is made any more."""
        if self.history.is_stale(*frame_key(order.frame)):
            self.backlog.needs.settled(order.context.product, *frame_key(order.frame))
        staged = None if result is None else result.staged
        self._discard(staged, *self.backlog.forget_pieces(order))

    def _discard(self, *receipts: Receipt | None) -> None:
        for receipt in receipts:
            if receipt is not None:
                self.outbox.do(Discard(receipt))

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

    def _refresh(self) -> None:
        """Order pictures again whose limits their series has outgrown."""
        for frame in self.space.frames():
            self.backlog.refresh(frame)

    def publish(self, *, probe: bool = False, sweeps: bool = False) -> None:
        """Have the products that have come back published, with the placeholders of failures, and
        what is written beside them; ``probe`` and ``sweeps`` as :class:`.Publish` has them."""
        self._handed = list(self._receipts), list(self._failures)
        held = [one.placeholder for one in self._failures if one.placeholder is not None]
        self.outbox.do(Publish((*self._receipts, *held), probe, sweeps))

    def published(self, event: ProductsPublished) -> None:
        """Take what stands under its final name. After an error all is given again."""
        if event.error is not None:
            return
        receipts, failures = self._handed
        done = {id(one) for one in (*receipts, *failures)}
        self._receipts = [one for one in self._receipts if id(one) not in done]
        self._failures = [one for one in self._failures if id(one) not in done]
        for receipt in receipts:
            self._settled(receipt)
        if any(self.history.outgrown(receipt.key) for receipt in receipts):
            self._refresh()  # the limits widened while these were made
        for failure in failures:
            self._note_failure(failure)
            self._settled(failure)

    def _note_failure(self, failure: Failure) -> None:
        key = failure.key
        stands = self.history.published.get(key, 0) >= failure.attempt
        if stands and key not in self.history.holes and key not in self.history.outdated:
            return  # another order of that frame has made it
        of: dict[str, Any] = dict(zip(("product", "stream", "time"), key, strict=True))
        self.outbox.append(ev.ProductFailed(**of, attempt=failure.attempt, reason=failure.reason))
        frame = failure.stream, failure.time, failure.attempt
        unreadable = failure.unreadable or frame in self.history.damaged
        self.snapshot.messages.blame(replace(failure, unreadable=unreadable))

    def _is_outdated(self, about: Receipt | Failure) -> bool:
        """Whether it was made of a record whose time a later one has by now."""
        return (about.stream, about.time, about.attempt) in self.arrivals.repeated

    def _settled(self, about: Receipt | Failure) -> None:
        self.backlog.needs.settled(about.product, about.stream, about.time, about.attempt)
        self.backlog.remade(about.product, about.stream, about.time, about.attempt)

    def submit(self, now: float) -> int:
        """Hand the next orders to the viewing block; returns the bytes of the frames they read."""
        room = self.slots - len(self.sending)
        orders = list(self._next(now, room)) if room > 0 else []
        workers = 1 if self.early else self.workers
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
            order = replace(order, needed=needed, submitted=self.outbox.t)
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

    def oldest_unread(self) -> str | None:
        """The time of the oldest frame that guards are still to read; None where there is none. One
        that was on a buffer which is gone is not read any more."""
        history, first = self.history, self.backlog.first_stream
        guarded = {
            stream
            for stream in history.times.numbers
            if any(guard.looks_at(stream, first) for guard in self.recipe.guards)
        }
        return min(
            (
                frame[1]
                for frame in history.frames
                if frame[0] in guarded
                and frame[2] >= history.first_on_buffer
                and frame not in history.inspected
                and not history.is_stale(*frame)
            ),
            default=None,
        )

    def load(self) -> Load:
        """How much is to be done, and how full the buffer is."""
        return Load(self.backlog.size, self.space.raw_bytes, self.space.fill())

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
