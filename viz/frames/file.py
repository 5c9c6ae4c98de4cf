"""One file of a frame, opened for reading after it was declared complete, and its times.

HDF5 locking is switched off before HDF5 is loaded, because a reader that holds a lock makes
WRF lose the frame it writes next. Model output is never opened for writing here.
"""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from burstlens.core.hdf5_filters import plugin_environment

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
os.environ.update(plugin_environment())

import netCDF4 as netCDF4
import numpy as np

from burstlens.core import cdf, record_axis, time_axis
from burstlens.core.errors import FrameError, UnreadableFrameError
from burstlens.core.existence import again
from burstlens.core.valid_time import has_time, is_calendar, label
from burstlens.viz.frames.record import stored_variables, time_dimension

PAUSES_S = (0.05, 0.2)
"""Seconds to wait before a file that could not be read is opened again."""
AGAIN = (OSError, RuntimeError, KeyError)
"""Errors of the library for a file that may become readable in a moment."""


def opened(path: Path, record: int, time: str, time_variable: str = "") -> Any:
    """The open file, complete, whose ``record`` has the valid-time key ``time`` ("": any).

    ``time_variable`` as for :func:`.time_dimension`. FrameError if the file is missing, empty,
    short or not netCDF, or holds another time.
    """
    for pause_s in (*PAUSES_S, None):
        header = _check_whole(path, record)
        try:
            data = netCDF4.Dataset(os.fspath(path), "r")
            # Return masked arrays only where values are missing.
            data.set_always_mask(False)
            # Keep characters as characters in files of xarray, which writes `_Encoding`.
            data.set_auto_chartostring(False)
            try:
                _check_record(path, data, record, time, time_variable)
                if header is not None and not _grows_with_time(data, time_variable):
                    _check_size(path, header, (header.records or 1) - 1)
            except BaseException:
                data.close()
                raise
            return data
        except AGAIN as error:
            if pause_s is None:
                raise UnreadableFrameError(f"{path.name} cannot be read: {error}") from error
            clock.sleep(pause_s)
    raise AssertionError("unreachable")


def attributes_of(data: Any) -> dict[str, Any]:
    """The attributes of an open file or of a variable; text that is not UTF-8 is Latin-1."""
    found = {key: data.getncattr(key) for key in data.ncattrs()}
    for key, value in found.items():
        if isinstance(value, str) and "\ufffd" in value:
            found[key] = data.getncattr(key, encoding="latin-1")
    return found


def attributes_beside(data: Any, name: str) -> dict[str, Any] | None:
    """The attributes of a variable of an open file, "" of the file; None if it is missing."""
    found = data.variables.get(name) if name else data
    return None if found is None else attributes_of(found)


def times_key(
    row: Any, attributes: Mapping[str, Any], beside: Callable[[str], Mapping[str, Any] | None]
) -> str | None:
    """The valid-time key of a row of times as text, characters or a string (xarray), or None.

    ``attributes`` are those of its variable; these, or those ``beside`` it, name the calendar
    (:func:`.text_calendar`).
    """
    text = np.asarray(row)
    plain = text.tobytes().strip(b"\0 ") if text.dtype.kind == "S" else str(text).strip()
    return time_axis.text_key(plain, record_axis.text_calendar(attributes, beside))


def _grows_with_time(data: Any, time_variable: str) -> bool:
    """Whether the records of the format are the frames; else each frame needs all of them."""
    dimension = time_dimension(data, time_variable)
    return dimension is not None and bool(data.dimensions[dimension].isunlimited())


def _check_record(path: Path, data: Any, record: int, time: str, time_variable: str) -> None:
    dimension = time_dimension(data, time_variable)
    records = len(data.dimensions[dimension]) if dimension else 1
    if record >= records:
        raise UnreadableFrameError(f"{path.name} holds {records} frames, not frame {record}")
    # Other variables are read only where they are the times of the frames.
    texts = data.variables.get("Times") if time_variable in ("", "Times") else None
    if texts is not None and has_time(time):
        is_single = texts.ndim == 1 and texts.dtype != str  # characters of the only time
        row = texts[:] if is_single else texts[record]
        beside = partial(attributes_beside, data)
        found = times_key(np.ma.filled(row, b"\0"), attributes_of(texts), beside)
        if found != time:
            raise FrameError(
                f"{path.name} holds {label(found) if found else 'no time'} "
                f"where {label(time)} was expected"
            )


def _check_whole(path: Path, record: int) -> cdf.Header | None:
    """Raise FrameError for an empty, foreign or short file before the library opens it.

    The library reads the missing part of a short classic file as zeros; short HDF5 it detects.
    Returns the header of a classic file. The records of the format are frames mostly: those that
    the file lacks are not looked for.
    """
    try:
        # An open may fail for a moment only: the frame must not lose its product because of that.
        with again(lambda: path.open("rb")) as file:
            head = file.read(8)
            if not head:
                raise UnreadableFrameError(f"{path.name} is empty")
            if head.startswith(b"\x89HDF\r\n\x1a\n"):
                return None
            if not head.startswith((b"CDF\x01", b"CDF\x02", b"CDF\x05")):
                raise FrameError(f"{path.name} is not a netCDF file")
            try:
                header = cdf.read_header(file.fileno())
            except FrameError as error:
                raise UnreadableFrameError(f"{path.name} cannot be read: {error}") from error
            held = record if header.records is None else min(record, header.records - 1)
            _check_size(path, header, max(held, 0))
            return header
    except OSError as error:
        raise UnreadableFrameError(f"{path.name} cannot be opened: {error.strerror}") from error


def _check_size(path: Path, header: cdf.Header, record: int) -> None:
    """FrameError where a classic file ends before its fixed part or one of its records does."""
    size = path.stat().st_size
    least = max(header.end_of_fixed(), header.end_of_record(record) if header.records else 0)
    if size < least:
        raise UnreadableFrameError(f"{path.name} is short: {size} bytes of {least}")


def stored_time(data: Any, path: str, record: int, time: str, variable: str = "") -> bool | None:
    """Whether an open file says that its ``record`` has the valid-time key ``time``; None: no word.

    ``variable`` holds the times; "": the one that CF's attributes show, or ``time``.
    """
    if not has_time(time):
        return None
    keys = set(_record_keys(data, path, record, variable))
    comparable = {key for key in keys if is_calendar(key) == is_calendar(time)}
    return time in comparable if comparable else None


def _record_keys(data: Any, path: str, record: int, variable: str) -> Iterator[str]:
    names = [variable]
    if variable not in data.variables:
        names = [record_axis.time_variable(stored_variables(data)) or "", "time"]
    for name in names:
        if name in data.variables and (key := _record_key(data, path, record, name)) is not None:
            yield key


def _record_key(data: Any, path: str, record: int, name: str) -> str | None:
    variable = data.variables[name]
    found = attributes_of(variable).items()
    attributes = {key: getattr(value, "tolist", lambda v=value: v)() for key, value in found}
    is_text = variable.dtype is str or variable.dtype.kind in "SU"
    is_single = not variable.ndim or (is_text and variable.dtype is not str and variable.ndim == 1)
    masks, scales = variable.mask, variable.scale
    variable.set_auto_maskandscale(False)
    try:
        if is_text:
            row = variable[...] if is_single else variable[record]
            return times_key(row, attributes, partial(attributes_beside, data))
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
