"""Patterns that guards look for in the model's logs, with a time limit on every line.

The ``regex`` library accepts the expressions of ``re`` and has a time limit, so that a pattern of
a recipe cannot block the watcher.
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
    """What a pattern has matched since the watcher's previous report.

    ``lines`` counts the matching lines; ``points`` is the largest number of points that one of
    them names (0 if none does). ``line``, ``log`` and ``time`` are of that line, else of the first:
    its printable text, its log, and the model's time there (a valid-time key, "" if unknown).
    """

    guard: str
    lines: int
    points: int
    line: str
    log: str
    time: str = ""


@dataclass(slots=True)
class Search:
    """Looks for patterns in lines as they come, and collects the matches.

    ``failed`` gives the reason for each guard whose pattern is no longer searched for.
    """

    patterns: Sequence[LogPattern]
    hits: dict[str, Hit] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def take(self, log: str, lines: Iterable[str], time: str = "") -> None:
        """Search new lines of one log, at that model time."""
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


def faults(expression: str) -> list[str]:
    """The errors in a pattern; empty if it is valid."""
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
