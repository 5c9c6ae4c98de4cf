"""The greatest ground motion so far at each point, updated frame by frame.

A motion is differentiated or integrated once if the peak of the other quantity is requested. Both
use only the frames: between two of them, ``T`` apart, differencing multiplies a wave of frequency
``f`` by sin(pi f T) / (pi f T), and a peak may fall between them. Write at least twelve frames per
period for a peak within 5 %.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import StateError
from burstlens.viz.frames.joining import JoinedArray, cut, part_bytes
from burstlens.viz.frames.state import read_arrays, write_arrays

Array = NDArray[Any]
Combine = Literal["vector", "larger", "geometric-mean"]
"""Of components: the length of their vector, the larger one, or the mean of their own peaks."""
KIND = "peak 1"
_TEMPORARIES = 8
"""Arrays of the motion's size that are needed beside it, about."""
_LEAST_ROWS = 16
"""Rows that are read together, at least: each part takes as long to begin with."""


class Motion(Protocol):
    """Components of one frame's motion, read some rows at a time.

    ``shape`` is (n, y, x); parts are read without waste where they end at multiples of ``chunk``.
    """

    @property
    def shape(self) -> tuple[int, int, int]: ...

    @property
    def chunk(self) -> int: ...

    def rows(self, part: slice) -> Array:
        """All components of some rows, as float32."""


@dataclass(frozen=True, slots=True)
class HeldMotion:
    """Components (n, y, x) that are in memory, float32."""

    values: Array
    chunk: int = 1

    @property
    def shape(self) -> tuple[int, int, int]:
        number, rows, columns = self.values.shape
        return number, rows, columns

    def rows(self, part: slice) -> Array:
        return self.values[:, part]


@dataclass(frozen=True, slots=True)
class RunningPeak:
    """Peaks after ``frames`` frames, the latest of them ``time_s`` after the start.

    ``peaks`` are (1, y, x), or a peak of each component (n, y, x) for a geometric mean; NaN where
    there was never a value. ``when`` (y, x), in float64, is the time in s of the latest growth of
    a peak. ``motion`` and ``integral`` (n, y, x) are the latest frame's components and their
    integral over time, empty if the peak does not need them.
    """

    peaks: Array
    when: Array
    motion: Array
    integral: Array
    time_s: float
    frames: int

    @property
    def values(self) -> Array:
        """The peak as (y, x)."""
        if len(self.peaks) == 1:
            return np.asarray(self.peaks[0])
        return np.asarray(np.prod(self.peaks, axis=0) ** (1 / len(self.peaks)))

    def of_rows(self, rows: slice) -> RunningPeak:
        """That of some rows of the grid."""
        motion, integral = (part[:, rows] for part in (self.motion, self.integral))
        return replace(
            self, peaks=self.peaks[:, rows], when=self.when[rows], motion=motion, integral=integral
        )

    def write(self, path: Path) -> None:
        """Write it as a state file. StagingError if that fails."""
        arrays = {part.name: np.asarray(getattr(self, part.name)) for part in fields(self)}
        write_arrays(path, KIND, arrays)


def read_peak(path: Path | None) -> RunningPeak | None:
    """Reads the file of :meth:`RunningPeak.write`; None for None. StateError if it is damaged."""
    if path is None:
        return None
    arrays = read_arrays(path, KIND)
    try:
        whole: dict[str, Any] = {part.name: arrays[part.name] for part in fields(RunningPeak)}
        scalars = {"time_s": float(whole["time_s"]), "frames": int(whole["frames"])}
        return RunningPeak(**(whole | scalars))
    except (KeyError, TypeError) as error:
        raise StateError(f"the state {path.name} lacks {error}") from error


def advanced(
    before: RunningPeak | None,
    motion: Array | Motion,
    time_s: float,
    *,
    order: int,
    combine: Combine,
) -> RunningPeak:
    """The peaks with one more frame: components ``motion`` (n, y, x) at ``time_s``.

    ``order`` is 0 for the peak of the motion itself, 1 of its derivative and -1 of its integral,
    by trapezoids from the first frame on; the first frame alone has a derivative and an integral of
    zero. Raises StateError if ``before`` has another grid or is not earlier than ``time_s``.
    """
    held: Array | None = None
    if isinstance(motion, np.ndarray):
        held = np.asarray(motion, np.float32)
        motion = HeldMotion(held)
    number, *shape = motion.shape
    if before is not None:
        if before.when.shape != tuple(shape):
            raise StateError(
                f"the state has {before.when.shape} points (y, x), the frame has {tuple(shape)}"
            )
        if not np.float32(time_s - before.time_s) > 0:
            raise StateError(f"the state is at {before.time_s:g} s, the frame at {time_s:g} s")
    peaks = JoinedArray((number if combine == "geometric-mean" else 1, *shape))
    when = JoinedArray((shape[0], shape[1]))
    kept, integral = JoinedArray(motion.shape), JoinedArray(motion.shape)
    row_bytes = max(1, number * shape[1]) * np.dtype(np.float32).itemsize
    at_once = max(_LEAST_ROWS, part_bytes() // (_TEMPORARIES * row_bytes))
    for rows in cut(range(shape[0]), at_once, motion.chunk):
        earlier = None if before is None else before.of_rows(rows)
        part = _grown(earlier, motion.rows(rows), time_s, order=order, combine=combine)
        peaks.put((slice(None), rows), part.peaks)
        when.put((rows,), part.when)
        if order and held is None:
            kept.put((slice(None), rows), part.motion)
        if order < 0:
            integral.put((slice(None), rows), part.integral)
    # Arrays that are not needed again are dropped.
    unused = np.empty((number, 0, 0), np.float32)
    return RunningPeak(
        peaks.values(),
        when.values(),
        unused if not order else kept.values() if held is None else held,
        integral.values() if order < 0 else unused,
        time_s,
        1 if before is None else before.frames + 1,
    )


def _grown(
    before: RunningPeak | None, motion: Array, time_s: float, *, order: int, combine: Combine
) -> RunningPeak:
    """The same of a part of the grid, whatever is needed again."""
    integral = np.zeros_like(motion)
    quantity = motion if order == 0 else motion * 0
    if before is not None:
        step = np.float32(time_s - before.time_s)
        if order < 0:
            grown = (before.motion + motion) * (step / 2)
            integral = before.integral + np.where(np.isfinite(grown), grown, 0)
            quantity = quantity + integral
        elif order > 0:
            quantity = (motion - before.motion) / step
    sizes = _combined(np.abs(quantity), combine)
    peaks = np.full_like(sizes, np.nan) if before is None else before.peaks
    when = np.full(sizes.shape[1:], np.nan) if before is None else before.when
    higher = (sizes > peaks) | (np.isnan(peaks) & ~np.isnan(sizes))
    latest = np.where(higher.any(axis=0), time_s, when)
    return RunningPeak(np.where(higher, sizes, peaks), latest, motion, integral, time_s, 1)


def _combined(sizes: Array, combine: Combine) -> Array:
    if combine == "geometric-mean":
        return sizes
    if combine == "larger":
        return np.asarray(sizes.max(axis=0, keepdims=True))
    return np.asarray(np.sqrt(np.sum(sizes * sizes, axis=0, keepdims=True)))
