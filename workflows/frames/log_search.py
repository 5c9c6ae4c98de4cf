"""What is looked for in the model's logs: patterns of guards, with a time limit on every line, and
blocks of lines that libraries print, each kind read by a room of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from burstlens.core.pattern import expression
from burstlens.core.plugins import leaf
from burstlens.core.printable import printable

if TYPE_CHECKING:
    from burstlens.core.run.events import OutputReported

READERS = ("burstlens.workflows.iostats.mpiio_blocks:Blocks",)
"""The classes of readers of blocks, one per library."""
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class LogPattern:
    """What one guard looks for: its name and the regular expression."""

    guard: str
    expression: str


@dataclass(frozen=True, slots=True)
class Hit:
    """What a pattern has matched since the watcher's previous report. ``lines`` counts the matching
    lines; ``points`` is the largest number of points that one of them names (0 if none does).
    ``line``, ``log`` and ``time`` are of that line, else of the first: its printable text, its log,
    and the model's time there (a valid-time key, "" if unknown)."""

    guard: str
    lines: int
    points: int
    line: str
    log: str
    time: str = ""


@dataclass(slots=True)
class Search:
    """Looks for patterns in lines as they come, and collects the matches. ``failed`` gives the
    reason for each guard whose pattern is no longer searched for."""

    patterns: Sequence[LogPattern]
    hits: dict[str, Hit] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def take(self, log: str, line: str, time: str = "") -> None:
        """Search a new line of one log, at that model time."""
        for pattern in self.patterns:
            if pattern.guard not in self.failed:
                self._look(pattern, log, line, time)

    def _look(self, pattern: LogPattern, log: str, line: str, time: str) -> None:
        sought = expression(pattern.expression)
        match = sought.search(line)
        if sought.given_up:
            self.failed[pattern.guard] = sought.given_up
        if match is None:
            return
        number = match.groupdict().get("points") or "0"
        points = int(number) if number.isascii() and number.isdigit() else 0
        shown = printable(line).strip()[:_SHOWN]
        new = Hit(pattern.guard, 1, points, shown, log, time)
        self.hits[pattern.guard] = together(self.hits.get(pattern.guard), new)


def together(first: Hit | None, second: Hit) -> Hit:
    """Two hits of one guard as one; the line with more points is kept, else the first."""
    if first is None:
        return second
    worse = second if second.points > first.points else first
    return replace(worse, lines=first.lines + second.lines)


def faults(text: str) -> list[str]:
    """The errors in a pattern; empty if it is valid."""
    try:
        expression(text)
    except ValueError as error:
        return [f"log: {error}"]
    return []


class LogBlock(Protocol):
    """What a library reported at one time."""

    def output_reported(self, attempt: int) -> OutputReported | None:
        """The journal's event; None if it says nothing about writing a file."""


class BlockReader(Protocol):
    """Reads the blocks of one log. Small, picklable, equal to a new one while no block is open: it
    is carried from one piece of a log to the next, on another host."""

    def take_all(self, lines: Iterable[str]) -> Iterable[LogBlock]:
        """The blocks that these lines complete."""

    def finish(self) -> Iterable[LogBlock]:
        """What is open at the end of the log, as far as it goes."""


def block_readers() -> tuple[BlockReader, ...]:
    """A new reader for each library whose room this copy has."""
    return tuple(reader() for reader in map(leaf, READERS) if reader is not None)
