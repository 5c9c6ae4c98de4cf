"""The driver of a tuning: short runs of one recipe, one after another, until a verdict.

Every trial is a supervised job on the run's one buffer, as an attempt of a run is; what the journal
has of them decides what comes next, so that a driver that was killed is followed by one that goes
on at the same trial.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from burstlens.cluster_configs.scheduler import QueuePlace
from burstlens.core.errors import BurstlensError, GivenUpError, RunError
from burstlens.core.existence import surely_exists
from burstlens.core.exit_codes import FAILED, STOPPED
from burstlens.core.no_space import failure_code
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.facts import facts_of
from burstlens.workflows.driver import tuning_results, tuning_trial
from burstlens.workflows.driver.buffer_events import note_buffer
from burstlens.workflows.driver.buffer_job import BufferJob
from burstlens.workflows.driver.homecoming import with_left
from burstlens.workflows.driver.presence import Presence
from burstlens.workflows.driver.target import TICK_S
from burstlens.workflows.driver.tuning_options import TuneOptions, course_of, trials_of
from burstlens.workflows.driver.tuning_steps import Preparation
from burstlens.workflows.driver.viewing import Viewing
from burstlens.workflows.hints.stripes import folder_stripes
from burstlens.workflows.making import trials
from burstlens.workflows.making.trials import Collected
from burstlens.workflows.ordering.graph import Done, Graph
from burstlens.workflows.ordering.retries import Retries
from burstlens.workflows.placement import buffer as buffers
from burstlens.workflows.placement import direct_requests
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_buffer import JobBuffer
from burstlens.workflows.placement.launch import Launcher, LocalLauncher
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.placement.supervised import Ended, JobFailedError
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.snapshot import Snapshot
from burstlens.workflows.tuning.course import Ending
from burstlens.workflows.tuning.table import tune_of
from burstlens.workflows.tuning.trial import Plan

LOST = 3
"""Trials in a row that may be lost, as by preemption, before the tuning ends."""


class Tuner:
    """Drives one tuning to its end. ``tick`` is called about twice a second with the snapshot."""

    attempt = 0
    """There is no attempt of the model that would be a run of its own."""

    def __init__(
        self,
        context: RunContext,
        graph: Graph,
        provision: Provision,
        launcher: Launcher | None,
        tick: Callable[[Snapshot], None],
    ) -> None:
        self.run, self.recipe, self.site = context.run, context.recipe, context.site
        self.graph, self.provision = graph, provision
        self.journal, self.history = context.journal, context.history
        self.snapshot = context.snapshot
        options = TuneOptions.of(facts_of(self.run, "tuning").tuning or {})
        self.course = course_of(self.recipe, self.site, options)
        self.files = tuning_trial.TrialFiles(context, provision)
        self._requests = context.requests
        self._requests.send_directly = self._tell
        self.presence = Presence(self.run, self.history, self.site.scheduler)
        self.launcher: Launcher = launcher or LocalLauncher()
        self._steps = Preparation(context, graph, provision, self.launcher)
        self._fresh = True
        self.buffer: BufferRef | None = None
        self.asked: str | None = None
        self.over = False
        self._number = 0
        self._begun = 0.0
        self._ended: dict[str, tuple[Ended, float]] = {}
        self._end: Outcome | None = None
        self._retries = Retries(self.snapshot.alarm)
        self._viewing = Viewing(context, graph)
        self._buffer_job = BufferJob(provision, graph)
        self._tick, self._ticked = tick, 0.0
        self._handlers: dict[str, Callable[[Done], None]] = {
            "buffer": self._on_buffer,
            "stagein": self._on_staged_in,
            "submitted": self._on_submitted,
            "described": self._on_described,
            "step": self._on_step,
            "job": self._on_job,
            "collected": self._on_collected,
            "freed": self._on_freed,
            "warm": lambda done: None,
        }

    @property
    def waits(self) -> str:
        """Why the job has not begun, if a scheduler says why."""
        return next(iter(self.launcher.waits.values()), "")

    @property
    def place(self) -> QueuePlace | None:
        """Where it stands in the scheduler's queue, if that is known."""
        return self.launcher.place

    def drive(self) -> Outcome:
        """Run to the end. Raises RunError when another driver took over, or the run directory is
        lost."""
        if self.site.scheduler == "local":
            self._viewing.open()
        self._prepare()
        try:
            while self._end is None:
                for done in self.graph.events(TICK_S):
                    if done.error is None:
                        self._viewing.gave()
                    self._handlers[done.kind](done)
                self._look_around(time.monotonic())
            self._tick(self.snapshot)  # the last trial may have ended since the last tick
            return self._end
        finally:
            self.presence.close()

    # The buffer and the inputs.

    def _prepare(self) -> None:
        known = BufferRef(**self.history.buffer) if self.history.buffer else None
        known = None if self.history.buffer_released else known
        if self.history.concluded and isinstance(step := self._step(), Ending):
            # A former driver died, or could not give the buffer back: asking would make a new one.
            self.buffer = known
            self._conclude(step)
            return
        self.snapshot.state = "waiting for the buffer"
        if known is None:
            kind, name = self.site.buffer.kind, self.provision.name
            self.journal.append(ev.BufferRequested(kind=kind, name=name))
            self.journal.sync()
        self.graph.login("buffer", None, self.provision.provide, known)

    def _on_buffer(self, done: Done) -> None:
        if self._retries.lost(done, self._prepare):
            return
        if done.error is not None:
            stopped = isinstance(done.error, GivenUpError)
            state, code = ("stopped", STOPPED) if stopped else ("failed", FAILED)
            self._end = Outcome(state, code, str(done.error))
            return
        found, adopted = done.value
        self.buffer = replace(found, by=found.by or self.site.buffer.stager or "")
        if not adopted:
            self.history.staged_in = False
        note_buffer(self.journal, self.snapshot, self.provision, self.buffer, found=adopted)
        if isinstance(self.provision, JobBuffer):
            self.graph.enter(self.provision.inside())
            self._viewing.open()
        self._fresh = not adopted
        if self.history.staged_in or self.site.job_stages_in:
            self._make_ready()
        else:
            self._stage_in()

    def _stage_in(self) -> None:
        self.snapshot.state = "staging in"
        simulation, model = self.recipe.simulation, self.recipe.model
        stripes = folder_stripes(simulation.stripes, self.recipe.ranks)
        self.graph.view(
            "stagein", None, buffers.stage_in, self.buffer, str(self.recipe.inputs), model,
            simulation.leave, stripes,
        )  # fmt: skip

    def _on_staged_in(self, done: Done) -> None:
        if self._retries.lost(done, self._stage_in):
            return
        if done.error is not None:
            code = failure_code(done.error)
            self._finish(Outcome("failed", code, f"stage in failed: {done.error}"))
            return
        files, size, left = done.value
        self.journal.append(ev.StageInDone(files=files, bytes=size, left=left))
        self._make_ready()

    def _make_ready(self) -> None:
        """Run the steps that prepare the inputs, then begin with the trials."""
        assert self.buffer is not None
        self.snapshot.state = "starting"
        if not self._steps.go_on(self.buffer, fresh=self._fresh):
            self._go_on()

    def _on_step(self, done: Done) -> None:
        end = done.error.ended if isinstance(done.error, JobFailedError) else done.value
        if end is None:
            code = failure_code(done.error)
            self._finish(Outcome("failed", code, f"{done.about}: {done.error}"))
        elif why := self._steps.ended(done.about, end):
            state, code = ("stopped", STOPPED) if end.stopped else ("failed", FAILED)
            self._finish(Outcome(state, code, why))
        else:
            self._make_ready()

    # The trials.

    def _go_on(self) -> None:
        """Take up the trial that a former driver has left, else begin the next one, else end."""
        self.snapshot.state = "running"
        name = next(reversed(self.history.trials), "")
        self._number = len(self.history.trials)
        if name and self.history.trials[name].ended is None:
            self._describe(name)
            return
        if self.run.stop_requested() is not None:
            self._finish(Outcome("stopped", STOPPED, "stopped, as asked"))
            return
        try:
            step = self._step()
            if isinstance(step, Ending):
                self._conclude(step)
            else:
                self._begin(step)
        except BurstlensError as error:
            self._finish(Outcome("failed", FAILED, str(error)))

    def _step(self) -> Plan | Ending:
        """What comes after the trials so far. Raises BurstlensError."""
        return self.course.after(trials_of(self.history.trials.values()))

    def _begin(self, plan: Plan) -> None:
        self._number += 1
        name = f"trial-{self._number}"
        self.journal.append(tuning_trial.submission(name, plan))
        self.journal.sync()
        self._describe(name)

    def _describe(self, name: str) -> None:
        """Write what the supervisor of a trial is to do, beside the loop."""
        limit_s = self.course.limit_s(trials_of(self.history.trials.values()))
        values = self.history.trials[name].submitting.values
        self.graph.login("described", name, self.files.prepared, name, values, limit_s)

    def _on_described(self, done: Done) -> None:
        name: str = done.about
        is_trial = name in self.history.trials
        describe = self._describe if is_trial else self._steps.describe
        if self._retries.lost(done, partial(describe, name)):
            return
        if done.error is not None:
            text = f"{name} cannot be described: {done.error}"
            self._finish(Outcome("failed", failure_code(done.error), text))
        elif is_trial:
            self._launch(name, done.value)
        else:
            self._steps.launch(name)

    def _launch(self, name: str, refusal: str) -> None:
        if refusal:
            self._note(name, ev.TrialEnded(job=name, outcome="failed", message=refusal))
            self._go_on()
            return
        self._begun = time.monotonic()
        begun = self.history.trials[name].submitting
        what = self.files.text(begun.values)
        self.snapshot.note(f"{name} ({begun.phase}): {what}")
        self.graph.job("job", name, self.launcher, self.run.job(name), [])

    def _on_submitted(self, done: Done) -> None:
        if done.about not in self.history.trials:
            self._steps.submitted(done.about, done.value)
            return
        self.journal.append(ev.TrialSubmitted(job=done.about, job_id=done.value))
        self.journal.sync()

    def _on_job(self, done: Done) -> None:
        name: str = done.about
        if isinstance(done.error, JobFailedError):
            end = done.error.ended
        elif done.error is not None:
            self._finish(Outcome("failed", FAILED, f"{name}: {done.error}"))
            return
        else:
            end = done.value
        self._ended[name] = (end, tuning_trial.wall_s(end, self._begun))
        self._collect(name)

    def _collect(self, name: str) -> None:
        model, skip, logs = self.recipe.model, tune_of(self.recipe).skip, str(self.run.logs / name)
        folder = self.files.folder(name)
        well = self._ended[name][0].well
        self.graph.view(
            "collected", name, trials.collect, self.buffer, folder, model, skip, logs, well
        )

    def _on_collected(self, done: Done) -> None:
        name: str = done.about
        if name not in self._ended or self._retries.lost(done, lambda: self._collect(name)):
            return
        end, took_s = self._ended.pop(name)
        collected: Collected = done.value or Collected(None, str(done.error), 0.0)
        event = tuning_trial.judged(name, end, took_s, collected, self.history.trials.values())
        self._note(name, event)
        if event.outcome == "stopped":
            self._finish(Outcome("stopped", STOPPED, "stopped, as asked"))
        elif tuning_trial.lost_in_a_row(self.history.trials.values()) >= LOST:
            self._finish(Outcome("failed", FAILED, f"{LOST} trials in a row were lost: "
                                                   f"{event.message}"))  # fmt: skip
        else:
            self._go_on()

    def _note(self, name: str, event: ev.TrialEnded) -> None:
        self.journal.append(event)
        self.journal.sync()
        self.snapshot.note(f"{name}: {tuning_trial.in_words(event)}")
        if event.outcome in {"failed", "lost"}:
            self.snapshot.alarm(f"{name} {event.outcome}: {event.message}")

    # The end.

    def _conclude(self, ending: Ending) -> None:
        done = trials_of(self.history.trials.values())
        try:
            text = tuning_results.write(self.run, self.course.space, done, ending)
        except OSError as error:
            text = f"{error.filename or self.run.path} cannot be written: {error.strerror}"
            self._finish(Outcome("failed", failure_code(error), text))
            return
        if not self.history.concluded:
            self.journal.append(tuning_results.event_of(ending))
            self.journal.sync()
        state, code = ("failed", FAILED) if ending.failed else ("done", 0)
        self._finish(Outcome(state, code, text), concluded=True)

    def _finish(self, outcome: Outcome, *, concluded: bool = False) -> None:
        """Give the buffer back where the tuning is ``concluded``, so that no resume needs it, or
        where it goes with its job."""
        self.over = True
        if self.buffer is None or (self.provision.lasts and not concluded):
            self._end = outcome
            return
        self.snapshot.state = "giving the buffer back"
        if isinstance(self.provision, JobBuffer) or (self.buffer.name and self.buffer.owned):
            self.graph.close_block()
            self.graph.login("freed", outcome, self.provision.give_back, self.buffer)
        else:
            self.graph.view("freed", outcome, buffers.destroy, self.buffer)

    def _on_freed(self, done: Done) -> None:
        if self._retries.lost(done, lambda: self._finish(done.about, concluded=True)):
            return
        self._end = done.about
        if done.error is None:
            self.journal.append(ev.BufferReleased())
        else:
            assert self.buffer is not None
            self._end = with_left(done.about, self.run.id, self.buffer, done.error)

    # Beside all that.

    def _look_around(self, now: float) -> None:
        self.presence.look(now)
        self._requests.write_held(now)
        self._retries.call_due(now)
        if now - self._ticked < TICK_S:
            return
        self._ticked = now
        if surely_exists(self.run.claim(self.journal.epoch + 1)):
            raise RunError(f"another driver has taken over {self.run.id}; this one ends")
        asked = self.run.stop_requested()
        if asked is not None and asked != self.asked:
            self.asked = asked
            self.journal.append(ev.ControlReceived(control=asked))
        if self.buffer is not None and not self.over:
            self._look_at_block()
        self._viewing.look(self)
        self.snapshot.write()
        self._tick(self.snapshot)

    def _tell(self, name: str, reason: Mapping[str, Any] | None) -> bool:
        """Give a request to the supervisor of the latest trial, if that is on this node."""
        trial = next(reversed(self.history.trials), "")
        return bool(trial) and direct_requests.send(self.run.job(trial), name, reason)

    def _look_at_block(self) -> None:
        """Replace a viewing block that died; the tuning ends with the job that has the buffer."""
        says = self._buffer_job.end()
        if says:
            self.journal.append(ev.BufferReleased())
            again = f"burstlens resume {self.run.id} goes on in a new job"
            message = f"the job of the trials has ended ({says}); {again}"
            self._end = Outcome("failed", FAILED, message)
        elif says is not None:
            self._viewing.mend()
