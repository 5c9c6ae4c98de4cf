"""The jobs that a run without a driver has left: waited for, cancelled, or a reason to refuse."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from burstlens.cluster_configs.batch_script import VIEWING
from burstlens.core.errors import RunError
from burstlens.core.existence import surely_exists, surely_missing
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.job_buffer import HostedLauncher
from burstlens.workflows.placement.job_end import TERM_GRACE_S
from burstlens.workflows.placement.launch import LocalLauncher
from burstlens.workflows.placement.supervisor import STOP_GRACE_S

LOOK_S = 0.5
_ROLES = {
    "attempt-": "the model",
    VIEWING: "a viewing block",
    "driver-": "the driver",
    "ahead-": "the job of the next attempt",
    "host-": "the job with the buffer",
    "buffer-create-": "making the buffer",
    "buffer-destroy-": "destroying the buffer",
}
"""What the jobs of a run are in it, by the beginnings of their names."""
ENDS_S = STOP_GRACE_S + TERM_GRACE_S + 20.0
"""How long a model that was asked to stop may take to end, and its logs to come home."""


def end_jobs(
    run: RunDir, history: History, launcher: BatchLauncher | HostedLauncher | None
) -> list[str]:
    """See that no job of the run is at work; returns what was cancelled, in words. Raises
    SchedulerError, and RunError for a model or step that was not asked to stop, or does not end."""
    batch = launcher.batch if isinstance(launcher, HostedLauncher) else launcher
    cancelled = [] if batch is None else _withdraw(run, batch)
    _await_programs(run, history, batch)
    return cancelled


def _withdraw(run: RunDir, batch: BatchLauncher) -> list[str]:
    """Cancel what waits in the queue, and viewing blocks, which no driver uses."""
    words, numbers = [], []
    ahead = batch.submitted_ahead()
    for job in batch.queue():
        role = batch.role(job)
        idle = job.job_id in ahead
        mine = idle or role.startswith((VIEWING, "buffer-"))
        if job.waiting and not mine and not run.stop_requested():
            raise RunError(
                f"{_name(role)} of {run.id} waits in the queue (job {job.job_id}, "
                f"{job.text}): burstlens stop {run.id}, then burstlens free {run.id}"
            )
        if job.waiting or idle or role.startswith(VIEWING):
            numbers.append(job.job_id)
            words.append(f"job {job.job_id} ({_name(role)})")
    batch.scheduler.cancel(numbers)
    return words


def _await_programs(run: RunDir, history: History, batch: BatchLauncher | None) -> None:
    end = time.monotonic() + ENDS_S
    for name in _unfinished(run, history):
        while _lives(run, run.job(name), batch):
            if not run.stop_requested() and surely_missing(run.job(name) / "ended.json"):
                raise RunError(
                    f"{_name(name)} of {run.id} has not ended; burstlens stop {run.id} ends it"
                )
            if time.monotonic() > end:
                raise RunError(
                    f"{_name(name)} of {run.id} was asked to stop and has not ended within "
                    f"{ENDS_S:.0f} s; burstlens stop {run.id} --now ends it, then burstlens free"
                )
            time.sleep(LOOK_S)


def _unfinished(run: RunDir, history: History) -> Iterator[str]:
    """Jobs that may have been started and whose end the journal does not have."""
    for name, record in history.jobs.items():
        if record.outcome is None and not surely_missing(run.job(name)):
            yield name


def _lives(run: RunDir, folder: Path, batch: BatchLauncher | None) -> bool:
    """Whether that job's program may run, or a local supervisor still brings the logs home."""
    if batch is not None:
        if surely_exists(folder / "ended.json"):
            return False
        # In one batch job with the others, or a job of its own.
        of_host = sorted((run.path / "steps").glob("host-*"), key=lambda host: host.stat().st_mtime)
        for place in (folder, *of_host[-1:]):
            if (job_id := batch.find(place)) is not None:
                return not batch.is_over(job_id)
    local = LocalLauncher()
    job_id = local.find(folder)
    if job_id is not None and local.alive(job_id):
        return True
    local.clear(folder)
    return False


def _name(role: str) -> str:
    """A job's role in the run, in words."""
    return next((text for begin, text in _ROLES.items() if role.startswith(begin)), role)
