"""Guarding: the driver's side of guards. Takes what they found, journals trips, asks for stops.

The judgement itself is :class:`burstlens.workflows.guards.judge.Judge`; field guards look at
frames on the viewing block (:mod:`burstlens.workflows.guards.field`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from burstlens.core.model import Frame
from burstlens.core.run import events as ev
from burstlens.core.run.status_file import TripPart
from burstlens.workflows.frames.report import Report
from burstlens.workflows.guards.finding import Reading, Trip, trip_of
from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.guards.judge import Judge, Remark
from burstlens.workflows.guards.reports import Room, patterns_of
from burstlens.workflows.notify.word import Word, trip_word
from burstlens.workflows.ordering.events import (
    EndReported,
    GuardRecord,
    GuardsRecalled,
    TripsFound,
)
from burstlens.workflows.ordering.instructions import PrepareWord, Request, SendWord, Sync
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.ordering.space import Space
from burstlens.workflows.publishing.context import RunContext


class Guarding:
    """The guards of a run.

    ``ended`` says whether that attempt of the model has ended; by default its supervisor's report.
    ``stop_reason`` is why the model is to stop, if that is asked for.
    """

    def __init__(
        self, context: RunContext, outbox: Outbox, ended: Callable[[int], bool] | None = None
    ) -> None:
        recipe, snapshot = context.recipe, context.snapshot
        self.run, self.recipe = context.run, recipe
        self._has_ended = ended or self._is_reported
        self.outbox = outbox
        self.history = context.history
        self.snapshot = snapshot
        self.judge = Judge(recipe.guards, context.main_stream)
        self.patterns = patterns_of(recipe.guards, recipe.model)
        self.stop_reason: Mapping[str, Any] = {}
        self._ends: dict[int, Mapping[str, Any]] = {}
        """The attempts whose end is reported, and why their supervisors were told directly to stop.
        """
        snapshot.guards = self.judge.status

    def take_record(self, event: GuardRecord) -> None:
        """Recall what earlier drivers judged; journal what was found without one; note an end."""
        match event:
            case GuardsRecalled():
                for trip in self.judge.recall(event.judged):
                    self.snapshot.trips.append(TripPart(**trip.status()))
            case TripsFound():
                self._take_found(event.lines)
            case EndReported():
                self._ends[event.attempt] = event.why

    def _take_found(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Journal the trips that were found without a driver."""
        for line in lines:
            with contextlib.suppress(TypeError, ValueError, KeyError):
                trip = trip_of(line)
                if trip.guard in self.judge.guards and not self._was_reported(trip):
                    self.judge.mark_tripped(trip)
                    self._act(trip, recalled=True)

    def read(self, frame: Frame, readings: Iterable[Reading]) -> None:
        """Judge and journal what the guards of its stream read of a frame.

        Trips go first: a frame that the journal calls inspected is never looked at again.
        """
        readings = list(readings)
        for reading in readings:
            remarks = self.judge.read(reading, self.outbox.t) or self._cause(reading)
            if reading.unreadable:
                about = reading.stream, reading.time, reading.attempt, reading.error
                self.snapshot.messages.report_frame(*about)
                remarks = [remark for remark in remarks if isinstance(remark, Trip)]
            self._take(remark for remark in remarks if not self._was_reported(remark))
        self.outbox.append(
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
        trip = Trip.of(reading.guard, guard.then, reading.breach, self.outbox.t, *at)
        why = self.stop_reason
        asked = tuple(why.get(name) for name in ("guard", "stream", "time", "attempt"))
        return [trip] if asked == trip.key else []

    def resume(self, attempt: int, time: str | None, written_by: int) -> None:
        """An attempt is to begin, from the checkpoint of that time, or afresh: what its guards
        count and compare with is carried over."""
        self.judge.resume(attempt, time, written_by)

    def heard(self, report: Report, space: Space, free_bytes: int | None, attempt: int) -> None:
        """Judge what the watcher saw: the logs, the pace, and the room on the buffer."""
        if not self.judge.guards:
            return
        room = Room.of(space.recipe.buffer.capacity, space.raw_bytes, free_bytes)
        now, t = self.outbox.now, self.outbox.t
        output = self.history.output.part
        self._take(self.judge.watched(report, room, attempt, now=now, t=t, output=output))
        if report.hits or report.checkpoints:
            self._count(attempt)
        # A pattern that takes too long is not looked for again.
        self.patterns = tuple(one for one in self.patterns if one.guard not in report.given_up)

    def _count(self, attempt: int) -> None:
        """Journal what the log guards have counted up to the checkpoints of an attempt: others
        resume from these when its log is not read any more."""
        records = self.history.checkpoints.records
        times = [one.time for one in records if one.attempt == attempt]
        for time, lines in self.judge.new_counts(attempt, times):
            self.outbox.append(ev.GuardsCounted(attempt=attempt, time=time, lines=lines))

    def settle(self, *, done: bool) -> None:
        """Raise an alarm for each guard that has judged nothing in the run, which is over.
        ``done``: it ended well."""
        streams = {stream for stream, _, _ in self.history.frames}
        if streams or done:  # a model that never wrote says so itself
            for text in self.judge.blind(streams):
                self._alarm(text)

    def _take(self, remarks: Iterable[Remark]) -> None:
        for remark in remarks:
            if isinstance(remark, Trip):
                self._act(remark)
            else:
                self._alarm(remark.sentence)

    def _alarm(self, text: str) -> None:
        self.outbox.append(ev.Alarm(text=text))

    def _act(self, trip: Trip, *, recalled: bool = False) -> None:
        """Ask for the stop, journal the trip, and notify.

        The stop goes first: a trip that the journal has is not acted on again.
        """
        guard = self.judge.guards[trip.guard]
        if guard.stops and self._has_ended(trip.attempt):
            # What the sentinel found says itself when; where a guard's stop stands, the model was
            # asked in time.
            asked_by = (self.stop_reason or self._ends.get(trip.attempt, {})).get("by")
            trip = replace(trip, after_end=trip.after_end or not (recalled or asked_by == "guard"))
        elif guard.stops and not trip.earlier:
            self.stop_reason = self.stop_reason or trip.why()
            self.outbox.do(Request(guard.then, trip.why()))
        word = None if trip.earlier else self._word(trip)
        if word is not None:
            self.outbox.do(PrepareWord(word, guard.ways))
        # The sentinel's trip may be hours old.
        self.outbox.append(ev.GuardTripped(found=trip.t, **trip.fields()))
        if word is None:
            return
        if guard.stops:
            self.outbox.do(Sync())
        self.outbox.do(SendWord(word.key))

    def _word(self, trip: Trip) -> Word:
        facts = {key: value for key, value in trip.status().items() if key != "text"}
        title = self.recipe.title
        facts["what_happened"] = trip.text
        return trip_word(self.run, title, trip.key, trip.sentence, facts)

    def _was_reported(self, remark: Remark) -> bool:
        """Whether the journal has that trip already."""
        return isinstance(remark, Trip) and remark.key in self.history.tripped

    def _is_reported(self, attempt: int) -> bool:
        """By its supervisor, or by what this driver has heard of it."""
        known = self.history.jobs.get(f"attempt-{attempt}")
        return attempt in self._ends or (known is not None and known.outcome is not None)
