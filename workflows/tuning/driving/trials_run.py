"""A tuning: short runs of one recipe, one after another, until a verdict.

Every trial is a supervised job on the run's one buffer, as an attempt of a run is; what the journal
has of them decides what comes next, so that a driver that was killed is followed by one that goes
on at the same trial.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.core.errors import BurstlensError, GivenUpError
from burstlens.core.exit_codes import FAILED, STOPPED
from burstlens.core.outcome import Outcome, failure_code
from burstlens.core.run import events as ev
from burstlens.workflows.deciding.buffered import BufferedRun
from burstlens.workflows.deciding.homecoming import with_left
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.publishing.snapshot import JobsNow
from burstlens.workflows.tuning.course import Course, Ending
from burstlens.workflows.tuning.driving import collected as trials
from burstlens.workflows.tuning.driving import results, trial_files
from burstlens.workflows.tuning.driving.collected import Collected
from burstlens.workflows.tuning.driving.trial_files import Preparation, TrialFiles
from burstlens.workflows.tuning.options import configuration_of, trials_of
from burstlens.workflows.tuning.space import Plan
from burstlens.workflows.tuning.table import tune_of

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

LOST = 3
"""Trials in a row that may be lost, as by preemption, before the tuning ends."""


class TrialsRun(BufferedRun):
    """Decides for a tuning. There is no attempt of the model that would be a run of its own.

    ``hosted``: the buffer is that of a job, in which all trials run.
    """

    def __init__(
        self, state: RunState, course: Course, files: TrialFiles, *,
        buffer_name: str, lasts: bool, hosted: bool,
    ) -> None:  # fmt: skip
        super().__init__(state, buffer_name=buffer_name, lasts=lasts)
        self._asked: str | None = None
        self._over = False
        self._seen = happened.JobsSeen()
        self._course, self._files, self._hosted = course, files, hosted
        self._steps = Preparation(state)
        self._fresh = True
        self._begun = 0.0
        self._ended: dict[str, tuple[Ended, float]] = {}

    def jobs_now(self) -> JobsNow:
        """The trial under way, which is no attempt of the run's."""
        seen = self._seen
        return JobsNow(0, self._asked, seen.waits, seen.place, self._over)

    # The buffer and the inputs.

    def begin(self) -> None:
        """Ask for the buffer, unless a former driver has concluded."""
        state = self.state
        if state.site.scheduler == LOCAL:
            state.open_block()
        if state.history.concluded and isinstance(step := self._step(), Ending):
            # A former driver died, or could not give the buffer back: asking would make a new one.
            self.buffer = self.known
            self._conclude(step)
        else:
            self.ask_for_buffer()

    def buffer_ready(self, event: happened.BufferReady) -> None:
        """Stage in, or go on where a former driver has stopped."""
        self.take_buffer(event)
        if self._hosted:
            self.state.open_block()
        self._fresh = not event.adopted
        if self.state.history.staged_in or self.state.site.job_stages_in:
            self._make_ready()
        else:
            self.stage_in()

    def staged_in(self, event: happened.StagedIn) -> None:
        """Prepare the inputs."""
        self.note_stage_in(event)
        self._make_ready()

    def _make_ready(self) -> None:
        """Run the steps that prepare the inputs, then begin with the trials."""
        self.state.snapshot.state = "starting"
        job = self._steps.next_job(fresh=self._fresh)
        if job is None:
            self._go_on()
        else:
            self._ask(self._files.describe_step, *job)

    def _ask(self, function: Callable[..., str], name: str, *args: Any) -> None:
        """Have written beside the loop what the supervisor of a job is to do."""
        place = todo.AskPlace.BESIDE
        ask = todo.Ask("described", function, (name, *args), place, about=name, again=True)
        self.state.do(ask)

    # The trials.

    def _go_on(self) -> None:
        """Take up the trial that a former driver has left, else begin the next one, else end."""
        state, known = self.state, self.state.history.trials
        state.snapshot.state = "running"
        name = next(reversed(known), "")
        if name and known[name].ended is None:
            self._describe(name)
            return
        if state.stop.control is not None:
            self._finish(Outcome("stopped", STOPPED, "stopped, as asked"))
            return
        try:
            step = self._step()
        except BurstlensError as error:
            self._finish(Outcome("failed", FAILED, str(error)))
            return
        if isinstance(step, Ending):
            self._conclude(step)
            return
        name = f"trial-{len(known) + 1}"
        state.outbox.append(trial_files.submission(name, step))
        state.do(todo.Sync(required=True))
        self._describe(name)

    def _step(self) -> Plan | Ending:
        """What comes after the trials so far. Raises BurstlensError."""
        return self._course.after(trials_of(self.state.history.trials.values()))

    def _describe(self, name: str) -> None:
        trials = self.state.history.trials
        limit_s = self._course.limit_s(trials_of(trials.values()))
        self._ask(self._files.prepared, name, trials[name].submitting.values, limit_s)

    def answered(self, event: happened.QuestionAnswered) -> None:
        """Launch what is described; judge what was collected; end with the results."""
        about, value = event.ask.about, event.value
        match event.ask.kind:
            case "described" if about in self.state.history.trials:
                self._launch(about, value)
            case "described":
                self.state.do(todo.Launch(about, on_login=self._steps.is_on_login(about)))
            case "collected":
                self._judge(about, value)
            case "results":
                self._finish(self._end_of(about, value), concluded=True)

    def _launch(self, name: str, refusal: str) -> None:
        if refusal:
            self._note(name, ev.TrialEnded(job=name, outcome="failed", message=refusal))
            self._go_on()
            return
        self._begun = self.state.now
        begun = self.state.history.trials[name].submitting
        what = configuration_of(begun.values).text()
        self.state.snapshot.note(f"{name} ({begun.phase}): {what}")
        self.state.do(todo.Launch(name))

    def job_submitted(self, event: happened.JobSubmitted) -> None:
        """Journal the job's id."""
        kind = ev.TrialSubmitted if event.name in self.state.history.trials else ev.StepStarted
        self.state.outbox.append(kind(job=event.name, job_id=event.job_id))
        self.state.do(todo.Sync(required=True))

    def job_ended(self, event: happened.JobEnded) -> None:
        """Go on after a step, or collect what a trial has left."""
        name, end = event.name, event.end
        if end is None:
            code = failure_code(event.problem)
            self._finish(Outcome("failed", code, f"{name}: {event.problem}"))
        elif name in self.state.history.trials:
            # By its supervisor's clock, else as long as the driver saw it; nobody sets either.
            took_s = self.state.now - self._begun if end.seconds is None else end.seconds
            self._ended[name] = end, took_s
            self._collect(name, end)
        elif why := self._steps.ended(event, end):
            state, code = ("stopped", STOPPED) if end.stopped else ("failed", FAILED)
            self._finish(Outcome(state, code, why))
        else:
            self._make_ready()

    def _collect(self, name: str, end: Ended) -> None:
        recipe, logs = self.state.recipe, str(self.state.run.logs / name)
        folder = trial_files.folder_of(name)
        args = self.buffer, folder, recipe.model, tune_of(recipe).skip, logs, end.well
        self.state.do(todo.Ask("collected", trials.collect, args, about=name, again=True))

    def _judge(self, name: str, collected: Collected) -> None:
        if name not in self._ended:
            return
        end, took_s = self._ended.pop(name)
        records = self.state.history.trials.values()
        event = trial_files.judged(name, end, took_s, collected, records, self.state.t)
        self._note(name, event)
        if event.outcome == "stopped":
            self._finish(Outcome("stopped", STOPPED, "stopped, as asked"))
        elif trial_files.lost_in_a_row(records) >= LOST:
            message = f"{LOST} trials in a row were lost: {event.message}"
            self._finish(Outcome("failed", FAILED, message))
        else:
            self._go_on()

    def _note(self, name: str, event: ev.TrialEnded) -> None:
        state = self.state
        state.outbox.append(event)
        state.do(todo.Sync(required=True))
        state.snapshot.note(f"{name}: {trial_files.in_words(event)}")
        if event.outcome in {"failed", "lost"}:
            state.snapshot.alarm(f"{name} {event.outcome}: {event.message}")

    # The end.

    def _conclude(self, ending: Ending) -> None:
        """Have the results written."""
        done = trials_of(self.state.history.trials.values())
        args = self.state.run, self._course.space, done, ending
        self.state.do(todo.Ask("results", results.write, args, todo.AskPlace.LOOP, about=ending))

    def _end_of(self, ending: Ending, text: str) -> Outcome:
        if not self.state.history.concluded:
            self.state.outbox.append(results.event_of(ending))
            self.state.do(todo.Sync(required=True))
        return Outcome("failed", FAILED, text) if ending.failed else Outcome("done", 0, text)

    def _finish(self, outcome: Outcome, *, concluded: bool = False) -> None:
        """Give the buffer back where the tuning is ``concluded``, so that no resume needs it, or
        where it goes with its job."""
        self._over = True
        state = self.state
        if self.buffer is None or (self.lasts and not concluded):
            state.finish(outcome)
            return
        state.snapshot.state = "giving the buffer back"
        gives_back = self._hosted or bool(self.buffer.name and self.buffer.owned)
        if gives_back:
            state.do(todo.CloseBlock())
        state.do(todo.Destroy(self.buffer, outcome, gives_back))

    def buffer_freed(self, event: happened.BufferFreed) -> None:
        """The tuning is over."""
        self.state.outbox.append(ev.BufferReleased())
        self.state.finish(event.outcome)

    def refused(self, event: happened.NodeFailed) -> None:
        """End the tuning where what failed is needed; a trial that cannot be read says so."""
        error = event.error
        match event.node:
            case todo.ProvideBuffer():
                given_up = isinstance(error, GivenUpError)
                state, code = ("stopped", STOPPED) if given_up else ("failed", FAILED)
                self.state.finish(Outcome(state, code, str(error)))
            case todo.StageIn():
                message = f"stage in failed: {error}"
                self._finish(Outcome("failed", failure_code(error), message))
            case todo.Ask(kind="described", about=name):
                message = f"{name} cannot be described: {error}"
                self._finish(Outcome("failed", failure_code(error), message))
            case todo.Ask(kind="collected", about=name):
                self._judge(name, Collected(None, str(error), 0.0))
            case todo.Ask(kind="results"):
                text = str(error)
                if isinstance(error, OSError):
                    text = f"{error.filename or self.state.run.path} cannot be written: "
                    text += str(error.strerror)
                self._finish(Outcome("failed", failure_code(error), text))
            case todo.Destroy(buffer=buffer, outcome=outcome):
                self.state.finish(with_left(outcome, self.state.run.id, buffer, error))

    # Beside all that.

    def pause_seen(self, event: happened.PauseSeen) -> None:
        """A tuning has no products that could wait."""

    def stop_requested(self) -> None:
        """Journal what is asked; the supervisor of the trial sees it itself."""
        asked = self.state.stop.control
        if asked is not None and asked != self._asked:
            self._asked = asked
            self.state.outbox.append(ev.ControlReceived(control=asked))

    def tick(self) -> None:
        """Look at the job of the trials."""
        has_buffer = self.buffer is not None and not self._over
        self.state.do(todo.SeeJobs(frozenset(), "", buffer=has_buffer))

    def jobs_seen(self, event: happened.JobsSeen) -> None:
        """Replace a viewing block that died; the tuning ends with the job that has the buffer."""
        self._seen = event
        if self.buffer is None or self._over:
            return
        if event.buffer_end:
            self.state.outbox.append(ev.BufferReleased())
            again = f"burstlens resume {self.state.run.id} goes on in a new job"
            message = f"the job of the trials has ended ({event.buffer_end}); {again}"
            self.state.finish(Outcome("failed", FAILED, message))
        elif event.buffer_end is not None:
            self.state.do(todo.MendBlock(self.state.kinds))
