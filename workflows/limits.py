"""Colour limits that the first frames set, once, so that pictures compare in time."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Freezing:
    """Limits of one product on their way: ``wanted`` frames must show a range first.

    A frame without a range (all values equal, as before the first wave) does not count.
    """

    wanted: int
    ranges: list[tuple[float, float]] = field(default_factory=list)

    def add(self, measured: tuple[float, float] | None) -> tuple[float, float] | None:
        """Take one frame's range; returns the limits when these are enough."""
        if measured is not None:
            self.ranges.append(measured)
        return self.limits() if len(self.ranges) >= self.wanted else None

    def limits(self) -> tuple[float, float] | None:
        """The limits of the frames so far; None when none has shown a range."""
        if not self.ranges:
            return None
        return min(low for low, _ in self.ranges), max(high for _, high in self.ranges)
