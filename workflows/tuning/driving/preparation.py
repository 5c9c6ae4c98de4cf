"""The steps of a tuned recipe that prepare its inputs: run once, before the first trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstlens.core.run import events as ev
from burstlens.workflows.ordering.events import JobEnded
from burstlens.workflows.ordering.instructions import Sync
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.recipe.recipe import Step

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState


class Preparation:
    """Says which one comes next. On a ``fresh`` buffer, what an earlier driver did is gone."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._steps = [step for step in state.recipe.steps if step.phase == "before"]
        self._done: set[str] = set()

    def next_job(self, *, fresh: bool) -> tuple[str, Step] | None:
        """The name of the next job, journalled, and its step; None where all are done."""
        history = self._state.history
        for step in self._steps:
            if step.name in self._done:
                continue
            times = 1
            while (record := history.jobs.get(name := f"step-{step.name}-{times}")) is not None:
                if record.outcome is None or (record.outcome == "done" and not fresh):
                    break
                times += 1
            if record is not None and record.outcome == "done":
                self._done.add(step.name)
                continue
            if record is None:
                self._state.outbox.append(ev.StepSubmitting(job=name, step=step.name))
                self._state.do(Sync(required=True))
            return name, step
        return None

    def is_on_login(self, name: str) -> bool:
        """Whether that job runs on the driver's own machine."""
        of = name.removeprefix("step-").rpartition("-")[0]
        return any(step.name == of and step.where == "login" for step in self._steps)

    def ended(self, event: JobEnded, end: Ended) -> str:
        """Take a step's end; returns why the tuning cannot go on, else an empty text."""
        name, state = event.name, self._state
        outcome = "done" if end.well else "stopped" if end.stopped else "failed"
        message = f"{name} {end.text()}"
        state.outbox.append(ev.StepEnded(job=name, outcome=outcome, message=message))
        state.do(Sync(required=True))
        if end.well:
            self._done.add(name.removeprefix("step-").rpartition("-")[0])
            return ""
        log = state.run.logs / name / f"{name}.log"
        said = f": {event.said}" if event.said else ""
        return f"{message}{said}; its log is {log}"
