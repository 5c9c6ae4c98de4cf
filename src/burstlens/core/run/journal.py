"""The journal of a run: append-only, written by the driver alone, the authoritative record.

Resume, dashboards and benchmarks read nothing else. Each line has ``t`` (Unix seconds UTC,
microseconds), ``driver`` (the epoch of the driver that wrote it), ``event``, and its fields:
:mod:`burstlens.core.run.events` has the types, docs/journal.md the names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from burstlens.core.decode import DEEPEST, Clock, Count, convert, decoder, loads, record
from burstlens.core.errors import RunError
from burstlens.core.lines import HeldLines, whole_lines
from burstlens.core.run.events import (
    EVENTS,
    AnyEvent,
    Event,
    RunResumed,
    RunStarted,
    event_of,
)
from burstlens.core.run.format import require_format

_STAMPED = (RunStarted, RunResumed)
"""The events that say in which format their driver writes."""
E = TypeVar("E", bound=Event)


def read(path: Path) -> Iterator[Event]:
    """The events in order, up to a torn last line; those of unknown names are passed over.

    Raises RunError with the line's number for one that is damaged, or of a newer format than this
    Burstlens reads; OSError.
    """
    for event, _ in _read(path):
        if event is not None:
            yield event


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """The events in order as JSON values, as they were written, also those of unknown names.

    Raises RunError with the line's number for one that is damaged, or of a newer format than this
    Burstlens reads; OSError.
    """
    for _, line in _read(path):
        yield loads(line)


def _read(path: Path) -> Iterator[tuple[Event | None, bytes]]:
    decode = decoder(AnyEvent).decode
    for number, line in whole_lines(path):
        try:
            event = decode(line)
        except (ValueError, RecursionError):  # damaged, unknown, or not strictly JSON
            event = _read_slowly(path, number, line)
        else:
            if line.count(b"{") + line.count(b"[") > DEEPEST:  # it may be nested too deep
                event = _read_slowly(path, number, line)
            elif type(event) in _STAMPED:
                require_format(event.format, event.burstlens, f"{path}, line {number}")
        yield event, line


def _read_slowly(path: Path, number: int, line: bytes) -> Event | None:
    name = ""
    try:
        value = loads(line)
        name = str(value.get("event", ""))[:80] if isinstance(value, dict) else ""
        head = convert(value, _Head)
        require_format(head.format, head.burstlens, f"{path}, line {number}")
        return event_of(value) if head.event in EVENTS else None
    except ValueError as error:
        what = f"{name}: {error}" if name in EVENTS else str(error)
    raise RunError(
        f"{path}, line {number}: {what}; the journal is damaged: restore it from a copy, or delete "
        "that line, whose event is then unknown to the run"
    )


class _Head(msgspec.Struct):
    """What every line has."""

    event: str
    t: Clock | None = None
    driver: Count | None = None
    format: int | None = None
    burstlens: str | None = None


def as_record(event: Event) -> dict[str, Any]:
    """The event as JSON values, as the journal's line has them."""
    return {"t": event.t, "driver": event.driver} | record(event)


class Journal:
    """Appends events and hands each, once written, to ``seen``."""

    def __init__(self, path: Path, epoch: int, seen: Callable[[Event], None] | None = None) -> None:
        self.epoch = epoch
        self._lines = HeldLines(path)
        self._seen = seen

    def append(self, event: E) -> E:
        """Write the event with the present time and this driver's epoch, and return it so. A full
        disk holds it back until it can be written."""
        event = msgspec.structs.replace(event, t=round(time.time(), 6), driver=self.epoch)
        self._lines.append(as_record(event))
        if self._seen is not None:
            self._seen(event)
        return event

    def sync(self) -> None:
        """Flush all events to disk: before a rename, a release, a cancel or a destroy.

        Raises OSError when the target is full or unavailable.
        """
        self._lines.sync()

    def close(self) -> None:
        """Sync and close."""
        self._lines.close()
