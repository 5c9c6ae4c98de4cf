"""What people, workers, guards and supervisors leave in a run directory for its driver."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from burstlens.core.durable import read_json
from burstlens.core.errors import RecipeError
from burstlens.core.existence import Existence, check_existence, existence
from burstlens.core.lines import read_lines
from burstlens.core.run.journal import read_only
from burstlens.workflows.driver.addition import (
    PATTERN,
    Added,
    Addition,
    check_addition,
    read_addition,
)
from burstlens.workflows.guards.judge import RECALLED
from burstlens.workflows.ordering.events import (
    AdditionRequested,
    BufferReady,
    EndReported,
    FramesFound,
    GuardsRecalled,
    JobEnded,
    NodeFailed,
    PauseSeen,
    ResultsRead,
    StateEvent,
    StopRequested,
    Tick,
    TripsFound,
    WorkReturned,
)
from burstlens.workflows.publishing.context import RunContext

_FOLLOWS = BufferReady, JobEnded, FramesFound, NodeFailed, Tick


class Inbox:
    """Reads ``control/`` and what guards have found. ``leaves`` says whether a look is to end."""

    def __init__(self, context: RunContext, leaves: Callable[[], bool] = lambda: False) -> None:
        self._run, self._history = context.run, context.history
        self._journal, self._leaves = context.journal, leaves
        self._guards = GuardRecords(context)
        self._obeyed: set[str] = set()
        self._dropped: list[str] = []
        """Requests that are obeyed, whose files are still there."""

    def begin(self) -> Iterator[StateEvent]:
        """What is there when a driver begins."""
        return self._guards.recall()

    def before(self, event: StateEvent, known: StopRequested) -> Iterator[StateEvent]:
        """What may be the cause of that event, which is told first. ``known`` is the request to
        stop that stands so far."""
        if not _may_follow(event):
            return
        control = "leave" if self._leaves() else self._run.stop_requested()
        if control != known.control:
            reason = known.reason or self._run.stop_reason() if control else {}
            yield StopRequested(control, reason)
        yield from self._guards.ends()

    def look(self, *, adds: bool) -> Iterator[StateEvent]:
        """What has come; of products to add only where the run ``adds`` them."""
        yield from self._guards.news()
        with contextlib.suppress(OSError):  # a run directory that is away is read again later
            self._drop()
            asked = check_existence(self._run.pause)
            if asked or self._history.paused:
                yield PauseSeen(asked)
            for path in sorted(self._run.control.glob(PATTERN)) if adds else ():
                if path.name not in self._obeyed:
                    yield self._read(path)

    def drop(self, name: str) -> None:
        """Take a request that is obeyed out of ``control/``, when the journal that says so is on
        disk: a driver that dies in between does nothing twice and forgets nothing."""
        self._obeyed.add(name)
        self._dropped.append(name)
        with contextlib.suppress(OSError):
            self._drop()

    def _drop(self) -> None:
        if self._dropped:
            self._journal.sync()
        for name in list(self._dropped):
            (self._run.control / name).unlink(missing_ok=True)
            self._dropped.remove(name)

    def _read(self, path: Path) -> AdditionRequested:
        try:
            addition = read_addition(path)
            products = self._check(path, addition)
        except RecipeError as error:
            return AdditionRequested(path.name, refusal=str(error))
        return AdditionRequested(
            path.name, tuple(products), all_frames=addition.all_frames, user=addition.user
        )

    def _check(self, path: Path, addition: Addition) -> Added:
        # The request is gone when its user reads the message: it names the user's own file.
        source = Path(addition.file) if addition.file else path
        products = check_addition(self._run, self._history, addition, source)
        for product, _ in products:
            for name in product.kind.ships(product.options):
                if not (self._run.files / name).is_file():
                    raise RecipeError(f"product.{product.name}: there is no {name} in files/")
        return products


def _may_follow(event: StateEvent) -> bool:
    """Whether it may be the effect of a request to stop, or of a model's end: a guard that saw a
    breach on a worker has asked for it there."""
    if isinstance(event, ResultsRead | WorkReturned):
        results = event.results.values()
        return any(reading.breach for result in results for reading in result.readings)
    return isinstance(event, _FOLLOWS)


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
