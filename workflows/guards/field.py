"""Field guards, on the viewing block: check the values of a frame as soon as it is read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.allowance import time_limit
from burstlens.core.digits import format_number
from burstlens.core.errors import FrameError, UnreadableFrameError
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.crop import resolve
from burstlens.viz.geometry.staggering import one_level, unstaggered
from burstlens.viz.product import ProductFrame
from burstlens.viz.seams import Stored, Window
from burstlens.workflows.guards import evaluation
from burstlens.workflows.guards.finding import Breach, Reading
from burstlens.workflows.guards.guard import ExpressionGuard, FieldGuard, Guard, VariableGuard
from burstlens.workflows.guards.place import place_of, words
from burstlens.workflows.guards.shown_units import ShownUnits, shown_in

GUARD_S = 120.0
"""Time limit for one guard on one frame."""
_SLAB = 1 << 20
"""Points processed at a time: they fit in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """``least``, ``most`` and ``mean`` of the finite values (NaN if there are none); the number of
    ``points``, of not finite ones (``bad``) and of ``missing`` ones; the infinities found."""

    least: float
    most: float
    mean: float
    points: int
    bad: int = 0
    missing: int = 0
    infinite: tuple[float, ...] = ()


def inspect(
    frame: ProductFrame, guards: Sequence[Guard], attempt: int,
    shown: Mapping[str, str] = MappingProxyType({}), *, calendar: str = "",
) -> tuple[Reading, ...]:  # fmt: skip
    """The reading of each guard in an open frame. Never raises: a failed guard gives its error.

    ``shown`` are the units in which alarms give the values of some variables, ``calendar`` is
    the one in which the frame's time counts. Call it from the main thread: each guard has a time
    limit of ``GUARD_S``.
    """
    found = []
    for guard in guards:
        about = guard.called, frame.stream, frame.time, attempt
        try:
            with time_limit(GUARD_S):
                found.append(replace(_read(frame, guard, about, shown), calendar=calendar))
        except Exception as error:  # a defect in a guard must not cost the run its products
            text = str(error)
            if not isinstance(error, FrameError):
                text = f"{type(error).__name__}: {text}"
            unreadable = isinstance(error, UnreadableFrameError)
            found.append(Reading(*about, error=text, unreadable=unreadable))
    return tuple(found)


def _read(
    frame: ProductFrame, guard: Guard, about: tuple[str, str, str, int], shown: Mapping[str, str]
) -> Reading:
    if isinstance(guard, ExpressionGuard):
        return Reading(*about, breach=_expression(frame, guard, shown))
    assert isinstance(guard, VariableGuard)
    name, window = guard.variable, _window(frame, guard.variable, guard)
    stored = _numbers(frame, name, window)
    seen = statistics(stored)
    if not (seen.missing or math.isnan(seen.mean)):
        frame.hold(name, window, stored.values)
    variable = frame.variable(name)
    # As on the map; but a field of 0 K that has a temperature as its limit is one of temperatures.
    judged = [v for v in (seen.most, guard.max, guard.min) if v is not None]
    difference = variable.are_differences(np.array(judged))
    printed = shown_in(shown.get(name), variable.units, difference=difference)
    breach = _breach(frame, guard, window, stored, seen, printed)
    known: dict[str, Any] = {}
    if not math.isnan(seen.mean):
        known = {"least": seen.least, "most": seen.most, "mean": seen.mean}
        for key in ("least", "most") if guard.max_rate is not None else ():
            first = _first(stored.values == known[key])
            known[f"{key}_at"] = place_of(frame, name, window, first)
    return Reading(
        *about, points=seen.points, bad=seen.bad, units=variable.units, shown=printed,
        breach=breach, **known,
    )  # fmt: skip


def _window(frame: ProductFrame, variable: str, guard: FieldGuard) -> dict[str, slice]:
    window = resolve(guard.crop, frame, variable)
    if guard.level is None:
        return window
    own = {unstaggered(d, frame): d for d in frame.variable(variable).dimensions}
    dimension = own.get(grid.axes(frame, variable).get("z", ""))
    if dimension is None:
        raise FrameError(f"{variable} has no levels, so level = {guard.level} means nothing")
    return one_level(window, dimension, guard.level, frame.dimensions[dimension])


def _numbers(frame: ProductFrame, name: str, window: Window) -> Stored:
    stored = frame.stored(name, window)
    if stored.values.dtype.kind not in "fiub":
        raise FrameError(f"{name} is not numeric, so a guard cannot check it")
    if not stored.values.size:
        raise FrameError(f"{name} has no points there")
    return stored


def statistics(stored: Stored) -> Statistics:
    """The statistics of the values, which may include NaN, infinite and missing ones."""
    flat = stored.values.reshape(-1)
    least, most, total, known, bad, missing = math.inf, -math.inf, 0.0, 0, 0, 0
    infinite: set[float] = set()
    for start in range(0, flat.size, _SLAB):
        slab = flat[start : start + _SLAB]
        low, high = float(slab.min()), float(slab.max())
        # A NaN makes both NaN, and an infinity is one of them: if both are finite, all values are.
        whole = math.isfinite(low) and math.isfinite(high)
        if not whole or any(low <= fill <= high for fill in stored.fills):
            there = ~_missing(slab, stored.fills)
            finite = np.isfinite(slab)
            missing += int(slab.size - np.count_nonzero(there))
            bad += int(np.count_nonzero(there & ~finite))
            infinite |= {float(v) for v in (low, high) if math.isinf(v)}
            infinite |= {sign for sign in (-math.inf, math.inf) if bool((slab == sign).any())}
            slab = slab[there & finite]
            if not slab.size:
                continue
            low, high = float(slab.min()), float(slab.max())
        least, most = min(least, low), max(most, high)
        total += float(slab.sum(dtype=np.float64))
        known += slab.size
    range_and_mean = (least, most, total / known) if known else (math.nan,) * 3
    return Statistics(*range_and_mean, flat.size, bad, missing, tuple(infinite))


def _missing(values: NDArray[Any], fills: tuple[float, ...]) -> NDArray[np.bool_]:
    found = np.zeros(values.shape, dtype=bool)
    for fill in fills:
        found |= np.isnan(values) if math.isnan(fill) else values == values.dtype.type(fill)
    return found


def _breach(
    frame: ProductFrame,
    guard: VariableGuard,
    window: Window,
    stored: Stored,
    seen: Statistics,
    printed: ShownUnits,
) -> Breach | None:
    """The most severe condition that is met: not finite, then too large, then too small."""
    name, values = guard.variable, stored.values

    def found(what: str, wrong: Any, value: float | None, limit: float | None, text: str) -> Breach:
        value, limit = (None if of is None else printed.value(of) for of in (value, limit))
        place = place_of(frame, name, window, _first(wrong))
        shown = f"{text} at {words(place)}" if place["index"] else text.rstrip(",")
        return Breach(what, shown, name, value, limit, printed.units, place)

    if guard.finite and seen.bad:
        wrong = ~np.isfinite(values) & ~_missing(values, stored.fills)
        what = "infinite" if seen.infinite and not np.isnan(values[wrong]).any() else "NaN"
        share = f" at {seen.bad} of {seen.points} points, first" if seen.points > 1 else ""
        return found("finite", wrong, None, None, f"{name} is {what}{share}")
    high = math.inf if math.inf in seen.infinite else seen.most
    low = -math.inf if -math.inf in seen.infinite else seen.least
    if guard.max is not None and high > guard.max:
        limit = printed.number(guard.max)
        text = f"{name} = {printed.text(high, guard.max)}, above {limit},"
        return found("max", values == high, _known(high), guard.max, text)
    if guard.min is not None and low < guard.min:
        limit = printed.number(guard.min)
        text = f"{name} = {printed.text(low, guard.min)}, below {limit},"
        return found("min", values == low, _known(low), guard.min, text)
    return None


def _expression(
    frame: ProductFrame, guard: ExpressionGuard, shown: Mapping[str, str]
) -> Breach | None:
    windows: dict[str, dict[str, slice]] = {}

    def read(name: str) -> NDArray[Any]:
        # A level applies only to the 3-D variables of the expression.
        flat = guard.level is not None and "z" not in grid.axes(frame, name)
        windows[name] = resolve(guard.crop, frame, name) if flat else _window(frame, name, guard)
        stored = _numbers(frame, name, windows[name])
        values = stored.values
        gaps = _missing(values, stored.fills)
        kind = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
        numbers = values.astype(kind, copy=False)
        if gaps.any():
            return np.where(gaps, kind.type(np.nan), numbers)
        frame.hold(name, windows[name], values)
        return numbers

    parts = evaluation.evaluate(guard.expression, read)
    if parts is None:
        return None
    texts = dict.fromkeys(_described(part, frame, shown) for part in parts)
    text = ", ".join([f"{guard.expression} is true", *texts])
    first = next((part for part in parts if part.index is not None), None)
    value = _known(parts[0].value) if parts else None
    if first is None or first.variable is None or first.index is None:
        return Breach("expression", text, value=value)
    has_units = first.has_units and parts[0] is first
    units = frame.variable(first.variable).units if has_units else ""
    place = place_of(frame, first.variable, windows[first.variable], first.index)
    at = f", at {words(place)}" if place["index"] else ""
    return Breach("expression", text + at, first.variable, value, units=units, place=place)


def _described(part: evaluation.Part, frame: ProductFrame, shown: Mapping[str, str]) -> str:
    """``max(T2) = 312.3 K (39.15 degC)``: as the expression has it, and in the map's units."""
    text = f"{part.text} = {format_number(part.value)}"
    if part.variable is None or not part.has_units:
        return text
    variable = frame.variable(part.variable)
    difference = variable.are_differences(np.array([part.value]))
    printed = shown_in(shown.get(part.variable), variable.units, difference=difference)
    beside = f" ({printed.text(part.value)})" if printed.units != variable.units else ""
    return f"{text} {variable.units}".rstrip() + beside


def _first(wrong: Any) -> tuple[int, ...]:
    """The index of the first point where the mask is true."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), np.shape(wrong)))


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
