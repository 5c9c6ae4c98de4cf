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
from burstlens.core.model import Failure, Receipt
from burstlens.core.run.follow import read_stretch
from burstlens.workflows.guards.finding import Reading
from burstlens.workflows.making.order import Split, Viewed

_KEYS = {Receipt: "receipt", Failure: "failure", Split: "split"}


class _Line(msgspec.Struct):
    """What one task gave; ``number`` counts the tasks of the batch."""

    number: int
    receipt: Receipt | None = None
    failure: Failure | None = None
    split: Split | None = None
    refused: tuple[str, str, int] | None = None
    """Message, path and system error number of a StagingError."""
    readings: tuple[Reading, ...] = ()


class Results:
    """The worker's end. Without a path nothing is written."""

    def __init__(self, path: str) -> None:
        self._path = Path(path) if path else None
        self._begin = b""
        self.known: frozenset[int] = frozenset()
        """The tasks whose results an earlier try of this batch has written."""
        if self._path is not None:
            with contextlib.suppress(OSError):
                found, offset = read_results(self._path, 0)
                self.known = frozenset(found)
                self._begin = b"\n" if self._path.stat().st_size > offset else b""  # a torn line

    def write(self, given: Mapping[int, Viewed | Exception]) -> dict[int, Viewed | Exception]:
        """Append what was given; returns what is left to be returned by the task: unforeseen
        errors, and what could not be written."""
        lines = {}
        for number, value in given.items():
            if isinstance(value, Viewed | StagingError):
                with contextlib.suppress(TypeError, ValueError):  # a plugin's fact is not JSON
                    lines[number] = _line(number, value)
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
        return {number: value for number, value in given.items() if number not in lines}


def _line(number: int, given: Viewed | StagingError) -> bytes:
    line: dict[str, Any] = {"number": number}
    if isinstance(given, StagingError):
        line["refused"] = given.message, given.path, given.errno
    else:
        if given.value is not None:
            line[_KEYS[type(given.value)]] = msgspec.to_builtins(given.value)
        line["readings"] = msgspec.to_builtins(given.readings)
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def read_results(path: Path, offset: int) -> tuple[dict[int, Viewed | StagingError], int]:
    """What was given from ``offset`` on, by the task's number, and where to read on.

    A line that does not fit is left out: its task is done again. Raises OSError.
    """
    stretch = read_stretch(path, offset)
    found: dict[int, Viewed | StagingError] = {}
    for line in stretch.lines:
        with contextlib.suppress(msgspec.ValidationError):
            one = msgspec.convert(line, _Line)
            if one.refused is not None:
                message, where, errno = one.refused
                found[one.number] = StagingError(message, path=where, number=errno)
            else:
                found[one.number] = Viewed(one.receipt or one.failure or one.split, one.readings)
    return found, stretch.offset
