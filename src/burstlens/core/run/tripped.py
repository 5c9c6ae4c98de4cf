"""What a run's history keeps of guards' trips: which were reported, which asked for a stop."""

from __future__ import annotations

from typing import Protocol

from burstlens.core.run.events import GuardTripped
from burstlens.core.valid_time import label


class HasTrips(Protocol):
    """What a run's history keeps of them: each trip's guard, stream, valid time and attempt, and
    the earliest one of each guard that may stop the model, of the latest attempt that has any."""

    tripped: set[tuple[str, str, str, int]]
    stopping: dict[str, GuardTripped]


def note(history: HasTrips, event: GuardTripped) -> None:
    """Take a trip."""
    history.tripped.add((event.guard, event.stream, event.time, event.attempt))
    if event.then == "alarm":
        return
    if any(trip.attempt < event.attempt for trip in history.stopping.values()):
        history.stopping.clear()
    known = history.stopping.setdefault(event.guard, event)
    if event.attempt == known.attempt and _moment(event) < _moment(known):
        history.stopping[event.guard] = event


def too_late(history: HasTrips, attempt: int) -> str:
    """What to say of guards that were to stop that attempt of a model which ended by itself, with
    the earliest bad frame by model time; empty where none tripped."""
    trips = [trip for trip in history.stopping.values() if trip.attempt == attempt]
    if not trips:
        return ""
    first = min(trips, key=_moment)
    frame = f", {' '.join(filter(None, (first.stream, label(first.time))))}" if first.time else ""
    others = sorted({f'"{trip.guard}"' for trip in trips} - {f'"{first.guard}"'})
    more = f" (and {', '.join(others)})" if others else ""
    asked = any(not trip.after_end for trip in trips)
    when = (
        "asked for a stop, and the model ended by itself before it was stopped"
        if asked
        else "tripped after the model's end"
    )
    return f'guard "{first.guard}"{more} {when}: {first.text}{frame}'


def _moment(trip: GuardTripped) -> tuple[bool, str]:
    """For comparing by model time; what has none comes last."""
    return not trip.time, trip.time
