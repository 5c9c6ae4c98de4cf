"""What a run directory has of its guards: trips that were found without a driver, and how the
supervisors of the model's attempts have ended."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from burstlens.core.durable import read_json
from burstlens.core.existence import Existence, existence
from burstlens.core.lines import read_lines
from burstlens.core.run.journal import read_only
from burstlens.workflows.guards.judge import RECALLED
from burstlens.workflows.ordering.events import EndReported, GuardsRecalled, TripsFound
from burstlens.workflows.publishing.context import RunContext


class GuardRecords:
    """Reads them for a run that has guards."""

    def __init__(self, context: RunContext) -> None:
        self._run, self._history = context.run, context.history
        self._guards = context.recipe.guards
        self._bytes = 0
        self._ended: set[int] = set()

    def recall(self) -> Iterator[EndReported | GuardsRecalled | TripsFound]:
        """What earlier drivers have judged, and what was found since."""
        if not self._guards:
            return
        yield from self.ends()
        yield GuardsRecalled(tuple(read_only(self._run.journal, *RECALLED)))
        yield TripsFound((*read_lines(self._run.sentinel), *self._told()))

    def news(self) -> Iterator[TripsFound]:
        """What a full disk has kept from the sentinel's file until now."""
        if not self._guards:
            return
        with contextlib.suppress(OSError):
            size = self._run.sentinel.stat().st_size
            if size != self._bytes:
                self._bytes = size
                yield TripsFound(tuple(read_lines(self._run.sentinel)))

    def ends(self) -> Iterator[EndReported]:
        """The attempts whose supervisors have reported that the model ended. While that cannot be
        seen, nothing: the loop waits for no file server."""
        if not any(guard.stops for guard in self._guards):
            return
        for attempt in range(1, self._history.attempt + 1):
            if attempt not in self._ended and self._has_ended(attempt):
                self._ended.add(attempt)
                yield EndReported(attempt, self._told_why(attempt))

    def _has_ended(self, attempt: int) -> bool:
        file = self._run.job(f"attempt-{attempt}") / "ended.json"
        there = existence(file)
        if there is Existence.UNKNOWN:
            there = existence(file)  # a stale handle is looked up anew
        return there is Existence.PRESENT

    def _told(self) -> Iterator[Mapping[str, Any]]:
        """The trip for which a sentinel has stopped the model directly, on a full disk."""
        for attempt in range(1, self._history.attempt + 1):
            trip = self._told_why(attempt).get("trip")
            if isinstance(trip, dict):
                yield trip

    def _told_why(self, attempt: int) -> dict[str, Any]:
        """Why the attempt's supervisor was told directly to stop; empty where it was not."""
        with contextlib.suppress(OSError):
            ended = read_json(self._run.job(f"attempt-{attempt}") / "ended.json") or {}
            return dict(ended.get("why") or {})
        return {}
