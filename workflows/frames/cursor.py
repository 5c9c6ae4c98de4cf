"""What the watcher remembers from one call to the next: small, frozen, picklable.

It travels with every call between the driver and the viewing block, so it holds the files that
are not finished with and, of the others, a high-water mark a series. It holds no clock: how long a
file was seen unchanged is carried as a duration, since the next call may run on another host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from burstlens.core.model import Progress
from burstlens.core.printable import printable
from burstlens.workflows.frames.log_file import Position
from burstlens.workflows.frames.progress import Pulse
from burstlens.workflows.frames.reason import Opened, Reason
from burstlens.workflows.models.base import BANNER, OutputName

RECENT = 32
"""Finished files a series that are remembered by name: how far output may come out of order."""
MAX_WRITTEN = 64
"""Log lines a stream that wait for their frame."""

_DIGITS = str.maketrans("123456789", "0" * 9)


@lru_cache(maxsize=256)
def _line(series: str) -> str:
    return re.sub("0+", "#", series)


class Unit(NamedTuple):
    """One output file, or the tiles of one: ``name`` is the file's, or the tiles' common part."""

    stream: str
    name: str
    time: str | None = None
    tiled: bool = False

    @classmethod
    def of(cls, file: str, output: OutputName) -> Unit:
        """The unit that a file belongs to; a tile's number is what follows its last ``_``."""
        name = file if output.tile is None else file.rpartition("_")[0]
        return cls(output.stream, name, output.time, output.tile is not None)

    @property
    def series(self) -> str:
        """Units of one series have names of one length and form, and sort by name."""
        return f"{self.stream}\0{self.name.translate(_DIGITS)}"

    @property
    def line(self) -> str:
        """Units of one line, names that differ in their numbers alone, follow each other."""
        return _line(self.series)

    @property
    def order(self) -> tuple[str, int, str]:
        """By time where the name tells it, else by name, shorter numbers first."""
        return self.time or "", len(self.name), self.name


@dataclass(frozen=True, slots=True)
class Done:
    """The finished units of one series: all up to ``high``, and the ``recent`` ones above it."""

    high: str = ""
    recent: tuple[str, ...] = ()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name <= self.high or name in self.recent)

    @property
    def last(self) -> str:
        """The greatest name."""
        return self.recent[-1] if self.recent else self.high

    def adding(self, name: str) -> Done:
        """With one more."""
        recent = sorted({*self.recent, name})
        dropped, kept = recent[:-RECENT], recent[-RECENT:]
        return Done(max([self.high, *dropped]), tuple(kept))


@dataclass(frozen=True, slots=True)
class Open:
    """One unit that is not finished with.

    ``files`` in the order of tiles, ``stats`` their size and mtime (ns) when last seen,
    ``written_to`` the files that were seen to have a writer, ``declared`` how many records were
    handed on, ``asked`` under which circumstances it was last
    looked into, ``reason`` what was then missing, ``whole`` whether all that it holds is declared,
    ``doubted`` the records that were not whole when the log called them written, ``unread``
    whether it could not be looked into then.
    """

    unit: Unit
    files: tuple[str, ...]
    stats: tuple[tuple[int, int], ...] = ()
    quiet_s: float = 0.0
    written_to: frozenset[str] = frozenset()
    declared: int = 0
    asked: tuple[object, ...] = ()
    reason: str = "it was never read"
    whole: bool = False
    doubted: frozenset[int] = frozenset()
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """A frame that the log calls written, by the (leading part of the) time or by the file."""

    stream: str | None
    time: str | None
    file: str | None
    cut: bool = False
    """Whether several frames may have that beginning: it is no sign that one of them is whole."""


@dataclass(frozen=True, slots=True)
class Speech:
    """What the model's log has said so far.

    ``positions`` are how far each log is read, ``written`` waits for its frames, ``told`` is the
    newest time declared of each stream, ``speaks``: a frame was ever called written. ``pulse``
    measures the speed. ``reason`` is what a bad end would be put down to, ``opened`` are the logs'
    entries of trouble that may go on, ``last_line`` is the last that no launcher printed.
    """

    positions: Mapping[str, Position] = field(default_factory=dict)
    written: tuple[Written, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)
    speaks: bool = False
    asynchronous: bool = False
    ended_well: bool = False
    progress: Progress | None = None
    pulse: Pulse = field(default_factory=Pulse)
    reason: Reason | None = None
    opened: Mapping[str, Opened] = field(default_factory=dict)
    last_line: str = ""

    @property
    def why(self) -> str | None:
        """What a bad end is put down to: its cause, else the model's own last line."""
        said = self.reason
        if said is not None and (said.weight > BANNER or not self.last_line):
            return printable(said.text)
        return printable(self.last_line) or None


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the watcher stands. The empty one looks at everything anew."""

    open: tuple[Open, ...] = ()
    done: Mapping[str, Done] = field(default_factory=dict)
    speech: Speech = Speech()
    complaints: tuple[str, ...] = ()
    scans: int = 0

    def is_done(self, unit: Unit) -> bool:
        """Whether the unit is finished with."""
        done = self.done.get(unit.series)
        return done is not None and unit.name in done

    def finishing(self, unit: Unit) -> Cursor:
        """With that unit finished."""
        done = self.done.get(unit.series, Done()).adding(unit.name)
        return replace(self, done={**self.done, unit.series: done})
