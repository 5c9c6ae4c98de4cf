"""What has fallen up to a frame, handed on to the next: the state of products of rain rates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens import valid_time
from burstlens.errors import FrameError
from burstlens.viz import times
from burstlens.viz.frame import FrameReader
from burstlens.viz.product import Context
from burstlens.viz.state import read_arrays, write_arrays

Array = NDArray[Any]
KIND = "rain 1"
_STARTS = ("I_PARENT_START", "J_PARENT_START")


@dataclass(frozen=True, slots=True)
class Totals:
    """Precipitation of the whole domain in mm (y, x) up to ``time``, a valid-time key.

    ``corner`` is that of a nest in its parent, in the nest's own cells along x and y.
    """

    time: str
    rain: Array
    corner: tuple[int, int]

    def write(self, path: Path) -> None:
        """Write it as a state file. StagingError when that cannot be done."""
        arrays = {"time": np.array(self.time), "rain": self.rain.astype(np.float32)}
        write_arrays(path, KIND, arrays | {"corner": np.array(self.corner)})

    def on(self, other: Totals) -> Array:
        """The rain at the points of another domain, NaN where this one does not reach.

        A nest that moves goes by whole cells of its parent. FrameError for another size.
        """
        if self.rain.shape != other.rain.shape:
            raise FrameError(
                f"the state is of {self.rain.shape} points (y, x), the frame of {other.rain.shape}"
            )
        shift = [after - before for before, after in zip(self.corner, other.corner, strict=True)]
        moved = np.full_like(self.rain, np.nan)
        parts = [
            (slice(max(-by, 0), size - max(by, 0)), slice(max(by, 0), size - max(-by, 0)))
            for by, size in zip(shift[::-1], self.rain.shape, strict=True)
        ]
        if all(abs(by) < size for by, size in zip(shift[::-1], self.rain.shape, strict=True)):
            moved[parts[0][0], parts[1][0]] = self.rain[parts[0][1], parts[1][1]]
        return moved


def totals(frame: FrameReader) -> Totals:
    """What has fallen up to the frame. FrameError when it has no rain."""
    attributes = frame.attributes
    ratio = int(attributes.get("PARENT_GRID_RATIO", 1))
    i, j = (ratio * (int(attributes.get(name, 1)) - 1) for name in _STARTS)
    return Totals(frame.time, frame.read("rain"), (i, j))


def read_totals(path: Path) -> Totals:
    """What :meth:`Totals.write` wrote. FrameError when it is damaged or of another kind."""
    arrays = read_arrays(path, KIND)
    try:
        i, j = (int(v) for v in arrays["corner"])
        return Totals(str(arrays["time"]), arrays["rain"], (i, j))
    except (KeyError, ValueError, TypeError) as error:
        raise FrameError(f"the state {path.name} lacks {error}") from error


def hours_since_previous(frame: FrameReader) -> float:
    """Since the frame before, or the model's start where there is none; FrameError if unknown."""
    before = read_totals(frame.previous).time if frame.previous else times.start(frame)
    calendar = times.calendar(frame)
    apart = valid_time.between(before, frame.time, calendar) if before else None
    if apart is None or apart < 0:
        words = "the frame before" if frame.previous else "the model's start"
        raise FrameError(f"rain of an interval: the time since {words} is not known")
    return apart / 3600


def keep_totals(frame: FrameReader, context: Context) -> None:
    """Write the frame's totals as the state that a chained product leaves."""
    if context.state is not None:
        totals(frame).write(context.state)
