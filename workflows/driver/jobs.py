"""The supervised jobs of a run: the simulation's attempts and the steps around it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.cluster_configs.scheduler import QueuePlace
from burstlens.core.durable import read_json
from burstlens.core.existence import check_existence
from burstlens.core.exit_codes import NO_SPACE, STOPPED, STOPPED_BY_GUARD
from burstlens.core.model import Progress
from burstlens.core.no_space import failure_code
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.workflows.driver.last_line import last_line
from burstlens.workflows.frames.cursor import Speech
from burstlens.workflows.frames.report import Report
from burstlens.workflows.placement import direct_requests
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_file import JobFile
from burstlens.workflows.placement.job_folder import has_stopped, lacks
from burstlens.workflows.placement.launch import Launcher, LocalLauncher
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.placement.stage_in import DONE
from burstlens.workflows.placement.supervised import Ended, JobFailedError, describe
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.recipe import Step

if TYPE_CHECKING:
    from burstlens.workflows.ordering.graph import (
        Graph,  # and with it Parsl, a second of importing
    )


class Jobs:
    """Starts them in order, stops them, judges how they ended."""

    def __init__(
        self,
        context: RunContext,
        graph: Graph,
        provision: Provision,
        launcher: Launcher | None,
    ) -> None:
        self.run = context.run
        self.recipe = context.recipe
        self.site = context.site
        self.graph = graph
        self.journal = context.journal
        self.history = context.history
        self.attempt = 0
        self.asked: str | None = None
        self.provision = provision
        self._local = LocalLauncher()
        self._launcher: Launcher = launcher or self._local
        self.live: set[str] = set()
        self.ends: dict[str, Ended | None] = {}
        self.fresh_buffer = False
        """Whether the buffer of earlier attempts is gone, with all that lay there."""
        self._speech = Speech()
        self._unknown = ""
        self._why: dict[str, Any] = {}
        self._progress: Progress | None = None
        self._begun = False
        self._requests = context.requests
        self._requests.send_directly = self._tell
        self._names: dict[str, str] = {}
        """The names of the steps' jobs, by step; none of a step that has ended well."""
        self._described: dict[str, dict[str, Any]] = {}
        self._describe = JobFile(self.run, self.recipe, self.site, self.history, provision)

    @property
    def simulation(self) -> str:
        """The name of the current attempt."""
        return f"attempt-{self.attempt}"

    @property
    def folder(self) -> Path:
        """The job folder of the current attempt, in the run directory."""
        return self.run.job(self.simulation)

    def start(self, buffer: BufferRef) -> None:
        """Submit every job that has not ended well yet, each after those that it needs.

        Raises OSError while the run directory is away or full: nothing is submitted then, and the
        next call goes on.
        """
        if not self.attempt:
            last = self.history.jobs.get(f"attempt-{self.history.attempt}")
            anew = last is None or self.fresh_buffer or last.outcome not in {None, "done"}
            self.attempt = self.history.attempt + 1 if anew else self.history.attempt
            self._note_submission()
        self._write(buffer)
        before: list[Any] = []
        for step in self._steps("before"):
            before += self._submit_step(step, before[-1:])
        simulation = self._node(self.simulation, self.folder, before, self._launcher)
        for step in self._steps("beside"):
            self._submit_step(step, before)
        after = [simulation]
        for step in self._steps("after"):
            after += self._submit_step(step, after[-1:])
        self._begun = True

    def _note_submission(self) -> None:
        """Journal what will be submitted, once."""
        for phase in ("before", "beside", "after"):
            for step in self._steps(phase):
                name = self._name(step)
                if name is not None:
                    self._names[step.name] = name
                    self.journal.append(ev.StepSubmitting(job=name, step=step.name))
            if phase == "before":
                event = ev.SimulationSubmitting(job=self.simulation, attempt=self.attempt)
                self.journal.append(event)

    def _write(self, buffer: BufferRef) -> None:
        """Have all on disk that must be there before a job is submitted. Raises OSError."""
        if self.fresh_buffer:
            (self.run.path / DONE).unlink(missing_ok=True)  # what was staged in is gone with it
        self._describe.open(buffer, self.attempt)
        self.journal.sync()
        for step in self._steps("before"):
            self._describe_step(step)
        self._describe_job(self.simulation, self._describe.simulation)
        for phase in ("beside", "after"):
            for step in self._steps(phase):
                self._describe_step(step)

    def _steps(self, phase: str) -> list[Step]:
        return [step for step in self.recipe.steps if step.phase == phase]

    def _name(self, step: Step) -> str | None:
        """The name of the step's job; None when it has ended well under an earlier driver."""
        times = 1
        while True:
            name = (
                f"step-{step.name}-{times}"
                if step.phase == "before"
                else (f"step-{step.name}-{self.attempt}.{times}")
            )
            record = self.history.jobs.get(name)
            if record is None or (record.outcome is None and not self.fresh_buffer):
                return name
            if record.outcome == "done" and not self.fresh_buffer:
                return None
            times += 1

    def _describe_step(self, step: Step) -> None:
        if step.name in self._names:
            name = self._names[step.name]
            self._describe_job(name, lambda name: self._describe.step(step, name))

    def _describe_job(self, name: str, make: Callable[[str], dict[str, Any]]) -> None:
        """Write what its supervisor is to do, unless it is written. Raises OSError."""
        if not check_existence(self.run.job(name) / "job.json"):
            if name not in self._described:  # once: the first of all stages in
                self._described[name] = make(name)
            describe(self.run.job(name), self._described[name])

    def _submit_step(self, step: Step, after: list[Any]) -> list[Any]:
        """The step's node; none when it has ended well under an earlier driver."""
        if step.name not in self._names:
            return []
        name = self._names[step.name]
        launcher = self._local if step.where == "login" else self._launcher
        return [self._node(name, self.run.job(name), after, launcher)]

    def _node(self, name: str, folder: Path, after: list[Any], launcher: Launcher) -> Any:
        self.live.add(name)
        return self.graph.job("job", name, launcher, folder, after)

    def submitted(self, name: str, job_id: str) -> None:
        """A job's id is known: journal it before anything else happens."""
        if name == self.simulation:
            self.journal.append(
                ev.SimulationSubmitted(job=name, attempt=self.attempt, job_id=job_id)
            )
        else:
            self.journal.append(ev.StepStarted(job=name, job_id=job_id))
        self._settle_journal()

    def _settle_journal(self) -> None:
        # A target that is full or away now gets these lines first when it is back.
        with contextlib.suppress(OSError):
            self.journal.sync()

    def ended(self, name: str, value: Ended | None, error: BaseException | None) -> Outcome | None:
        """Take a job's end; returns an outcome when nothing can follow it any more."""
        self.live.discard(name)
        end = error.ended if isinstance(error, JobFailedError) else value
        self.ends[name] = end
        message = f"{name} {end.text()}" if end else f"{name} did not run: {_root(error)}"
        state = "done" if end and end.well else "stopped" if end and end.stopped else "failed"
        if state != "done" and end is None:
            self._unknown = _root(error)  # a job that it waited for failed, and reports that
            return None
        kind = ev.SimulationEnded if name == self.simulation else ev.StepEnded
        known = self.history.jobs.get(name)
        if known is None or known.outcome is None:
            self.journal.append(
                kind(job=name, attempt=self.attempt, outcome=state, message=message)
            )
            self._settle_journal()
        before = {f"step-{step.name}" for step in self._steps("before")}
        if state != "done" and name.rpartition("-")[0] in before:
            log = self.run.logs / name / f"{name}.log"
            said = last_line(log) if state == "failed" else ""
            exit_code = self._stopped().exit_code if state == "stopped" else failure_code(
                said, message
            )  # fmt: skip
            why = f"{message}: {said}" if said else message
            return Outcome(state, exit_code, f"{why}; its log is {log}")
        return None

    def heard(self, report: Report) -> None:
        """Take what the watcher saw: it decides when a stop need not wait any longer."""
        self._speech = report.cursor.speech
        self._progress = report.progress or self._progress
        # The report must have been made after the stop was asked for.
        done = report.stopping and (report.frames or not report.in_progress)
        if self.asked == "stop" and done:
            self._requests.make_request("frame-done")
            self.asked = "stopping"

    @property
    def waits(self) -> str:
        """Why a job has not begun, if a scheduler says why; else empty."""
        return next(iter(self._launcher.waits.values()), "")

    @property
    def place(self) -> QueuePlace | None:
        """Where that job stands in the scheduler's queue, if that is known."""
        return self._launcher.place

    def note_stage_in(self) -> None:
        """Journal what the first job reports of its stage in, once."""
        if self.site.job_stages_in and not self.history.staged_in:
            counts = None
            with contextlib.suppress(OSError):  # looked for again in a moment
                counts = read_json(self.run.path / DONE)
            if counts is not None:
                self.history.staged_in = True
                files, size, left = (counts.get(name) for name in ("files", "bytes", "left"))
                self.journal.append(ev.StageInDone(files=files, bytes=size, left=left))

    @property
    def began(self) -> bool:
        """Whether the simulation's program was started in this attempt, as far as can be seen."""
        return not lacks(self.folder, "started.json")

    def _tell(self, name: str, reason: Mapping[str, Any] | None) -> bool:
        """Give a request to the supervisors on this node that live; whether there is any."""
        told = [direct_requests.send(self.run.job(job), name, reason) for job in self.live]
        return any(told)

    def stop(self, asked: str) -> None:
        """Journal a request to stop; the supervisors see the request themselves as well."""
        if self.asked is None or (asked == "stop-now" and self.asked != "stop-now"):
            self._why = self._why or self.run.stop_reason()
            by, guard, user = map(self._why.get, ("by", "guard", "user"))
            self.journal.append(ev.ControlReceived(control=asked, by=by, guard=guard, user=user))
            self._settle_journal()
            self.asked = asked

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
        if not self._begun or self.simulation not in self.live:
            return False
        if self._launcher is not self._local and self.folder not in self._launcher.unreported:
            return False  # the loop waits for no file server
        return all(self._has_gone(name) for name in self.live)

    def _has_gone(self, name: str) -> bool:
        folder = self.run.job(name)
        if folder in self._launcher.unreported | self._local.unreported:
            return True
        begins = name == self.simulation or not lacks(folder, "submitting")
        return has_stopped(folder, must_begin=begins)

    @property
    def holders(self) -> bool:
        """Whether a step that may read raw frames is still to end well."""
        unfinished = {name for name, end in self.ends.items() if end is None or not end.well}
        return any(not name.startswith("attempt-") for name in self.live | unfinished)

    def outcome(self) -> Outcome:
        """The outcome, when all jobs are over."""
        end = self.ends.get(self.simulation)
        if end is None:
            why = f": {self._unknown}" if self._unknown else ""
            return Outcome("failed", 1, f"how the simulation ended is not known{why}")
        if end.stopped:
            return self._stopped()
        if not end.well:
            code = failure_code(end.message, self._speech.why)
            message = f"the model {end.text()}"
            return Outcome("failed", code, message, self._speech.why)
        if not self._speech.ended_well and self.recipe.model.facts(self.recipe.inputs).tells_end:
            message = "the model ended with exit code 0 but never said that it was done"
            return Outcome("failed", failure_code(self._speech.why), message, self._speech.why)
        failed = [name for name, other in self.ends.items() if other is None or not other.well]
        if failed:
            return Outcome("failed", 1, f"{', '.join(failed)} failed; see {self.run.logs}")
        return Outcome("done", 0)

    def _stopped(self) -> Outcome:
        """The outcome of a run that a person, a guard or a full buffer has stopped, from the file
        in ``control/``: the driver that asked may not be the one that sees the end."""
        ends = [end.why for end in self.ends.values() if end is not None and end.why]
        why = self._why or self.run.stop_reason() or (dict(ends[0]) if ends else {})
        saved = self._saved_node_hours()
        if why.get("by") == "guard":
            message = f"stopped by {why.get('text') or 'a guard'}"
            return Outcome("stopped", STOPPED_BY_GUARD, message, saved_node_hours=saved)
        if why.get("by") == "space":
            message = str(why.get("text") or "stopped for want of space")
            return Outcome("stopped", NO_SPACE, message, saved_node_hours=saved)
        return Outcome("stopped", STOPPED, "stopped, as asked", saved_node_hours=saved)

    def _saved_node_hours(self) -> float | None:
        """What the rest of the simulation would have cost at the speed so far: an estimate."""
        if self._progress is None or self._progress.eta_s is None:
            return None
        return round(self._progress.eta_s / 3600 * self.recipe.simulation.nodes, 4)


def _root(error: BaseException | None) -> str:
    while error is not None and error.__cause__ is not None:
        error = error.__cause__
    return str(error)
