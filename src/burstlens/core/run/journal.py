"""The journal of a run: append-only, written by the driver alone, the authoritative record.

Resume, dashboards and benchmarks read nothing else. Each line has ``t`` (Unix seconds UTC,
microseconds), ``driver`` (the epoch of the driver that wrote it), ``event``, and its fields:
:mod:`burstlens.core.run.events` has the types, docs/journal.md the names. A long one lies in
several files: :mod:`burstlens.core.run.volumes`.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from burstlens.core.decode import DEEPEST, Clock, Count, convert, decoder, loads, record
from burstlens.core.durable import sync_folder
from burstlens.core.errors import RunError
from burstlens.core.existence import check_existence, surely_missing
from burstlens.core.lines import HeldLines
from burstlens.core.run.events import (
    EVENTS,
    AnyEvent,
    Event,
    JournalContinued,
    RunResumed,
    RunStarted,
    event_of,
)
from burstlens.core.run.record import require_format, stamp
from burstlens.core.run.volumes import VOLUME_EVENTS, lines_after, newest_volume, volume_path
from burstlens.core.whole_copy import rename

_STAMPED = (RunStarted, RunResumed, JournalContinued)
"""The events that say in which format their driver writes."""
E = TypeVar("E", bound=Event)


def read(path: Path, *, after: int = 0) -> Iterator[Event]:
    """The events of all volumes, or of those ``after`` one, in order; a torn last line and events
    of unknown names are passed over. Raises RunError with the line's number for one that is
    damaged, or of a newer format than this Burstlens reads, and for a missing volume; OSError."""
    for event, _ in _read(path, after):
        if event is not None:
            yield event


def read_only(path: Path, *kinds: type[E], after: int = 0) -> Iterator[E]:
    """The events of these types in order, after a volume. Other lines are not checked, which takes
    a tenth of the time. Raises what :func:`read` does."""
    names = tuple(f'"{kind.__struct_config__.tag}"'.encode() for kind in kinds)
    for event, _ in _read(path, after, names):
        if isinstance(event, kinds):
            yield event


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """The events of all volumes in order as JSON values, as they were written, also those of
    unknown names. Raises RunError with the line's number for one that is damaged, or of a newer
    format than this Burstlens reads, and for a missing volume; OSError."""
    for _, line in _read(path):
        yield loads(line)


def _read(
    path: Path, after: int = 0, names: tuple[bytes, ...] = ()
) -> Iterator[tuple[Event | None, bytes]]:
    decode = decoder(AnyEvent).decode
    for place, number, line in lines_after(path, after):
        if names and not any(name in line for name in names):
            continue
        try:
            event = decode(line)
        except (ValueError, RecursionError):  # damaged, unknown, or not strictly JSON
            event = _read_slowly(place, number, line)
        else:
            if line.count(b"{") + line.count(b"[") > DEEPEST:  # it may be nested too deep
                event = _read_slowly(place, number, line)
            elif type(event) in _STAMPED:
                require_format(event.format, event.burstlens, f"{place}, line {number}")
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
    """Appends events, and hands each to its ``readers`` once it counts."""

    def __init__(self, path: Path, epoch: int, *readers: Callable[[Event], None]) -> None:
        self.path, self.epoch = path, epoch
        self._volume = newest_volume(path)
        self._lines = HeldLines(path)
        self.readers = list(readers)
        self.events = self._lines.count()
        """How many events the newest volume has."""
        if not self.events and self._volume > 1:  # a crash came between the two renames of a turn
            self.append(self._continued(self._volume))

    @property
    def is_long(self) -> bool:
        """Whether it is to be continued in a new file."""
        return self.events >= VOLUME_EVENTS

    def append(self, event: E) -> E:
        """Write the event with the present time and this driver's epoch, and return it so."""
        event = self._stamped(event, time.time())
        self.write(event)
        return self._read(event)

    def record(self, event: E, t: float) -> E:
        """Let an event count that :meth:`write` writes later, and return it as it is written: of
        that time, in Unix seconds, and of this driver's epoch."""
        return self._read(self._stamped(event, t))

    def _read(self, event: E) -> E:
        for read_event in self.readers:
            read_event(event)
        return event

    def write(self, event: Event) -> None:
        """Write an event that counts already. A full disk holds it back until it can be written."""
        self._lines.append(as_record(event))
        self.events += 1

    def _stamped(self, event: E, t: float) -> E:
        return msgspec.structs.replace(event, t=round(t, 6), driver=self.epoch)

    def _continued(self, volume: int) -> JournalContinued:
        return self._stamped(JournalContinued(volume=volume, **stamp()), time.time())

    def turn(self, keep: Callable[[int, int], None]) -> bool:
        """Go on in a new file: the present one becomes a volume, which nobody writes any more.

        ``keep`` gets its number and its bytes, all of which are on disk, before it has its name.
        Returns False when another driver has replaced the file. Raises OSError; then the journal
        goes on in the same file, and the next call tries again.
        """
        volume = volume_path(self.path, self._volume)
        self._lines.sync()
        # The last try may have ended between the two renames.
        turned = self._lines.is_at(volume) and not check_existence(self.path)
        if not turned and (check_existence(volume) or not self._lines.is_at(self.path)):
            return False
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        fresh = HeldLines(part)
        try:
            fresh.append(as_record(self._continued(self._volume + 1)))
            fresh.sync()
            keep(self._volume, self._lines.bytes)
            if not turned:
                rename(self.path, volume)
            rename(part, self.path)
        except OSError:
            with contextlib.suppress(OSError):
                fresh.close()
            with contextlib.suppress(OSError):
                part.unlink()
            with contextlib.suppress(OSError):
                if self._lines.is_at(volume) and surely_missing(self.path):
                    rename(volume, self.path)
            raise
        fresh.path = self.path
        self._lines, former = fresh, self._lines
        self._volume, self.events = self._volume + 1, 1
        with contextlib.suppress(OSError):  # all of it is on disk
            former.close()
        sync_folder(self.path.parent)
        return True

    def sync(self) -> None:
        """Flush all events to disk: before a rename, a release, a cancel or a destroy. Raises
        OSError when the target is full or unavailable."""
        self._lines.sync()

    def close(self) -> None:
        """Sync and close."""
        self._lines.close()
