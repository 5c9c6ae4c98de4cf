"""Whether the file of a frame still holds the time that the frame was declared with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from burstlens.core import time_axis
from burstlens.core.errors import FrameError
from burstlens.core.record_axis import time_variable
from burstlens.core.valid_time import has_time, is_calendar
from burstlens.viz.frames.file import attributes_beside, attributes_of, times_key
from burstlens.viz.frames.record import stored_variables


def stored_time(data: Any, path: str, record: int, time: str, variable: str = "") -> bool | None:
    """Whether an open file says that its ``record`` has the valid-time key ``time``; None where it
    says nothing of that kind.

    ``variable`` holds the times; "": the one that CF's attributes show, or ``time``.
    """
    if not has_time(time):
        return None
    keys = set(_keys(data, path, record, variable))
    comparable = {key for key in keys if is_calendar(key) == is_calendar(time)}
    return time in comparable if comparable else None


def _keys(data: Any, path: str, record: int, variable: str) -> Iterator[str]:
    names = [variable]
    if variable not in data.variables:
        names = [time_variable(stored_variables(data)) or "", "time"]
    for name in names:
        if name in data.variables and (key := _key(data, path, record, name)) is not None:
            yield key


def _key(data: Any, path: str, record: int, name: str) -> str | None:
    def about(one: Any) -> dict[str, Any]:
        found = attributes_of(one)
        return {key: getattr(found[key], "tolist", lambda v=found[key]: v)() for key in found}

    variable = data.variables[name]
    attributes = about(variable)
    is_text = variable.dtype is str or variable.dtype.kind in "SU"
    is_single = not variable.ndim or (is_text and variable.dtype is not str and variable.ndim == 1)
    masks, scales = variable.mask, variable.scale
    variable.set_auto_maskandscale(False)
    try:
        if is_text:
            row = variable[...] if is_single else variable[record]
            return times_key(row, attributes, attributes_beside(data))
        rows = np.ravel(variable[...] if is_single else variable[max(0, record - 1) : record + 1])
        code = {"l": "q", "L": "Q"}.get(rows.dtype.char, rows.dtype.char)
        axis = time_axis.read_axis(attributes, code, path, name)
        if axis.may_be_digits:
            parts = time_axis.deciding_records(variable.shape[0] if variable.ndim else 0)
            some = [np.ravel(variable[part.start : part.stop]) for part in parts if part]
            axis = axis.decided(np.concatenate(some or [rows]).tolist())
        return axis.keys(rows.tolist(), rows.size - 1)[-1] if rows.size else None
    except (FrameError, IndexError, ValueError):
        return None
    finally:
        variable.set_auto_mask(masks)
        variable.set_auto_scale(scales)
