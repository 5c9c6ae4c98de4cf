"""A supervised job as the driver sees it: described, submitted or found again, awaited."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.durable import read_json, write_json
from burstlens.errors import BurstlensError, RunError, SiteError
from burstlens.workflows.launch import Launcher

LOOK_S = 0.2
SILENT_PAUSE_S = 5.0
"""Before a scheduler that did not answer is asked again."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a supervised job ended, as its supervisor says; ``lost`` when that one was killed."""

    exit_code: int | None
    signal: str | None
    reason: str
    message: str = ""

    @property
    def well(self) -> bool:
        """Whether the program ended by itself, with status 0."""
        return self.reason == "exited" and self.exit_code == 0

    @property
    def stopped(self) -> bool:
        """Whether a person or a guard ended it."""
        return self.reason in {"stop", "stop-now"}

    def text(self) -> str:
        """In words: ``ended with exit code 1``."""
        if self.reason == "not started":
            return f"could not be started: {self.message}"
        if self.reason == "lost":
            return f"was lost: {self.message}"
        how = (
            f"was ended by {self.signal}"
            if self.signal
            else f"ended with exit code {self.exit_code}"
        )
        how = how if self.reason == "exited" else f"{how} ({self.reason})"
        return f"{how}; {self.message}" if self.message else how


def describe(job_folder: Path, job: dict[str, Any]) -> None:
    """Write ``job.json``, what the supervisor is to do. Raises OSError."""
    job_folder.mkdir(parents=True, exist_ok=True)
    write_json(job_folder / "job.json", job)


def run_job(
    launcher: Launcher,
    job_folder: Path,
    submitted: Callable[[str], None],
    inputs: Sequence[Any] = (),
    leaving: threading.Event | None = None,
) -> Ended:
    """Submit the job unless it has begun already, and wait for its end.

    ``inputs`` are nodes that Parsl awaits first, known to it by this name; when one of them fails
    this one never starts.
    ``submitted`` is told the job's id. A job that a former driver submitted is found by its
    folder, so that it is never started twice. Raises JobFailedError unless it ends well, and
    RunError when the driver is ``leaving``: the job goes on without it.
    """
    leaving = leaving or threading.Event()
    _stay(leaving)
    ended = job_folder / "ended.json"
    while True:
        try:
            told, job_id = _followed(launcher, job_folder, submitted, leaving)
            break
        except SiteError as error:
            if error.passing:  # whether it runs cannot be told now: nothing is said of it
                leaving.wait(SILENT_PAUSE_S)
                _stay(leaving)
                continue
            # It never began, and never will.
            told, job_id = _tell(ended, getattr(error, "reason", "not started"), str(error)), None
            break
    remark = (
        ""
        if job_id is None or told["reason"] == "lost"
        else launcher.remark(job_id, well=told.get("exit_code") == 0)
    )
    end = Ended(
        told.get("exit_code"),
        told.get("signal"),
        told["reason"],
        "; ".join(part for part in (told.get("message", ""), remark) if part),
    )
    if not end.well:
        raise JobFailedError(f"{job_folder.parent.name}/{job_folder.name}", end)
    return end


def _followed(
    launcher: Launcher, job_folder: Path, submitted: Callable[[str], None], leaving: threading.Event
) -> tuple[dict[str, Any], str | None]:
    """Submit the job or find it, and wait; returns what is told of its end, and its id."""
    ended = job_folder / "ended.json"
    job_id = launcher.find(job_folder)
    if job_id is None and not ended.exists() and not (job_folder / "claim").exists():
        job_id = launcher.submit(job_folder)
    if job_id is not None:
        submitted(job_id)
    while (told := read_json(ended)) is None:
        if job_id is not None and launcher.alive(job_id):
            leaving.wait(LOOK_S)
            _stay(leaving)
            continue
        # Ours may have found the folder claimed by one that a former driver had just started.
        found = launcher.find(job_folder)
        if found is not None and found != job_id:
            job_id = found
            submitted(job_id)
        elif not ended.exists():
            launcher.clear(job_folder)
            _tell(ended, "lost", launcher.fate(job_id, job_folder))
    return told, job_id


def _tell(ended: Path, reason: str, message: str) -> dict[str, Any]:
    """Say in the supervisor's place how the job ended: the watcher waits for this file too."""
    told = {"reason": reason, "message": message, "ended": time.time()}
    write_json(ended, told)
    return told


def _stay(leaving: threading.Event) -> None:
    if leaving.is_set():
        raise RunError("the driver leaves the job to itself")


class JobFailedError(BurstlensError):
    """A supervised job did not end well; ``ended`` says how."""

    def __init__(self, name: str, ended: Ended) -> None:
        super().__init__(f"{name} {ended.text()}")
        self.ended = ended
