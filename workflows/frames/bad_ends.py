"""Which bad ends in the logs of a run that others started are this run's: by the logs' own times.

There is no baseline, so a log may be left from an earlier run that had more ranks, and a model may
be started again into the log in which it died.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from burstlens.workflows.frames.cursor import Attached, Cursor
from burstlens.workflows.frames.reason import BadEnd
from burstlens.workflows.models.base import TROUBLE

LATER_NS = 60 * 10**9
"""Ranks of one run write so long after another one's last line at most. What is written later
than that comes from a model that lives."""


def known_ends(ends: Mapping[str, BadEnd], folder: Path, log_ns: int) -> Mapping[str, BadEnd]:
    """Those in logs that are as new as the model's own, which was written at ``log_ns``."""
    fresh: dict[str, BadEnd] = {}
    for name, end in ends.items():
        try:
            written_ns = os.stat(folder / name).st_mtime_ns
        except OSError:
            written_ns = log_ns
        if written_ns + LATER_NS >= log_ns:
            fresh[name] = end
    return fresh


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
