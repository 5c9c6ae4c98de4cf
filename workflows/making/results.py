"""The results of a batch that is still under way: a file to which its worker appends.

Parsl returns the results of a batch when all of it is done; through this file a picture is
published as soon as it is made. Each access opens the file anew: on NFS an open sees what was
closed before it (close-to-open consistency, RFC 7530, section 10.3).
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from burstlens.core.errors import StagingError
from burstlens.core.run.follow import read_stretch
from burstlens.workflows.making.order import OrderResult


class _Line(msgspec.Struct):
    """What became of one order; ``number`` counts the orders of the batch."""

    number: int
    result: OrderResult


class Results:
    """The worker's end. Without a path nothing is written."""

    def __init__(self, path: str) -> None:
        self._path = Path(path) if path else None
        self._begin = b""
        self.known: frozenset[int] = frozenset()
        """The orders whose results an earlier try of this batch has written."""
        if self._path is not None:
            with contextlib.suppress(OSError):
                found, offset = read_results(self._path, 0)
                self.known = frozenset(found)
                self._begin = b"\n" if self._path.stat().st_size > offset else b""  # a torn line

    def write(self, given: Mapping[int, OrderResult]) -> dict[int, OrderResult]:
        """Append what was given; returns what is left to be returned by the task: unforeseen
        errors, and what could not be written."""
        lines = {}
        for number, result in given.items():
            with contextlib.suppress(TypeError, ValueError):  # a plugin's fact is not JSON
                line = msgspec.to_builtins(_Line(number, result), enc_hook=_from_error)
                lines[number] = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        if self._path is None or not lines:
            return dict(given)
        try:
            # It is not made here: the driver may have given this task up, and removed it.
            with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_APPEND), "ab") as file:
                file.write(self._begin + b"".join(lines.values()))
        except OSError:
            self._begin = b"\n"
            return dict(given)
        self._begin = b""
        return {number: result for number, result in given.items() if number not in lines}


def _from_error(error: object) -> tuple[str, str, int]:
    """A StagingError as it is written: its message, path and system error number."""
    if isinstance(error, StagingError):
        return error.message, error.path, error.errno
    raise TypeError(type(error))


def _to_error(kind: type, value: Any) -> Any:
    if kind is not BaseException:  # a fact
        return value
    message, path, number = value
    return StagingError(message, path=path, number=number)


def read_results(path: Path, offset: int) -> tuple[dict[int, OrderResult], int]:
    """What was given from ``offset`` on, by the order's number, and where to read on.

    A line that does not fit is left out: its order is done again. Raises OSError.
    """
    stretch = read_stretch(path, offset)
    found: dict[int, OrderResult] = {}
    for line in stretch.lines:
        with contextlib.suppress(msgspec.ValidationError):
            one = msgspec.convert(line, _Line, dec_hook=_to_error)
            found[one.number] = one.result
    return found, stretch.offset
