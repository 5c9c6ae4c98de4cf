"""The logs of a model that others started: whether one began anew, which is another start."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from burstlens.workflows.frames.cursor import Attached, Cursor, FileStat
from burstlens.workflows.frames.log_file import Position, began_anew

REOPENED_NS = 10 * 10**9
"""A log that has the same bytes and a date so much later was opened anew, or touched: a restart
whose log is still in its buffer has written its first line again, or nothing."""
TOUCHED_NS = 60 * 10**9
"""Who touches a log touches the frames beside it within so long."""


@dataclass(frozen=True, slots=True)
class FoundLogs:
    """What the logs that speak for the model are now, when the newest was written (mtime in ns),
    the sign in words that one began anew, empty if none did, and which were opened anew since they
    grew: one that is written again and again with the same bytes is a program's status."""

    logs: dict[str, FileStat]
    newest_ns: int
    restarted: str
    reopened: frozenset[str]


def find_logs(
    folder: Path, names: Iterable[str], cursor: Cursor, frames: Callable[[], list[str]]
) -> FoundLogs:
    """Look at those logs. ``frames`` gives the names of a few files with declared frames."""
    state = cursor.attached or Attached()
    logs, reopened = dict(state.logs), set(state.reopened)
    restarted, newest_ns = "", 0
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
        elif known is not None and _is_reopened(known, found):
            if name not in reopened and not _are_touched(folder, frames(), found.mtime_ns):
                restarted = f"{name} was opened anew"
            reopened.add(name)
        elif known is not None and found.size != known.size:
            reopened.discard(name)
        logs[name] = found
    return FoundLogs(logs, newest_ns, restarted, frozenset(reopened))


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
