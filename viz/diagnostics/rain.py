"""Rain at the ground: since the model's start, between two frames, and since the one before."""

from __future__ import annotations

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.diagnostic import SURFACE, Array, Block, Diagnostic
from burstlens.viz.diagnostics.interval import RAIN, RAIN_RATE
from burstlens.viz.product import ProductFrame

_PARTS = ("RAINNC", "RAINC", "RAINSH")
_BUCKETS = ("I_RAINNC", "I_RAINC")
_USES = (*_PARTS[1:], *_BUCKETS)


def accumulated(block: Block) -> Array:
    """All precipitation since the start in mm, liquid and frozen, as water.

    RAINNC + RAINC + RAINSH + BUCKET_MM (I_RAINNC + I_RAINC): with BUCKET_MM above 0 WRF takes
    that much off a full bucket and counts it (ARW User's Guide, bucket_mm).
    """
    total = sum((block[name] for name in _PARTS if name in block), start=np.float32(0))
    bucket = block.attribute("BUCKET_MM", -1.0)
    if bucket > 0:
        total = total + bucket * sum(block[name] for name in _BUCKETS if name in block)
    return np.asarray(total)


def between(before: Array, after: Array) -> Array:
    """Rain between two frames in mm, from the results of :func:`accumulated` for each.

    Where the total has decreased, it began anew in between (a run that was started afresh, not from
    its restart files): then ``after`` is all that is known of the interval. A decrease by rounding
    (a millionth of the total) does not count. Both arrays have one shape; NaN where either is.
    """
    fell = after - before
    rounding = 1e-6 * np.abs(before)
    return np.asarray(np.where(fell < -rounding, after, np.where(fell < 0, 0 * fell, fell)))


def since_previous(block: Block) -> Array:
    """Rain since the frame before in mm; since the start of the model if there is none."""
    from burstlens.viz.diagnostics.rain_totals import rain_plane, read_totals

    after = block["rain"]
    if block.frame.previous is None:
        return after
    sizes = block.frame.dimensions
    shape = sizes["south_north"], sizes["west_east"]
    before = read_totals(block.frame.previous).on(rain_plane(block.frame), shape)
    return between(before[block.part["south_north"], block.part["west_east"]], after)


def rate(block: Block) -> Array:
    """The same in mm h-1: divided by the time in between; 0 if no time has passed."""
    from burstlens.viz.diagnostics.rain_totals import hours_since_previous

    hours = hours_since_previous(block.frame)
    fell = block[RAIN]
    return np.asarray(fell / fell.dtype.type(hours)) if hours else np.zeros_like(fell)


def _since(frame: ProductFrame) -> str:
    """The time span of the rain, in words."""
    from burstlens.viz.diagnostics.rain_totals import hours_since_previous

    try:
        minutes = round(60 * hours_since_previous(frame), 1)
    except FrameError:
        return "since the frame before"
    whole, rest = divmod(minutes, 60)
    parts = [f"{n:g} {unit}" for n, unit in ((whole, "h"), (rest, "min")) if n]
    return f"of the last {' '.join(parts) or '0 h'}"


DIAGNOSTICS = (
    Diagnostic(
        "rain", "accumulated precipitation", "mm", ("RAINNC",), SURFACE, accumulated,
        "thickness_of_precipitation_amount", uses=_USES,
    ),
    Diagnostic(
        RAIN, "precipitation since the frame before", "mm", ("RAINNC",), SURFACE, since_previous,
        "thickness_of_precipitation_amount", uses=_USES,
        words=lambda frame: f"precipitation {_since(frame)}", halo=None,
    ),
    Diagnostic(
        RAIN_RATE, "precipitation rate since the frame before", "mm h-1", ("RAINNC",), SURFACE,
        rate, "lwe_precipitation_rate", uses=_USES,
        words=lambda frame: f"precipitation rate, mean {_since(frame)}", halo=None,
    ),
)  # fmt: skip
