"""How a supervised job is started through Slurm, found again, and judged when it reports nothing.

A submission leaves marks in the job's folder: ``submitting`` before sbatch is called, ``job_id``
after it has answered. After a kill in between, the next driver asks Slurm for the job's name.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from burstlens.cluster_configs.batch_script import BatchJob, batch_script
from burstlens.cluster_configs.site import Site
from burstlens.cluster_configs.slurm import JobState, Slurm, SlurmError
from burstlens.core.durable import make_folders, read_json, write_whole
from burstlens.core.errors import NeverBeganError
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement import supervisor
from burstlens.workflows.placement.job_folder import names_if_made

SETTLES_S = 10.0
"""How long after a job's end its supervisor's report may still be on its way over the network."""
FIRST_PAUSE_S = 0.5
LATE_S = 2.0
"""An sbatch that was killed with its driver may still reach Slurm within this time."""
_BEGAN = ("claim", "host.json", "done", "ended.json")
"""A job's folder has one of these once the job has begun, whatever Slurm said before."""
_ENDED_BY_SLURM = {
    "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "DEADLINE", "BOOT_FAIL",
}  # fmt: skip
PATIENCE_S = 300.0
"""How long to try again while the controller does not answer a submission."""


class BatchLauncher:
    """Runs supervisors in batch jobs. Ids: ``slurm:NUMBER``; names are made unique by ``token``."""

    def __init__(self, slurm: Slurm, site: Site, run: RunDir, token: str) -> None:
        self.slurm = slurm
        self.site = site
        self.run = run
        self.token = token
        self._waits: dict[str, str] = {}
        self._folders: dict[str, Path] = {}
        self._over: dict[str, float] = {}
        self._begun: set[str] = set()
        self._requeued: dict[str, JobState] = {}

    @property
    def waits(self) -> Mapping[str, str]:
        """As Slurm said when it was asked last."""
        return {
            number: reason
            for number, reason in self._waits.copy().items()
            if not self._has_begun(number)
        }

    def submit(self, job_folder: Path) -> str:
        """Submit the supervisor of that folder; its own messages go to ``supervisor.log``."""
        return self.hand_in(
            job_folder, self.job(job_folder, read_json(job_folder / "job.json") or {})
        )

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
            options=self.site.slurm.options,
            init=self.site.slurm.job_init,
        )

    def hand_in(self, folder: Path, job: BatchJob) -> str:
        """Submit that job once, with its marks in ``folder``; returns its id. Raises SiteError."""
        script = batch_script(job, self.site.slurm)
        make_folders(folder, below=self.run.path)
        write_whole(folder / "job.sh", script)
        write_whole(folder / "submitting", job.name)
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                number = self.slurm.submit(script)
                break
            except SlurmError as error:
                if not error.passing or time.monotonic() > end:
                    raise
                time.sleep(5.0)  # Slurm may have accepted it all the same
                found = self._named(job.name)
                if found is not None:
                    number = found.job_id
                    break
        write_whole(folder / "job_id", number)
        self.slurm.submitted(number)
        self._folders[number] = folder
        return f"slurm:{number}"

    def find(self, job_folder: Path) -> str | None:
        """By the noted id, or by the job's name if a driver was killed while it submitted.

        Raises OSError while the run directory is away.
        """
        noted = job_folder / "job_id"
        names = names_if_made(job_folder, self.run.path)
        if noted.name in names:
            number = noted.read_text().strip()
            self._folders[number] = job_folder
            return f"slurm:{number}"
        mark = job_folder / "submitting"
        if mark.name not in names:
            return None
        time.sleep(LATE_S)
        found = self._named(mark.read_text().strip())
        if found is None:
            return None
        write_whole(noted, found.job_id)
        self._folders[found.job_id] = job_folder
        return f"slurm:{found.job_id}"

    def alive(self, job_id: str) -> bool:
        """Whether a job that serves the run waits or runs. When a stop was requested, a job that
        still waits is cancelled, and NeverBeganError is raised."""
        alive, number = self.stands(job_id), _number(job_id)
        waits = number not in self._begun and not self._has_begun(number)
        if waits and self.run.stop_requested() and self.slurm.state(number).waiting:
            if self.slurm.look(number).waiting:
                self.slurm.cancel([number])
                raise NeverBeganError(f"job {number} was still waiting", reason="stop")
            self._begun.add(number)
        return alive

    def stands(self, job_id: str) -> bool:
        """Whether a job waits or runs, by Slurm's latest answer; requests to stop are ignored. The
        job is given time to report its end itself. Raises NeverBeganError when Slurm says that it
        will never begin."""
        number, begun = _number(job_id), self._has_begun(_number(job_id))
        if begun:
            self.slurm.calm(number)
        state = self.slurm.state(number)
        self._waits.pop(number, None)
        if state.waiting and begun:
            self._give_up_requeued(state)
        elif state.waiting:
            if number in self._folders:
                self._waits[number] = state.reason
            if state.hopeless:
                self.slurm.cancel([number])
                raise NeverBeganError(f"job {number} cannot start, says Slurm: {state.reason}")
        if not state.over and number not in self._requeued:
            return True
        return time.monotonic() < self._over.setdefault(job_id, time.monotonic() + SETTLES_S)

    def _has_begun(self, number: str) -> bool:
        folder = self._folders.get(number)
        return folder is not None and any((folder / mark).exists() for mark in _BEGAN)

    def _give_up_requeued(self, state: JobState) -> None:
        """End a job that Slurm would start a second time, as after a node has failed."""
        self._requeued.setdefault(state.job_id, state)
        self.slurm.cancel([state.job_id])

    def queue(self) -> list[JobState]:
        """The run's jobs that wait or run, as Slurm says now. Raises SlurmError."""
        jobs = self.slurm.jobs(self.run.id)
        return [job for job in jobs if job.name.startswith(f"{self.token}-") and not job.final]

    def role(self, job: JobState) -> str:
        """What a job of the queue is in the run: ``attempt-1``, ``buffer-create-1``, ``parsl...``,
        ``host-1``, ``driver-1``, or a step's name."""
        return job.name.removeprefix(f"{self.token}-")

    def withdraw_waiting(self) -> list[JobState]:
        """Cancel every job of the run that still waits; returns them. Raises SlurmError."""
        waiting = [job for job in self.queue() if job.waiting]
        self.slurm.cancel([job.job_id for job in waiting])
        return waiting

    def await_end(self, job_id: str, leaving: Callable[[], bool]) -> None:
        """Wait until Slurm says that the job is over; asks at once, then less and less often."""
        for pause in growing(FIRST_PAUSE_S, self.site.slurm.query_interval_s):
            if leaving() or self.slurm.look(_number(job_id)).over:
                return
            time.sleep(pause)

    def fate(self, job_id: str | None, job_folder: Path) -> str:
        """The job's state, in Slurm's words."""
        if job_id is None:
            return f"its job is not known to Slurm, see {job_folder}"
        state = self.slurm.state(_number(job_id))
        return f"job {state.job_id}: {self._word(state)}"

    def _word(self, state: JobState) -> str:
        """How a job ended, in Slurm's words; ``REQUEUE`` for a job that Slurm would start again."""
        before = self._requeued.get(state.job_id)
        return state.text if before is None else f"REQUEUE ({before.reason or before.state})"

    def remark(self, job_id: str, *, well: bool) -> str:
        """Why Slurm ended it, or that its stage out failed: Slurm calls such a job completed, and
        gives the failure only in the reason."""
        number, end = _number(job_id), time.monotonic() + SETTLES_S
        try:
            state = self.slurm.look(number)
            while not (state.final or state.waiting or well) and time.monotonic() < end:
                time.sleep(1.0)
                state = self.slurm.look(number)
            if state.waiting:
                self._give_up_requeued(state)
        except SlurmError:
            return ""
        notable = (
            state.state in _ENDED_BY_SLURM
            or number in self._requeued
            or (state.state == "COMPLETED" and "burst_buffer" in state.reason)
        )
        return f"Slurm says of job {number}: {self._word(state)}" if notable else ""

    def clear(self, job_folder: Path) -> bool:
        """No-op: a supervisor that finds ``ended.json`` written by another process ends its
        program."""
        return False

    def _named(self, name: str) -> JobState | None:
        return next((job for job in self.slurm.jobs(self.run.id) if job.name == name), None)


def growing(first_s: float, most_s: float) -> Iterator[float]:
    """Pauses without end, each 1.5 times as long as the one before, up to ``most_s``."""
    while True:
        yield first_s
        first_s = min(1.5 * first_s, most_s)


def _number(job_id: str) -> str:
    return job_id.partition(":")[2]
