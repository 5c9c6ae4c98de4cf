"""One file of a frame, opened for reading after it was declared complete.

HDF5 locking is switched off before HDF5 is loaded, because a reader that holds a lock makes
WRF lose the frame it writes next. Model output is never opened for writing here.
"""

from __future__ import annotations

import os
import time as clock
from pathlib import Path
from typing import Any

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"

import netCDF4 as netCDF4
import numpy as np

from burstlens.core import cdf
from burstlens.core.errors import FrameError
from burstlens.core.passing_errors import again
from burstlens.core.valid_time import label, wrf_key

PAUSES_S = (0.05, 0.2)
"""Seconds to wait before a file that could not be read is opened again."""
AGAIN = (OSError, RuntimeError, KeyError)
"""Errors of the library for a file that may become readable in a moment."""
TIME_NAMES = ("Time", "time", "XTIME")
"""Names of the record dimension; CDO names WRF's after its coordinate, XTIME."""


def opened(path: Path, record: int, time: str) -> Any:
    """The open file, complete, whose ``record`` has the valid-time key ``time`` ("": any).

    FrameError if it is missing, empty, short or not netCDF, or holds another time.
    """
    for pause_s in (*PAUSES_S, None):
        _check_whole(path, record)
        try:
            data = netCDF4.Dataset(os.fspath(path), "r")
            # Return masked arrays only where values are missing.
            data.set_always_mask(False)
            # Keep characters as characters in files of xarray, which writes `_Encoding`.
            data.set_auto_chartostring(False)
            try:
                _check_record(path, data, record, time)
            except BaseException:
                data.close()
                raise
            return data
        except AGAIN as error:
            if pause_s is None:
                raise FrameError(f"{path.name} cannot be read: {error}") from error
            clock.sleep(pause_s)
    raise AssertionError("unreachable")


def time_dimension(data: Any) -> str | None:
    """The dimension of an open file along which its records lie."""
    open_ended = [name for name, dimension in data.dimensions.items() if dimension.isunlimited()]
    # By name first: tools may make another dimension unlimited.
    found = [name for name in TIME_NAMES if name in data.dimensions] + open_ended
    return found[0] if found else None


def times_key(row: Any) -> str | None:
    """The valid-time key of one row of WRF's Times, characters or a string (xarray), else None."""
    text = np.asarray(row)
    return wrf_key(text.tobytes().rstrip(b"\0 ") if text.dtype.kind == "S" else str(text))


def _check_record(path: Path, data: Any, record: int, time: str) -> None:
    dimension = time_dimension(data)
    records = len(data.dimensions[dimension]) if dimension else 1
    if record >= records:
        raise FrameError(f"{path.name} holds {records} frames, not frame {record}")
    if time and "Times" in data.variables:
        found = times_key(np.ma.filled(data.variables["Times"][record], b"\0"))
        if found != time:
            raise FrameError(
                f"{path.name} holds {label(found) if found else 'no time'} "
                f"where {label(time)} was expected"
            )


def _check_whole(path: Path, record: int) -> None:
    """Raise FrameError for an empty, foreign or short file before the library opens it.

    The library reads the missing part of a short classic file as zeros; short HDF5 it detects.
    """
    try:
        # An open may fail for a moment only: the frame must not lose its product because of that.
        with again(lambda: path.open("rb")) as file:
            head = file.read(8)
            if not head:
                raise FrameError(f"{path.name} is empty")
            if head.startswith(b"\x89HDF\r\n\x1a\n"):
                return
            if not head.startswith((b"CDF\x01", b"CDF\x02", b"CDF\x05")):
                raise FrameError(f"{path.name} is not a netCDF file")
            try:
                header = cdf.read_header(file.fileno())
            except FrameError as error:
                raise FrameError(f"{path.name} cannot be read: {error}") from error
            size = os.fstat(file.fileno()).st_size
            least = max(header.end_of_fixed(), header.end_of_record(record))
            if size < least:
                raise FrameError(f"{path.name} is short: {size} bytes of {least}")
    except OSError as error:
        raise FrameError(f"{path.name} cannot be opened: {error.strerror}") from error
