"""Values as integer codes of 12 or 16 bits, and back: within half a step, special ones apart.

Beside the edges of colours in steps it may be a whole step, so that values keep their colours. The
four highest codes stand for no value, positive and negative infinity, and zero (with a
logarithm). A field that is drawn on a logarithmic scale is quantised in its logarithm, so that half
a step is relative; its negative values have codes of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint16]
Array = NDArray[Any]
Mask = NDArray[np.bool_]

Outliers = tuple[tuple[int, int, float], ...]
Transform = Literal["linear", "log"]
SPECIAL = 4
"""Codes with a meaning of their own: from the top none, infinite, minus infinite, zero."""
OUTLIERS = 64
"""Values kept exactly, at most."""
_FAR = 8.0
"""How many times the spread of the middle 98 % a value lies beyond it to be an outlier."""
_SAMPLE = 4096
_ROWS = 64
"""Rows that are quantised at a time: their temporaries fit a core's cache."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How codes stand for values: ``offset + scale * code``, of the value or of its logarithm.

    ``negative`` is the first code of negative values with a logarithm, None if there are none.
    ``outliers`` are (row, column, value), exact.
    """

    bits: int
    offset: float
    scale: float
    transform: Transform = "linear"
    negative: int | None = None
    outliers: Outliers = ()

    @property
    def top(self) -> int:
        """The lowest of the special codes."""
        return (1 << self.bits) - SPECIAL

    def facts(self) -> dict[str, Any]:
        """For the header, as JSON values."""
        return asdict(self) | {"outliers": [list(one) for one in self.outliers]}

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Scale:
        """The scale that a header describes. Raises KeyError, TypeError and ValueError."""
        outliers = tuple((int(j), int(i), float(v)) for j, i, v in facts["outliers"])
        negative = facts["negative"]
        return cls(
            int(facts["bits"]),
            float(facts["offset"]),
            float(facts["scale"]),
            "log" if facts["transform"] == "log" else "linear",
            None if negative is None else int(negative),
            outliers,
        )


def quantised(
    values: Array, bits: int, *, log: bool = False, edges: Sequence[float] = ()
) -> tuple[Codes, Scale]:
    """The codes of (row, column) values, and what they stand for.

    A value comes back within half a step (``scale / 2``; with a logarithm a factor of
    ``exp(scale / 2)``), outliers exactly. Masked values are none. ``edges`` are those of colours in
    steps: a value stays on its side of each, for which it may come back within a whole step.
    """
    if np.ma.isMaskedArray(values) or values.dtype.kind != "f":
        values = np.ma.filled(values.astype(np.float64), np.nan)
    finite = np.isfinite(values)
    kept = _within(values, finite, log=log)
    outliers: Outliers = ()
    if kept is not finite:
        rows, columns = np.nonzero(finite & ~kept)
        outliers = tuple(
            (int(j), int(i), float(values[j, i])) for j, i in zip(rows, columns, strict=True)
        )
    scale = (_log_scale if log else _linear_scale)(values, kept, bits, outliers)
    codes = np.empty(values.shape, np.uint16)
    beside = _beside(edges, scale)
    whole = bool(finite.all())
    for first in range(0, values.shape[0], _ROWS):
        part = slice(first, first + _ROWS)
        codes[part] = _codes(values[part], scale)
        if not whole:
            _mark_special(codes[part], values[part], finite[part], scale.top)
        if beside is not None:
            _keep_sides(codes[part], values[part], scale, edges, beside)
    return codes, scale


def restored(codes: Codes, scale: Scale) -> NDArray[np.float64]:
    """The values that codes stand for; outliers are put in where ``codes`` is the whole field."""
    top = scale.top
    size = codes.astype(np.float64)
    if scale.transform == "log":
        below = None if scale.negative is None else (codes >= scale.negative) & (codes < top)
        if below is not None:
            size[below] -= scale.negative or 0
        with np.errstate(over="ignore"):  # of special codes
            size = np.exp(scale.offset + scale.scale * size)
        if below is not None:
            size[below] *= -1
    else:
        size = scale.offset + scale.scale * size
    special = codes >= top
    if special.any():
        size[special] = np.array([0.0, -np.inf, np.inf, np.nan])[codes[special] - top]
    for row, column, value in scale.outliers:
        if row < size.shape[0] and column < size.shape[1]:
            size[row, column] = value
    return size


def _codes(values: Array, scale: Scale) -> Codes:
    with np.errstate(invalid="ignore", divide="ignore"):
        size = values.astype(np.float64)
        below = zero = None
        if scale.transform == "log":
            zero = size == 0
            below = None if scale.negative is None else size < 0
            np.abs(size, out=size)
            np.log(size, out=size)
        size -= scale.offset
        if scale.scale:
            size /= scale.scale
        most = scale.top - 1 if scale.negative is None else scale.negative - 1
        np.rint(size, out=size)
        # Only outliers, and values that are marked afterwards, lie outside.
        np.clip(np.nan_to_num(size, copy=False), 0, most, out=size)
        codes = size.astype(np.uint16)
    if below is not None:
        codes[below] += np.uint16(scale.negative or 0)
    if zero is not None:
        codes[zero] = scale.top
    return codes


def _beside(edges: Sequence[float], scale: Scale) -> Mask | None:
    """Which codes lie next to an edge of colours; None where no value can be taken across one."""
    if scale.transform != "linear" or not scale.scale:
        return None
    found = np.zeros(1 << 16, np.bool_)
    for edge in edges:
        at = (edge - scale.offset) / scale.scale
        if -1 <= at <= scale.top:
            found[max(0, math.floor(at) - 1) : math.ceil(at) + 2] = True
    found[scale.top :] = False
    return found if found.any() else None


def _keep_sides(
    codes: Codes, values: Array, scale: Scale, edges: Sequence[float], beside: Mask
) -> None:
    """Move codes by one where rounding took a value across an edge."""
    near = beside[codes]
    if not near.any():
        return
    moved = codes[near]
    sides = np.digitize(restored(moved, replace(scale, outliers=())), edges)
    across = np.digitize(values[near], edges) - sides
    moved[(across > 0) & (moved < scale.top - 1)] += np.uint16(1)
    moved[(across < 0) & (moved > 0)] -= np.uint16(1)
    codes[near] = moved


def _mark_special(codes: Codes, values: Array, finite: Mask, top: int) -> None:
    codes[~finite] = top + 3
    codes[np.isposinf(values)] = top + 2
    codes[np.isneginf(values)] = top + 1


def _linear_scale(values: Array, kept: Mask, bits: int, outliers: Outliers) -> Scale:
    low, high = _ends(values, kept)
    step = high / ((1 << bits) - SPECIAL - 1) - low / ((1 << bits) - SPECIAL - 1)
    if low + step * ((1 << bits) - SPECIAL - 1) < high:  # rounded down: much among denormal numbers
        step = math.nextafter(step, math.inf)
    return Scale(bits, low, step, outliers=outliers)


def _log_scale(values: Array, kept: Mask, bits: int, outliers: Outliers) -> Scale:
    top = (1 << bits) - SPECIAL
    low, high = _ends(np.abs(values), kept & (values != 0))
    negative = top // 2 if bool((values[kept] < 0).any()) else None
    most = (top if negative is None else negative) - 1
    if not low > 0:
        return Scale(bits, 0.0, 0.0, "log", negative, outliers)
    offset = math.log(low)
    return Scale(bits, offset, (math.log(high) - offset) / most, "log", negative, outliers)


def _ends(values: Array, kept: Mask) -> tuple[float, float]:
    low = float(values.min(where=kept, initial=np.inf))
    high = float(values.max(where=kept, initial=-np.inf))
    return (low, high) if low <= high else (0.0, 0.0)


def _within(values: Array, finite: Mask, *, log: bool) -> Mask:
    """Finite points that are not outliers: ``finite`` itself where there are none.

    Outliers lie so far from all other values that these would share a few codes.
    """
    flat = values.ravel()[:: max(1, values.size // _SAMPLE)]
    sample = np.abs(flat[np.isfinite(flat)]).astype(np.float64) if log else flat[np.isfinite(flat)]
    if log:
        sample = np.log(sample[sample > 0])
    if not sample.size:
        return finite
    low, high = (float(v) for v in np.quantile(sample.astype(np.float64), (0.01, 0.99)))
    reach = _FAR * (high - low)
    least, most = low - reach, high + reach
    measured = values
    if log:
        with np.errstate(divide="ignore", invalid="ignore"):
            measured = np.log(np.abs(values))
        measured = np.where(values == 0, low, measured)
    ends = _ends(measured, finite)
    if least <= ends[0] and ends[1] <= most:
        return finite
    kept = finite & (measured >= least) & (measured <= most)
    return kept if int(finite.sum()) - int(kept.sum()) <= OUTLIERS else finite
