"""Guarding: the driver's side of guards. Takes what they found, journals trips, asks for stops.

The judgement itself is :class:`burstlens.workflows.guards.judge.Judge`; field guards look at
frames on the viewing block (:mod:`burstlens.workflows.guards.field`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from burstlens.core.durable import read_json
from burstlens.core.existence import Existence, existence
from burstlens.core.lines import read_lines
from burstlens.core.model import Frame
from burstlens.core.run import events as ev
from burstlens.core.run.journal import read_only
from burstlens.core.run.status_file import TripPart
from burstlens.core.run.wording import progress_text
from burstlens.workflows.frames.report import Report
from burstlens.workflows.guards.finding import Reading, Trip, trip_of
from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.guards.judge import RECALLED, Judge, Remark
from burstlens.workflows.guards.reports import Room, patterns_of
from burstlens.workflows.notify.word import Word, trip_word
from burstlens.workflows.ordering.space import Space
from burstlens.workflows.publishing.context import RunContext


class Guarding:
    """The guards of a run. Driver's thread only.

    ``ended`` says whether that attempt of the model has ended; by default its supervisor's report.
    """

    def __init__(self, context: RunContext, ended: Callable[[int], bool] | None = None) -> None:
        run, recipe, snapshot = context.run, context.recipe, context.snapshot
        self.run, self.recipe = run, recipe
        self._has_ended = ended or self._is_reported
        self.journal = context.journal
        self.history = context.history
        self.snapshot = snapshot
        self.judge = Judge(recipe.guards, recipe.model.main_stream(recipe.inputs))
        self.patterns = patterns_of(recipe.guards, recipe.model)
        self.notices = context.notices
        self._requests = context.requests
        self._sentinel_bytes = 0
        snapshot.guards = self.judge.status
        if recipe.guards:
            self._remember()

    def _remember(self) -> None:
        """Recall what earlier drivers judged, and take what the sentinel found without a driver."""
        for trip in self.judge.recall(read_only(self.run.journal, *RECALLED)):
            self.snapshot.trips.append(TripPart(**trip.status()))
        self._take_found((*read_lines(self.run.sentinel), *self._told()))

    def _take_found(self, lines: Iterable[dict[str, object]]) -> None:
        """Journal the trips that were found without a driver."""
        for line in lines:
            with contextlib.suppress(TypeError, ValueError, KeyError):
                trip = trip_of(line)
                if trip.guard in self.judge.guards and not self._was_reported(trip):
                    self.judge.mark_tripped(trip)
                    self._act(trip, recalled=True)

    def _look_at_sentinel(self) -> None:
        """Take what a full disk has kept from the file until now."""
        if not self.judge.guards:
            return
        with contextlib.suppress(OSError):
            size = self.run.sentinel.stat().st_size
            if size != self._sentinel_bytes:
                self._take_found(read_lines(self.run.sentinel))
                self._sentinel_bytes = size

    def _told(self) -> Iterator[dict[str, object]]:
        """The trip for which a sentinel has stopped the model directly, on a full disk."""
        for number in range(1, self.history.attempt + 1):
            trip = self._told_why(number).get("trip")
            if isinstance(trip, dict):
                yield trip

    def _told_why(self, attempt: int) -> dict[str, Any]:
        """Why the attempt's supervisor was told directly to stop; empty where it was not."""
        with contextlib.suppress(OSError):
            ended = read_json(self.run.job(f"attempt-{attempt}") / "ended.json") or {}
            return dict(ended.get("why") or {})
        return {}

    def read(self, frame: Frame, readings: Iterable[Reading]) -> None:
        """Judge and journal what the guards of its stream read of a frame.

        Trips go first: a frame that the journal calls inspected is never looked at again.
        """
        readings = list(readings)
        for reading in readings:
            remarks = self.judge.read(reading, time.time()) or self._cause(reading)
            if reading.unreadable:
                about = reading.stream, reading.time, reading.attempt, reading.error
                self.snapshot.unreadable(*about)
                remarks = [remark for remark in remarks if isinstance(remark, Trip)]
            self._take(remark for remark in remarks if not self._was_reported(remark))
        self.journal.append(
            ev.FrameInspected(
                stream=frame.stream,
                time=frame.time,
                attempt=frame.attempt,
                readings={reading.guard: reading.summary() for reading in readings},
                calendar=frame.calendar,
            )
        )

    def miss(self, frame: Frame, guards: Sequence[Guard], reason: str) -> None:
        """Note that these guards could not look at the frame, and will not."""
        about = frame.stream, frame.time, frame.attempt
        self.read(frame, [Reading(guard.called, *about, error=reason) for guard in guards])

    def _cause(self, reading: Reading) -> list[Remark]:
        """The trip that asked for the stop, if a trip of another frame was reported before it.

        Frames are read at the same time: the first one to come back need not have asked first.
        """
        guard = self.judge.guards.get(reading.guard)
        if guard is None or reading.breach is None or not guard.stops:
            return []
        at = reading.stream, reading.time, reading.attempt
        trip = Trip.of(reading.guard, guard.then, reading.breach, time.time(), *at)
        why = self.run.stop_reason()
        asked = tuple(why.get(name) for name in ("guard", "stream", "time", "attempt"))
        return [trip] if asked == trip.key else []

    def heard(self, report: Report, space: Space, free_bytes: int | None, attempt: int) -> None:
        """Judge what the watcher saw: the logs, the pace, and the room on the buffer."""
        if not self.judge.guards:
            return
        room = Room.of(space.recipe.buffer.capacity, space.raw_bytes, free_bytes)
        now, t = time.monotonic(), time.time()
        output = self.history.output.part
        self._take(self.judge.watched(report, room, attempt, now=now, t=t, output=output))
        # A pattern that takes too long is not looked for again.
        self.patterns = tuple(one for one in self.patterns if one.guard not in report.given_up)

    def settle(self, *, done: bool) -> None:
        """Raise an alarm for each guard that has judged nothing in the run, which is over.
        ``done``: it ended well."""
        self._look_at_sentinel()
        streams = {stream for stream, _, _ in self.history.frames}
        if streams or done:  # a model that never wrote says so itself
            for text in self.judge.blind(streams):
                self._alarm(text)

    def look(self) -> None:
        """Take late trips of the sentinel's, send word at model times, report notices that have
        failed."""
        self._look_at_sentinel()
        self.notices.look(self._progress)

    def _progress(self) -> str:
        status = self.snapshot.value()
        return ", ".join(filter(None, [status.state, progress_text(status)]))

    def _take(self, remarks: Iterable[Remark]) -> None:
        for remark in remarks:
            if isinstance(remark, Trip):
                self._act(remark)
            else:
                self._alarm(remark.sentence)

    def _alarm(self, text: str) -> None:
        self.journal.append(ev.Alarm(text=text))
        self.snapshot.alarm(text)

    def _act(self, trip: Trip, *, recalled: bool = False) -> None:
        """Ask for the stop, journal the trip, and notify.

        The stop goes first: a trip that the journal has is not acted on again.
        """
        guard = self.judge.guards[trip.guard]
        if guard.stops and self._has_ended(trip.attempt):
            # What the sentinel found says itself when; where a guard's stop stands, the model was
            # asked in time.
            asked_by = (self.run.stop_reason() or self._told_why(trip.attempt)).get("by")
            trip = replace(trip, after_end=trip.after_end or not (recalled or asked_by == "guard"))
        elif guard.stops and not trip.earlier:
            self._requests.make_request(guard.then, trip.why())
        start = None if trip.earlier else self.notices.due(self._word(trip), guard.ways)
        # The sentinel's trip may be hours old.
        self.journal.append(ev.GuardTripped(found=trip.t, **trip.fields()))
        self.snapshot.trips.append(TripPart(**trip.status()))
        if start is None:
            return
        place = {"stream": trip.stream, "time": trip.time}
        self.snapshot.alarm(trip.sentence, **{key: text for key, text in place.items() if text})
        if guard.stops:
            with contextlib.suppress(OSError):
                self.journal.sync()
        start()

    def _word(self, trip: Trip) -> Word:
        facts = {key: value for key, value in trip.status().items() if key != "text"}
        title = self.recipe.title
        facts["what_happened"] = trip.text
        return trip_word(self.run, title, trip.key, trip.sentence, facts)

    def _was_reported(self, remark: Remark) -> bool:
        """Whether the journal has that trip already."""
        return isinstance(remark, Trip) and remark.key in self.history.tripped

    def _is_reported(self, attempt: int) -> bool:
        """By its supervisor; while that cannot be seen, by what this driver has heard. The loop
        waits for no file server."""
        name = f"attempt-{attempt}"
        there = existence(self.run.job(name) / "ended.json")
        if there is Existence.UNKNOWN:
            there = existence(self.run.job(name) / "ended.json")  # a stale handle is looked up anew
        known = self.history.jobs.get(name)
        heard = known is not None and known.outcome is not None
        return heard if there is Existence.UNKNOWN else there is Existence.PRESENT
