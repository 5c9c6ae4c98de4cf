"""The times of a frame: the model's start, the calendar, and both in words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from burstlens.core import valid_time
from burstlens.core.calendars import calendar_of
from burstlens.core.errors import FrameError
from burstlens.core.exact_seconds import exact_seconds
from burstlens.core.packing import Packing
from burstlens.core.time_axis import TimeDecoding
from burstlens.core.time_units import read_units
from burstlens.viz.frames.file import times_key
from burstlens.viz.frames.record import TIME_NAMES, is_time
from burstlens.viz.product import Context
from burstlens.viz.seams import OpenFrame

EPOCH = "19700101T000000"
"""The origin of times if the start is unknown."""


def start(frame: OpenFrame) -> str | None:
    """The valid-time key of the model's start, else None.

    WRF: SIMULATION_START_DATE, which a restart keeps (START_DATE is that of the restart); without
    these, as in files that other tools made from wrfout, the frame's time minus XTIME, the minutes
    since the start (Registry.EM_COMMON). CF: ``forecast_reference_time`` (CF standard names).
    """
    if frame.start is not None:
        return frame.start
    if "XTIME" in frame and frame.variable("XTIME").units.startswith("minute"):
        return _earlier(valid(frame), frame)
    for name in frame.names:
        found = frame.variable(name)
        if found.attributes.get("standard_name") == "forecast_reference_time":
            return _key(frame, name)
    return None


def valid(frame: OpenFrame) -> str:
    """The frame's valid-time key: the one given at opening, else WRF's Times; empty if unknown."""
    if frame.time or "Times" not in frame:
        return frame.time
    attributes = frame.variable("Times").attributes
    return times_key(frame.read("Times"), attributes, partial(_attributes_beside, frame)) or ""


def calendar(frame: OpenFrame) -> str:
    """The calendar that the frame's times are counted in, as CF 4.4.1 names it."""
    usual = [name for name in TIME_NAMES if name in frame]
    for name in (*usual, *frame.names):
        found = frame.variable(name)
        named = calendar_of(found.attributes)
        is_own = not found.dimensions and is_time(name, found.attributes)
        if named and (name in usual or is_own):
            return named
    return calendar_of(frame.attributes) or "standard"


def lead(frame: OpenFrame, context: Context) -> str:
    """Start of the model and time since, in words; empty if that is unknown."""
    return since(context.time, context.start or start(frame), _counted_in(frame, context))


def elapsed_s(frame: OpenFrame, context: Context) -> float:
    """Seconds from the model's start to the frame; since 1970 for calendar times without start.

    FrameError for a frame without a time.
    """
    began, time = context.start or start(frame), context.time
    if not valid_time.has_time(time):
        raise FrameError(f"{frame} has no time")
    if not valid_time.is_calendar(time):
        elapsed = bool(began) and not valid_time.is_calendar(began or "")
        return valid_time.seconds(time) - (valid_time.seconds(began or "") if elapsed else 0.0)
    counted_in = _counted_in(frame, context)
    apart = valid_time.between(began, time, counted_in) if began else None
    return valid_time.seconds(time, counted_in) if apart is None else apart


def stamp(time: str) -> str:
    """The valid time of a key, in words."""
    label = valid_time.label(time)
    return f"valid {label}" if valid_time.is_calendar(time) else label


def since(time: str, start: str | None, calendar: str = "standard") -> str:
    """Start of the model and time since, as people write them; empty if that is unknown.

    ``time`` and ``start`` are valid-time keys, ``calendar`` the one that both are counted in (CF
    4.4.1).
    """
    apart = valid_time.between(start, time, calendar) if start else None
    if start is None or apart is None or apart < 0:
        return ""
    seconds = round(apart)
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    parts = [f"{n} {unit}" for n, unit in ((hours, "h"), (minutes, "min"), (rest, "s")) if n]
    text = " ".join(parts) or "0 h"
    if start.startswith("0"):
        # Idealized runs begin in year 1: the date has no meaning.
        return f"{text} after the start" if seconds else "at the start"
    return f"init {valid_time.label(start)}  ·  +{text}"


def _counted_in(frame: OpenFrame, context: Context) -> str:
    return context.calendar or calendar(frame)


def _earlier(time: str, frame: OpenFrame) -> str | None:
    """The key of XTIME minutes before a key; None if that is not a time of our calendar."""
    minutes = float(np.ravel(frame.read("XTIME"))[0])
    if not valid_time.is_calendar(time) or not np.isfinite(minutes):
        return None
    try:
        return valid_time.earlier(time, float(exact_seconds(minutes, 60)), calendar(frame))
    except (ValueError, OverflowError):
        return None


def _attributes_beside(frame: OpenFrame, name: str) -> Mapping[str, Any] | None:
    if not name:
        return frame.attributes
    return frame.variable(name).attributes if name in frame else None


def _key(frame: OpenFrame, name: str) -> str | None:
    attributes = frame.variable(name).attributes
    try:
        values = np.ravel(frame.read(name))
        if values.dtype.kind in "SUO":
            row = values[0] if values.dtype.kind == "O" else values
            return times_key(row, attributes, partial(_attributes_beside, frame))
        units = read_units(str(attributes.get("units", "")), calendar_of(attributes))
        key = TimeDecoding(units, Packing()).key(float(values[0]))
        return key if key and valid_time.is_calendar(key) else None
    except (IndexError, FrameError):
        return None
