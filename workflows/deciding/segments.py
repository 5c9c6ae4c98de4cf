"""Whether another attempt follows one that has ended, and from which checkpoint it resumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from burstlens.cluster_configs.scheduler import PREEMPTED, TIME_OVER
from burstlens.core import valid_time
from burstlens.core.run import events as ev
from burstlens.core.run.attempts import REQUEUED
from burstlens.core.run.checkpoint_record import CheckpointRecord
from burstlens.workflows.deciding.time_over import LostWork, lost_work
from burstlens.workflows.models.base import SAME_S
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.placement.job_end import STOP_BY, WALLTIME
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.recipe.recipe import option_text

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

CUT = "cut"
"""The outcome of an attempt whose job's time was over, so that another one resumes."""
SIGNALLED = 128
"""Above it a shell's exit code says by which signal its program was ended."""
NO_PROGRAM = (126, 127)
"""Exit codes of a shell and of launchers that could not start the program."""
CUTS = {WALLTIME, STOP_BY, PREEMPTED, TIME_OVER}
"""The reasons of ends that are not the model's: its job's time was over, or given to another."""


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

    def continuation(
        self, record: CheckpointRecord | None, changes: Mapping[str, str] | None = None
    ) -> Continuation:
        """How an attempt starts from that checkpoint, or afresh: up to the next cut, with these
        further changes of settings."""
        changes = {**self._history.settings, **(changes or {})}
        every_s = self._recipe.checkpoint.every
        until_s = None
        if self._cuts:
            at_s = 0.0 if record is None else max(self._seconds(record.time), self._cut_s(record))
            until_s = next((cut for cut in self._cuts if cut > at_s + SAME_S), None)
        return continuation_from(record, changes, every_s, until_s)

    def _cut_s(self, record: CheckpointRecord) -> float:
        """Where the latest attempt has ended well, if it wrote that checkpoint. It may have left
        none there, as WRF does where restart files come late, and neither might the next one."""
        asked = self._history.submitting
        if asked is None or asked.attempt != record.attempt or not asked.until_s:
            return 0.0
        return asked.until_s if self._history.jobs[asked.job].outcome == "done" else 0.0

    def taken_up(self, asked: ev.SimulationSubmitting) -> Continuation:
        """How an attempt was started that another driver has journalled: its checkpoint may be
        deleted since."""
        record = self._history.checkpoints.find(asked.written_by or 0, asked.checkpoint or "")
        files = () if record is None else tuple(record.files)
        every_s = self._recipe.checkpoint.every
        changes = dict(self._history.settings)
        return Continuation(asked.checkpoint, files, asked.until_s, every_s, changes)

    def is_taken_up(self, outcome: str | None) -> bool:
        """Whether this driver goes on with the latest attempt, which has ended so: where another
        driver has died before it could decide what follows, this one decides it."""
        if outcome in {None, "done"}:
            return True
        if self._history.ended_before:
            return False
        asked = self._history.submitting
        may_be_refused = asked is not None and bool(asked.checkpoint)
        may_be_refused = may_be_refused and not self._has_written(self._history.attempt)
        failed = outcome == "failed"
        return outcome in {CUT, REQUEUED} or (
            failed and (self._recipe.simulation.retries > 0 or may_be_refused)
        )

    def newest_at_home(self) -> CheckpointRecord | None:
        """From where an attempt continues whose buffer is another one than that of the attempts
        before: the newest checkpoint at home that is not suspect, all that was written up to its
        time being published. None: afresh."""
        found = [one for one in self._usable() if one.home and not one.ahead]
        return found[-1] if found else None

    def _seconds(self, time: str) -> float:
        """How long after the run's start a model time is."""
        start = self._state.context.facts.start
        return valid_time.seconds(time) - (valid_time.seconds(start) if start else 0.0)

    def follows(self, end: Ended | None) -> bool:
        """Whether an attempt that has ended so is to be followed by another one."""
        asked = self._history.submitting
        if end is None or end.stopped or asked is None or self._state.stop.control is not None:
            return False
        if self._has_tripped(asked.attempt):
            return False
        if end.well:
            return asked.until_s is not None
        if end.reason == REQUEUED:  # its job runs the next one: none is submitted
            return True
        if self.is_cut_by(end):
            most = self._recipe.simulation.segments
            return not isinstance(most, int) or self._history.submitted < most
        return self._is_unusable(asked, end) or self._may_retry(asked.attempt)

    def is_cut_by(self, end: Ended) -> bool:
        """Whether the end of its job has ended an attempt of a run that may have several, or the
        scheduler, which begins the job again."""
        is_over = self._recipe.simulation.is_cut and end.reason in CUTS
        return is_over or end.reason == REQUEUED

    def _has_tripped(self, attempt: int) -> bool:
        return any(trip.attempt == attempt for trip in self._history.stopping.values())

    def _has_written(self, attempt: int) -> bool:
        """Whether an attempt has written a whole frame, or left a checkpoint."""
        records = self._history.checkpoints.records
        return any(one.attempt == attempt for one in records) or any(
            number == attempt for *_, number in self._history.frames
        )

    def _is_unusable(self, asked: ev.SimulationSubmitting, end: Ended) -> bool:
        """Whether an attempt could not begin with its checkpoint, as the supervisor has seen, or as
        the model itself says where there is an earlier one."""
        begin = asked.checkpoint
        if begin is None or self._has_written(asked.attempt):
            return False
        if end.reason == "not started" and "checkpoint's file" in end.message:
            return True  # damaged or gone, as the supervisor has seen
        refused = end.reason == "exited" and not end.signal and end.exit_code not in NO_PROGRAM
        refused = refused and (end.exit_code or 0) <= SIGNALLED
        if not (refused or "checkpoint" in end.message):
            return False
        return any(one.time < begin for one in self._usable())

    def _may_retry(self, attempt: int) -> bool:
        """Whether a failed attempt is tried again: so often as the recipe says, and not after a
        second one that came no further."""
        history = self._history
        jobs = [history.jobs.get(f"attempt-{number}") for number in history.lineage.begins]
        failed = sum(job is not None and job.outcome == "failed" for job in jobs)
        if failed > self._recipe.simulation.retries:
            return False
        return not self._is_vain(attempt)

    def _is_vain(self, attempt: int) -> bool:
        """Whether that attempt is the second one that came no further: then it is the ``problem``
        why none follows."""
        begins, records = self._history.lineage.begins, self._history.checkpoints.records
        same = attempt - 1 in begins and begins[attempt] == begins[attempt - 1]
        vain = same and not any(one.attempt == attempt for one in records)
        if vain:
            self.problem = f"attempts {attempt - 1} and {attempt} have come no further"
        return vain

    def _usable(self) -> list[CheckpointRecord]:
        history = self._history
        return [one for one in history.checkpoints.on(history.lineage) if not one.suspect]

    def choose(self, attempt: int, end: Ended, *, at_home: bool = False) -> CheckpointRecord | None:
        """The checkpoint from which the attempt after that one resumes: the newest that is not
        suspect, with ``at_home`` of those in the run directory. None where it starts afresh; with a
        ``problem`` where none can follow, as there is no checkpoint later than the attempt's own
        begin."""
        asked, begin = self._history.submitting, self._history.lineage.begin_of(attempt)
        failed = not end.well and not self.is_cut_by(end)
        if failed and asked is not None and self._is_unusable(asked, end):
            why = f"attempt {attempt} could not continue from it: {end.text()}"
            self._state.outbox.append(
                ev.CheckpointSuspect(attempt=asked.written_by or 0, time=begin, reason=why)
            )
        known = [one for one in self._usable() if one.home or not at_home]
        lost, anew = self.lost(attempt, end), failed or end.reason == REQUEUED
        if end.reason == PREEMPTED and not (known and known[-1].time > begin):
            anew = not self._is_vain(attempt)  # another job took the nodes: it says nothing of this
            if not anew:
                return None
        if anew or (lost.is_any and known and known[-1].time > begin):
            self._state.alarm(self._said(attempt, end, known[-1:], lost))
        if anew or (known and known[-1].time > begin):
            return known[-1] if known else None
        since = f" after {valid_time.label(begin)}, where it began" if begin else ""
        done = "brought no checkpoint home" if at_home else "wrote no checkpoint"
        self.problem = f"attempt {attempt} {done}{since}, so none can follow it: {self._remedy}"
        return None

    @property
    def _remedy(self) -> str:
        if self._recipe.stop_by is None:
            return "write checkpoints more often, or use a longer walltime"
        return "use a longer walltime, or ask earlier for one (checkpoint.lead)"

    def lost(self, attempt: int, end: Ended) -> LostWork:
        """What an attempt that has ended so has computed after the newest good checkpoint."""
        newest, start = self.newest, self._state.context.facts.start
        return lost_work(self._history, attempt, end, newest, start, self._recipe.simulation)

    @property
    def newest(self) -> CheckpointRecord | None:
        """The newest checkpoint that is not suspect."""
        known = self._usable()
        return known[-1] if known else None

    def _said(
        self, attempt: int, end: Ended, newest: Sequence[CheckpointRecord], lost: LostWork
    ) -> str:
        next_one = f"resumes from {valid_time.label(newest[0].time)}" if newest else "starts afresh"
        return f"attempt {attempt} {end.text()}; {lost.text()}; the next one {next_one}"

    def changes(self, end: Ended) -> dict[str, str]:
        """The settings that the recipe changes after such an end."""
        return {} if end.well or self.is_cut_by(end) else self._on_failure

    def changes_on_another_buffer(self) -> dict[str, str]:
        """Those after the latest attempt, where it has failed and its buffer went with its job. A
        person who names a checkpoint names the settings as well."""
        history = self._history
        job = history.jobs.get(f"attempt-{history.attempt}")
        is_failed = job is not None and job.outcome == "failed"
        is_retried = is_failed and history.submitted > 0 and history.wanted is None
        return self._on_failure if is_retried else {}

    @property
    def _on_failure(self) -> dict[str, str]:
        wanted = self._recipe.simulation.on_failure
        changed = {} if wanted is None else wanted.set
        return {name: option_text(value) for name, value in changed.items()}
