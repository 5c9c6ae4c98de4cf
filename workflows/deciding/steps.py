"""The jobs of the steps around an attempt of the simulation: their names, and what is launched."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from burstlens.core.run import events as ev
from burstlens.workflows.ordering.instructions import Launch
from burstlens.workflows.recipe.recipe import Step

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState


class Steps:
    """Names their jobs, each once. ``jobs`` are the names of an attempt's, by step: none of a step
    that has ended well; ``beside`` has the attempt of each job that ran beside one."""

    def __init__(self, state: RunState) -> None:
        self._state, self._steps = state, state.recipe.steps
        self.jobs: dict[str, str] = {}
        self.beside: dict[str, int] = {}

    def of(self, phase: str) -> list[Step]:
        """Those before, beside or after the simulation."""
        return [step for step in self._steps if step.phase == phase]

    def is_before(self, job: str) -> bool:
        """Whether that is the job of a step before the simulation."""
        return job.rpartition("-")[0] in {f"step-{step.name}" for step in self.of("before")}

    def begin(self, phase: str, attempt: int, *, anew: bool) -> None:
        """Journal which of a phase will be submitted with that attempt. ``anew``: all of them, as
        the buffer of earlier attempts is gone with what they left there."""
        for step in self.of(phase):
            name = self._name(step, attempt, anew=anew)
            if name is not None:
                self.jobs[step.name] = name
                self._state.outbox.append(ev.StepSubmitting(job=name, step=step.name))

    def _name(self, step: Step, attempt: int, *, anew: bool) -> str | None:
        """The name of the step's job; None when it has ended well under an earlier driver."""
        times = 1
        while True:
            number = f"{times}" if step.phase == "before" else f"{attempt}.{times}"
            name = f"step-{step.name}-{number}"
            record = self._state.history.jobs.get(name)
            if record is None or (record.outcome is None and not anew):
                return name
            if record.outcome == "done" and not anew:
                return None
            times += 1

    def launches(self, simulation: str | None, phases: Collection[str]) -> list[Launch]:
        """The jobs of an attempt in order, each after those that it needs; ``simulation`` None: it
        has ended."""
        before: tuple[str, ...] = ()
        made: list[Launch] = []

        def add(step: Step, after: tuple[str, ...]) -> tuple[str, ...]:
            if step.name not in self.jobs:
                return ()
            name = self.jobs[step.name]
            made.append(Launch(name, after, on_login=step.where == "login"))
            return (name,)

        for step in self.of("before"):
            before += add(step, before[-1:])
        if simulation is not None:
            made.append(Launch(simulation, before))
        for step in self.of("beside"):
            add(step, before)
        after = before if simulation is None else (simulation,)
        for step in self.of("after") if "after" in phases else ():
            after += add(step, after[-1:])
        return made
