"""Batch jobs that wait for an attempt, as the driver finds them: submitted ahead, or requeued.

The run directory and the scheduler have all that is known of them, so that a driver that comes
later finds the same ones. Which attempt a job is to run says ``go.json`` in the attempt's folder
(:mod:`.go`); a job that was submitted ahead has a folder of its own, ``steps/ahead-<n>``. A link
``steps/host-<n>`` to that says that its buffer is the run's by now (:mod:`.job_buffer`).
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from burstlens.cluster_configs.scheduler import JobState, Scheduler
from burstlens.core.durable import make_exclusive, read_json
from burstlens.core.existence import check_existence
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement.go import GO, RESTARTED
from burstlens.workflows.placement.job_folder import names_in

_log = logging.getLogger(__name__)
AHEAD = "ahead-"


class WaitingJobs:
    """Those of one run; ``number_of`` gives the scheduler's id of a folder's job."""

    def __init__(
        self, run: RunDir, scheduler: Scheduler, number_of: Callable[[Path], str | None]
    ) -> None:
        self._run, self._scheduler, self._number_of = run, scheduler, number_of

    def give(self, attempt: Path) -> str | None:
        """Give the attempt of that folder to the job that begins first; its id, None without one.
        One that will not begin by itself, as it is held, is cancelled. Raises SchedulerError, and
        OSError."""
        for job in self.waiting_for(int(attempt.name)):
            if job.hopeless:
                _log.warning("job %s is given no attempt: %s", job.job_id, job.text)
                self._scheduler.cancel([job.job_id])
                continue
            with contextlib.suppress(FileExistsError):  # another driver has just given it
                make_exclusive(attempt / GO, json.dumps({"job_id": job.job_id}))
            return given_to(attempt)
        return None

    def take_back(self, attempt: Path) -> bool:
        """Take back what was given to a job that has ended before it began the attempt; whether
        that was so. Raises OSError."""
        if GO not in (names := names_in(attempt)) or "claim" in names:
            return False
        (attempt / GO).unlink(missing_ok=True)
        return True

    def waiting_for(self, attempt: int) -> Iterator[JobState]:
        """The jobs that may run that attempt, in the order in which they begin: that of the attempt
        before, if it is started again, then those that were submitted ahead. Raises SchedulerError,
        and OSError."""
        before = self._run.job(f"attempt-{attempt - 1}")
        if check_existence(before / "ended.json"):
            number = self._number_of(before)
            if number is not None and (job := self._begins_again(number, before)) is not None:
                yield job
        for number in self.submitted_ahead():
            if not (job := self._scheduler.look(number)).over:
                yield job

    def _begins_again(self, number: str, folder: Path) -> JobState | None:
        """That job, if it is started once more after it has run the attempt of that folder."""
        job = self._scheduler.look(number)
        if job.over:
            return None
        return job if job.waiting or check_existence(folder / RESTARTED) else None

    def submitted_ahead(self) -> list[str]:
        """The ids of jobs that were submitted ahead, have no attempt, and have not said that they
        have ended. Raises OSError."""
        taken = {given_to(path.parent) for path in self._run.path.glob(f"attempts/*/{GO}")}
        numbers = map(self._number_of, folders_ahead(self._run))
        return [number for number in numbers if number is not None and number not in taken]

    def cancel(self) -> None:
        """Cancel all that wait for an attempt after the newest. Raises SchedulerError, OSError."""
        attempts = (one.name for one in self._run.path.glob("attempts/*"))
        newest = max((int(name) for name in attempts if name.isdecimal()), default=0)
        self._scheduler.cancel([job.job_id for job in self.waiting_for(newest + 1)])


def folders_ahead(run: RunDir) -> list[Path]:
    """The folders of jobs that were submitted ahead and have not said that they have ended, in the
    order of their attempts; without those that are hosts by now. Raises OSError."""
    steps = run.path / "steps"
    hosts = {os.readlink(path) for path in steps.glob("host-*") if path.is_symlink()}
    folders = (one for one in steps.glob(f"{AHEAD}*") if one.name not in hosts)
    waiting = [one for one in folders if not check_existence(one / "ended.json")]
    return sorted(waiting, key=lambda one: (len(one.name), one.name))


def given_to(attempt: Path) -> str | None:
    """The id of the job to which the attempt of that folder was given. Raises OSError."""
    given = read_json(attempt / GO)
    return None if given is None else str(given["job_id"])
