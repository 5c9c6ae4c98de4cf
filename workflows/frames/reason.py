"""Why a model ended: the line, or the group of lines, that explains it best.

The adapters give their lines a weight (:mod:`burstlens.workflows.models.base`); the one with the
largest weight is kept, whatever was printed after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from burstlens.workflows.models.base import TROUBLE, LogLine

LONGEST = 600
MOST_LINES = 12


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
