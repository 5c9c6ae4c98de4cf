"""What runs on the viewing block: Parsl's workers import this module, the driver only names it.

Every function takes and returns plain, small values; heavy libraries are imported at the first
use. Errors that concern one frame come back as values; StagingError is raised, and the driver
tries again.
"""

from __future__ import annotations

import contextlib
import signal
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.durable import read_json
from burstlens.errors import FrameError, RecipeError, StagingError
from burstlens.model import Damage, Failure, Frame, Receipt
from burstlens.stagers.base import bring, remove
from burstlens.viz.product import Context, Made, product_kind
from burstlens.workflows.buffer import BufferRef, free_bytes
from burstlens.workflows.cursor import Cursor
from burstlens.workflows.models.base import Model
from burstlens.workflows.watch import Report, watch

LIMIT_S = 900.0
"""Longest time that one product of one frame may take on a worker."""


@dataclass(frozen=True, slots=True)
class Order:
    """One product to make of one frame."""

    kind: str
    options: Any
    context: Context
    frame: Frame
    products: str


@dataclass(frozen=True, slots=True)
class Watched:
    """A watcher's report with the room left on the buffer."""

    report: Report
    free_bytes: int | None


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise FrameError in this (main) thread when the block takes longer."""

    def over(_number: int, _frame: object) -> None:
        raise FrameError(f"took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def node(
    function: Callable[..., Any],
    *args: Any,
    parsl_resource_specification: Mapping[str, int] | None = None,
) -> Any:
    """``function(*args)``. Parsl takes a task's priority from an argument of this name only."""
    return function(*args)


def warm(kinds: Sequence[str]) -> float:
    """Import what these kinds need; returns the seconds it took."""
    begin = time.perf_counter()
    for name in kinds:
        kind = product_kind(name)
        preload = getattr(kind, "preload", None)
        if preload is not None:
            preload()
    import burstlens.viz.frame  # noqa: F401

    return time.perf_counter() - begin


def watch_buffer(
    buffer: BufferRef,
    model: Model,
    run: str,
    attempt: int,
    cursor: Cursor,
    job_folder: str,
    timeout_s: float,
    interval_s: float,
) -> Watched:
    """One long poll on the frames of an attempt, see :func:`burstlens.workflows.watch.watch`."""
    job = Path(job_folder)
    deadline = time.monotonic() + timeout_s
    # The baseline is written before the model begins: without one there is nothing to see, and
    # there never will be when the job has ended.
    while True:
        over = (job / "ended.json").exists()
        baseline = read_json(job / "baseline.json")
        if baseline is not None:
            break
        if over or time.monotonic() > deadline:
            return Watched(Report((), (), cursor, ended=over), free_bytes(buffer.root()))
        time.sleep(interval_s)
    folder = f"{buffer.folder}/{attempt}"
    report = watch(
        buffer.root(),
        folder,
        model,
        run,
        attempt,
        cursor,
        baseline=baseline,
        ended=(job / "ended.json").exists,
        timeout_s=timeout_s,
        interval_s=interval_s,
    )
    return Watched(report, free_bytes(buffer.root()))


def measure(buffer: BufferRef, order: Order) -> tuple[float, float] | Failure | None:
    """The range that a product would show of a frame (None: none), for limits to be frozen."""
    from burstlens.viz.frame import open_frame

    frame = order.frame
    kind = product_kind(order.kind)
    try:
        with (
            time_limit(LIMIT_S),
            open_frame(
                _paths(buffer, frame), frame.record, stream=frame.stream, time=frame.time
            ) as reader,
        ):
            return kind.measure(order.options, reader)
    except FrameError as error:
        return _failure(order, str(error), buffer)


def produce(buffer: BufferRef, order: Order) -> Receipt | Failure:
    """Make one product of one frame on the buffer, stage it to ``.incoming``, verify it.

    Raises StagingError when the buffer or the target does not take it.
    """
    from burstlens.viz.frame import open_frame

    frame = order.frame
    clock = {"started": time.time()}
    kind = product_kind(order.kind)
    name = uuid.uuid4().hex
    out = _out(buffer) / f"{order.context.product}.{frame.stream}.{frame.time}.{name}"
    try:
        with (
            time_limit(LIMIT_S),
            open_frame(
                _paths(buffer, frame), frame.record, stream=frame.stream, time=frame.time
            ) as reader,
        ):
            clock["read"] = time.time()
            made = kind.make(order.options, reader, out, order.context)
        clock["made"] = time.time()
        return _stage(buffer, order, made, out, name, clock)
    except (FrameError, RecipeError) as error:
        return _failure(order, str(error), buffer)
    finally:
        remove(out)


def placeholder(buffer: BufferRef, order: Order, reason: str) -> Failure:
    """The failure of a product whose frame is damaged, with a picture that says so."""
    return _failure(order, reason, buffer)


def _paths(buffer: BufferRef, frame: Frame) -> list[Path]:
    root = buffer.root()
    return [root / path for path in frame.paths]


def _out(buffer: BufferRef) -> Path:
    out = buffer.root() / buffer.folder / "out"
    try:
        out.mkdir(exist_ok=True)
    except OSError as error:
        raise StagingError(
            "no room for products on the buffer", path=str(out), number=error.errno or 0
        ) from error
    return out


def _stage(
    buffer: BufferRef, order: Order, made: Made, out: Path, name: str, clock: dict[str, float]
) -> Receipt:
    frame, product = order.frame, order.context.product
    incoming = f".incoming/{product}.{frame.stream}.{frame.time}.{name}"
    arrival = bring(buffer.stager(), out, Path(order.products) / incoming)
    clock["staged"] = time.time()
    return Receipt(
        product=product,
        stream=frame.stream,
        time=frame.time,
        attempt=frame.attempt,
        uuid=name,
        incoming=incoming,
        name=f"{product}/{product}_{frame.stream}_{frame.time}.{made.extension}",
        bytes=arrival.bytes,
        crc32=arrival.crc32,
        clock=clock,
        facts=made.facts,
    )


def _failure(order: Order, reason: str, buffer: BufferRef) -> Failure:
    frame, product = order.frame, order.context.product
    receipt = None
    if "png" in product_kind(order.kind).extensions(order.options):
        from burstlens.viz.placeholder import draw_placeholder

        name = uuid.uuid4().hex
        out = _out(buffer) / f"{product}.{frame.stream}.{frame.time}.{name}"
        try:
            draw_placeholder(order.options, out, order.context, reason)
            made = Made("png", {"placeholder": True, "reason": reason})
            receipt = _stage(buffer, order, made, out, name, {"started": time.time()})
        finally:
            remove(out)
    return Failure(product, frame.stream, frame.time, frame.attempt, reason, receipt)


def damage_frame(damage: Damage) -> Frame:
    """A damaged frame in a frame's clothes, for the placeholder's sake."""
    return Frame(
        damage.run, damage.attempt, damage.stream, damage.time or "", damage.paths, damage.record,
        0, 0.0, 0.0, "damaged",
    )  # fmt: skip
