"""Whether another attempt follows one that has ended, and from which checkpoint it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from burstlens.core import valid_time
from burstlens.core.run.checkpoint_record import CheckpointRecord
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.placement.supervised import Ended

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

SAME_S = 1e-3
"""Model times that differ by less are the same: keys of elapsed times have milliseconds."""
CUT = "cut"
"""The outcome of an attempt whose job's time was over, so that another one goes on."""
WALLTIME = "walltime"
"""The reason that a supervisor reports for the end of a job's time."""


def continuation_from(
    record: CheckpointRecord | None,
    settings: Mapping[str, str],
    every_s: float | None,
    until_s: float | None = None,
) -> Continuation:
    """How an attempt starts from that checkpoint, or afresh, with these changed settings."""
    time, files = (None, ()) if record is None else (record.time, tuple(record.files))
    return Continuation(time, files, until_s, every_s, dict(settings))


class Segments:
    """Decides it from the recipe and the journal. ``problem`` says, where an attempt was to be
    followed by another one and cannot be, why not."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._history, self._recipe = state.history, state.recipe
        self._cuts = state.context.cuts
        self.problem = ""

    def continuation(self, record: CheckpointRecord | None) -> Continuation:
        """How an attempt starts from that checkpoint, or afresh: up to the next cut."""
        changes, every_s = self._history.settings, self._recipe.checkpoint.every
        at_s = 0.0 if record is None else self._seconds(record.time)
        until_s = next((cut for cut in self._cuts if cut > at_s + SAME_S), None)
        return continuation_from(record, changes, every_s, until_s)

    def _seconds(self, time: str) -> float:
        """How long after the run's start a model time is."""
        start = self._state.context.facts.start
        return valid_time.seconds(time) - (valid_time.seconds(start) if start else 0.0)

    def follows(self, end: Ended | None) -> bool:
        """Whether an attempt that has ended so is to be followed by another one."""
        asked = self._history.submitting
        if end is None or asked is None or not self._recipe.simulation.is_cut:
            return False
        if self._state.stop.control is not None or self._has_tripped(asked.attempt):
            return False
        if asked.until_s is not None and end.well:
            return True
        most = self._recipe.simulation.segments
        fewer = not isinstance(most, int) or len(self._history.lineage.begins) < most
        return self.is_cut_by(end) and fewer

    def is_cut_by(self, end: Ended) -> bool:
        """Whether the end of its job's time has ended an attempt of a run that may have several."""
        return self._recipe.simulation.is_cut and end.reason == WALLTIME

    def _has_tripped(self, attempt: int) -> bool:
        return any(trip.attempt == attempt for trip in self._history.stopping.values())

    def choose(self, attempt: int) -> CheckpointRecord | None:
        """The checkpoint from which the attempt after that one goes on: the newest that is not
        suspect. None, with a ``problem``, where there is none that is later than its own begin."""
        history = self._history
        begin = history.lineage.begin_of(attempt)
        known = [one for one in history.checkpoints.on(history.lineage) if not one.suspect]
        if known and known[-1].time > begin:
            return known[-1]
        since = f" after {valid_time.label(begin)}, where it began" if begin else ""
        self.problem = (
            f"attempt {attempt} has left no checkpoint{since} from which another one could go on: "
            "a shorter interval of checkpoints, or a longer walltime, leaves one"
        )
        return None
