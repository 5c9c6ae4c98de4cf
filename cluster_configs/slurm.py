"""A client of Slurm: submit, query, cancel jobs, and list burst buffers.

It asks seldom: the files of a job's supervisor have the truth about it, Slurm only confirms it.
Output is read as scontrol prints it, which needs no accounting.
"""

from __future__ import annotations

import contextlib
import getpass
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from burstlens.core.errors import SiteError
from burstlens.core.quantity import parse_bytes

LIMIT_S = 60.0
"""Longest time that one command may take."""
SILENT_S, PAUSE_S = 90.0, 3.0
"""How long to go on asking a controller that does not answer, as in a restart, and how often."""
FIRST_S, GROWTH = 2.0, 3.0
"""After a submission Slurm is asked this soon, then each time so much later, up to the site's
interval, so that the reason why a job waits is reported early."""
_WAITING = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"}
_ACTIVE = {"CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING"}
_AFTER = {"STAGE_OUT"}
_HOLDING = {"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING", "STAGE_OUT"}
_HOPELESS = re.compile(
    r"burst_buffer/|held|BadConstraints|PartitionTimeLimit|PartitionConfig|PartitionNodeLimit|PartitionInactive"
    r"|Invalid|InvalidAccount|InvalidQOS|launch.failed|DependencyNeverSatisfied",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"Unable to contact|Connection refused|timed out|Zero Bytes|Socket|temporarily|try again",
    re.IGNORECASE,
)
_UNCONFIGURED = re.compile(r"configuration source|slurm\.conf", re.IGNORECASE)
# Comments and directives never contain these, and they are not white space.
_CELL_END, _ROW_END = "\x01", "\x02"
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w/:]*)=")


class SlurmError(SiteError):
    """A command of Slurm failed.

    ``unknown_job`` says that Slurm has forgotten that job, ``passing`` that the controller did
    not answer, which it may do later.
    """

    def __init__(self, message: str, *, unknown_job: bool = False, passing: bool = False) -> None:
        super().__init__(message)
        self.unknown_job = unknown_job
        self.passing = passing


@dataclass(frozen=True, slots=True)
class JobState:
    """Slurm's state of a job: ``RUNNING``, ``PENDING`` ...; ``FORGOTTEN`` when it has none.

    ``reason`` is why it waits or how it ended, with the burst buffer's message.
    """

    job_id: str
    state: str
    reason: str = ""
    name: str = ""

    @property
    def waiting(self) -> bool:
        """Whether it has not begun."""
        return self.state in _WAITING

    @property
    def over(self) -> bool:
        """Whether its program has ended or never will begin."""
        return self.state not in _WAITING | _ACTIVE

    @property
    def final(self) -> bool:
        """Whether it is over for good, with the stage out of its buffer."""
        return self.over and self.state not in _AFTER

    @property
    def hopeless(self) -> bool:
        """Whether it waits for something that will not happen by itself."""
        return self.waiting and bool(_HOPELESS.search(self.reason))

    @property
    def text(self) -> str:
        """In words: ``CANCELLED (by 1001)``."""
        return f"{self.state} ({self.reason})" if self.reason else self.state


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of burst-buffer space, in bytes."""

    name: str
    granule: int
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class Burst:
    """A burst buffer that exists: persistent, or ``job_id``'s own."""

    name: str
    size: int
    state: str
    user: str
    created: str
    job_id: str | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """A job that asks for burst buffers or has them; ``lines`` are its directives."""

    job_id: str
    user: str
    state: str
    comment: str
    lines: tuple[str, ...]


class Slurm:
    """Commands of Slurm. Safe to use from several threads."""

    def __init__(self, query_interval_s: float = 30.0, patience_s: float = SILENT_S) -> None:
        self.query_interval_s = query_interval_s
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._known: dict[str, JobState] = {}
        self._next: dict[str, float] = {}
        self._pause: dict[str, float] = {}
        self._calm: set[str] = set()

    def submit(self, script: str) -> str:
        """Hand a script to sbatch; returns the job's id. Raises SlurmError."""
        said = _run(["sbatch", "--parsable"], script, with_parent=True)
        return said.strip().split(";")[0]

    def state(self, job_id: str) -> JobState:
        """The job's state when Slurm was last asked, which is seldom.

        One query serves all jobs that are waited for. Without an answer the latest one counts: a
        controller that restarts does not end jobs.
        """
        with self._lock:
            now = time.monotonic()
            if job_id not in self._next:  # just submitted, or met again: nothing is known yet
                known = job_id in self._known
                self._known.setdefault(job_id, JobState(job_id, "PENDING"))
                self._pause[job_id] = min(FIRST_S, self.query_interval_s)
                self._next[job_id] = now + self._pause[job_id] if known else now
            if now >= self._next[job_id]:
                self._refresh(job_id)
            return self._known[job_id]

    def submitted(self, job_id: str) -> None:
        """Note that the job was submitted a moment ago: it waits, and is asked about soon."""
        with self._lock:
            self._known[job_id] = JobState(job_id, "PENDING")
            self._pause[job_id] = min(FIRST_S, self.query_interval_s)
            self._next[job_id] = time.monotonic() + self._pause[job_id]

    def calm(self, job_id: str) -> None:
        """Note that the job itself has reported its begin: Slurm need only confirm it, seldom."""
        with self._lock:
            if job_id not in self._calm:
                self._calm.add(job_id)
                if self._known.get(job_id, JobState(job_id, "PENDING")).waiting:
                    self._known[job_id] = JobState(job_id, "RUNNING")
                self._pause[job_id] = self.query_interval_s
                self._next[job_id] = time.monotonic() + self.query_interval_s

    def forget(self, job_id: str) -> None:
        """Note that the job has done its work: it is not asked about any more."""
        with self._lock:
            for known in (self._known, self._next, self._pause):
                known.pop(job_id, None)

    def _refresh(self, asked: str) -> None:
        """Ask about every job that is waited for, in one command."""
        waited = [job_id for job_id in self._next if not self._known[job_id].final]
        try:
            found = {job.job_id: job for job, _ in self._queue()}
        except SlurmError:
            found = self._known
        for job_id in {*waited, asked}:
            state = found.get(job_id)
            # squeue leaves out jobs that Slurm has forgotten, and why a job has failed.
            if found is not self._known and (state is None or state.hopeless or state.over):
                with contextlib.suppress(SlurmError):
                    state = self._ask(job_id)
            self._known[job_id] = state or self._known[job_id]
            self._next[job_id] = time.monotonic() + self._pause[job_id]
            self._pause[job_id] = min(GROWTH * self._pause[job_id], self.query_interval_s)

    def look(self, job_id: str) -> JobState:
        """What Slurm says of the job now. Raises SlurmError when it does not answer."""
        state = self._ask(job_id)
        with self._lock:
            self._known[job_id] = state
            self._pause[job_id] = self.query_interval_s
            self._next[job_id] = time.monotonic() + self.query_interval_s
        return state

    def jobs(self, comment: str) -> list[JobState]:
        """This user's jobs with that comment, also recently ended ones. Raises SlurmError."""
        return [job for job, remark in self._queue() if remark == comment]

    def _queue(self) -> list[tuple[JobState, str]]:
        """This user's jobs with their comments."""
        form = "%i\t%T\t%j\t%k\t%r"
        said = _run(["squeue", "-h", "-t", "all", "-u", getpass.getuser(), "-o", form])
        found = []
        for line in said.splitlines():
            job_id, state, name, remark, reason = [*line.split("\t", 4), "", "", "", ""][:5]
            found.append((JobState(job_id, state, _reason(reason), name), remark))
        return found

    def cancel(self, job_ids: Sequence[str]) -> None:
        """Cancel jobs; those that are over already are ignored. Raises SlurmError."""
        if job_ids:
            _run(["scancel", *job_ids])

    def cancel_all(self, comment: str, *names: str) -> None:
        """Cancel this user's jobs with that comment whose names start so. Raises SlurmError."""
        self.cancel(
            [
                job.job_id
                for job in self.jobs(comment)
                if job.name.startswith(names) and not job.over
            ]
        )

    def buffers(self) -> tuple[list[Pool], list[Burst]]:
        """Pools and buffers that exist. Raises SlurmError."""
        pools: list[Pool] = []
        found: list[Burst] = []
        for line in _run(["scontrol", "show", "burst"]).splitlines():
            fields = _fields(line)
            if "TotalSpace" in fields:
                pools += _pools(fields)
            elif "Size" in fields:
                found.append(_burst(fields))
        return pools, found

    def buffer(self, name: str) -> Burst | None:
        """The persistent buffer of that name. Raises SlurmError."""
        return next((burst for burst in self.buffers()[1] if burst.name == name), None)

    def holders(self) -> list[Holder]:
        """Jobs with burst buffers, also other users' if Slurm shows them. Raises SlurmError."""
        names = ("JobID", "UserName", "State", "Comment", "BurstBuffer")
        form = ",".join(f"{name}:{_CELL_END}" for name in names) + _ROW_END
        said = _run(["squeue", "-h", "-t", ",".join(sorted(_HOLDING)), "-O", form])
        rows = [row.strip().split(_CELL_END) for row in said.split(_ROW_END)]
        return [
            Holder(job_id, user, state, comment, tuple(lines.splitlines()))
            for job_id, user, state, comment, lines in (row[:5] for row in rows if row[5:])
            if lines != "(null)"
        ]

    def _ask(self, job_id: str) -> JobState:
        try:
            command = ["scontrol", "--oneliner", "show", "job", job_id]
            fields = _fields(_run(command, patience_s=self._patience_s))
        except SlurmError as error:
            if error.unknown_job:
                return self._accounted(job_id)
            raise
        reason = _reason(fields.get("Reason", ""))
        system = fields.get("SystemComment", "")
        if system and system != "(null)":
            reason = f"{reason}: {system}" if reason else system
        return JobState(
            job_id, fields.get("JobState", "UNKNOWN"), reason, fields.get("JobName", "")
        )

    def _accounted(self, job_id: str) -> JobState:
        """The state of a job that the controller forgot, from accounting if there is any."""
        try:
            command = ["sacct", "-X", "-n", "-P", "-j", job_id, "-o", "State%60,JobName%60"]
            said = _run(command, patience_s=self._patience_s)
        except SlurmError:
            said = ""
        if not said.strip():
            return JobState(job_id, "FORGOTTEN")
        state, _, name = said.splitlines()[0].partition("|")
        word, _, rest = state.strip().partition(" ")
        return JobState(job_id, word, rest, name)


def require_program(name: str) -> None:
    """Raise SlurmError where that program of Slurm is missing."""
    if shutil.which(name) is None:
        raise SlurmError(f"{name} is not on PATH: is this a login node of Slurm?")


def _run(
    command: list[str],
    given: str = "",
    *,
    with_parent: bool = False,
    patience_s: float = SILENT_S,
) -> str:
    """The command's output. A query is repeated while the controller does not answer."""
    end = time.monotonic() + (0.0 if with_parent else patience_s)
    while True:
        try:
            return _run_once(command, given, with_parent=with_parent)
        except SlurmError as error:
            if not error.passing or time.monotonic() > end:
                raise
        time.sleep(PAUSE_S)


def _run_once(command: list[str], given: str, *, with_parent: bool) -> str:
    require_program(command[0])
    # A command that is killed with its parent cannot submit a job that no driver has noted.
    argv = ["setpriv", "--pdeathsig", "KILL", *command] if with_parent else command
    try:
        done = subprocess.run(argv, input=given, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired as error:
        text = f"{command[0]} did not answer within {LIMIT_S:.0f} s"
        raise SlurmError(text, passing=True) from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        text = "; ".join(said[-3:]) or f"exit code {done.returncode}"
        if _UNCONFIGURED.search(text):
            text = (
                f"there is no configuration of Slurm: is this a login node of Slurm? ({said[-1]})"
            )
        raise SlurmError(
            f"{command[0]}: {text}",
            unknown_job="Invalid job id" in text,
            passing=bool(_PASSING.search(text)),
        )
    return done.stdout


def _fields(line: str) -> dict[str, str]:
    """``A=1 B=two words C=3``, as scontrol writes it."""
    parts = _FIELD.split(line)
    return {key: value.strip() for key, value in zip(parts[1::2], parts[2::2], strict=True)}


def _reason(text: str) -> str:
    return "" if text in {"None", "(null)"} else text


def _pools(fields: dict[str, str]) -> list[Pool]:
    granule, total, free = (
        _size(fields.get(key, "")) for key in ("Granularity", "TotalSpace", "FreeSpace")
    )
    return [Pool(fields.get("DefaultPool", ""), granule, total, free)]


def _burst(fields: dict[str, str]) -> Burst:
    user = fields.get("UserID", "").partition("(")[0]
    return Burst(
        fields.get("Name", ""),
        _size(fields["Size"]),
        fields.get("State", ""),
        user,
        fields.get("CreateTime", ""),
        fields.get("JobID"),
    )


def _size(text: str) -> int:
    try:
        return parse_bytes(text)
    except ValueError:  # "0", or nothing
        return 0
