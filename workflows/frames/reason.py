"""Why a model ended: the line, or the group of lines, that explains it best.

The adapters give their lines a weight (:mod:`burstlens.workflows.models.base`); the one with the
largest weight is kept, whatever was printed after it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from burstlens.workflows.models.base import BANNER, TROUBLE, LogLine

LONGEST = 600
MOST_LINES = 12
MOST_LOGS = 16
"""Logs of which the bad end is kept: other ranks of a model end in the same way."""
MOST_AFTER, MOST_AFTER_BANNER = 100, 10
"""A model that has written more lines after it has survived: other ranks may write a few, as may
runtime systems."""
_ENDS = re.compile(
    r"(?i)error|fatal|kill|abort|terminat|exited|exit code|signal|fault|died|fail|cancel"
)
"""What a launcher's message says if it is about an end: others are remarks."""
_BACKTRACE = re.compile(
    r"\s*(?:#\d+ |\[?0x[0-9a-f]|[0-9a-f]{6,}-[0-9a-f]{6,} |\S+ +[0-9A-F]{8,16} |at \S+:\d+$)"
)


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason from a log, in one line, and its weight."""

    weight: int
    text: str

    def against(self, other: Reason | None) -> Reason:
        """The one with the larger weight; of equal ones the first, as others follow from it.

        Of plain trouble, which a model may survive, it is the latest.
        """
        if other is None or other.weight < self.weight:
            return self
        return self if self.weight == other.weight == TROUBLE else other


@dataclass(frozen=True, slots=True)
class Opened:
    """A line together with the following lines that belong to it, as far as they were read."""

    said: LogLine
    lines: int = 0

    def taking(self, line: str) -> Opened | None:
        """With that line, or None if the line does not belong to it."""
        if not line.strip():
            return self
        if self.lines >= MOST_LINES or not re.match(self.said.more, line):
            return None
        text = "; ".join(part for part in (self.said.text.strip(), line.strip(" -")) if part)
        return replace(self, said=replace(self.said, text=text[:LONGEST]), lines=self.lines + 1)


@dataclass(frozen=True, slots=True)
class BadEnd:
    """The line of one log that says that the model has ended, and badly; ``followed``: by so many
    ordinary lines."""

    reason: Reason
    followed: int = 0

    @property
    def survived(self) -> bool:
        """Whether the log goes on after it, so that it was none."""
        banner = self.reason.weight == BANNER
        return self.followed > (MOST_AFTER_BANNER if banner else MOST_AFTER)


def with_reason(ends: Mapping[str, BadEnd], log: str, reason: Reason) -> Mapping[str, BadEnd]:
    """The bad ends by log, after an entry of trouble in that log.

    What a model may survive is no end, whatever it explains afterwards.
    """
    if reason.weight == TROUBLE or not reason.text:
        return ends
    if reason.weight == BANNER and not _ENDS.search(reason.text):
        return ends
    known = ends.get(log)
    if known is None and len(ends) >= MOST_LOGS:
        return ends
    return {**ends, log: BadEnd(reason.against(known.reason if known else None))}


def with_line(ends: Mapping[str, BadEnd], log: str, line: str) -> Mapping[str, BadEnd]:
    """The bad ends by log, after a line of that log that is no trouble."""
    known = ends.get(log)
    if known is None or _BACKTRACE.match(line):
        return ends
    after = replace(known, followed=known.followed + 1)
    if after.survived:
        return without(ends, log)
    return {**ends, log: after}


def without(ends: Mapping[str, BadEnd], *logs: str) -> Mapping[str, BadEnd]:
    """The bad ends without those of the logs."""
    return {name: end for name, end in ends.items() if name not in logs}
