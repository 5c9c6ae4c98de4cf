"""The logs of a model that others started: whether one began anew, and whose bad ends they show.

There is no baseline, so a log may be left from an earlier run that had more ranks, and a model may
be started again into the log in which it died.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from burstlens.workflows.frames.cursor import Attached, Cursor, FileStat
from burstlens.workflows.frames.log_file import Position, began_anew
from burstlens.workflows.frames.reason import BadEnd
from burstlens.workflows.models.base import TROUBLE

REOPENED_NS = 10 * 10**9
"""A log that has the same bytes and a date so much later was opened anew, or touched: a restart
whose log is still in its buffer has written its first line again, or nothing."""
TOUCHED_NS = 60 * 10**9
"""Who touches a log touches the frames beside it within so long."""
LATER_NS = 60 * 10**9
"""Ranks of one run write so long after another one's last line at most. What is written later
than that comes from a model that lives."""


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
        elif known is not None and found.size != known.size:
            reopened.discard(name)
        elif known is not None and found.mtime_ns - known.mtime_ns > REOPENED_NS:
            # Reported already, or touched: the frames have its new date, or none is there to tell.
            harmless = name in reopened or all(
                _written_ns(folder / frame, found.mtime_ns) + TOUCHED_NS >= found.mtime_ns
                for frame in frames()
            )
            restarted = restarted if harmless else f"{name} was opened anew"
            reopened.add(name)
        logs[name] = found
    return FoundLogs(logs, newest_ns, restarted, frozenset(reopened))


def _written_ns(path: Path, otherwise_ns: int) -> int:
    """Its mtime; ``otherwise_ns``, which decides nothing, where the file cannot be seen."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return otherwise_ns


def known_ends(ends: Mapping[str, BadEnd], folder: Path, log_ns: int) -> Mapping[str, BadEnd]:
    """Those in logs that are as new as the model's own, which was written at ``log_ns``."""
    return {
        name: end
        for name, end in ends.items()
        if _written_ns(folder / name, log_ns) + LATER_NS >= log_ns
    }


def lived_on(cursor: Cursor, *, arriving: bool) -> Cursor:
    """The cursor without bad ends after which frames or logs were written for long: the model
    survived them, or was started again. ``arriving``: what was there is not all seen yet."""
    state, speech = cursor.attached or Attached(), cursor.speech
    newest_ns = state.still[0]
    if not speech.bad_ends:
        since_ns = 0
    elif arriving or not state.bad_end_ns:
        since_ns = newest_ns
    elif newest_ns - state.bad_end_ns < LATER_NS:
        return cursor
    else:
        since_ns = 0
        reason = speech.reason if speech.reason and speech.reason.weight == TROUBLE else None
        speech = replace(speech, bad_ends={}, reason=reason)
    return replace(cursor, speech=speech, attached=replace(state, bad_end_ns=since_ns))
