"""Trips that a sentinel could not write, held by the supervisor that has started it.

The sentinel ends when a driver returns, or with the model; the supervisor stays until the run
directory has taken how the model ended. Standard library alone: it imports this, on any python3.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FULL = (errno.ENOSPC, errno.EDQUOT)


def write_trips(path: Path, trips: list[dict[str, Any]]) -> None:
    """Move trips to that file, one JSON object per line, but for those that are there already: the
    sentinel may have written them. Raises OSError; what is not written stays in ``trips``."""
    while trips:
        _append(path, _text(trips[0]))
        del trips[0]


def _append(path: Path, text: str) -> None:
    with path.open("a+b", buffering=0) as file:
        file.seek(0)
        before = file.read(os.fstat(file.fileno()).st_size)
        if text in map(_known, before.splitlines()):
            return
        # After half a line, over which readers pass, it has a line of its own.
        line = b"\n" * (before[-1:] not in (b"", b"\n")) + text.encode() + b"\n"
        if file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())


def _known(line: bytes) -> str:
    try:
        return _text(json.loads(line))
    except (ValueError, RecursionError):
        return ""


def _text(trip: Mapping[str, Any]) -> str:
    return json.dumps(trip, sort_keys=True)
