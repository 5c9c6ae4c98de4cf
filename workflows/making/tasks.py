"""What runs on the viewing block: Parsl's workers import this module, the driver only names it.

Every function takes and returns plain, small values; heavy libraries are imported at the first
use. Errors that concern one frame come back as values.
"""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from burstlens.core.run.logs import open_worker_log
from burstlens.viz.registry import product_kind
from burstlens.workflows.making.making import Maker
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.making.results import Results
from burstlens.workflows.placement.buffer import BufferRef

_log = logging.getLogger(__name__)


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
        product_kind(name).preload()
    import burstlens.viz.frames.reader  # noqa: F401

    return time.perf_counter() - begin


def produce(buffer: BufferRef, order: Order) -> OrderResult:
    """Make one product of one frame on the buffer, stage it to ``.incoming``, verify it.

    Raises StagingError when the buffer or the target does not take it.
    """
    with Maker(buffer) as maker:
        return maker.do(order)


def work(buffer: BufferRef, batch: Sequence[Order], results: str = "") -> dict[int, OrderResult]:
    """Carry out a batch of orders; returns what became of each by its number, errors too.

    What is done before the batch ends is appended to the file ``results`` (none where it is empty)
    for the driver to read meanwhile, and is not returned. An order that the file has already is not
    done again: a worker was lost in the middle of the batch.
    """
    given: dict[int, OrderResult] = {}
    written = Results(results)
    with Maker(buffer) as maker:
        for number, order in enumerate(batch):
            if number in written.known:
                continue
            after = batch[number + 1 : number + 2]
            keeps = bool(after) and after[0].frame == order.frame
            try:
                given[number] = maker.do(order, keeps=keeps)
            except Exception as error:
                what = order.context.product or "inspect"
                _log.warning("%s: %s", what, error, exc_info=True)
                given[number] = OrderResult(error=_sendable(error))
            if after:
                given = written.write(given)
    return given


def _sendable(error: Exception) -> Exception:
    """The error, or its text where it cannot be pickled and read again."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (its own bytes)
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
