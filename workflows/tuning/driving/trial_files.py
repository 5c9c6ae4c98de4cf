"""Trials of a tuning: the recipe with other values in a job file, and what their end says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from burstlens.core.errors import RecipeError
from burstlens.core.existence import again, check_existence
from burstlens.core.run import events as ev
from burstlens.core.run.facts import facts_of
from burstlens.core.run.job_record import TrialRecord
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_file import JobFile
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.placement.supervised import Ended, describe
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.recipe import Recipe, Step
from burstlens.workflows.tuning.driving.collected import Collected
from burstlens.workflows.tuning.options import configuration_of
from burstlens.workflows.tuning.table import trial_table
from burstlens.workflows.tuning.trial import Plan


class TrialFiles:
    """Writes what the supervisor of each trial is to do."""

    def __init__(self, context: RunContext, provision: Provision) -> None:
        self._context = context
        self._provision = provision
        facts = facts_of(context.run, "recipe", "source", "table")
        self._source = str(facts.recipe), Path(str(facts.source))
        self._table = facts.table or {}

    def recipe(self, values: Mapping[str, Any]) -> Recipe:
        """The recipe with these values. Raises RecipeError where it does not take one."""
        table = trial_table(self._table, configuration_of(values))
        return check(Source(*self._source, table))[0]

    def prepared(self, name: str, values: Mapping[str, Any], limit_s: float | None) -> str:
        """Write ``job.json`` unless a former driver has; returns why the values cannot be run, else
        an empty text. For a thread: it may try again for seconds. Raises OSError."""
        folder = self._context.run.job(name)
        if again(lambda: check_existence(folder / "job.json")):
            return ""
        try:
            recipe = self.recipe(values)
            job = JobFile(
                self._context.run, recipe, self._context.site, self._context.history,
                self._provision,
            )  # fmt: skip
            job.open(self._buffer(), int(name.rpartition("-")[2]))
            made = job.simulation(name)
        except RecipeError as error:
            return f"the recipe does not take these values: {error}"
        made["stop_grace_s"] = 0.0  # a stop waits for no frame: those of a trial are not kept
        if limit_s is not None:
            made["walltime_s"] = min(made["walltime_s"], limit_s)
        describe(folder, made)
        return ""

    def describe_step(self, name: str, step: Step) -> str:
        """Write what the supervisor of a step that prepares the inputs is to do, unless a former
        driver has. As :meth:`prepared`, never refused."""
        folder = self._context.run.job(name)
        if not again(lambda: check_existence(folder / "job.json")):
            context = self._context
            job = JobFile(
                context.run, context.recipe, context.site, context.history, self._provision
            )
            job.open(self._buffer(), 0)
            describe(folder, job.step(step, name))
        return ""

    def folder(self, name: str) -> str:
        """The trial's folder, relative to the run's on the buffer."""
        return name.rpartition("-")[2]

    def text(self, values: Mapping[str, Any]) -> str:
        """The values in words."""
        return configuration_of(values).text()

    def _buffer(self) -> BufferRef:
        known = self._context.history.buffer
        assert known is not None, "the buffer is journalled before the first trial"
        return BufferRef(**known)


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


def is_lost(end: Ended) -> bool:
    """Whether the end says nothing about a trial's values: its supervisor was killed, or was told
    to end, as by a scheduler that preempts its job."""
    return end.reason in {"lost", "given up"} or end.reason.startswith("terminated by")


def lost_in_a_row(trials: Iterable[TrialRecord]) -> int:
    """How many of the latest trials were lost."""
    count = 0
    for record in reversed(list(trials)):
        if record.ended is None or record.ended.outcome != "lost":
            break
        count += 1
    return count


def wall_s(end: Ended, took_s: float) -> float:
    """How long the program ran by its supervisor's clock, else as long as the driver saw it; nobody
    sets either."""
    return took_s if end.seconds is None else end.seconds


def judged(
    name: str,
    end: Ended,
    took_s: float,
    collected: Collected,
    earlier: Iterable[TrialRecord],
    t: float,
) -> ev.TrialEnded:
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
    elif is_lost(end) or (bad_luck and not end.well):
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
        job=name,
        outcome=outcome,
        seconds=dict(good.seconds) if good else None,
        frames=dict(good.frames) if good else None,
        wall_s=round(took_s, 3),
        load=round(collected.load, 2),
        message=message or None,
        ended=round(t, 3),
    )


def _frames(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} of {stream}" for stream, count in counts.items())
