"""The supervised jobs of a run: the simulation's attempts and the steps around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from burstlens.core.errors import RecipeError, SiteError
from burstlens.core.exit_codes import NO_SPACE, STOPPED, STOPPED_BY_GUARD
from burstlens.core.model import Progress
from burstlens.core.outcome import Outcome, failure_code
from burstlens.core.run import events as ev
from burstlens.core.run.attempts import REQUEUED
from burstlens.core.run.checkpoint_record import CheckpointRecord
from burstlens.workflows.deciding.next_job import AHEAD, NextJob
from burstlens.workflows.deciding.segments import CUT, CUTS, Segments
from burstlens.workflows.deciding.steps import Steps
from burstlens.workflows.deciding.time_over import advice, core_hours
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.models.continuation import Continuation, NothingLeftError
from burstlens.workflows.ordering.events import JobEnded, JobsSeen, JobSubmitted
from burstlens.workflows.ordering.instructions import (
    DescribeJobs,
    Request,
    SeeJobs,
    Sync,
)
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_end import STOP_BY
from burstlens.workflows.placement.supervised import Ended

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

BY = {"guard": STOPPED_BY_GUARD, "space": NO_SPACE}
"""Exit codes by what asked for a stop, if it was not a person."""


class Jobs:
    """Orders them, and judges how they ended. ``seen`` is what can be seen of them."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._recipe, self._history, self._run = state.recipe, state.history, state.run
        self.attempt = 0
        self.asked: str | None = None
        self.live: set[str] = set()
        self.ends: dict[str, Ended | None] = {}
        self.segments, self.next_job, self.steps = Segments(state), NextJob(state), Steps(state)
        self.continuation, self.written_by = Continuation(), 0
        self.fresh_buffer = False
        """Whether the buffer of earlier attempts is gone, with all that lay there."""
        self.has_nothing_left = False
        """Whether the attempt has nothing to compute: steps that follow it are all that is left."""
        self.seen = JobsSeen(began=False)
        self._speech = Speech()
        self._unknown = ""
        self._why: dict[str, Any] = {}
        self._progress: Progress | None = None
        self._begun = False

    @property
    def simulation(self) -> str:
        """The name of the current attempt."""
        return f"attempt-{self.attempt}"

    def describe(self, buffer: BufferRef) -> None:
        """Number the attempt, once, and have each job that has not ended well described."""
        if not self.attempt:
            self._take_up()
        steps = tuple((name, step) for step, name in self.steps.jobs.items())
        if self.has_nothing_left:  # the steps after it run where the attempt before has
            self._state.do(DescribeJobs(buffer, self.written_by, None, steps, fresh=False))
            return
        what = self.attempt, self.simulation, steps, self.fresh_buffer
        self._state.do(DescribeJobs(buffer, *what, self.continuation, self.written_by))

    def _take_up(self) -> None:
        """Number the attempt of this driver: the latest one, or another one."""
        history = self._history
        self.attempt, asked = history.attempt, history.submitting
        self.fresh_buffer = self.fresh_buffer or history.fresh_buffer
        if self.fresh_buffer or asked is None:
            record, changes = self.at_home, self.segments.changes_on_another_buffer()
            self.attempt, self.written_by = self.attempt + 1, record.attempt if record else 0
            self._begin(self.segments.continuation(record, changes), changes)
        elif history.wanted is not None:
            of = history.wanted.written_by or 0, history.wanted.checkpoint or ""
            self.attempt, self.written_by = self.attempt + 1, of[0]
            self._begin(self.segments.continuation(history.checkpoints.find(*of)))
        elif self.segments.is_taken_up(history.jobs[self.simulation].outcome):
            self.written_by = asked.written_by or 0
            self._begin(self.segments.taken_up(asked))
        else:
            record = self.segments.newest
            self.attempt, self.written_by = self.attempt + 1, record.attempt if record else 0
            self._begin(self.segments.continuation(record))

    @property
    def at_home(self) -> CheckpointRecord | None:
        """The checkpoint at home from which the run continues on a new buffer: the one that a
        person wants, else the newest; None: afresh."""
        wanted = self._history.wanted
        if wanted is not None:
            of = wanted.written_by or 0, wanted.checkpoint or ""
            record = self._history.checkpoints.find(*of)
            if record is not None and record.home:
                return record
        return self.segments.newest_at_home()

    def go_on(self, record: CheckpointRecord | None) -> None:
        """Number an attempt that resumes from that checkpoint, or starts afresh; it is described as
        the first was."""
        end = self.ends.pop(self.simulation, None)
        changes = {} if end is None else self.segments.changes(end)
        # Steps that were to follow the attempt have not begun; those beside it ended with it.
        cut = end is None or not end.well
        self.ends = {
            name: other
            for name, other in self.ends.items()
            if other is not None and not (cut and name in self.steps.beside)
        }
        self.attempt += 1
        self.asked, self._speech, self._begun = None, Speech(), False
        self.steps.jobs = {}
        self._unknown, self._progress = "", None
        self.fresh_buffer = self.next_job.is_requeued = False
        self.written_by = 0 if record is None else record.attempt
        self._begin(self.segments.continuation(record, changes), changes)

    def _begin(self, continuation: Continuation, changes: Mapping[str, str] | None = None) -> None:
        """Journal what will be submitted."""
        self.continuation = continuation
        for phase in self._phases:
            self.steps.begin(phase, self.attempt, anew=self.fresh_buffer)
            if phase == "before":
                event = ev.SimulationSubmitting(
                    job=self.simulation, attempt=self.attempt,
                    checkpoint=self.continuation.time, written_by=self.written_by or None,
                    until_s=self.continuation.until_s, settings=dict(changes or {}) or None,
                )  # fmt: skip
                self._state.outbox.append(event)

    @property
    def _phases(self) -> tuple[str, ...]:
        """What is launched with the attempt: what comes after the simulation only with its last
        stretch."""
        cut = self.continuation.until_s is not None
        return ("before", "beside") if cut else ("before", "beside", "after")

    def launch(self) -> None:
        """Have each of them started, after those that it needs."""
        simulation = None if self.has_nothing_left else self.simulation
        for launch in self.steps.launches(simulation, self._phases):
            self.live.add(launch.name)
            self._state.do(launch)
        beside = (self.steps.jobs.get(step.name) for step in self.steps.of("beside"))
        self.steps.beside |= dict.fromkeys(filter(None, beside), self.attempt)
        self._begun = True

    def submitted(self, event: JobSubmitted) -> None:
        """A job's id is known: journal it before anything else happens."""
        name, job_id = event.name, event.job_id
        if name.startswith(AHEAD):
            self.next_job.submitted(event)
            return
        known = self._history.jobs.get(name)
        if known is not None and known.job_id == job_id:
            return  # a former driver journalled it
        if name == self.simulation:
            self._state.outbox.append(
                ev.SimulationSubmitted(job=name, attempt=self.attempt, job_id=job_id)
            )
        else:
            self._state.outbox.append(ev.StepStarted(job=name, job_id=job_id))
        self._state.do(Sync())

    def ended(self, event: JobEnded) -> Outcome | None:
        """Take a job's end; returns an outcome when nothing can follow it any more."""
        name, end = event.name, event.end
        self.live.discard(name)
        attempt = self.steps.beside.get(name, self.attempt)
        if attempt == self.attempt or (end is not None and end.well):
            self.ends[name] = end
        elif end is not None:  # it ended with its attempt, which has a follower
            self._state.alarm(f"{name} {end.text()}")
        if end is None:
            self._unknown = event.problem  # a job that it waited for failed, and reports that
            return None
        message = f"{name} {end.text()}"
        state = "done" if end.well else "stopped" if end.stopped else "failed"
        if name == self.simulation and self.segments.is_cut_by(end):
            self.next_job.is_requeued = end.reason == REQUEUED
            state = REQUEUED if self.next_job.is_requeued else CUT
        known = self._history.jobs.get(name)
        if known is None or known.outcome is None:
            about: dict[str, Any] = {
                "job": name, "attempt": attempt, "outcome": state, "message": message
            }  # fmt: skip
            if name == self.simulation:
                self._state.outbox.append(ev.SimulationEnded(**about, **self._costs(end)))
            else:
                self._state.outbox.append(ev.StepEnded(**about))
            self._state.do(Sync())
        if state != "done" and self.steps.is_before(name):
            code = failure_code(event.said, message)
            if state == "stopped":
                code = self._stopped().exit_code
            why = f"{message}: {event.said}" if event.said else message
            log = self._run.logs / name / f"{name}.log"
            return Outcome(state, code, f"{why}; its log is {log}")
        return None

    def _costs(self, end: Ended) -> dict[str, Any]:
        """What the attempt's job has cost, and what of that before it had the attempt."""
        simulation, costs = self._recipe.simulation, dict[str, Any]()
        if end.seconds is not None:
            costs["core_hours"] = core_hours(simulation, end.seconds, end.cores)
        if end.idle_s:
            lost = core_hours(simulation, end.idle_s, end.cores)
            costs |= {"idle_s": end.idle_s, "lost_core_hours": lost}
        return costs

    def heard(self, report: Report) -> None:
        """Take what the watcher saw: it decides when a stop need not wait any longer."""
        self._speech = report.cursor.speech
        self._progress = report.progress or self._progress
        # The report must have been made after the stop was asked for.
        done = report.stopping and (report.frames or not report.in_progress)
        if self.asked == "stop" and done:
            self._state.do(Request("frame-done"))
            self.asked = "stopping"

    def look(self, *, buffer: bool) -> None:
        """Have them looked at; ``buffer``: also the job that has it."""
        stages = self._state.site.job_stages_in and not self._history.staged_in
        runs = self._begun and self.simulation in self.live
        live = frozenset(self.live) if runs else frozenset()
        due, ahead = runs and self.next_job.is_due, self.next_job.name
        self._state.do(
            SeeJobs(live, self.simulation, began=self.over, staged=stages, buffer=buffer,
                    begun=due, ahead=ahead)
        )  # fmt: skip

    def take_sight(self, seen: JobsSeen) -> None:
        """Take what was seen; journal what the first job reports of its stage in, once."""
        self.seen = seen
        self.next_job.take_sight(seen)
        done = seen.staged
        if done is not None and not self._history.staged_in:
            self._history.staged_in = True
            self._state.outbox.append(
                ev.StageInDone(files=done.files, bytes=done.bytes, left=done.left)
            )

    def stop(self) -> None:
        """Journal a request to stop; the supervisors see the request themselves as well."""
        control = self._state.stop.control
        if control is None:
            return
        if self.asked is None or (control == "stop-now" and self.asked != "stop-now"):
            self._why = self._why or dict(self._state.stop.reason)
            by, guard, user = map(self._why.get, ("by", "guard", "user"))
            self._state.outbox.append(
                ev.ControlReceived(control=control, by=by, guard=guard, user=user)
            )
            self._state.do(Sync())
            self.next_job.cancel()
            self.asked = control

    @property
    def over(self) -> bool:
        """Whether all jobs were started and have ended."""
        return self._begun and not self.live

    @property
    def writes_no_more(self) -> bool:
        """Whether all have ended, or only a full disk hides that they have."""
        return self.over or (self._begun and (self._speech.ended_well or self.is_silent))

    @property
    def is_silent(self) -> bool:
        """Whether the programs of all live jobs have ended, as this machine or the scheduler says,
        which the run directory has not taken yet."""
        return self._begun and self.simulation in self.live and self.seen.silent

    @property
    def holders(self) -> bool:
        """Whether a step that may read raw frames is still to end well."""
        unfinished = {name for name, end in self.ends.items() if end is None or not end.well}
        return any(not name.startswith("attempt-") for name in self.live | unfinished)

    def is_ended_by(self, node: DescribeJobs, error: BaseException) -> bool:
        """Whether the attempt ends by that error of its description: it has nothing to compute, as
        the one before was ended in its last step, or cannot be started from its checkpoint."""
        if isinstance(error, NothingLeftError):
            end, outcome = Ended(0, None, "exited"), "done"
            self._speech, self.has_nothing_left = Speech(ended_well=True), True
            after = {step.name for step in self.steps.of("after")}
            self.steps.jobs = {name: job for name, job in self.steps.jobs.items() if name in after}
        elif node.continuation.time is not None and isinstance(error, RecipeError | SiteError):
            end, outcome = Ended(None, None, "not started", str(error)), "failed"
            self.segments.problem = f"attempt {self.attempt} cannot be started: {error}"
        else:
            return False
        self.ends[self.simulation], self._begun = end, True
        event = ev.SimulationEnded(
            job=self.simulation, attempt=self.attempt, outcome=outcome, message=str(error)
        )
        self._state.outbox.append(event)
        return True

    @property
    def following(self) -> bool:
        """Whether another attempt is to resume where this one has ended. Steps beside it need not
        have ended: the next attempt has its own."""
        over = self._begun and not (self.live - self.steps.beside.keys())
        return over and not self.segments.problem and self.segments.follows(self._end)

    @property
    def _end(self) -> Ended | None:
        """How the simulation ended: well, where it had come to its end as it was asked to stop."""
        end = self.ends.get(self.simulation)
        if end is None or not self._speech.ended_well:
            return end
        asked = end.reason == STOP_BY and end.exit_code == 0
        return replace(end, reason="exited") if asked else end

    def outcome(self) -> Outcome:
        """The outcome, when all jobs are over."""
        end = self._end
        if end is None:
            why = f": {self._unknown}" if self._unknown else ""
            return Outcome("failed", 1, f"how the simulation ended is not known{why}")
        if end.stopped:
            return self._stopped()
        if (end.well and self.continuation.until_s is not None) or self.segments.is_cut_by(end):
            return self._cut()
        if self.segments.problem:
            return Outcome("failed", 1, self.segments.problem, self._speech.why)
        if end.reason in CUTS:
            return self._over(f"the model {end.text()}", end)
        if not end.well:
            code = failure_code(end.message, self._speech.why)
            message = f"the model {end.text()}"
            return Outcome("failed", code, message, self._speech.why)
        if not self._speech.ended_well and self._state.context.facts.tells_end:
            message = "the model ended with exit code 0 but never said that it was done"
            return Outcome("failed", failure_code(self._speech.why), message, self._speech.why)
        others = {name: other for name, other in self.ends.items() if name != self.simulation}
        failed = [name for name, other in others.items() if other is None or not other.well]
        if failed:
            return Outcome("failed", 1, f"{', '.join(failed)} failed; see {self._run.logs}")
        return Outcome("done", 0)

    def _cut(self) -> Outcome:
        """The outcome of a run whose last attempt was to be followed by another one."""
        attempt = self.attempt
        trips = [one for one in self._history.stopping.values() if one.attempt == attempt]
        if trips:
            first = min(trips, key=lambda trip: trip.moment)
            message = f'stopped by guard "{first.guard}": {first.text}'
            return Outcome("stopped", STOPPED_BY_GUARD, message)
        if self._state.stop.control is not None:
            return self._stopped()
        most = f"attempt {attempt} was the last of the jobs that simulation.segments allows"
        end = self.ends[self.simulation]
        message = self.segments.problem or most
        if end is None or not self.segments.is_cut_by(end):
            return Outcome("failed", 1, message, self._speech.why)
        return self._over(message, end)

    def _over(self, message: str, end: Ended) -> Outcome:
        """The outcome of a run whose last job's time was over: with what is lost, and what can be
        done."""
        lost = self.segments.lost(self.attempt, end)
        text, why = f"{message}; {lost.text()}", self._speech.why
        code = failure_code(end.message, why)
        return Outcome("failed", code, text, why, advice=advice(self._state))

    def _stopped(self) -> Outcome:
        """The outcome of a run that a person, a guard or a full buffer has stopped, from the file
        in ``control/``: the driver that asked may not be the one that sees the end."""
        ends = [end.why for end in self.ends.values() if end is not None and end.why]
        why = self._why or dict(self._state.stop.reason) or (dict(ends[0]) if ends else {})
        code = BY.get(str(why.get("by")), STOPPED)
        message = "stopped, as asked"
        if code == STOPPED_BY_GUARD:
            message = f"stopped by {why.get('text') or 'a guard'}"
        elif code == NO_SPACE:
            message = str(why.get("text") or "stopped for want of space")
        return Outcome("stopped", code, message, saved_node_hours=self._saved_node_hours())

    def _saved_node_hours(self) -> float | None:
        """What the rest of the simulation would have cost at the speed so far: an estimate."""
        if self._progress is None or self._progress.eta_s is None:
            return None
        return round(self._progress.eta_s / 3600 * self._recipe.simulation.nodes, 4)
