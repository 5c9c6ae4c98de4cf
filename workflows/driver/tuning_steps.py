"""The steps of a tuned recipe that prepare its inputs: run once, before the first trial."""

from __future__ import annotations

from burstlens.core.existence import check_existence
from burstlens.core.passing_errors import again
from burstlens.core.run import events as ev
from burstlens.workflows.driver.last_line import last_line
from burstlens.workflows.ordering.graph import Graph
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_file import JobFile
from burstlens.workflows.placement.launch import Launcher, LocalLauncher
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.placement.supervised import Ended, describe
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.recipe import Step


class Preparation:
    """Starts them one after another. On a ``fresh`` buffer, what an earlier driver did is gone."""

    def __init__(
        self, context: RunContext, graph: Graph, provision: Provision, launcher: Launcher
    ) -> None:
        self._run, self._journal, self._history = context.run, context.journal, context.history
        self._steps = [step for step in context.recipe.steps if step.phase == "before"]
        self._graph = graph
        self._launcher, self._local = launcher, LocalLauncher()
        self._files = JobFile(context.run, context.recipe, context.site, context.history, provision)
        self._done: set[str] = set()
        self._begun: dict[str, tuple[Step, BufferRef]] = {}

    def go_on(self, buffer: BufferRef, *, fresh: bool) -> bool:
        """Start the next step; False where all are done."""
        for step in self._steps:
            if step.name in self._done:
                continue
            times = 1
            while (record := self._history.jobs.get(self._name(step, times))) is not None:
                if record.outcome is None or (record.outcome == "done" and not fresh):
                    break
                times += 1
            if record is not None and record.outcome == "done":
                self._done.add(step.name)
                continue
            self._begin(step, self._name(step, times), buffer)
            return True
        return False

    def launch(self, name: str) -> None:
        """Start the job of a step that is described."""
        launcher = self._local if self._begun[name][0].where == "login" else self._launcher
        self._graph.job("step", name, launcher, self._run.job(name), [])

    def submitted(self, name: str, job_id: str) -> None:
        """A step's job is known."""
        self._journal.append(ev.StepStarted(job=name, job_id=job_id))
        self._journal.sync()

    def ended(self, name: str, end: Ended) -> str:
        """Take a step's end; returns why the tuning cannot go on, else an empty text."""
        outcome = "done" if end.well else "stopped" if end.stopped else "failed"
        message = f"{name} {end.text()}"
        self._journal.append(ev.StepEnded(job=name, outcome=outcome, message=message))
        self._journal.sync()
        if end.well:
            self._done.add(name.removeprefix("step-").rpartition("-")[0])
            return ""
        log = self._run.logs / name / f"{name}.log"
        said = "" if end.stopped else last_line(log)
        return f"{message}: {said}; its log is {log}" if said else f"{message}; its log is {log}"

    @staticmethod
    def _name(step: Step, times: int) -> str:
        return f"step-{step.name}-{times}"

    def _begin(self, step: Step, name: str, buffer: BufferRef) -> None:
        if name not in self._history.jobs:
            self._journal.append(ev.StepSubmitting(job=name, step=step.name))
            self._journal.sync()
        self._begun[name] = step, buffer
        self.describe(name)

    def describe(self, name: str) -> None:
        """Write what the supervisor of a step that has begun is to do, beside the loop."""
        self._graph.login("described", name, self._write, name, *self._begun[name])

    def _write(self, name: str, step: Step, buffer: BufferRef) -> None:
        folder = self._run.job(name)
        if not again(lambda: check_existence(folder / "job.json")):
            self._files.open(buffer, 0)
            describe(folder, self._files.step(step, name))
