"""The end of a run: logs and kept files come home, then the buffer is given back."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from burstlens.core.errors import FULL_ERRNO, GivenUpError, RunError, StagingError
from burstlens.core.exit_codes import BUFFER_LEFT, FRAMES_LOST, NO_SPACE, leading
from burstlens.core.no_space import failure_code, is_full
from burstlens.core.outcome import Outcome
from burstlens.core.passing_errors import PASSING
from burstlens.core.run import events as ev
from burstlens.workflows.driver.buffer_job import BufferJob
from burstlens.workflows.driver.jobs import Jobs
from burstlens.workflows.ordering.graph import Done, Graph
from burstlens.workflows.ordering.retries import Retries
from burstlens.workflows.placement import buffer as buffers
from burstlens.workflows.placement.buffer import BufferRef, Home
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.wanted import wanted, with_remarks

AWAY = PASSING | {errno.ENOENT, errno.ENOTDIR, errno.ENOTCONN, errno.EHOSTDOWN}
"""Errors of a directory that is renamed or unmounted, or whose server does not answer."""
AWAY_PAUSE_S = 1.0
AWAY_PATIENCE_S = 120.0
"""How long a run directory that is away is waited for when nothing else is left to do."""


class Homecoming:
    """Brings home and frees; ``end`` is the run's outcome as soon as that is done.

    ``lost`` says whether a node failed with what ran it, and is then tried again.
    """

    def __init__(
        self,
        context: RunContext,
        graph: Graph,
        provision: Provision,
        jobs: Jobs,
        lost: Callable[[Done, Callable[[], None]], bool],
        retries: Retries,
    ) -> None:
        self._run = context.run
        self._recipe = context.recipe
        self._graph = graph
        self._journal = context.journal
        self._snapshot = context.snapshot
        self._provision = provision
        self._jobs = jobs
        self._lost = lost
        self._retries = retries
        self._away_since: float | None = None
        self.begun = False
        self.gives_back = False
        """Whether the buffer is being given back: from then on a request to stop is for that."""
        self.end: Outcome | None = None
        self._buffer_job = BufferJob(provision, graph)
        self._job_end: str | None = ""

    def lost_buffer(self) -> bool:
        """Whether the job that had the buffer ended before all was home, or is asked about just
        now: no viewing block can run any more, and the run ends as soon as its jobs are known to
        have ended."""
        if self.gives_back:
            return False
        self._job_end = self._job_end or self._buffer_job.end()
        if self._job_end and not self._jobs.live and self.end is None:
            self._journal.append(ev.BufferReleased())
            self.end = self._without_buffer(self._job_end)
        return self._job_end != ""

    def _without_buffer(self, says: str) -> Outcome:
        outcome = self._jobs.outcome()
        why = "" if says in (outcome.message or "") else f" ({says})"
        what = (
            f"the job with the buffer has ended{why}, and with it the raw frames; to simulate "
            f"again: burstlens resume {self._run.id}"
        )
        message = f"{outcome.message}; {what}" if outcome.message else what
        if outcome.state == "done":
            return Outcome("failed", 1, message)
        return replace(outcome, message=message)

    def goes_back(self, buffer: BufferRef) -> bool:
        """Whether the scheduler takes the buffer back, with all that it holds."""
        return not self._provision.lasts or bool(buffer.name and buffer.owned)

    def begin(self, buffer: BufferRef) -> None:
        """Bring home what the recipe keeps, and the logs."""
        self.begun = True
        self._snapshot.state = "bringing home"
        history = self._snapshot.history
        self._graph.view(
            "home",
            buffer,
            buffers.bring_all_home,
            buffer,
            str(self._jobs.attempt),
            self._recipe.model,
            wanted(self._recipe, {stream for stream, *_ in history.frames | history.damaged}),
            str(self._run.output),
            str(self._run.logs / self._jobs.simulation),
        )

    def on_home(self, done: Done) -> None:
        """All is home, or could not be brought."""
        buffer: BufferRef = done.about
        if self._lost(done, lambda: self.begin(buffer)):
            return
        if isinstance(done.error, StagingError) and self._is_away(done.error):
            if not self._snapshot.full_disk.take(done.error):
                self._snapshot.alarm(f"{done.error}; tried again when the run directory is back")
            self._retries.later(AWAY_PAUSE_S, lambda: self.begin(buffer))
            return
        self._away_since = None
        ended = self._jobs.outcome()
        outcome = self._snapshot.judge(ended)
        if done.error is not None:
            message = f"{done.error}; the buffer is kept"
            if outcome.state == "done":
                message += f", burstlens resume {self._run.id} tries again"
                self.end = Outcome("failed", failure_code(done.error), message)
            else:
                why = f"{outcome.message}; {message}" if outcome.message else message
                code = outcome.exit_code
                if is_full(done.error):
                    code = leading(code, NO_SPACE)
                self.end = replace(outcome, message=why, exit_code=code)
            return
        home: Home = done.value
        # Of a model that ended badly, and of lost frames, it is said already.
        said = ended.state != "done" or outcome.exit_code == FRAMES_LOST
        missing = [] if said else home.missing
        for text in missing:
            self._journal.append(ev.Alarm(text=text))
            self._snapshot.alarm(text)
        if missing:
            outcome = replace(outcome, message=with_remarks(outcome.message, missing))
        self._journal.append(
            ev.StageOutDone(
                outcome=outcome.state,
                exit_code=outcome.exit_code,
                files=list(home.files),
                missing=missing,
                others=list(home.others),
            )
        )
        self.free(buffer, outcome)

    def _is_away(self, error: StagingError) -> bool:
        """Whether the run directory went away or is full, and may still come back."""
        inside = Path(error.path).is_relative_to(self._run.path)
        if not (inside and error.errno in AWAY | FULL_ERRNO):
            return False
        now = time.monotonic()
        self._away_since = self._away_since or now
        return now - self._away_since < AWAY_PATIENCE_S

    def free(self, buffer: BufferRef, outcome: Outcome) -> None:
        """Free the buffer where the recipe and the outcome allow it; then the run ends.

        A job's buffer ends with every outcome: until then the job costs node-hours.
        """
        self.begun = True
        freed = self._recipe.buffer.destroy == "on-success" and outcome.state == "done"
        if self._provision.lasts and not freed:
            self.end = outcome
            return
        try:
            self._journal.sync()  # what was published must be known for good before raw data goes
        except OSError as error:
            place = error.filename or self._run.path
            self._snapshot.alarm(f"{place} cannot be written ({error.strerror or error})")
            self._retries.later(1.0, lambda: self.free(buffer, outcome))
            return
        if self.goes_back(buffer):
            has_raw = bool(self._snapshot.history.frames)
            if has_raw and not freed and self._recipe.buffer.raw == "keep":
                self._snapshot.alarm(
                    "the buffer ends with its job, and with it the raw files that [stage_out] keep "
                    "does not name"
                )
            if not self.gives_back:
                self._forget_obeyed()
            self.gives_back = True
            self._snapshot.state = "giving the buffer back"
            self._graph.close_block()
            self._graph.login("freed", (buffer, outcome), self._provision.give_back, buffer,
                              tuple(self._snapshot.history.others))  # fmt: skip
        else:
            self._graph.view("freed", (buffer, outcome), buffers.destroy, buffer)

    def _forget_obeyed(self) -> None:
        """What was asked so far was for the run: the clean-up obeys only what is asked in it."""
        try:
            self._run.clear_control()
        except RunError as error:
            self._snapshot.alarm(str(error))

    def on_freed(self, done: Done) -> None:
        """The buffer is free, or could not be freed: the run ends all the same."""
        buffer, outcome = done.about
        if self._lost(done, lambda: self.free(buffer, outcome)):
            return
        if done.error is None:
            self._journal.append(ev.BufferReleased())
        elif isinstance(done.error, GivenUpError):
            control = self._run.stop_requested() or "stop"
            self._journal.append(ev.ControlReceived(control=control))
            outcome = with_left(outcome, self._run.id, buffer, done.error)
        else:
            outcome = with_left(outcome, self._run.id, buffer, done.error)
        self.end = outcome


def with_left(outcome: Outcome, run: str, buffer: BufferRef, error: BaseException) -> Outcome:
    """The outcome of a run that could not give its space back, with the command that does."""
    text, free = str(error), f"burstlens free {run}"
    if buffer.name and not buffer.owned:
        text += f"; delete {buffer.path}/{buffer.folder} in a job that mounts buffer {buffer.name}"
    elif free not in text:
        what = f"buffer {buffer.name}" if buffer.name else "the buffer of its job"
        if not buffer.path.startswith("$"):
            what = f"{buffer.path}/{buffer.folder}"
            if isinstance(error, StagingError) and error.errno:
                text = f"{os.path.relpath(error.path, what)}: {os.strerror(error.errno)}"
        text = f"{what} is not given back ({text}): {free} gives it back"
    return replace(outcome, exit_code=leading(outcome.exit_code, BUFFER_LEFT), left=text)
