"""Rain at the ground: since the model's start, between two frames, and since the one before.

The total up to a frame is passed on to the next, as the state of products of rain rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burstlens.core import valid_time
from burstlens.core.errors import FrameError, StateError
from burstlens.viz.diagnostics.diagnostic import SURFACE, Array, Block, Diagnostic
from burstlens.viz.diagnostics.interval import RAIN, RAIN_RATE
from burstlens.viz.frames.state import read_arrays, write_arrays
from burstlens.viz.geometry.grid import Plane, map_plane, separated
from burstlens.viz.product import Context, ProductFrame

KIND = "rain 1"
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
    after = block["rain"]
    if block.frame.previous is None:
        return after
    sizes = block.frame.dimensions
    shape = sizes["south_north"], sizes["west_east"]
    before = read_totals(block.frame.previous).on(rain_plane(block.frame), shape)
    return between(before[block.part["south_north"], block.part["west_east"]], after)


def rate(block: Block) -> Array:
    """The same in mm h-1: divided by the time in between; 0 if no time has passed."""
    hours = hours_since_previous(block.frame)
    fell = block[RAIN]
    return np.asarray(fell / fell.dtype.type(hours)) if hours else np.zeros_like(fell)


def _since(frame: ProductFrame) -> str:
    """The time span of the rain, in words."""
    try:
        minutes = round(60 * hours_since_previous(frame), 1)
    except FrameError:
        return "since the frame before"
    whole, rest = divmod(minutes, 60)
    parts = [f"{n:g} {unit}" for n, unit in ((whole, "h"), (rest, "min")) if n]
    return f"of the last {' '.join(parts) or '0 h'}"


@dataclass(frozen=True, slots=True)
class Totals:
    """Precipitation of the whole domain in mm (y, x) up to ``time``, a valid-time key.

    ``corner`` is the first cell's longitude and latitude in degrees, or x and y on a plane that is
    not on the earth; NaN where the grid has no straight rows and columns.
    """

    time: str
    rain: Array
    corner: tuple[float, float]

    def write(self, path: Path) -> None:
        """Write it as a state file. StagingError if that fails."""
        arrays = {"time": np.array(self.time), "rain": self.rain.astype(np.float32)}
        write_arrays(path, KIND, arrays | {"corner": np.array(self.corner)})

    def on(self, plane: Plane, shape: tuple[int, ...]) -> Array:
        """The rain at the points of a later frame's plane, NaN where these totals have no point.

        A moving domain moves by whole cells. StateError if the size differs.
        """
        if self.rain.shape != shape:
            raise StateError(
                f"the state has {self.rain.shape} points (y, x), the frame has {shape}"
            )
        moved = np.full_like(self.rain, np.nan)
        into, taken = zip(*map(_overlap, self._moved(plane), shape), strict=True)
        moved[into] = self.rain[taken]
        return moved

    def _moved(self, plane: Plane) -> tuple[int, int]:
        """By how many cells the domain has moved since then, along y and x."""
        x, y = self.corner
        if plane.x.ndim != 1 or min(plane.x.size, plane.y.size) < 2 or not np.isfinite(x + y):
            return 0, 0
        if plane.projection is not None:
            x, y = (float(v) for v in plane.projection.forward(x, y))
        steps = [(points[0] - at) / (points[1] - points[0]) for points, at in
                 ((plane.y, y), (plane.x, x))]  # fmt: skip
        return round(float(steps[0])), round(float(steps[1]))


def _overlap(by: int, size: int) -> tuple[slice, slice]:
    """The common part as slices of the later and of the earlier domain; empty if there is none."""
    by = max(-size, min(by, size))
    return slice(max(-by, 0), size - max(by, 0)), slice(max(by, 0), size - max(-by, 0))


def rain_plane(frame: ProductFrame) -> Plane:
    """The plane of the frame's rain, with 1-D coordinates where it has straight rows."""
    return separated(map_plane(frame, "RAINNC", {}))


def totals(frame: ProductFrame) -> Totals:
    """Total rain up to the frame. FrameError if it has no rain."""
    from burstlens.viz.frames import times  # and netCDF4, which a check of a recipe need not load

    rain, plane = frame.read("rain"), rain_plane(frame)
    corner = (np.nan, np.nan)
    if plane.x.ndim == 1:
        corner = float(plane.x[0]), float(plane.y[0])
        if plane.projection is not None:
            lon, lat = plane.projection.inverse(*corner)
            corner = float(lon), float(lat)
    return Totals(times.valid(frame), rain, corner)


def read_totals(path: Path) -> Totals:
    """Reads the file of :meth:`Totals.write`. StateError if it is damaged or of another kind."""
    arrays = read_arrays(path, KIND)
    try:
        x, y = (float(v) for v in arrays["corner"])
        return Totals(str(arrays["time"]), arrays["rain"], (x, y))
    except (KeyError, ValueError, TypeError) as error:
        raise StateError(f"the state {path.name} lacks {error}") from error


def hours_since_previous(frame: ProductFrame) -> float:
    """Hours since the frame before, or since the model's start if none; FrameError if unknown."""
    from burstlens.viz.frames import times

    before = read_totals(frame.previous).time if frame.previous else times.start(frame)
    calendar = times.calendar(frame)
    apart = valid_time.between(before, times.valid(frame), calendar) if before else None
    if apart is None or apart < 0:
        words = "the frame before" if frame.previous else "the model's start"
        raise FrameError(f"rain of an interval: the time since {words} is not known")
    return apart / 3600


def keep_totals(frame: ProductFrame, context: Context) -> None:
    """Write the frame's totals as the state of a chained product."""
    if context.state is not None:
        totals(frame).write(context.state)


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
