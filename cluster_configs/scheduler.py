"""The seam of batch systems: what Burstlens asks of a scheduler, and what it gets to hear.

``docs/adding.md`` walks through one. Nothing here talks to a scheduler; ``polling`` is the base
class that most of one can be made from.
"""

from __future__ import annotations

import pwd
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

from pydantic import BeforeValidator, Field

from burstlens.cluster_configs.inside import Inside
from burstlens.core.errors import SiteError
from burstlens.core.quantity import parse_duration
from burstlens.core.renamed import moved, renamed

SILENT_S = 90.0
"""How long to go on asking a scheduler that does not answer, as in a restart."""

Seconds = Annotated[
    float, Field(gt=0), BeforeValidator(parse_duration, json_schema_input_type=str | float)
]


class SchedulerError(SiteError):
    """A command of a scheduler failed.

    ``unknown_job`` says that the scheduler has forgotten that job, ``passing`` that it did not
    answer, which it may do later.
    """

    def __init__(self, message: str, *, unknown_job: bool = False, passing: bool = False) -> None:
        super().__init__(message)
        self.unknown_job = unknown_job
        self.passing = passing


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSite:
    """The site's table named after its scheduler, such as ``[slurm]``: what each job is submitted
    with. What is not set here is the scheduler's default, or its environment variable's."""

    queue: str | None = None
    """The queue, which Slurm calls a partition."""
    account: str | None = None
    """The account to charge."""
    qos: str | None = None
    """The quality of service, for a scheduler that has it."""
    node_features: str | None = None
    """What each node must have, such as `haswell`."""
    options: tuple[str, ...] = ()
    """Further options of the simulation's job, such as `--exclusive` of sbatch."""
    preempt_grace_s: Annotated[float, Field(gt=0)] = 30.0
    """Seconds between SIGTERM and SIGKILL of a job that is preempted or cancelled: Slurm's
    `KillWait`, or the `GraceTime` of the partition or quality of service if the job is sent SIGTERM
    at its begin."""
    driver_walltime: Seconds = 24 * 3600.0
    """Time of the one-core job that `run --batch` puts the driver in."""
    driver_options: tuple[str, ...] = ()
    """Further options of that job, such as `--partition=service` of sbatch."""
    query_interval_s: Annotated[float, Field(ge=1)] = 30.0
    """The scheduler is asked about a job at most once in this time."""
    job_init: str = ""
    """Shell lines before the supervisor starts, such as ``module load``: the site's, never a
    recipe's."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self, renamed("BatchSite", name))


class Phase(Enum):
    """Where a job is in its life, whatever its scheduler calls that."""

    WAITING = "not begun"
    RUNNING = "begun, and not known to have ended"
    UNKNOWN = "alive: the scheduler's word for its state is not a known one"
    LEAVING = "its program has ended, the stage out of its buffer has not"
    OVER = "ended for good, or it never will begin"


PREEMPTED, CANCELLED, TIME_OVER = "preempted", "cancelled", "timeout"
"""What a scheduler may do to end a job: give its nodes to another one, obey a person, keep to its
walltime."""
FORGOTTEN = "FORGOTTEN"
"""The state of a job that its scheduler does not know any more, or never knew."""


@dataclass(frozen=True, slots=True)
class JobState:
    """A job as its scheduler sees it.

    ``state`` is the scheduler's word for its ``phase``: ``RUNNING``, ``PENDING`` ...; ``FORGOTTEN``
    when it has none. ``reason`` is why it waits or how it ended. ``hopeless``: it waits for
    something that will not happen by itself, and is cancelled. ``cut``: it did not end by its
    program alone. ``nodes``: where it runs, if the scheduler said so. ``failed``: whether it ended
    badly, by its program or otherwise; None while it is not over, or where the scheduler does not
    say.
    ``ending``: its processes are being ended, and no step can begin any more. ``staging``: it
    waits while its buffer is made, filled or destroyed. ``ended_by``: what the scheduler did to end
    it: ``PREEMPTED``, ``CANCELLED``, ``TIME_OVER``; empty where its program ended by itself.
    """

    job_id: str
    phase: Phase
    state: str
    reason: str = ""
    name: str = ""
    hopeless: bool = False
    cut: bool = False
    nodes: str = ""
    failed: bool | None = None
    ending: bool = False
    staging: bool = False
    ended_by: str = ""

    @property
    def waiting(self) -> bool:
        """Whether it has not begun."""
        return self.phase is Phase.WAITING

    @property
    def over(self) -> bool:
        """Whether its program has ended or never will begin."""
        return self.phase in {Phase.LEAVING, Phase.OVER}

    @property
    def final(self) -> bool:
        """Whether it is over for good, with the stage out of its buffer."""
        return self.phase is Phase.OVER

    @property
    def text(self) -> str:
        """In words: ``CANCELLED (by 1001)``."""
        unknown = "not a known state" if self.phase is Phase.UNKNOWN else ""
        notes = ", ".join(part for part in (unknown, self.reason) if part)
        return f"{self.state} ({notes})" if notes else self.state


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlace:
    """Where a job stands that waits: the ``position``-th of ``of`` jobs that wait in ``partition``,
    by their priority (both None where the scheduler hides other users' jobs), and when it may begin
    (Unix seconds; None where ``by``, the scheduler's title, has no estimate).
    """

    by: str
    partition: str = ""
    position: int | None = None
    of: int | None = None
    start: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """One job: what it runs, on how many nodes, for how long, with which buffer.

    ``comment`` finds the job again, ``output`` is where the scheduler puts what the script prints.
    ``lead_s``: how long before its end it gets SIGTERM; None: ``batch_script.unmeasured_lead_s``.
    """

    name: str
    comment: str
    argv: tuple[str, ...]
    output: Path
    nodes: int = 1
    tasks_per_node: int = 1
    walltime_s: float = 300.0
    buffer_lines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    init: str = ""
    after_end: str = ""
    """The job that must have ended, however, before this one begins."""
    lead_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockJob:
    """What each job of a viewing block asks for; ``lines`` mount the buffer."""

    comment: str
    nodes: int
    cpus: int
    lines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


JOB_IDS = re.compile(r"[0-9]{1,18}[A-Za-z0-9_.+\[\]-]{0,200}")
"""Jobs' ids of a scheduler that does not say what its ids look like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobVariables:
    """The environment variables that a scheduler sets in its jobs; empty where it sets none."""

    job_id: str = ""
    """The job's id. A job is looked for only where a variable's name ends in ``JOBID`` or
    ``JOB_ID``."""
    submit_host: str = ""
    """The host on which the job was submitted: the way to a compute node leads through it."""
    node: str = ""
    """The scheduler's name of the node, where that is not the host's."""
    job_end: str = ""
    """When the job ends, in Unix seconds."""


class Scheduler(ABC):
    """A batch system. All methods but those that write lines may raise SchedulerError, and are safe
    to call from several threads.

    Jobs are named by the scheduler's own ids; the journal has them as ``name:id``.
    """

    name: ClassVar[str]
    """Its name in site files and the prefix of its jobs' ids: ``slurm``."""
    title: ClassVar[str]
    """Its name in messages: ``Slurm``."""
    offers: ClassVar[frozenset[str]] = frozenset()
    """Which kinds of buffer of ``datawarp`` and ``rabbit`` its jobs can ask for, and
    ``same-job``, where a viewing block can be a step of a running job."""
    variables: ClassVar[JobVariables] = JobVariables()
    """By what a job knows itself."""
    cpus_on_node: ClassVar[str] = "$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)"
    """A shell expression: how many CPUs a job has on the node where the shell runs."""
    job_ids: ClassVar[re.Pattern[str]] = JOB_IDS
    """What users may give as a job's id: it becomes an argument of the scheduler's commands."""
    launcher_lines: ClassVar[tuple[str, ...]] = ()
    """How lines begin that :meth:`each_node`'s program prints by itself when another fails."""
    end_command: ClassVar[tuple[str, ...]] = ()
    """The words that print when the job ``{job_id}`` ends, as Unix seconds or as a local time
    (``2026-01-31T12:00:00``): called once in the job, where its variables do not say it."""

    def __init__(self, settings: BatchSite | None = None, patience_s: float = SILENT_S) -> None:
        """``patience_s``: how long a query goes on while the scheduler does not answer."""
        self.settings = settings or BatchSite()

    @abstractmethod
    def require(self) -> None:
        """Raise SchedulerError where its commands are missing."""

    @abstractmethod
    def submit(self, script: str) -> str:
        """Submit a script; returns the job's id."""

    @abstractmethod
    def submitted(self, job_id: str) -> None:
        """Note that the job was submitted a moment ago: it waits, and is asked about soon."""

    @abstractmethod
    def state(self, job_id: str) -> JobState:
        """The job's state when the scheduler was last asked, which is seldom. Never raises, and
        does not wait for a scheduler that is silent where an earlier answer is known."""

    @abstractmethod
    def calm(self, job_id: str) -> None:
        """Note that the job itself has reported its begin: the scheduler need only confirm it."""

    @abstractmethod
    def forget(self, job_id: str) -> None:
        """Note that the job has done its work: it is not asked about any more."""

    @abstractmethod
    def look(self, job_id: str) -> JobState:
        """What the scheduler says of the job now."""

    @abstractmethod
    def jobs(self, comment: str) -> list[JobState]:
        """This user's jobs with that comment, also recently ended ones."""

    @abstractmethod
    def cancel(self, job_ids: Sequence[str]) -> None:
        """Cancel jobs; those that are over already are ignored."""

    @abstractmethod
    def cancel_all(self, comment: str, *names: str) -> None:
        """Cancel this user's jobs with that comment whose names start so."""

    @abstractmethod
    def cancel_command(self, job_id: str) -> str:
        """The command line by which a user cancels that job."""

    @abstractmethod
    def header(self, job: BatchJob) -> Iterator[str]:
        """The lines of a script with the job's name, comment, output, nodes, tasks, walltime and
        options. Raises SiteError for a value that a script cannot hold (``batch_script.word``).

        The output is what the script prints and nothing else, appended. The job has the
        environment of who submits it, is not begun a second time by the scheduler, and gets SIGTERM
        ahead of its walltime where the scheduler can do that (``batch_script.warned_s``)."""

    @abstractmethod
    def after(self, job_id: str) -> str:
        """The line of a job that may begin only when that one has begun."""

    def after_end(self, job_id: str) -> str:
        """The line of a job that may begin only when that one has ended, however it ended. Raises
        SchedulerError where there is none: then a run's next job is submitted when the one before
        has ended."""
        raise SchedulerError(f"{self.title} takes no job that waits for the end of another one")

    @abstractmethod
    def provider(self, block: BlockJob) -> tuple[type, dict[str, Any]]:
        """Parsl's provider class for such jobs, and its arguments, ``scheduler_options`` among
        them; the number of blocks, walltime, ``worker_init`` and ``nodes_per_block`` are added.
        Its launcher starts one worker pool on each node."""

    def place(self, job_id: str) -> QueuePlace | None:
        """The place of a waiting job when the scheduler was last asked, at most once a minute for
        all jobs; None while it is not known, or for good. Never raises."""
        return None

    @property
    def silent_s(self) -> float:
        """Seconds since the first question that nothing was answered after; 0 while it answers, or
        where it does not measure that."""
        return 0.0

    @classmethod
    def version_command(cls) -> tuple[str, ...]:
        """The command that prints its version; empty where there is none."""
        return ()

    def ask_for_node(self, launcher: Sequence[str], ranks: int) -> list[str] | None:
        """The words of a site's MPI launcher with which so many ``ranks`` run on one node for a few
        minutes, from a login node and at once; None where it cannot ask for a node itself."""
        return None

    def each_node(self, nodes: int) -> tuple[str, ...]:
        """The words that start a program once on each of the ``nodes`` of the job in which they are
        called, beside what runs there. Raises SchedulerError where there are none."""
        raise SchedulerError(f"{self.title} starts no program on each node of a job")

    def step_words(self, job: Inside, cpus: int, *, quiet: bool = False) -> list[str]:
        """The words that start a program in a running job from outside of it, on the job's first
        node, beside what runs there and on so many ``cpus``. ``quiet``: without standard input and
        without lines of their own. Raises SchedulerError where there are none."""
        raise SchedulerError(f"{self.title} starts no steps inside of a job that runs")


@runtime_checkable
class OpenScheduler(Protocol):
    """A scheduler that can also be asked about jobs that it was not given by Burstlens.

    It is optional: without it ``look --job`` observes a job and cannot stop it.
    """

    def owner(self, job_id: str) -> str:
        """The name of the job's user, as ``user_name`` gives it."""


@runtime_checkable
class EnterableScheduler(OpenScheduler, Protocol):
    """A scheduler that can start a step inside a running job from outside of it.

    It is optional: without it ``look --job`` does not see disks of the job's nodes.
    """

    def inside(self, job_id: str) -> Inside:
        """A running job as its steps need it: on its first node. Raises SchedulerError."""


def user_name(uid: int) -> str:
    """The name of that user, or the number where there is no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def __getattr__(name: str) -> object:
    return moved(__name__, name)
