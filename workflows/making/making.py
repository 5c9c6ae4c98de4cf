"""Making on a worker: products of frames, what guards read, placeholders.

Consecutive orders of one frame share its open files, and what was computed from it.
"""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.core.allowance import room, time_limit
from burstlens.core.errors import (
    FULL_ERRNO,
    FrameError,
    RecipeError,
    RunError,
    StagingError,
    StateError,
    UnreadableFrameError,
)
from burstlens.core.model import SHOWN, Failure, Frame
from burstlens.core.run.directory import RunDir
from burstlens.viz.frames.reading_time import Spent, measured
from burstlens.viz.product import Context, Made, Mark, ProductFrame
from burstlens.viz.registry import product_kind
from burstlens.workflows.guards.finding import Reading, Trip
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.making.staged import Files, stage
from burstlens.workflows.placement import direct_requests
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_folder import has_ended

if TYPE_CHECKING:
    from burstlens.viz.diagnostics.derived import SharedFrame
    from burstlens.viz.kinds.base import ProductKind

_log = logging.getLogger(__name__)
LIMIT_S = 900.0
"""Longest time that one product of one frame may take on a worker."""


class Maker:
    """Carries out the orders of one worker, one after the other; a context manager.

    The frame of the latest order stays open for the next one. ``keeps`` says whether more orders of
    it are to come: then what is computed is kept for them, within the bounds of
    :class:`.SharedFrame`.
    """

    def __init__(self, buffer: BufferRef) -> None:
        self._buffer = buffer
        self._frame: Frame | None = None
        self._open: SharedFrame | None = None

    def __enter__(self) -> Maker:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def do(self, order: Order, *, keeps: bool = False) -> OrderResult:
        """Carry out an order.

        Raises StagingError when the buffer or the target does not take it.
        """
        if order.damage:
            return OrderResult(failure=self._failure(order, order.damage))
        if order.joins:
            return self._join(order)
        if not order.kind:
            return self._with_frame(order, keeps, lambda reader, order: 0)[1]
        return self._produce(order, keeps)

    def _produce(self, order: Order, keeps: bool) -> OrderResult:
        """Make one product, stage it to ``.incoming``, verify it."""
        frame = order.frame
        clock, cpu = {"started": time.time()}, time.process_time()
        spent = Spent()
        kind = product_kind(order.kind)
        name = f"{order.context.product}.{frame.stream}.{frame.time}.{uuid.uuid4().hex}"
        files = Files.of(_out(self._buffer), name, chained=kind.wants(order.options).chained)

        def make(reader: ProductFrame, order: Order) -> Made | int:
            clock["read"] = time.time()
            spent.seconds = 0.0  # what guards have read lies before
            context = replace(order.context, state=files.state, values=files.values)
            if order.piece is not None:
                return kind.make_piece(order.options, reader, files.product, context, *order.piece)
            pieces = kind.pieces(order.options, reader, room())
            if pieces > 1:
                return pieces
            if files.state is None:
                made = kind.make(order.options, reader, files.product, context)
                return _with_points(made, reader)
            made = _make_chained(kind, order, reader, files.product, context)
            if not files.state.is_file():
                raise FrameError(f"the kind {kind.name} is chained and wrote no state")
            return _with_points(made, reader)

        try:
            with measured(spent):
                made, result = self._with_frame(order, keeps, make)
            if not isinstance(made, Made):
                return result if made is None else replace(result, pieces=made)
            clock |= {"made": time.time(), "reading_s": spent.seconds}
            clock["cpu_s"] = time.process_time() - cpu
            products = Path(order.products)
            receipt = stage(self._buffer, files, made, frame, products, name, clock, order.piece)
            return replace(result, receipt=receipt)
        finally:
            files.remove()

    def _join(self, order: Order) -> OrderResult:
        """Write the table of pieces that were staged."""
        context, frame = order.context, order.frame
        name = f"{context.product}.{frame.stream}.{frame.time}.{uuid.uuid4().hex}"
        files = Files.of(_out(self._buffer), name, chained=False)
        kind, clock = product_kind(order.kind), {"started": time.time()}
        try:
            pieces = [
                Made(one.name.rpartition(".")[2], one.facts, one.limits) for one in order.joins
            ]
            names = [one.name.partition("/")[2] for one in order.joins]
            made = kind.join(order.options, pieces, files.product, context, names)
            clock["made"] = time.time()
            products = Path(order.products)
            return OrderResult(stage(self._buffer, files, made, frame, products, name, clock))
        except FrameError as error:
            return OrderResult(failure=self._failure(order, str(error)))
        finally:
            files.remove()

    def _with_frame(
        self, order: Order, keeps: bool, action: Callable[[ProductFrame, Order], Made | int]
    ) -> tuple[Made | int | None, OrderResult]:
        """What ``action`` makes of the frame, after its guards have judged it, and what they read;
        or None and why it failed."""
        frame, readings = order.frame, None
        try:
            with self._opened(order, keeps) as reader:
                readings = _judged(order, reader)
                with time_limit(LIMIT_S):
                    made = action(reader, _marked(order, readings))
                return made, OrderResult(readings=readings)
        except (FrameError, RecipeError) as error:
            what = order.context.product or "the guards"
            unreadable = isinstance(error, UnreadableFrameError)
            _log.warning("%s of %s %s: %s", what, frame.stream, frame.time, error, exc_info=True)
            if readings is None:
                about = frame.stream, frame.time, frame.attempt
                readings = tuple(
                    Reading(guard.called, *about, error=str(error), unreadable=unreadable)
                    for guard in order.guards
                )
            failure = self._failure(order, str(error)) if order.kind else None
            failure = failure and replace(failure, unreadable=unreadable)
            return None, OrderResult(failure=failure, readings=readings)
        except OSError as error:
            if error.errno not in FULL_ERRNO:
                raise
            # Nothing that reads a frame meets a full disk: it is what is made of it.
            path = str(error.filename or self._buffer.folder)
            raise StagingError.of(error, "no room to make it", path) from error

    @contextlib.contextmanager
    def _opened(self, order: Order, keeps: bool) -> Iterator[ProductFrame]:
        """The frame of an order; after an error it is not used again."""
        from burstlens.viz.diagnostics.derived import SharedFrame

        frame = order.frame
        try:
            if self._open is None or self._frame != frame:
                self._close()
                with time_limit(LIMIT_S):
                    self._open = SharedFrame(
                        _paths(self._buffer, frame), frame.record, stream=frame.stream,
                        time=frame.time, time_variable=order.context.time_variable,
                    )  # fmt: skip
                self._frame = frame
            yield self._open.view(keeps=keeps, **self._around(order))
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        opened, self._open, self._frame = self._open, None, None
        if opened is not None:
            opened.close()

    def _around(self, order: Order) -> dict[str, Any]:
        """What the order needs besides its frame, by its paths on this node."""
        from burstlens.viz.product import Beside

        products, needed = Path(order.products), order.needed
        return {
            "known": order.context.points,
            "previous": products / needed.previous[0] if needed.previous else None,
            "followed": {name: products / path for name, path in needed.followed.items()},
            "beside": {
                stream: Beside(tuple(_paths(self._buffer, frame)), frame.record, stream, frame.time)
                for stream, frame in needed.beside.items()
            },
        }

    def _failure(self, order: Order, reason: str) -> Failure:
        frame, product = order.frame, order.context.product
        receipt = None
        if "png" in product_kind(order.kind).extensions(order.options):
            from burstlens.viz.kinds.map.placeholder import draw_placeholder

            name = f"{product}.{frame.stream}.{frame.time}.{uuid.uuid4().hex}"
            files = Files.of(_out(self._buffer), name, chained=False)
            clock = {"started": time.time()}
            try:
                draw_placeholder(order.options, files.product, order.context, reason)
                made = Made("png", {"placeholder": True, "reason": reason})
                products = Path(order.products)
                receipt = stage(self._buffer, files, made, frame, products, name, clock)
            finally:
                files.remove()
        return Failure(product, frame.stream, frame.time, frame.attempt, reason, receipt)


def _make_chained(
    kind: ProductKind[Any], order: Order, reader: ProductFrame, out: Path, context: Context
) -> Made:
    """Resume from the newest usable state, else start afresh; the facts name the unusable ones."""
    unusable = []
    for name in order.needed.previous:
        reader.previous = Path(order.products) / name
        try:
            if not reader.previous.is_file():
                raise StateError(f"the state {reader.previous.name} is gone")
            made = kind.make(order.options, reader, out, context)
        except StateError as error:
            unusable.append(str(error))
            continue
        return _with_chain(made, unusable, "resumes from an older state")
    reader.previous = None
    return _with_chain(kind.make(order.options, reader, out, context), unusable, "starts afresh")


def _with_chain(made: Made, unusable: Sequence[str], how: str) -> Made:
    if not unusable:
        return made
    text = f"{how}: {'; '.join(unusable)}"
    return replace(made, facts={**made.facts, "chain": text})


def _with_points(made: Made, reader: ProductFrame) -> Made:
    """The facts name the points of further dimensions that were chosen, as none was named."""
    shown = getattr(reader, "shown", None)
    facts = {key: value for key, value in made.facts.items() if key != SHOWN}
    return replace(made, facts={**facts, SHOWN: shown} if shown else facts)


def _judged(order: Order, reader: ProductFrame) -> tuple[Reading, ...]:
    """What the guards read; a breach asks for the stop here, so that it needs no driver."""
    if not order.guards:
        return ()
    from burstlens.workflows.guards.field import inspect as inspect_frame

    about = order.frame.attempt, order.shown_units
    readings = inspect_frame(reader, order.guards, *about, calendar=order.frame.calendar)
    if order.inspects:
        run = RunDir(Path(order.products).parent)
        guards = {guard.called: guard for guard in order.guards}
        for reading in readings:
            guard = guards[reading.guard]
            if reading.breach is not None and guard.stops and not _has_ended(run, order.frame):
                at = reading.stream, reading.time, reading.attempt
                trip = Trip.of(guard.called, guard.then, reading.breach, time.time(), *at)
                try:
                    run.request(guard.then, trip.why())
                except RunError:  # the driver asks again, perhaps from another node
                    folder = run.job(f"attempt-{order.frame.attempt}")
                    direct_requests.send(folder, guard.then, trip.why())
    return readings


def _has_ended(run: RunDir, frame: Frame) -> bool:
    return has_ended(run.job(f"attempt-{frame.attempt}"))


def _marked(order: Order, readings: Sequence[Reading]) -> Order:
    """The order, with the places of breaches to be marked in its product."""
    marks = tuple(
        Mark(
            reading.breach.variable or "",
            reading.breach.place["index"],
            reading.breach.label,
            reading.breach.value,
            reading.breach.units,
        )
        for reading in readings
        if reading.breach is not None and reading.breach.place is not None
    )
    return replace(order, context=replace(order.context, marks=marks)) if marks else order


def _paths(buffer: BufferRef, frame: Frame) -> list[Path]:
    root = buffer.root()
    return [root / path for path in frame.paths]


def _out(buffer: BufferRef) -> Path:
    out = buffer.root() / buffer.folder / "out"
    try:
        out.mkdir(exist_ok=True)
    except OSError as error:
        raise StagingError.of(error, "cannot make products on the buffer", out) from error
    return out
