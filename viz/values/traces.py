"""``<picture>.values.js`` of a seismogram: what stations recorded so far, in one classic script.

It has the form of a picture's values (:mod:`.script`) with ``BLT1`` in front: a header as JSON,
then one raw deflate stream. Each trace is kept as integers of 16 bits in steps of its own; long
ones as the smallest and the largest value of each interval. docs/values.md describes the header.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from burstlens.viz.values.script import FORMAT, TRACES, packed

Array = NDArray[Any]
Codes = NDArray[np.int16]
SAMPLES = 100_000
"""Of all traces together, about."""
LEAST = 400
"""Of each trace, however many there are."""
HOLE = -32768
"""The code of a sample without a finite value."""
_TOP = 32767
_EVEN = 0.01
"""How far a sample may lie beside its time for times to count as even, in steps."""
_WIDEST = 4
"""An even row of times may have that many times the samples; more holes are left out."""
_LEVEL, _RAW = 2, -15


def traces_script(
    header: Mapping[str, Any], stations: Sequence[Mapping[str, Any]], times: Array, values: Array
) -> bytes:
    """The script of traces: ``values`` (component, station, sample) at ``times`` (sample) in s.

    ``header`` names the picture and the components. A station without any finite value has no
    samples.
    """
    known: Array = np.asarray(np.isfinite(values).any(axis=(0, 2)))
    laid, step = _evenly(times)
    points = int(laid[-1]) + 1 if step else times.size
    room = max(LEAST, SAMPLES // max(1, int(known.sum()) * len(values)))
    each = 1 if points <= room else -(-points // (room // 2))
    parts: list[bytes] = []
    if not step:
        parts.append(times[::each].astype("<f8").tobytes())
    scales: list[list[float | None]] = []
    for component in values:
        scales.append([])
        for any_, trace in zip(known, component, strict=True):
            if not any_:
                scales[-1].append(None)
                continue
            row = np.full(points, np.nan)
            row[laid] = trace
            codes, scale = _codes(_thinned(row, each))
            parts.append(_folded(codes))
            scales[-1].append(scale)
    deflater: Any = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _RAW)
    stream = b"".join([*(deflater.compress(part) for part in parts), deflater.flush()])
    about = {
        "format": FORMAT,
        **header,
        "stations": [dict(one) for one in stations],
        "samples": int(times.size),
        "first": float(times[0]) if step else 0.0,
        "step": step,
        "points": -(-points // each),
        "each": each,
        "scales": scales,
        "bytes": len(stream),
    }
    return packed(TRACES, about, stream)


def _evenly(times: Array) -> tuple[Array, float]:
    """The number of each sample on an even row of times, and its step in s; step 0 where times
    are not even: samples are then numbered one after the other."""
    plain = np.arange(times.size)
    span = float(times[-1] - times[0])
    usual = float(np.median(np.diff(times))) if times.size > 1 else 0.0
    if not (usual > 0 and span / usual < _WIDEST * times.size and np.isfinite(times).all()):
        return plain, 0.0
    step = span / round(span / usual)
    places = (times - times[0]) / step
    laid = np.rint(places).astype(int)
    if np.abs(places - laid).max() > _EVEN or (np.diff(laid) < 1).any():
        return plain, 0.0
    return laid, step


def _thinned(row: Array, each: int) -> Array:
    """Smallest and largest value of each interval, one after the other; all values for 1."""
    if each == 1:
        return row
    whole = np.full(-(-row.size // each) * each, np.nan)
    whole[: row.size] = row
    part = whole.reshape(-1, each)
    finite = np.isfinite(part)
    ends = np.stack(
        [
            part.min(axis=1, initial=np.inf, where=finite),
            part.max(axis=1, initial=-np.inf, where=finite),
        ],
        axis=1,
    )
    return ends.ravel()


def _codes(row: Array) -> tuple[Codes, float]:
    finite = np.isfinite(row)
    scale = float(np.abs(row).max(initial=0.0, where=finite)) / _TOP
    codes = np.zeros(row.size)
    if scale > 0:
        np.rint(np.divide(row, scale, out=codes, where=finite), out=codes)
    codes[~finite] = HOLE
    return codes.astype(np.int16), scale


def _folded(codes: Codes) -> bytes:
    """Differences to the code before, modulo 2^16, folded to unsigned numbers: all low bytes, then
    all high ones."""
    change = np.diff(codes, prepend=np.int16(0)).astype(np.int16)
    folded = ((change << 1) ^ (change >> 15)).astype("<u2")
    return folded.view(np.uint8).reshape(-1, 2).T.tobytes()
