"""Patterns that guards look for in the model's logs, with a time limit on every line.

The ``regex`` library takes the expressions that ``re`` takes and gives up after a while, so that a
pattern that a recipe brings along cannot hold up the watcher.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from burstlens.core.printable import printable

LINE_S = 0.05
"""Longest time for one pattern on one line."""
LONGEST_LINE = 4000
LONGEST_PATTERN = 500
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class LogPattern:
    """What one guard looks for: its name and the regular expression."""

    guard: str
    expression: str


@dataclass(frozen=True, slots=True)
class Hit:
    """What a pattern has met since the watcher's last report.

    ``lines`` that match, the most ``points`` that one of them tells (0 where none does), and of
    that line, or the first: its printable text, the log that holds it, and the model's ``time``
    there (a valid-time key, empty where the log does not say it).
    """

    guard: str
    lines: int
    points: int
    line: str
    log: str
    time: str = ""


@dataclass(slots=True)
class Search:
    """Looks for patterns in lines as they come, and gathers what they meet.

    ``failed`` holds why a pattern was given up.
    """

    patterns: Sequence[LogPattern]
    hits: dict[str, Hit] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def take(self, log: str, lines: Iterable[str], time: str = "") -> None:
        """Look through new lines of one log, at that time of the model."""
        for line in lines if self.patterns else ():
            for pattern in self.patterns:
                if pattern.guard not in self.failed:
                    self._look(pattern, log, line[:LONGEST_LINE], time)

    def _look(self, pattern: LogPattern, log: str, line: str, time: str) -> None:
        try:
            match = _compiled(pattern.expression).search(line, timeout=LINE_S)
        except TimeoutError:
            self.failed[pattern.guard] = (
                f"the pattern {pattern.expression!r} took longer than {LINE_S:g} s on one line"
            )
            return
        if match is None:
            return
        told = match.groupdict().get("points") or "0"
        points = int(told) if told.isascii() and told.isdigit() else 0
        shown = printable(line).strip()[:_SHOWN]
        new = Hit(pattern.guard, 1, points, shown, log, time)
        self.hits[pattern.guard] = together(self.hits.get(pattern.guard), new)


def together(first: Hit | None, second: Hit) -> Hit:
    """Two hits of one guard as one; the line with more points is kept, else the first."""
    if first is None:
        return second
    worse = second if second.points > first.points else first
    return replace(worse, lines=first.lines + second.lines)


def faults(expression: str) -> list[str]:
    """What is wrong with a pattern; empty when nothing is."""
    import regex

    if not expression or len(expression) > LONGEST_PATTERN:
        return [f"log: a pattern has 1 to {LONGEST_PATTERN} characters"]
    try:
        _compiled(expression)
    except (regex.error, RecursionError, OverflowError) as error:
        return [f"log: {expression!r} is not a regular expression: {error}"]
    return []


@lru_cache(maxsize=64)
def _compiled(expression: str) -> Any:
    import regex

    return regex.compile(expression)
