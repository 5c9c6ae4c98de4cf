"""The files in which workers write the results of batches that are still under way."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from burstlens.workflows.making.order import OrderResult
from burstlens.workflows.making.results import read_results
from burstlens.workflows.ordering.batches import Batch
from burstlens.workflows.ordering.events import ResultsRead

PAUSE_S = 0.02
"""How long it takes at least until files are looked at again."""
_LATE_PART = 0.1
"""A result is seen late by this part of the time since the one before, at most."""
_CPU_PART, _WALL_PART = 0.03, 0.25
"""Reading files in vain takes at most these parts of a core and of the driver's time: each costs an
open, on a parallel file system a request to its server."""


@dataclass(slots=True)
class _ResultFile:
    """How far a file is read, and when its latest result was seen, or its batch was sent."""

    path: Path
    news: float
    offset: int = 0

    def read(self, now: float) -> dict[int, OrderResult]:
        """What is new; nothing where it cannot be read: a later look has it."""
        try:
            found, self.offset = read_results(self.path, self.offset)
        except OSError:
            return {}
        if found:
            self.news = now
        return found


class ResultFiles:
    """Those of all batches under way, in the folder ``incoming`` of the run."""

    def __init__(
        self,
        incoming: Path,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.thread_time,
    ) -> None:
        self._incoming, self._clock, self._cpu = incoming, clock, cpu
        self._files: dict[Batch, _ResultFile] = {}
        self._rest = 0.0
        """No file is read before this time."""

    def open(self, batch: Batch) -> str:
        """Make the file of a batch, and return its path: a node that looked for it before it was
        there might not see it for a while. Empty for a batch of one, or where it cannot be made:
        the task returns all of its results."""
        if len(batch.orders) < 2:
            return ""
        path = self._incoming / f"{uuid.uuid4().hex}.results"
        try:
            path.touch(exist_ok=False)
        except OSError:
            return ""
        self._files[batch] = _ResultFile(path, self._clock())
        return str(path)

    def wait_s(self, longest: float) -> float:
        """How long the driver may wait before it looks again."""
        if not self._files:
            return longest
        now = self._clock()
        newest = min(now - file.news for file in self._files.values())
        return min(longest, max(PAUSE_S, _LATE_PART * newest, self._rest - now))

    def look(self) -> Iterator[ResultsRead]:
        """What has come; nothing when the last look was a moment ago."""
        if self._clock() < self._rest:
            return
        wall_s = cpu_s = 0.0
        for batch, file in list(self._files.items()):
            at, cpu = self._clock(), self._cpu()
            if found := file.read(at):
                yield ResultsRead(batch, found)
            else:
                wall_s += self._clock() - at
                cpu_s += self._cpu() - cpu
        pause_s = max(wall_s * (1 / _WALL_PART - 1), cpu_s * (1 / _CPU_PART - 1))
        self._rest = self._clock() + max(PAUSE_S, pause_s)

    def close(self, batch: Batch) -> dict[int, OrderResult]:
        """The last results of a batch that has ended; its file is deleted."""
        file = self._files.pop(batch, None)
        if file is None:
            return {}
        found = file.read(self._clock())
        with contextlib.suppress(OSError):
            file.path.unlink(missing_ok=True)
        return found
