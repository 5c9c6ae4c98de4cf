"""A client of Slurm: submit, query, cancel jobs, and list burst buffers.

Output is read as scontrol prints it, which needs no accounting.
"""

from __future__ import annotations

import contextlib
import getpass
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from burstlens.cluster_configs.batch_script import minutes, warned_s, word
from burstlens.cluster_configs.bursts import (
    HOLDING,
    Burst,
    Holder,
    Pool,
    fields,
    holders_format,
    read_buffers,
    read_holders,
)
from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.polling import PollingScheduler
from burstlens.cluster_configs.queue_places import FORMAT, places
from burstlens.cluster_configs.scheduler import (
    FORGOTTEN,
    BatchJob,
    BlockJob,
    JobState,
    Phase,
    QueuePlace,
    SchedulerError,
    user_name,
)

_WAITING = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"}
_ACTIVE = {"CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING"}
_AFTER = {"STAGE_OUT"}
_CUT = {
    "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "DEADLINE", "BOOT_FAIL",
}  # fmt: skip
"""What Slurm calls a job that did not end by its program."""
_HOPELESS = re.compile(
    r"burst_buffer/|held|BadConstraints|PartitionTimeLimit|PartitionConfig|PartitionNodeLimit|PartitionInactive"
    r"|Invalid|InvalidAccount|InvalidQOS|launch.failed|DependencyNeverSatisfied",
    re.IGNORECASE,
)
_ORDER = (Phase.RUNNING, Phase.WAITING, Phase.LEAVING, Phase.OVER)
_STEP = "--cpus-per-task=%d --no-kill --kill-on-bad-exit=0 --wait=0"
"""Since Slurm 22.05 a step has to ask for its CPUs itself. The pools of the other nodes go on when
a node or its pool is lost, whatever the site's KillOnBadExit and WaitTime say."""
_UID = re.compile(r"\((\d+)\)$")
_PRIVATE = re.compile(r"^PrivateData\s*=\s*(.*)$", re.MULTILINE)
_UNCONFIGURED = re.compile(r"configuration source|slurm\.conf", re.IGNORECASE)


class SlurmError(SchedulerError):
    """A command of Slurm failed."""


class Slurm(PollingScheduler):
    """Commands of Slurm. Safe to use from several threads."""

    name: ClassVar[str] = "slurm"
    title: ClassVar[str] = "Slurm"
    offers: ClassVar[frozenset[str]] = frozenset({"datawarp", "rabbit", "same-job"})
    cpus_variable: ClassVar[str] = "SLURM_CPUS_ON_NODE"
    submits: ClassVar[str] = "sbatch"
    unknown: ClassVar[re.Pattern[str]] = re.compile(r"Invalid job id|Job \S+ not found")
    job_ids: ClassVar[re.Pattern[str]] = re.compile(r"[0-9]{1,10}(?:_[0-9]{1,10}|\+[0-9]{1,5})?")
    """A job, a task of an array (``123_4``), a component of a heterogeneous job (``123+1``)."""
    error: ClassVar[type[SchedulerError]] = SlurmError
    _shows_all: bool | None = None
    """Whether squeue lists other users' jobs; None while that was not asked."""

    def submit(self, script: str) -> str:
        """Hand a script to sbatch; returns the job's id. Raises SlurmError."""
        said = self.call(["sbatch", "--parsable"], script, with_parent=True)
        return said.strip().split(";")[0]

    def ask(self, job_id: str) -> JobState:
        """What scontrol says of the job, else accounting; of an array or a heterogeneous job, the
        part that is least far. Raises SlurmError."""
        try:
            found = self._shown(job_id)
        except SlurmError as error:
            if error.unknown_job:
                return self._accounted(job_id)
            raise
        # A part that has failed stands for those that are over.
        return min(
            (_read_job(job_id, part) for part in found),
            key=lambda job: (_ORDER.index(job.phase), not job.failed),
        )

    def owner(self, job_id: str) -> str:
        """The job's user, by scontrol. Raises SlurmError."""
        said = self._shown(job_id)[0].get("UserId", "")
        uid = _UID.search(said)
        return user_name(int(uid[1])) if uid else said

    def inside(self, job_id: str) -> Inside:
        """The node where the job's script runs, which has its first rank, and the job's CPUs there
        if they are spread evenly. Raises SlurmError."""
        shown = self._shown(job_id)
        part = next((part for part in shown if part["JobState"] == "RUNNING"), shown[0])
        cpus, nodes = (_first_number(part.get(key, "")) for key in ("NumCPUs", "NumNodes"))
        return Inside(
            part.get("JobId", job_id), cpus=max(1, cpus // nodes), node=part.get("BatchHost", "")
        )

    def _shown(self, job_id: str) -> list[dict[str, str]]:
        """What scontrol shows of each part of the job, one or more. Raises SlurmError."""
        said = self.call(["scontrol", "--oneliner", "show", "job", job_id])
        found = [part for line in said.splitlines() if "JobState" in (part := fields(line))]
        if not found:
            raise SlurmError(f"scontrol printed no state of job {job_id}", passing=True)
        return found

    def ask_all(self, job_ids: Sequence[str]) -> Iterator[JobState]:
        """One squeue serves all. It leaves out jobs that Slurm has forgotten, and why a job has
        failed: scontrol is asked about these. Raises SlurmError."""
        listed = {job.job_id: job for job, _ in self.queue()}
        for job_id in job_ids:
            state = listed.get(job_id)
            if state is None or state.hopeless or state.over:
                with contextlib.suppress(SlurmError):
                    state = self.ask(job_id)
            if state is not None:
                yield state

    def queue(self) -> list[tuple[JobState, str]]:
        """This user's jobs with their comments. Raises SlurmError."""
        form = "%i\t%T\t%j\t%k\t%r"
        said = self.call(["squeue", "-h", "-t", "all", "-u", getpass.getuser(), "-o", form])
        found = []
        for line in said.splitlines():
            job_id, state, name, remark, reason = [*line.split("\t", 4), "", "", "", ""][:5]
            found.append((_job(job_id, state, _reason(reason), name), remark))
        return found

    def forecast(self) -> Mapping[str, QueuePlace]:
        """By one squeue of all pending jobs: the order of their priorities, and the starts that the
        backfill scheduler expects. Raises SlurmError."""
        if self._shows_all is None:
            said = _PRIVATE.search(self.call(["scontrol", "show", "config"], once=True))
            self._shows_all = said is not None and "jobs" not in said[1].split(",")
        listed = self.call(["squeue", "-h", "-t", "PENDING", "-o", FORMAT], once=True)
        return places(listed, self.title, ranked=self._shows_all)

    def cancel(self, job_ids: Sequence[str]) -> None:
        """Cancel jobs; those that are over already are ignored. Raises SlurmError."""
        if job_ids:
            self.call(["scancel", *job_ids])

    def cancel_command(self, job_id: str) -> str:
        """By scancel."""
        return f"scancel {job_id}"

    def header(self, job: BatchJob) -> Iterator[str]:
        """The lines of sbatch. Raises SiteError for a value that a script cannot hold."""
        return (f"#SBATCH {option}" for option in self._options(job))

    def _options(self, job: BatchJob) -> Iterator[str]:
        for name in ("partition", "account", "qos", "constraint"):
            value = getattr(self.settings, name)
            if value:
                yield f"--{name}={word(value)}"
        yield f"--job-name={word(job.name)}"
        yield f"--comment={word(job.comment)}"
        yield f"--nodes={job.nodes}"
        yield f"--ntasks-per-node={job.tasks_per_node}"
        yield f"--time={minutes(job.walltime_s)}"
        yield f"--output={word(str(job.output))}"
        yield "--open-mode=append"
        # A job that Slurm restarts by itself would be a second model in the first one's files.
        yield "--no-requeue"
        yield f"--signal=B:TERM@{warned_s(job)}"
        yield from job.options

    def after(self, job_id: str) -> str:
        """By a dependency."""
        return f"#SBATCH --dependency=after:{job_id}"

    def provider(self, block: BlockJob) -> tuple[type, dict[str, Any]]:
        """Parsl's SlurmProvider."""
        from parsl.launchers import SimpleLauncher, SrunLauncher
        from parsl.providers import SlurmProvider

        options = [f"--comment={block.comment}", "--no-requeue", f"--cpus-per-task={block.cpus}"]
        options += ["--no-kill"] if block.nodes > 1 else []
        lines = [*block.lines, *(f"#SBATCH {option}" for option in [*options, *block.options])]
        return SlurmProvider, {
            "partition": self.settings.partition,
            "account": self.settings.account,
            "qos": self.settings.qos,
            "constraint": self.settings.constraint,
            "scheduler_options": "\n".join(lines),
            "exclusive": False,
            "launcher": SrunLauncher(overrides=_STEP % block.cpus)
            if block.nodes > 1
            else SimpleLauncher(),
        }

    def buffers(self) -> tuple[list[Pool], list[Burst]]:
        """Pools and buffers that exist. Raises SlurmError."""
        return read_buffers(self.call(["scontrol", "show", "burst"]))

    def buffer(self, name: str) -> Burst | None:
        """The persistent buffer of that name. Raises SlurmError."""
        return next((burst for burst in self.buffers()[1] if burst.name == name), None)

    def holders(self) -> list[Holder]:
        """Jobs with burst buffers, also other users' if Slurm shows them. Raises SlurmError."""
        states = ",".join(HOLDING)
        return read_holders(self.call(["squeue", "-h", "-t", states, "-O", holders_format()]))

    def explain(self, said: Sequence[str]) -> str:
        """As Slurm says it, or that it has no configuration here."""
        text = super().explain(said)
        if _UNCONFIGURED.search(text):
            return (
                f"there is no configuration of Slurm: is this a login node of Slurm? ({said[-1]})"
            )
        return text

    def _accounted(self, job_id: str) -> JobState:
        """The state of a job that the controller forgot, from accounting if there is any."""
        try:
            command = ["sacct", "-X", "-n", "-P", "-j", job_id, "-o", "State%60,JobName%60"]
            said = self.call(command)
        except SlurmError:
            said = ""
        if not said.strip():
            return _job(job_id, FORGOTTEN)
        state, _, name = said.splitlines()[0].partition("|")
        first, _, rest = state.strip().partition(" ")
        return _job(job_id, first, rest, name)


def _read_job(job_id: str, found: dict[str, str]) -> JobState:
    """A job by the fields that scontrol shows."""
    reason = _reason(found.get("Reason", ""))
    system = _reason(found.get("SystemComment", ""))
    if system:
        reason = f"{reason}: {system}" if reason else system
    job = _job(job_id, found["JobState"], reason, found.get("JobName", ""))
    return replace(job, nodes=_reason(found.get("NodeList", "")))


def _job(job_id: str, state: str, reason: str = "", name: str = "") -> JobState:
    """A job by Slurm's word for its state."""
    if state in _WAITING:
        phase = Phase.WAITING
    elif state in _ACTIVE:
        phase = Phase.RUNNING
    else:
        phase = Phase.LEAVING if state in _AFTER else Phase.OVER
    hopeless = phase is Phase.WAITING and bool(_HOPELESS.search(reason))
    # Slurm calls a job completed whose stage out failed, and gives that only in the reason.
    cut = state in _CUT or (state == "COMPLETED" and "burst_buffer" in reason)
    ended = phase is Phase.OVER and state != FORGOTTEN
    failed = (cut or state != "COMPLETED") if ended else None
    ending = state == "COMPLETING"
    return JobState(job_id, phase, state, reason, name, hopeless, cut, failed=failed, ending=ending)


def _first_number(text: str) -> int:
    """``2`` of ``2-4``; 1 where there is none."""
    found = re.match(r"[1-9]\d*", text)
    return int(found[0]) if found else 1


def _reason(text: str) -> str:
    return "" if text in {"None", "(null)"} else text
