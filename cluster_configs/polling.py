"""A scheduler that is asked seldom: the files of a job's supervisor have the truth about it, the
scheduler only confirms it.
"""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
import subprocess
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from burstlens.cluster_configs.scheduler import (
    SILENT_S,
    BatchSite,
    JobState,
    Phase,
    QueuePlace,
    Scheduler,
    SchedulerError,
)
from burstlens.cluster_configs.silence import SchedulerSilence

_log = logging.getLogger(__name__)
LIMIT_S = 60.0
"""Longest time that one command may take."""
PAUSE_S = 3.0
"""How often a scheduler that does not answer is asked."""
FIRST_S, GROWTH = 2.0, 3.0
"""After a submission the scheduler is asked this soon, then each time so much later, up to the
site's interval, so that the reason why a job waits is reported early."""
FORECAST_S = 60.0
"""How often the queue as a whole is asked for, while a job waits."""
PROMPT_S = 1.0
"""A scheduler that answers so soon is waited for; without its answer the latest one counts."""
_PASSING = re.compile(
    r"Unable to contact|Connection refused|timed out|Zero Bytes|Socket|temporarily|try again"
    r"|cannot connect|authentication|munge",
    re.IGNORECASE,
)


class PollingScheduler(Scheduler):
    """What schedulers have in common: commands, and a memory of what they said of each job.

    A subclass fills in the rest, ``ask`` and ``queue``.
    """

    submits: ClassVar[str]
    """The program that submits a script."""
    unknown: ClassVar[re.Pattern[str]]
    """What a command prints when the scheduler has forgotten a job."""
    error: ClassVar[type[SchedulerError]] = SchedulerError

    def __init__(self, settings: BatchSite | None = None, patience_s: float = SILENT_S) -> None:
        super().__init__(settings, patience_s)
        self.query_interval_s = self.settings.query_interval_s
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._known: dict[str, JobState] = {}
        self._next: dict[str, float] = {}
        self._pause: dict[str, float] = {}
        self._calm: set[str] = set()
        self._noted: dict[str, float] = {}
        self._asking = threading.Lock()
        self._silence = SchedulerSilence()
        self._places: Mapping[str, QueuePlace] = {}
        self._forecast_due = 0.0
        self._forecasting = threading.Lock()

    @abstractmethod
    def ask(self, job_id: str) -> JobState:
        """The job's state, asked now. Raises SchedulerError."""

    @abstractmethod
    def queue(self) -> list[tuple[JobState, str]]:
        """This user's jobs with their comments, also recently ended ones. SchedulerError."""

    def ask_all(self, job_ids: Sequence[str]) -> Iterator[JobState]:
        """The states of several jobs, without those that cannot be had. Raises SchedulerError."""
        for job_id in job_ids:
            with contextlib.suppress(SchedulerError):
                yield self.ask(job_id)

    def forecast(self) -> Mapping[str, QueuePlace]:
        """The places of all waiting jobs by their ids, by one query; empty where the scheduler does
        not know. Raises SchedulerError."""
        return {}

    def require(self) -> None:
        """Raise SchedulerError where the program that submits is missing."""
        self._require(self.submits)

    @classmethod
    def version_command(cls) -> tuple[str, ...]:
        """Its program's option ``--version``."""
        return cls.submits, "--version"

    @property
    def silent_s(self) -> float:
        """For how long the scheduler has not answered; 0 while it answers."""
        return self._silence.seconds

    def state(self, job_id: str) -> JobState:
        """The job's state when the scheduler was last asked, which is seldom.

        One query serves all jobs that are waited for, on a thread of its own. Without an answer the
        latest one counts: a scheduler that restarts does not end jobs. Only the first answer about
        a job that was not submitted by this process is waited for.
        """
        with self._lock:
            now = time.monotonic()
            is_known = job_id in self._known
            if job_id not in self._next:  # just submitted, or met again: nothing is known yet
                self._known.setdefault(job_id, _waits(job_id))
                self._pause[job_id] = min(FIRST_S, self.query_interval_s)
                self._next[job_id] = now + self._pause[job_id] if is_known else now
            known, due = self._known[job_id], now >= self._next[job_id]
        if not due:
            return known
        if not is_known:
            self._refresh(job_id)
        elif not self._asking.locked():
            _wait_for(lambda: self._refresh(job_id))
        with self._lock:
            return self._known.get(job_id, known)

    def place(self, job_id: str) -> QueuePlace | None:
        """The place of a waiting job when the queue was last asked for; None while it is not known.

        Without an answer nothing is known: an old place in a queue is a wrong one.
        """
        if time.monotonic() >= self._forecast_due and not self._forecasting.locked():
            _wait_for(self._forecast)
        return self._places.get(job_id)

    def _forecast(self) -> None:
        if not self._forecasting.acquire(blocking=False):
            return
        try:
            self._places = self.forecast()
        except Exception as error:  # also of a plugin
            _log.info("%s: the queue is not known: %s", self.title, error)
            self._places = {}
        finally:
            self._forecast_due = time.monotonic() + FORECAST_S
            self._forecasting.release()

    def submitted(self, job_id: str) -> None:
        """Note that the job was submitted a moment ago: it waits, and is asked about soon."""
        with self._lock:
            self._calm.discard(job_id)  # it may have begun before: its scheduler begins it again
            self._known[job_id] = _waits(job_id)
            self._noted[job_id] = time.monotonic()
            self._pause[job_id] = min(FIRST_S, self.query_interval_s)
            self._next[job_id] = time.monotonic() + self._pause[job_id]

    def calm(self, job_id: str) -> None:
        """Note that the job itself has reported its begin: it need only be confirmed, seldom."""
        with self._lock:
            if job_id not in self._calm:
                self._calm.add(job_id)
                self._noted[job_id] = time.monotonic()
                if self._known.get(job_id, _waits(job_id)).waiting:
                    self._known[job_id] = JobState(job_id, Phase.RUNNING, "RUNNING")
                self._pause[job_id] = self.query_interval_s
                self._next[job_id] = time.monotonic() + self.query_interval_s

    def forget(self, job_id: str) -> None:
        """Note that the job has done its work: it is not asked about any more."""
        with self._lock:
            for known in (self._known, self._next, self._pause, self._noted):
                known.pop(job_id, None)

    def look(self, job_id: str) -> JobState:
        """What the scheduler says of the job now. Raises SchedulerError when it does not answer."""
        begin = time.monotonic()
        state = self.ask(job_id)
        with self._lock:
            self._learn(job_id, state, begin)
            self._pause[job_id] = self.query_interval_s
            self._next[job_id] = time.monotonic() + self.query_interval_s
        return state

    def jobs(self, comment: str) -> list[JobState]:
        """This user's jobs with that comment, also recently ended ones. Raises SchedulerError."""
        return [job for job, remark in self.queue() if remark == comment]

    def cancel_all(self, comment: str, *names: str) -> None:
        """Cancel this user's jobs with that comment whose names start so. Raises SchedulerError."""
        self.cancel(
            [
                job.job_id
                for job in self.jobs(comment)
                if job.name.startswith(names) and not job.over
            ]
        )

    def call(
        self,
        command: Sequence[str],
        given: str = "",
        *,
        with_parent: bool = False,
        once: bool = False,
        beside: bool = False,
    ) -> str:
        """The output of a command that reads ``given``. Raises SchedulerError.

        A query is repeated while the scheduler does not answer, unless ``once``. A command
        ``with_parent`` is called once, and killed with this process: it cannot submit a job that no
        driver has noted. ``beside``: it asks another service than the scheduler, accounting.
        """
        end = time.monotonic() + (0.0 if with_parent or once else self._patience_s)
        while True:
            try:
                if beside:
                    return self._call_once(command, given, with_parent=with_parent)
                return self._measured(command, given, with_parent=with_parent)
            except SchedulerError as error:
                if not error.passing or time.monotonic() >= end:
                    raise
            time.sleep(PAUSE_S)

    def explain(self, said: Sequence[str]) -> str:
        """The error message of a command that printed those lines."""
        return "; ".join(said[-3:])

    def _measured(self, command: Sequence[str], given: str, *, with_parent: bool) -> str:
        """The output of a question to the scheduler itself, whose silence is measured by it."""
        self._silence.note_question()
        try:
            said = self._call_once(command, given, with_parent=with_parent)
        except SchedulerError as error:
            if error.passing:
                self._silence.note_failure()
            else:
                self._silence.note_answer()
            raise
        self._silence.note_answer()
        return said

    def _call_once(self, command: Sequence[str], given: str, *, with_parent: bool) -> str:
        name = command[0]
        self._require(name)
        argv = [*(("setpriv", "--pdeathsig", "KILL") if with_parent else ()), *command]
        try:
            done = subprocess.run(
                argv, input=given, capture_output=True, text=True, timeout=LIMIT_S
            )
        except subprocess.TimeoutExpired as error:
            text = f"{name} did not answer within {LIMIT_S:.0f} s"
            raise self.error(text, passing=True) from error
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            text = self.explain(said) if said else f"exit code {done.returncode}"
            raise self.error(
                f"{name}: {text}",
                unknown_job=bool(self.unknown.search(text)),
                passing=bool(_PASSING.search(text)),
            )
        return done.stdout

    def _require(self, program: str) -> None:
        if shutil.which(program) is None:
            raise self.error(f"{program} is not on PATH: is this a login node of {self.title}?")

    def _refresh(self, due: str) -> None:
        """Ask about every job that is waited for, unless another thread just did."""
        with self._asking:
            begin = time.monotonic()
            with self._lock:
                if begin < self._next.get(due, begin + 1.0):
                    return
                waited = {due, *(job for job in self._next if not self._known[job].final)}
            answers: dict[str, JobState] = {}
            try:
                answers |= {job.job_id: job for job in self.ask_all(sorted(waited))}
            except SchedulerError as error:
                _log.info("%s: %s", self.title, error)
            except Exception:  # of a plugin: the thread must not end without the next pause
                _log.exception("%s cannot be asked", self.title)
            with self._lock:
                for job_id in waited & self._next.keys():
                    if job_id in answers:
                        self._learn(job_id, answers[job_id], begin)
                    self._next[job_id] = time.monotonic() + self._pause[job_id]
                    self._pause[job_id] = min(GROWTH * self._pause[job_id], self.query_interval_s)

    def _learn(self, job_id: str, state: JobState, asked: float) -> None:
        """Take an answer to a question of that moment, unless more is known since."""
        if self._noted.get(job_id, asked) <= asked:
            self._known[job_id], self._noted[job_id] = state, asked


def _wait_for(ask: Callable[[], None]) -> None:
    """Ask on a thread, and wait for the answer for a moment."""
    # A daemon: the end of this process does not wait for a scheduler that hangs.
    thread = threading.Thread(target=ask, name="scheduler", daemon=True)
    with contextlib.suppress(RuntimeError):  # no more threads: asked again at the next call
        thread.start()
        thread.join(PROMPT_S)


def _waits(job_id: str) -> JobState:
    return JobState(job_id, Phase.WAITING, "PENDING")
