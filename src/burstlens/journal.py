"""The journal of a run: append-only, written by the driver alone, the truth.

Resume, dashboards and benchmarks read nothing else. Each line has ``t`` (Unix seconds UTC,
microseconds), ``driver`` (the epoch of the driver that wrote it), ``event``, and its fields;
docs/journal.md names the events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from burstlens.lines import HeldLines, read_lines

Event = dict[str, object]


def read(path: Path) -> Iterator[Event]:
    """The events in order, up to a torn last line."""
    return (event for event in read_lines(path) if "event" in event)


class Journal:
    """Appends events and hands each, once written, to ``seen``."""

    def __init__(self, path: Path, epoch: int, seen: Callable[[Event], None] | None = None) -> None:
        self.epoch = epoch
        self._lines = HeldLines(path)
        self._seen = seen

    def append(self, event: str, **fields: object) -> Event:
        """Write one event and return it. A full disk holds it back until it can be written."""
        record: Event = {"t": round(time.time(), 6), "driver": self.epoch, "event": event, **fields}
        self._lines.append(record)
        if self._seen is not None:
            self._seen(record)
        return record

    def sync(self) -> None:
        """Bring all events to disk: before a rename, a release, a cancel or a destroy.

        Raises OSError when the target is full or away.
        """
        self._lines.sync()

    def close(self) -> None:
        """Sync and close."""
        self._lines.close()
