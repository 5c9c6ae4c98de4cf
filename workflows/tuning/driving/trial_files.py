"""Jobs of a tuning: trials, which are the recipe with other values in a job file, what their end
says, and before them the steps that prepare their inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.cluster_configs.scheduler import CANCELLED, PREEMPTED, TIME_OVER
from burstlens.core.errors import RecipeError
from burstlens.core.existence import again, check_existence
from burstlens.core.run import events as ev
from burstlens.core.run.facts import facts_of
from burstlens.core.run.job_record import TrialRecord
from burstlens.workflows.ordering.events import JobEnded
from burstlens.workflows.ordering.instructions import Sync
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_end import TERMINATED
from burstlens.workflows.placement.job_file import JobFile
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.placement.supervised import Ended, describe
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.recipe import Recipe, Step
from burstlens.workflows.tuning.driving.collected import Collected
from burstlens.workflows.tuning.options import configuration_of
from burstlens.workflows.tuning.space import Plan
from burstlens.workflows.tuning.table import trial_table

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState


class TrialFiles:
    """Writes what the supervisor of each trial is to do."""

    def __init__(self, context: RunContext, provision: Provision) -> None:
        self._context, self._provision = context, provision
        facts = facts_of(context.run, "recipe", "source", "table")
        self._source = str(facts.recipe), Path(str(facts.source))
        self._table = facts.table or {}

    def prepared(self, name: str, values: Mapping[str, Any], limit_s: float | None) -> str:
        """Write ``job.json`` unless a former driver has; returns why the values cannot be run, else
        an empty text. For a thread: it may try again for seconds. Raises OSError."""
        if self._is_described(name):
            return ""
        try:
            table = trial_table(self._table, configuration_of(values))
            recipe = check(Source(*self._source, table))[0]
            made = self._job(recipe, int(folder_of(name))).simulation(name)
        except RecipeError as error:
            return f"the recipe does not take these values: {error}"
        made["stop_grace_s"] = 0.0  # a stop waits for no frame: those of a trial are not kept
        made.pop("stop_by", None)  # the time of a whole trial is what counts
        if limit_s is not None:
            made["walltime_s"] = min(made["walltime_s"], limit_s)
        describe(self._context.run.job(name), made)
        return ""

    def describe_step(self, name: str, step: Step) -> str:
        """Write what the supervisor of a step that prepares the inputs is to do, unless a former
        driver has. As :meth:`prepared`, never refused."""
        if not self._is_described(name):
            made = self._job(self._context.recipe, 0).step(step, name)
            describe(self._context.run.job(name), made)
        return ""

    def _is_described(self, name: str) -> bool:
        return again(lambda: check_existence(self._context.run.job(name) / "job.json"))

    def _job(self, recipe: Recipe, number: int) -> JobFile:
        context, known = self._context, self._context.history.buffer
        assert known is not None, "the buffer is journalled before the first trial"
        job = JobFile(context.run, recipe, context.site, context.history, self._provision)
        job.open(BufferRef(**known), number)
        return job


def folder_of(name: str) -> str:
    """The trial's folder, relative to the run's on the buffer."""
    return name.rpartition("-")[2]


def submission(name: str, plan: Plan) -> ev.TrialSubmitting:
    """The event before a planned trial is submitted."""
    values = dict(plan.configuration.values)
    return ev.TrialSubmitting(
        job=name, phase=plan.phase, origin=plan.origin, values=values, reason=plan.reason
    )


def in_words(event: ev.TrialEnded) -> str:
    """How a trial ended: ``7.27 s in output, load 2.1``."""
    total = sum((event.seconds or {}).values())
    done = event.outcome == "done"
    said = f"{total:.4g} s in output" if done else f"{event.outcome}: {event.message}"
    return said if event.load is None else f"{said}, load {event.load:.1f}"


_LOST = {"lost", "given up", PREEMPTED, CANCELLED, TIME_OVER}


def _is_lost(end: Ended) -> bool:
    """Whether the end says nothing about a trial's values: its supervisor was killed, or was told
    to end, as by a scheduler that preempts its job."""
    return end.reason in _LOST or end.reason.startswith(TERMINATED)


def lost_in_a_row(trials: Iterable[TrialRecord]) -> int:
    """How many of the latest trials were lost."""
    ends = (one.ended for one in reversed(list(trials)))
    return len(list(takewhile(lambda end: end is not None and end.outcome == "lost", ends)))


def judged(
    name: str, end: Ended, took_s: float, collected: Collected, earlier: Iterable[TrialRecord],
    t: float,
) -> ev.TrialEnded:  # fmt: skip
    """What the end of a trial and its log say about its values. A trial that wrote other frames
    than the first one that was measured cannot be compared with it. ``earlier`` may hold the trial
    itself. The recipe as it is has no values that can be at fault: where it ran well before, or was
    killed, the trial is lost."""
    earlier = list(earlier)
    outcome, message, measured = "done", "", collected.measured
    known = next((one.ended.frames for one in earlier if one.ended and one.ended.frames), None)
    default = any(one.submitting.job == name and not one.submitting.values for one in earlier)
    bad_luck = default and end.reason == "exited" and (known or end.signal == "SIGKILL")
    if end.stopped:
        outcome, message = "stopped", end.text()
    elif _is_lost(end) or (bad_luck and not end.well):
        outcome, message = "lost", end.text()
    elif not end.well:
        said = collected.problem if end.reason == "exited" else ""
        outcome, message = "failed", f"{end.text()}: {said}" if said else end.text()
    elif measured is None:
        outcome, message = "failed", collected.problem
    elif known is not None and dict(measured.frames) != dict(known):
        what = f"frames: {_frames(measured.frames)}; in the first trial {_frames(known)}"
        outcome, message = "failed", what
    good = measured if outcome == "done" else None
    return ev.TrialEnded(
        job=name, outcome=outcome, message=message or None,
        seconds=dict(good.seconds) if good else None,
        frames=dict(good.frames) if good else None,
        wall_s=round(took_s, 3), load=round(collected.load, 2), ended=round(t, 3),
    )  # fmt: skip


def _frames(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} of {stream}" for stream, count in counts.items())


class Preparation:
    """The steps of a tuned recipe that prepare its inputs, run once, before the first trial: says
    which one comes next. On a ``fresh`` buffer, what an earlier driver did is gone."""

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
