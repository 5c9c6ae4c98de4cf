"""The watcher's state between two calls: small, frozen, picklable.

Every call sends it between the driver and the viewing block, so it holds only the files that are
not finished and one high-water mark per series. It holds no clock: how long a file has been
unchanged is stored as a duration, since the next call may run on another host.
"""

from __future__ import annotations

import bisect
import errno
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from burstlens.core.model import Fingerprint
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.models.base import OutputName

RECENT = 32
"""Finished files kept by name per series: how far output may come out of order."""

_DIGITS = str.maketrans("123456789", "0" * 9)


@lru_cache(maxsize=256)
def _series(stream: str, name: str) -> str:
    return f"{stream}\0{name.translate(_DIGITS)}"


@lru_cache(maxsize=256)
def _line(series: str) -> str:
    return re.sub("0+", "#", series)


class Unit(NamedTuple):
    """One output file or the tiles of one; ``name`` is the file name or the tiles' common part."""

    stream: str
    name: str
    time: str | None = None
    tiled: bool = False

    @classmethod
    def of(cls, file: str, output: OutputName) -> Unit:
        """The unit that a file belongs to; a tile's number follows the last ``_`` of its name."""
        name = file if output.tile is None else file.rpartition("_")[0]
        return cls(output.stream, name, output.time, output.tile is not None)

    @property
    def series(self) -> str:
        """Units of one series have names of one length and form, and sort by name."""
        return _series(self.stream, self.name)

    @property
    def line(self) -> str:
        """Units of one line follow each other: their names differ only in their numbers."""
        return _line(self.series)

    @property
    def order(self) -> tuple[str, int, str]:
        """Sort key: the time if the name has it, else the name, shorter numbers first."""
        return self.time or "", len(self.name), self.name


class FileStat(NamedTuple):
    """What the watcher compares of a file: another one means that it was written."""

    size: int
    mtime_ns: int
    inode: int = 0
    device: int = 0

    @classmethod
    def of(cls, stat: os.stat_result) -> FileStat:
        return cls(stat.st_size, stat.st_mtime_ns, stat.st_ino, stat.st_dev)

    @property
    def fingerprint(self) -> Fingerprint:
        """As the journal keeps it."""
        return self.device, self.inode, self.size, self.mtime_ns


class Done(Struct, frozen=True):
    """The finished units of one series: all up to ``high``, and the ``recent`` ones above it, in
    order."""

    high: str = ""
    recent: tuple[str, ...] = ()

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or name <= self.high:
            return isinstance(name, str)
        place = bisect.bisect_left(self.recent, name)
        return self.recent[place : place + 1] == (name,)

    @property
    def last(self) -> str:
        """The greatest name."""
        return self.recent[-1] if self.recent else self.high

    def adding(self, name: str, at_most: int | None = RECENT) -> Done:
        """A copy with one more name; ``at_most`` so many are kept above ``high`` (None: all)."""
        if name in self:
            return self
        place = bisect.bisect_left(self.recent, name)
        recent = (*self.recent[:place], name, *self.recent[place:])
        if at_most is None or len(recent) <= at_most:
            return Done(self.high, recent)
        return Done(max(self.high, recent[-at_most - 1]), recent[-at_most:])


class Open(Struct, frozen=True):
    """One unit that is not finished.

    ``files`` are in the order of tiles, ``stats`` are theirs when last seen,
    ``written_to`` the files that were seen to have a writer, ``declared`` the number of records
    handed on. ``conditions`` are those of the latest read, ``reason`` what was missing then,
    ``unread`` whether that read failed, ``undecoded`` whether it found times that cannot be
    decoded. ``whole``: all its records are declared. ``doubted`` are
    the records that were not whole when the log called them written.
    """

    unit: Unit
    files: tuple[str, ...]
    stats: tuple[FileStat, ...] = ()
    quiet_s: float = 0.0
    written_to: frozenset[str] = frozenset()
    declared: int = 0
    conditions: tuple[object, ...] = ()
    reason: str = "it was never read"
    whole: bool = False
    doubted: frozenset[int] = frozenset()
    unread: bool = False
    undecoded: bool = False
    declared_at: tuple[FileStat, ...] = ()
    """``stats`` when a record was last declared."""
    open_at: int = 0
    """If a program had it open for writing then, as the file says: a digest of its bytes."""
    watched_s: float = 0.0
    """How long it was unchanged while it was watched; ``quiet_s`` may be longer."""
    error: int = 0
    failing_s: float = 0.0
    """The error of the latest look at its files, 0 if there was none, and how long it lasts."""

    @property
    def mtime_ns(self) -> int:
        """When its files were written last."""
        return max((stat.mtime_ns for stat in self.stats), default=0)

    def aged(self, stats: tuple[FileStat, ...], elapsed_s: float, *, changed: bool) -> Open:
        """A copy with what was seen of its files now, and for how long they are unchanged."""
        if changed:
            return replace(self, stats=stats, quiet_s=0.0, watched_s=0.0)
        quiet_s, watched_s = self.quiet_s + elapsed_s, self.watched_s + elapsed_s
        return replace(self, stats=stats, quiet_s=quiet_s, watched_s=watched_s)

    def afresh(self) -> Open:
        """A copy that was never read."""
        return replace(
            self, declared=0, declared_at=(), whole=False, conditions=(), doubted=frozenset(),
            reason="it is written anew",
        )  # fmt: skip

    def failing(self, error: OSError, elapsed_s: float) -> Open:
        """A copy after a look at its files that failed."""
        if self.whole and self.declared:
            return self
        return replace(
            self, whole=False, error=error.errno or errno.EIO,
            failing_s=self.failing_s + elapsed_s if self.error else 0.0,
            reason=f"it cannot be read: {error.strerror or error}",
        )  # fmt: skip

    def answering(self) -> Open:
        """A copy after a look that did not fail."""
        return replace(self, error=0, failing_s=0.0) if self.error else self

    @property
    def empty_file(self) -> str | None:
        """The first of its files that has 0 bytes."""
        sizes = zip(self.files, self.stats, strict=True)
        return next((file for file, stat in sizes if not stat.size), None)


class OpenPart(Struct, frozen=True):
    """One part of a checkpoint that is not whole: its ``files``, with the part as their stream, and
    the ``signal`` that proves them, "" while nothing does. ``has_gap``: one of them has a gap."""

    files: Open
    signal: str = ""
    has_gap: bool = False

    @property
    def time(self) -> str:
        """The valid time of the state in them."""
        return self.files.unit.time or ""


class CheckpointCursor(Struct, frozen=True):
    """The watcher's position among checkpoints.

    ``open`` are the parts of those that are not whole, ``done`` the times of those that were
    reported, whole or not; ``whole`` is the newest time of a whole one. ``tiles`` is the number of
    files of each part in the whole one that was reported last, ``gapless`` are the parts without
    a gap there. ``ended_s``: for how long the model has ended while some were open, None before its
    end.
    """

    open: tuple[OpenPart, ...] = ()
    done: Done = Done()
    whole: str = ""
    tiles: Mapping[str, int] = msgspec.field(default_factory=dict)
    gapless: frozenset[str] = frozenset()
    ended_s: float | None = None

    def with_whole(self, time: str, parts: Sequence[OpenPart]) -> CheckpointCursor:
        """A copy in which the checkpoint of that time, with these parts, is whole."""
        entries = (part.files for part in parts)
        tiles = {entry.unit.stream: len(entry.files) for entry in entries if entry.unit.tiled}
        gapless = frozenset(part.files.unit.stream for part in parts if not part.has_gap)
        return replace(
            self, done=self.done.adding(time), whole=max(time, self.whole),
            tiles={**self.tiles, **tiles}, gapless=gapless,
        )  # fmt: skip

    def with_given_up(self, time: str) -> CheckpointCursor:
        """A copy in which the checkpoint of that time is no longer waited for."""
        return replace(self, done=self.done.adding(time))

    def is_done(self, time: str) -> bool:
        """Whether the checkpoint of that time was reported."""
        return time in self.done and not any(part.time == time for part in self.open)


class Attached(Struct, frozen=True):
    """What the watch of a run that others started keeps between two calls.

    ``arrived``: it has chosen among what was there on arrival.
    ``pending`` are the units that were there on arrival and are not yet looked at, ``unread`` those
    whose records are not yet chosen from; ``counted`` and ``taken`` are the numbers of records by
    stream that were looked at and became frames, ``newest`` is the newest time of each. ``again``
    are finished units that were written anew, ``changed`` their files that are not yet reported.
    ``mtimes`` are those of each stream's latest
    frames, ``logs`` the logs that speak for the model, ``still`` the newest mtime (ns), for how
    long there was none newer, and the file that has it; unless ``dated`` it was there on arrival,
    and how old it was then is not known. ``bad_end_ns``: the newest mtime when the
    log's bad end was first seen, 0 without one; ``reopened`` logs have not grown since they were
    opened anew.
    """

    arrived: bool = False
    pending: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    counted: Mapping[str, int] = msgspec.field(default_factory=dict)
    taken: Mapping[str, int] = msgspec.field(default_factory=dict)
    newest: Mapping[str, str] = msgspec.field(default_factory=dict)
    again: frozenset[str] = frozenset()
    changed: tuple[str, ...] = ()
    mtimes: Mapping[str, tuple[float, ...]] = msgspec.field(default_factory=dict)
    logs: Mapping[str, FileStat] = msgspec.field(default_factory=dict)
    still: tuple[int, float, str | None] = (0, 0.0, None)
    dated: bool = True
    bad_end_ns: int = 0
    reopened: frozenset[str] = frozenset()

    def finishing(self, unit: Unit) -> Attached:
        """A copy for which that unit is finished."""
        name = {unit.name}
        if not name & (self.pending | self.unread | self.again):
            return self
        return replace(
            self, pending=self.pending - name, unread=self.unread - name, again=self.again - name
        )


class Cursor(Struct, frozen=True):
    """The watcher's position. With an empty cursor it reads everything again."""

    open: tuple[Open, ...] = ()
    done: Mapping[str, Done] = msgspec.field(default_factory=dict)
    speech: Speech = Speech()
    complaints: tuple[str, ...] = ()
    undecoded: tuple[str, ...] = ()
    """The streams of which a file with undecodable times was reported."""
    scans: int = 0
    checkpoints: CheckpointCursor = CheckpointCursor()
    attached: Attached | None = None
    """What only the watch of a run that others started keeps."""

    def is_done(self, unit: Unit) -> bool:
        if self.attached is not None and unit.name in self.attached.again:
            return False
        done = self.done.get(unit.series)
        return done is not None and unit.name in done

    def finishing(self, unit: Unit) -> Cursor:
        """A copy in which that unit is finished."""
        attached = self.attached and self.attached.finishing(unit)
        at_most = RECENT if attached is None else None
        done = self.done.get(unit.series, Done()).adding(unit.name, at_most)
        return replace(self, done={**self.done, unit.series: done}, attached=attached)
