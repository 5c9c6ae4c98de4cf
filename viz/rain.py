"""Rain at the ground: since the model's start, and between two frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.diagnostic import SURFACE, Block, Diagnostic

Array = NDArray[Any]

_PARTS = ("RAINNC", "RAINC", "RAINSH")
_BUCKETS = ("I_RAINNC", "I_RAINC")


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
    """What fell between two frames in mm, from what :func:`accumulated` gives of each.

    Where the total has sunk, it began anew in between (a run that was started afresh, not from
    its restart files): then ``after`` is all that is known of the interval. Sinking by rounding
    (a millionth of the total) is none. Pure: of two arrays of one shape, NaN where either is.
    """
    fell = after - before
    rounding = 1e-6 * np.abs(before)
    return np.asarray(np.where(fell < -rounding, after, np.where(fell < 0, 0 * fell, fell)))


DIAGNOSTICS = (
    Diagnostic(
        "rain", "accumulated precipitation", "mm", ("RAINNC",), SURFACE, accumulated,
        "thickness_of_precipitation_amount", uses=(*_PARTS[1:], *_BUCKETS),
    ),
)  # fmt: skip
