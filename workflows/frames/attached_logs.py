"""The logs of a model that others started: whether one began anew, which is another start."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from burstlens.workflows.frames.cursor import Attached, Cursor, FileStat
from burstlens.workflows.frames.log_file import Position, began_anew

REOPENED_NS = 10 * 10**9
"""A log that has the same bytes and a date so much later was opened anew, or touched: a restart
whose log is still in its buffer has written its first line again, or nothing."""
TOUCHED_NS = 60 * 10**9
"""Who touches a log touches the frames beside it within so long."""


class FoundLogs(NamedTuple):
    """What the logs that speak for the model are now, when the newest was written (mtime in ns),
    and the sign in words that one began anew, empty if none did."""

    logs: dict[str, FileStat]
    newest_ns: int
    restarted: str


def find_logs(
    folder: Path, names: Iterable[str], cursor: Cursor, frames: Callable[[], list[str]]
) -> FoundLogs:
    """Look at those logs. ``frames`` gives the names of a few files with declared frames."""
    logs, restarted, newest_ns = dict((cursor.attached or Attached()).logs), "", 0
    for name in names:
        position = cursor.speech.positions.get(name, Position())
        try:
            found = FileStat.of(os.stat(folder / name))
            anew = began_anew(folder / name, position, found.size)
        except OSError:
            continue
        newest_ns = max(newest_ns, found.mtime_ns)
        known = logs.get(name)
        if known is not None and known[2:] != found[2:]:
            restarted = f"{name} is a new file"
        elif known is not None and anew:
            restarted = f"{name} began anew"
        elif known is not None and _is_reopened(known, found) and not _are_touched(
            folder, frames(), found.mtime_ns
        ):  # fmt: skip
            restarted = f"{name} was opened anew"
        logs[name] = found
    return FoundLogs(logs, newest_ns, restarted)


def _is_reopened(known: FileStat, found: FileStat) -> bool:
    return found.size == known.size and found.mtime_ns - known.mtime_ns > REOPENED_NS


def _are_touched(folder: Path, frames: list[str], log_ns: int) -> bool:
    """Whether the frames have the log's new date as well, or there is none to tell by."""
    for name in frames:
        try:
            written_ns = os.stat(folder / name).st_mtime_ns
        except OSError:
            continue
        if written_ns + TOUCHED_NS < log_ns:
            return False
    return True
