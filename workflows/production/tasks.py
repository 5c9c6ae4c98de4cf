"""What runs on the viewing block: Parsl's workers import this module, the driver only names it.

Every function takes and returns plain, small values; heavy libraries are imported at the first
use. Errors that concern one frame come back as values; StagingError is raised, and the driver
tries again.
"""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.core.errors import (
    FULL_ERRNO,
    FrameError,
    RecipeError,
    RunError,
    StagingError,
    StateError,
)
from burstlens.core.model import Damage, Failure, Frame, Needed
from burstlens.core.run.directory import RunDir
from burstlens.core.run.logs import open_worker_log
from burstlens.core.time_limit import time_limit
from burstlens.viz.frames.reading_time import Spent, measured
from burstlens.viz.product import Context, Made, Mark, ProductKind, wants
from burstlens.viz.registry import product_kind
from burstlens.workflows.guards.finding import Reading, Trip
from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.production.staged import Files, stage

if TYPE_CHECKING:
    from burstlens.viz.product import ProductFrame

_log = logging.getLogger(__name__)
LIMIT_S = 900.0
"""Longest time that one product of one frame may take on a worker."""


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
    needed: Needed = field(default_factory=Needed)


@dataclass(frozen=True, slots=True)
class Viewed:
    """What an order gave (a receipt or a failure), and what its guards read."""

    value: Any = None
    readings: tuple[Reading, ...] = ()


def node(
    function: Callable[..., Any],
    *args: Any,
    parsl_resource_specification: Mapping[str, int] | None = None,
) -> Any:
    """``function(*args)``. Parsl takes a task's priority from an argument of this name only."""
    open_worker_log()
    begin = time.monotonic()
    try:
        return function(*args)
    except Exception as error:
        _log.warning("%s: %s", function.__name__, error, exc_info=True)
        raise
    finally:
        _log.debug("%s took %.3f s", function.__name__, time.monotonic() - begin)


def warm(kinds: Sequence[str]) -> float:
    """Import what these kinds need; returns the seconds it took."""
    begin = time.perf_counter()
    for name in kinds:
        kind = product_kind(name)
        preload = getattr(kind, "preload", None)
        if preload is not None:
            preload()
    import burstlens.viz.frames.reader  # noqa: F401

    return time.perf_counter() - begin


def inspect(buffer: BufferRef, order: Order) -> Viewed:
    """What the guards read of a frame that no product is made of."""
    return _with_frame(buffer, order, lambda reader, order: None)


def produce(buffer: BufferRef, order: Order) -> Viewed:
    """Make one product of one frame on the buffer, stage it to ``.incoming``, verify it.

    Raises StagingError when the buffer or the target does not take it.
    """
    frame = order.frame
    clock, cpu = {"started": time.time()}, time.process_time()
    spent = Spent()
    kind = product_kind(order.kind)
    name = f"{order.context.product}.{frame.stream}.{frame.time}.{uuid.uuid4().hex}"
    files = Files.of(_out(buffer), name, chained=wants(kind, order.options).chained)

    def make(reader: ProductFrame, order: Order) -> Made:
        clock["read"] = time.time()
        spent.seconds = 0.0  # what guards have read lies before
        context = replace(order.context, state=files.state, values=files.values)
        if files.state is None:
            return kind.make(order.options, reader, files.product, context)
        made = _make_chained(kind, order, reader, files.product, context)
        if not files.state.is_file():
            raise FrameError(f"the kind {kind.name} is chained and wrote no state")
        return made

    try:
        with measured(spent):
            viewed = _with_frame(buffer, order, make)
        if not isinstance(viewed.value, Made):
            return viewed
        clock |= {"made": time.time(), "reading_s": spent.seconds}
        clock["cpu_s"] = time.process_time() - cpu
        receipt = stage(buffer, files, viewed.value, frame, Path(order.products), name, clock)
        return replace(viewed, value=receipt)
    finally:
        files.remove()


def _make_chained(
    kind: ProductKind, order: Order, reader: ProductFrame, out: Path, context: Context
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


def placeholder(buffer: BufferRef, order: Order, reason: str) -> Viewed:
    """The failure of a product whose frame is damaged, with a picture that says so."""
    return Viewed(_failure(order, reason, buffer))


def _with_frame(
    buffer: BufferRef, order: Order, action: Callable[[ProductFrame, Order], Any]
) -> Viewed:
    """What ``action`` makes of the frame, after its guards have judged it; or why it failed."""
    from burstlens.viz.diagnostics.derived import open_frame

    frame, readings = order.frame, None
    paths = _paths(buffer, frame)
    with contextlib.ExitStack() as stack:
        try:
            with time_limit(LIMIT_S):
                reader = stack.enter_context(
                    open_frame(
                        paths,
                        frame.record,
                        stream=frame.stream,
                        time=frame.time,
                        time_variable=order.context.time_variable,
                        **_around(buffer, order),
                    )
                )
            readings = _judged(order, reader)
            with time_limit(LIMIT_S):
                return Viewed(action(reader, _marked(order, readings)), readings)
        except (FrameError, RecipeError) as error:
            what = order.context.product or "the guards"
            _log.warning("%s of %s %s: %s", what, frame.stream, frame.time, error, exc_info=True)
            if readings is None:
                about = frame.stream, frame.time, frame.attempt
                readings = tuple(
                    Reading(guard.called, *about, error=str(error)) for guard in order.guards
                )
            failure = _failure(order, str(error), buffer) if order.kind else None
            return Viewed(failure, readings)
        except OSError as error:
            if error.errno not in FULL_ERRNO:
                raise
            # Nothing that reads a frame meets a full disk: it is what is made of it.
            path = str(error.filename or buffer.folder)
            raise StagingError("no room to make it", path=path, number=error.errno) from error


def _around(buffer: BufferRef, order: Order) -> dict[str, Any]:
    """What the order needs besides its frame, by its paths on this node."""
    from burstlens.viz.product import Beside

    products, needed = Path(order.products), order.needed
    return {
        "previous": products / needed.previous[0] if needed.previous else None,
        "followed": {name: products / path for name, path in needed.followed.items()},
        "beside": {
            stream: Beside(tuple(_paths(buffer, frame)), frame.record, stream, frame.time)
            for stream, frame in needed.beside.items()
        },
    }


def _judged(order: Order, reader: ProductFrame) -> tuple[Reading, ...]:
    """What the guards read; a breach asks for the stop here, so that it needs no driver."""
    if not order.guards:
        return ()
    from burstlens.workflows.guards.field import inspect as inspect_frame

    readings = inspect_frame(reader, order.guards, order.frame.attempt)
    if order.inspects:
        run = RunDir(Path(order.products).parent)
        guards = {guard.called: guard for guard in order.guards}
        for reading in readings:
            guard = guards[reading.guard]
            if reading.breach is not None and guard.stops and not _has_ended(run, order.frame):
                at = reading.stream, reading.time, reading.attempt
                trip = Trip.of(guard.called, guard.then, reading.breach, time.time(), *at)
                with contextlib.suppress(RunError):  # the driver asks again
                    run.request(guard.then, trip.why())
    return readings


def _has_ended(run: RunDir, frame: Frame) -> bool:
    return (run.job(f"attempt-{frame.attempt}") / "ended.json").exists()


def _marked(order: Order, readings: Sequence[Reading]) -> Order:
    """The order, with the places of breaches to be marked in its product."""
    marks = tuple(
        Mark(reading.breach.variable or "", reading.breach.place["index"], reading.breach.label)
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
        raise StagingError(
            "cannot make products on the buffer", path=str(out), number=error.errno or 0
        ) from error
    return out


def _failure(order: Order, reason: str, buffer: BufferRef) -> Failure:
    frame, product = order.frame, order.context.product
    receipt = None
    if "png" in product_kind(order.kind).extensions(order.options):
        from burstlens.viz.kinds.map.placeholder import draw_placeholder

        name = f"{product}.{frame.stream}.{frame.time}.{uuid.uuid4().hex}"
        files, clock = Files.of(_out(buffer), name, chained=False), {"started": time.time()}
        try:
            draw_placeholder(order.options, files.product, order.context, reason)
            made = Made("png", {"placeholder": True, "reason": reason})
            receipt = stage(buffer, files, made, frame, Path(order.products), name, clock)
        finally:
            files.remove()
    return Failure(product, frame.stream, frame.time, frame.attempt, reason, receipt)


def damage_frame(damage: Damage) -> Frame:
    """A frame that stands in for a damaged one, for its placeholder."""
    return Frame(
        damage.run, damage.attempt, damage.stream, damage.time or "", damage.paths, damage.record,
        0, 0.0, 0.0, "damaged",
    )  # fmt: skip
