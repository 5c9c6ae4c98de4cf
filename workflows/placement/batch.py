"""How a supervised job is started by a scheduler, found again, judged when it reports nothing.

A submission leaves marks in the job's folder: ``submitting`` before the scheduler is asked,
``job_id`` after it has answered. After a kill in between, the next driver asks for the job's name.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from burstlens.cluster_configs.batch_script import batch_script
from burstlens.cluster_configs.scheduler import (
    BatchJob,
    JobState,
    Phase,
    QueuePlace,
    Scheduler,
    SchedulerError,
)
from burstlens.cluster_configs.site import Site
from burstlens.core.durable import make_folders, read_json, write_whole
from burstlens.core.errors import NeverBeganError
from burstlens.core.existence import Existence, existence, surely_exists
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement import supervisor
from burstlens.workflows.placement.go import GO, RESTARTED
from burstlens.workflows.placement.job_folder import names_if_made
from burstlens.workflows.placement.launch import Launcher
from burstlens.workflows.placement.waiting_jobs import WaitingJobs, given_to

_log = logging.getLogger(__name__)
SETTLES_S = 10.0
"""How long after a job's end its supervisor's report may still be on its way over the network."""
FIRST_PAUSE_S = 0.5
LATE_S = 2.0
"""A submission that was killed with its driver may still arrive within this time."""
_BEGAN = ("claim", "host.json", "done", "ended.json")
"""A job's folder has one of these once the job has begun, whatever was said before."""
PATIENCE_S = 300.0
"""How long to try again while the scheduler does not answer a submission."""


class BatchLauncher(Launcher):
    """Runs supervisors in batch jobs. Ids: the scheduler's name and its own id, ``slurm:12``; names
    are made unique by ``token``."""

    def __init__(self, scheduler: Scheduler, site: Site, run: RunDir, token: str) -> None:
        self.scheduler = scheduler
        self.site = site
        self.run = run
        self.token = token
        self.unreported: set[Path] = set()
        self._waits: dict[str, str] = {}
        self._places: dict[str, QueuePlace | None] = {}
        self._folders: dict[str, Path] = {}
        self._over: dict[str, float] = {}
        self._begun: set[str] = set()
        self._requeued: dict[str, JobState] = {}
        self._waiting = WaitingJobs(run, scheduler, self._number_of)

    @property
    def waits(self) -> Mapping[str, str]:
        """As the scheduler said when it was asked last."""
        return {
            number: reason
            for number, reason in self._waits.copy().items()
            if self._begin_of(number) is not Existence.PRESENT
        }

    @property
    def place(self) -> QueuePlace | None:
        """The place in the queue of the first job in :attr:`waits`, where it is known."""
        return next((self._places.get(number) for number in self.waits), None)

    def submit(self, job_folder: Path) -> str:
        """Submit the supervisor of that folder; its own messages go to ``supervisor.log``. An
        attempt is given to a job that waits for one."""
        if _is_of_attempt(job_folder) and (number := self._waiting.give(job_folder)) is not None:
            self._begun.discard(number)
            self._requeued.pop(number, None)
            self._over.pop(self._id(number), None)
            self.scheduler.submitted(number)
            self._folders[number] = job_folder
            _log.info("%s is given to job %s, which waits for it", job_folder, number)
            return self._id(number)
        job = read_json(job_folder / "job.json") or {}
        return self.hand_in(job_folder, self.job(job_folder, job))

    def submit_ahead(self, job_folder: Path, after: str) -> str:
        """Submit the supervisor of that folder, to begin when the job ``after`` has ended; returns
        its id."""
        job = read_json(job_folder / "job.json") or {}
        made = replace(self.job(job_folder, job), after_end=_number(after))
        return self.hand_in(job_folder, made)

    def take_back(self, job_folder: Path) -> bool:
        """Take back an attempt that was given to a job that has ended without it."""
        return self._waiting.take_back(job_folder)

    def submitted_ahead(self) -> list[str]:
        """The numbers of the jobs that were submitted ahead and have no attempt. Raises OSError."""
        return self._waiting.submitted_ahead()

    def cancel_waiting(self) -> None:
        """Cancel the jobs that wait for an attempt, by their ids. Raises SchedulerError."""
        self._waiting.cancel()

    def job(self, job_folder: Path, job: Mapping[str, Any]) -> BatchJob:
        """The batch job of the supervisor that does what that ``job.json`` holds."""
        batch = job["batch"]
        return BatchJob(
            name=f"{self.token}-{job['name']}",
            comment=self.run.id,
            argv=(sys.executable, "-P", supervisor.__file__, str(job_folder)),
            output=job_folder / "supervisor.log",
            nodes=batch["nodes"],
            tasks_per_node=batch["tasks_per_node"],
            walltime_s=job["walltime_s"],
            buffer_lines=tuple(batch["buffer_lines"]),
            options=self.site.batch.options,
            init=self.site.batch.job_init,
            lead_s=job.get("lead_s"),
        )

    def hand_in(self, folder: Path, job: BatchJob) -> str:
        """Submit that job once, with its marks in ``folder``; returns its id. Raises SiteError."""
        script = batch_script(job, self.scheduler)
        make_folders(folder, below=self.run.path)
        write_whole(folder / "job.sh", script)
        write_whole(folder / "submitting", job.name)
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                number = self.scheduler.submit(script)
                break
            except SchedulerError as error:
                _log.warning("%s is not submitted: %s", job.name, error)
                if not error.passing or time.monotonic() > end:
                    raise
                time.sleep(5.0)  # it may have been accepted all the same
                if (found := self._named(job.name)) is not None:
                    number = found.job_id
                    break
        write_whole(folder / "job_id", number)
        _log.info("job %s is submitted: %s, %d nodes, %.0f s", number, job.name, job.nodes,
                  job.walltime_s)  # fmt: skip
        self.scheduler.submitted(number)
        self._folders[number] = folder
        return self._id(number)

    def find(self, job_folder: Path) -> str | None:
        """By the noted id, or by the job's name if a driver was killed while it submitted; of an
        attempt that was given to a waiting job, that one. Raises OSError while the run directory is
        away."""
        number = self._number_of(job_folder)
        if number is None:
            return None
        self._folders[number] = job_folder
        return self._id(number)

    def _number_of(self, job_folder: Path) -> str | None:
        noted, mark = job_folder / "job_id", job_folder / "submitting"
        names = names_if_made(job_folder, self.run.path)
        if GO in names:
            return given_to(job_folder)
        if noted.name in names:
            return noted.read_text().strip()
        if mark.name not in names:
            return None
        time.sleep(LATE_S)
        found = self._named(mark.read_text().strip())
        if found is None:
            return None
        write_whole(noted, found.job_id)
        return found.job_id

    def alive(self, job_id: str) -> bool:
        """Whether a job that serves the run waits or runs. When a stop was requested, a job that
        still waits is cancelled, and NeverBeganError is raised."""
        alive, number = self.stands(job_id), _number(job_id)
        # One whose begin cannot be seen may run: it is left to its supervisor.
        waits = number not in self._begun and self._begin_of(number) is Existence.ABSENT
        if waits and self.run.stop_requested() and _may_wait(self.scheduler.state(number)):
            if _may_wait(self.scheduler.look(number)):
                self.scheduler.cancel([number])
                raise NeverBeganError(f"job {number} was still waiting", reason="stop")
            self._begun.add(number)
        return alive

    def stands(self, job_id: str) -> bool:
        """Whether a job waits or runs, by the scheduler's latest answer; requests to stop are
        ignored. The job is given time to report its end itself. Raises NeverBeganError when the
        scheduler says that it will never begin."""
        number, seen = _number(job_id), self._begin_of(_number(job_id))
        begun = seen is Existence.PRESENT
        if begun:
            self.scheduler.calm(number)
        state = self.scheduler.state(number)
        self._waits.pop(number, None)
        if state.waiting and begun:
            self._note_requeued(state)
        elif state.waiting:
            if number in self._folders:
                self._waits[number] = state.reason
                self._places[number] = self.scheduler.place(number)
            if state.hopeless and seen is Existence.ABSENT:
                self.scheduler.cancel([number])
                said = f"says {self.scheduler.title}: {state.reason}"
                raise NeverBeganError(f"job {number} cannot start, {said}")
        elif state.phase is Phase.UNKNOWN and not begun and number in self._folders:
            self._waits[number] = state.text
        if not state.over and number not in self._requeued:
            return True
        return time.monotonic() < self._over.setdefault(job_id, time.monotonic() + SETTLES_S)

    def is_over(self, job_id: str) -> bool:
        """Whether the job has ended, as the scheduler says now. Raises SchedulerError."""
        return self.scheduler.look(_number(job_id)).over

    def _begin_of(self, number: str) -> Existence:
        """Whether the job has left a mark of its begin; asked once, as a loop waits for it."""
        folder = self._folders.get(number)
        seen = [existence(folder / mark) for mark in _BEGAN] if folder is not None else []
        if Existence.PRESENT in seen:
            return Existence.PRESENT
        return Existence.UNKNOWN if Existence.UNKNOWN in seen else Existence.ABSENT

    def _note_requeued(self, state: JobState, *, well: bool = False) -> None:
        """Note a job that is started a second time, as after a node has failed: it waits for the
        attempt after the one that it has run. All others are ended, which would be doubled."""
        self._requeued.setdefault(state.job_id, state)
        if well or not self._runs_attempt(state.job_id):
            self.scheduler.cancel([state.job_id])

    def _runs_attempt(self, number: str) -> bool:
        folder = self._folders.get(number)
        return folder is not None and _is_of_attempt(folder)

    def is_requeued(self, job_id: str) -> bool:
        """Whether the job of an attempt was put back into the queue, or has begun again."""
        number = _number(job_id)
        if not self._runs_attempt(number):
            return False
        return number in self._requeued or surely_exists(self._folders[number] / RESTARTED)

    def queue(self) -> list[JobState]:
        """The run's jobs that wait or run, as the scheduler says now. Raises SchedulerError."""
        jobs = self.scheduler.jobs(self.run.id)
        return [job for job in jobs if job.name.startswith(f"{self.token}-") and not job.final]

    def role(self, job: JobState) -> str:
        """What a job of the queue is in the run: ``attempt-1``, ``buffer-create-1``, ``parsl...``,
        ``host-1``, ``driver-1``, or a step's name."""
        return job.name.removeprefix(f"{self.token}-")

    def withdraw_waiting(self) -> list[JobState]:
        """Cancel every job of the run that still waits, in the queue or for an attempt; returns
        them. Raises SchedulerError."""
        ahead = self.submitted_ahead()
        waiting = [job for job in self.queue() if job.waiting or job.job_id in ahead]
        self.scheduler.cancel([job.job_id for job in waiting])
        return waiting

    def await_end(self, job_id: str, leaving: Callable[[], bool]) -> None:
        """Wait until the scheduler calls the job over; asks at once, then less and less often."""
        for pause in growing(FIRST_PAUSE_S, self.site.batch.query_interval_s):
            if leaving() or self.is_over(job_id):
                return
            time.sleep(pause)

    def fate(self, job_id: str | None, job_folder: Path) -> str:
        """The job's state, in the scheduler's words."""
        if job_id is None:
            return f"its job is not known to {self.scheduler.title}, see {job_folder}"
        state = self.scheduler.state(_number(job_id))
        return f"job {state.job_id}: {self._word(state)}"

    def _word(self, state: JobState) -> str:
        """How a job ended, in the scheduler's words; ``REQUEUE`` for one it would start again."""
        before = self._requeued.get(state.job_id)
        return state.text if before is None else f"REQUEUE ({before.reason or before.state})"

    def remark(self, job_id: str, *, well: bool, grace_s: float | None) -> str:
        """Why the scheduler ended it, or that its stage out failed. A job that is started a second
        time is cancelled where its program has ended ``well``."""
        number, settles_s = _number(job_id), 0.0 if grace_s is None else SETTLES_S + grace_s
        end = time.monotonic() + settles_s
        try:
            state = self.scheduler.look(number)
            while not (state.final or state.waiting) and time.monotonic() < end:
                if self.is_requeued(job_id):
                    return ""
                time.sleep(1.0)
                state = self.scheduler.look(number)
            if state.waiting:
                self._note_requeued(state, well=well)
        except SchedulerError:
            return ""
        if not state.cut and number not in self._requeued:
            return ""
        return f"{self.scheduler.title} says of job {number}: {self._word(state)}"

    def ended_by(self, job_id: str) -> str:
        """As the scheduler said when it was asked last, for :meth:`remark`."""
        return self.scheduler.state(_number(job_id)).ended_by

    def _id(self, number: str) -> str:
        return f"{self.scheduler.name}:{number}"

    def _named(self, name: str) -> JobState | None:
        return next((job for job in self.scheduler.jobs(self.run.id) if job.name == name), None)


def _is_of_attempt(job_folder: Path) -> bool:
    return job_folder.parent.name == "attempts"


def _may_wait(state: JobState) -> bool:
    """Whether a job that has not reported its begin waits, as far as its scheduler's word says."""
    return state.waiting or state.phase is Phase.UNKNOWN


def growing(first_s: float, most_s: float) -> Iterator[float]:
    """Pauses without end, each 1.5 times as long as the one before, up to ``most_s``."""
    while True:
        yield first_s
        first_s = min(1.5 * first_s, most_s)


def _number(job_id: str) -> str:
    return job_id.partition(":")[2]
