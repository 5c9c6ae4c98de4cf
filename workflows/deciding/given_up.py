"""What is left of branches that were given up: an attempt continued from an earlier checkpoint, and
did not compute some of their frames again.

WRF does so with another time step or another interval of frames, and after a restart between two
frames.
"""

from __future__ import annotations

from collections.abc import Mapping

from burstlens.core import valid_time
from burstlens.core.quantity import counted
from burstlens.core.run.history import History

_SHOWN = 3


def given_up_files(
    history: History, stale: Mapping[int, frozenset[str]]
) -> dict[int, frozenset[str]]:
    """By attempt, its files of which each frame is stale, under names that no attempt has whose
    frames count. ``stale`` are those of the attempts of the lineage."""
    lineage = [one.attempt for one in history.lineage.segments]
    counting = {
        name
        for attempt in lineage
        for name in history.reached.get(attempt, ())
        if name not in stale.get(attempt, ())
    }
    others = {
        attempt: frozenset(history.reached.get(attempt, ()))
        for attempt in history.lineage.begins
        if attempt not in lineage
    }
    found = {attempt: names - counting for attempt, names in {**stale, **others}.items()}
    return {attempt: names for attempt, names in found.items() if names}


def uncounted(history: History) -> str:
    """Which frames no attempt has computed again, in one sentence; "" for none."""
    if not history.lineage.is_forked:
        return ""
    known = {(stream, time) for stream, time, _ in history.frames}
    owned = {
        (stream, time) for stream, time, by in history.frames if history.owns(stream, time, by)
    }
    left = sorted(known - owned)
    if not left:
        return ""
    named = ", ".join(f"{stream} {valid_time.label(time)}" for stream, time in left[:_SHOWN])
    more = ", ..." if len(left) > _SHOWN else ""
    return (
        f"{counted(len(left), 'frame')} of a branch that was given up came no more: {named}{more}; "
        "what was made of them stays stale"
    )
