"""A supervised job as the driver sees it: described, submitted or found again, awaited."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from burstlens.cluster_configs.scheduler import CANCELLED, PREEMPTED
from burstlens.core.durable import make_folders, read_json, write_json
from burstlens.core.errors import BurstlensError, RunError, SiteError
from burstlens.core.existence import again
from burstlens.core.fault import shorten
from burstlens.core.printable import printable
from burstlens.core.run.attempts import REQUEUED
from burstlens.workflows.placement.job_end import STOP_BY, TERMINATED, WALLTIME
from burstlens.workflows.placement.job_folder import names_in
from burstlens.workflows.placement.launch import Launcher

_UNSURE = {"lost", WALLTIME, STOP_BY}
LOOK_S, LATER_LOOK_S, LATER = 0.2, 0.5, 10.0
"""Pauses between looks for the job's end: of one that has run ``LATER`` seconds the longer one."""
SILENT_PAUSE_S = 5.0
"""Before a scheduler that did not answer is asked again."""
AWAY_PAUSE_S = 0.5
MOST_SHOWN = 300
"""Characters of a log's last line."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a supervised job ended, by its supervisor; ``lost`` when the supervisor was killed."""

    exit_code: int | None
    signal: str | None
    reason: str
    message: str = ""
    why: Mapping[str, Any] = field(default_factory=dict)
    """Why it was stopped, where the supervisor was asked directly: :meth:`RunDir.stop_reason`."""
    seconds: float | None = field(default=None, compare=False)
    """How long the job took, by its supervisor's clock, which nobody sets."""
    idle_s: float | None = field(default=None, compare=False)
    """How long the job had waited for it, where it was submitted ahead or requeued."""
    ended: float | None = field(default=None, compare=False)
    """When it ended, by its node."""
    cores: int | None = field(default=None, compare=False)
    """CPUs that it had on each node."""
    last_line: str = field(default="", compare=False)
    """The last line of its log, where its program failed."""

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
        if self.reason == REQUEUED:
            why = f": {self.message}" if self.message else ""
            return f"was put back into the scheduler's queue{why}"
        how = "ended" if self.exit_code is None else f"ended with exit code {self.exit_code}"
        if self.signal:
            how = f"was ended by {self.signal}"
        elif self.reason == STOP_BY:
            how = "stopped ahead of the end of its job, as it was asked to"
        how = how if self.reason in {"exited", STOP_BY} else f"{how} ({self.reason})"
        return f"{how}; {self.message}" if self.message else how


def describe(job_folder: Path, job: dict[str, Any]) -> None:
    """Write ``job.json``, what the supervisor is to do. Raises OSError."""
    make_folders(job_folder, below=job_folder.parents[1])
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
    ``submitted`` is called with the job's id. A job that a former driver submitted is found by its
    folder, so that it is never started twice. While the run directory is away nothing is concluded:
    it is waited for. Raises JobFailedError unless it ends well, RunError when the driver is
    ``leaving`` (the job goes on without it).
    """
    leaving = leaving or threading.Event()
    _stay(leaving)
    known: list[str] = []

    def once(job_id: str) -> None:
        if known[-1:] != [job_id]:
            known.append(job_id)
            submitted(job_id)

    while True:
        try:
            reported, job_id = _ended(launcher, job_folder, once, leaving)
            break
        except SiteError:  # passing: whether it runs is not known now
            leaving.wait(SILENT_PAUSE_S)
        except OSError:  # away: the driver itself knows when to give the directory up
            leaving.wait(AWAY_PAUSE_S)
        _stay(leaving)
    said = reported.get("message"), _remark(launcher, job_id, reported)
    end = Ended(
        reported.get("exit_code"),
        reported.get("signal"),
        _reason(launcher, job_id, reported["reason"]),
        "; ".join(filter(None, said)),
        reported.get("why") or {},
        reported.get("seconds"),
        reported.get("idle_s"),
        reported.get("ended"),
        reported.get("cores"),
        shorten(printable(reported.get("last_line") or ""), MOST_SHOWN),
    )
    if job_id is not None and not (end.well or end.stopped) and launcher.is_requeued(job_id):
        end = replace(end, reason=REQUEUED)
    if not end.well:
        raise JobFailedError(f"{job_folder.parent.name}/{job_folder.name}", end)
    return end


def _remark(launcher: Launcher, job_id: str | None, reported: dict[str, Any]) -> str:
    """What the scheduler adds; nothing while it, or the run directory, does not answer."""
    if job_id is None or reported["reason"] in {"lost", REQUEUED}:
        return ""
    reason, early = reported["reason"], reported.get("grace_s")
    at_end = reason in {WALLTIME, STOP_BY}
    well = reported.get("exit_code") == 0 and not (at_end or reason.startswith(TERMINATED))
    # Of the end of its time the supervisor has said all, and the next attempt waits.
    says_all = well or (at_end and early is None)
    with contextlib.suppress(SiteError, OSError):
        return launcher.remark(job_id, well=well, grace_s=None if says_all else early or 0.0)
    return ""


def _reason(launcher: Launcher, job_id: str | None, reported: str) -> str:
    """Why the job ended: what its scheduler did with it, where the supervisor cannot tell that. One
    that a person has cancelled is not followed by another one, however near its end it was."""
    by = ""
    if job_id is not None and (reported in _UNSURE or reported.startswith(TERMINATED)):
        with contextlib.suppress(SiteError, OSError):
            by = launcher.ended_by(job_id)
    if by == CANCELLED:
        return by if reported in {WALLTIME, STOP_BY} else reported
    return by if by == PREEMPTED or (reported == "lost" and by) else reported


def _ended(
    launcher: Launcher, job_folder: Path, submitted: Callable[[str], None], leaving: threading.Event
) -> tuple[dict[str, Any], str | None]:
    """The report of the job's end, and the job's id; also for a job that never begins. Raises
    OSError while the job's folder cannot be read or written, and a passing SiteError."""
    try:
        return _followed(launcher, job_folder, submitted, leaving)
    except SiteError as error:
        if error.passing:
            raise
        reason = getattr(error, "reason", "not started")
        return _write_end(job_folder / "ended.json", reason, str(error)), None


def _followed(
    launcher: Launcher, job_folder: Path, submitted: Callable[[str], None], leaving: threading.Event
) -> tuple[dict[str, Any], str | None]:
    """Submit the job or find it, and wait for its end."""
    ended = job_folder / "ended.json"
    job_id = launcher.find(job_folder)
    if job_id is None and not names_in(job_folder) & {"ended.json", "claim"}:
        job_id = launcher.submit(job_folder)
    if job_id is not None:
        submitted(job_id)
    begin = time.monotonic()
    # A supervisor that has written its end is not lost for a read that fails for a moment.
    while (reported := again(lambda: read_json(ended))) is None:
        if job_id is None or not launcher.alive(job_id):
            # Ours may have found the folder claimed by one that a former driver had just started.
            found = launcher.find(job_folder)
            if found is not None and found != job_id:
                job_id = found
                submitted(job_id)
            elif launcher.take_back(job_folder):
                job_id = launcher.submit(job_folder)
                submitted(job_id)
            elif "ended.json" not in names_in(job_folder):
                launcher.clear(job_folder)
                fate = launcher.fate(job_id, job_folder)
                launcher.unreported.add(job_folder)
                requeued = job_id is not None and launcher.is_requeued(job_id)
                end = _write_end(ended, REQUEUED if requeued else "lost", fate)
                launcher.unreported.discard(job_folder)
                return end, job_id
        leaving.wait(LATER_LOOK_S if time.monotonic() - begin > LATER else LOOK_S)
        _stay(leaving)
    return reported, job_id


def _write_end(ended: Path, reason: str, message: str) -> dict[str, Any]:
    """Write in the supervisor's place how the job ended: the watcher waits for this file too."""
    end = {"reason": reason, "message": message, "ended": time.time()}
    write_json(ended, end)
    return end


def end_programs(job_folders: Sequence[Path]) -> None:
    """Have the supervisors of these jobs end their programs, as their attempt's job ends: one that
    finds its job's end written ends the program. Raises OSError."""
    for folder in job_folders:
        if "ended.json" not in names_in(folder):
            _write_end(folder / "ended.json", "stop", "its attempt's job ends")


def _stay(leaving: threading.Event) -> None:
    if leaving.is_set():
        raise RunError("the driver leaves the job to itself")


class JobFailedError(BurstlensError):
    """A supervised job did not end well; ``ended`` says how."""

    def __init__(self, name: str, ended: Ended) -> None:
        super().__init__(f"{name} {ended.text()}")
        self.ended = ended
