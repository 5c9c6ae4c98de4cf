"""A client of Slurm: submit, query, cancel jobs, and list burst buffers.

Output is read as scontrol prints it, which needs no accounting.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from burstlens.cluster_configs.batch_script import minutes, warned_s, word
from burstlens.cluster_configs.bursts import Burst, Holder, Pool, unlisted
from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.polling import PAUSE_S, PollingScheduler
from burstlens.cluster_configs.scheduler import (
    FORGOTTEN,
    BatchJob,
    BlockJob,
    JobState,
    JobVariables,
    Phase,
    QueuePlace,
    SchedulerError,
    user_name,
)
from burstlens.cluster_configs.slurm_bursts import (
    HOLDING,
    holders_format,
    read_buffers,
    read_holders,
    remembered_since,
)
from burstlens.cluster_configs.slurm_output import (
    ACCOUNT_FORMAT,
    QUEUE_FORMAT,
    cells_format,
    least_far,
    read_account,
    read_cells,
    read_part,
    read_parts,
    read_queue,
    submitted_job,
)
from burstlens.cluster_configs.slurm_queue_places import FORMAT, places

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
    variables: ClassVar[JobVariables] = JobVariables(
        job_id="SLURM_JOB_ID",
        submit_host="SLURM_SUBMIT_HOST",
        node="SLURMD_NODENAME",
        job_end="SLURM_JOB_END_TIME",  # since 22.05
    )
    end_command: ClassVar[tuple[str, ...]] = ("squeue", "-h", "-j", "{job_id}", "-o", "%e")
    cpus_on_node: ClassVar[str] = "${SLURM_CPUS_ON_NODE:-$(nproc)}"
    launcher_lines: ClassVar[tuple[str, ...]] = ("srun: ", "slurmstepd: ")
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
        job_id = submitted_job(said)
        if job_id is None:  # it may have been accepted: passing, so that it is looked for
            raise SlurmError(f"sbatch printed no job id: {said.strip()[-200:]}", passing=True)
        return job_id

    def ask(self, job_id: str) -> JobState:
        """What scontrol says of the job, else accounting; of an array or a heterogeneous job, the
        part that is least far. Raises SlurmError."""
        try:
            found = self._shown(job_id)
        except SlurmError as error:
            if error.unknown_job:
                return self._accounted(job_id)
            raise
        return least_far([read_part(job_id, part) for part in found])

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
        """What scontrol shows of each part of the job, one or more; where a user's text looks like
        a field, what squeue does, in cells of its own. Raises SlurmError."""
        found = read_parts(self.call(["scontrol", "--oneliner", "show", "job", job_id]))
        if found is None:
            words = ["squeue", "-h", "-t", "all", "-j", job_id, "-O", cells_format()]
            found = read_cells(self.call(words))
        if not found:
            raise SlurmError(f"Slurm printed no state of job {job_id}", passing=True)
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
        user = getpass.getuser()
        return list(
            read_queue(self.call(["squeue", "-h", "-t", "all", "-u", user, "-o", QUEUE_FORMAT]))
        )

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

    def _named_options(self) -> Iterator[str]:
        site = self.settings
        named = {"partition": site.queue, "account": site.account, "qos": site.qos,
                 "constraint": site.node_features}  # fmt: skip
        return (f"--{name}={value}" for name, value in named.items() if value)

    def _options(self, job: BatchJob) -> Iterator[str]:
        yield from map(word, self._named_options())
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

    def after_end(self, job_id: str) -> str:
        """By a dependency, which a job that is requeued does not fulfil before its last end."""
        return f"#SBATCH --dependency=afterany:{job_id}"

    def provider(self, block: BlockJob) -> tuple[type, dict[str, Any]]:
        """Parsl's SlurmProvider."""
        from parsl.launchers import SimpleLauncher, SrunLauncher
        from parsl.providers import SlurmProvider

        options = [f"--comment={block.comment}", "--no-requeue", f"--cpus-per-task={block.cpus}"]
        options += ["--no-kill"] if block.nodes > 1 else []
        lines = [*block.lines, *(f"#SBATCH {option}" for option in [*options, *block.options])]
        return SlurmProvider, {
            "partition": self.settings.queue,
            "account": self.settings.account,
            "qos": self.settings.qos,
            "constraint": self.settings.node_features,
            "scheduler_options": "\n".join(lines),
            "exclusive": False,
            "launcher": SrunLauncher(overrides=_STEP % block.cpus)
            if block.nodes > 1
            else SimpleLauncher(),
        }

    def ask_for_node(self, launcher: Sequence[str], ranks: int) -> list[str] | None:
        """With what a job is submitted with, by srun alone."""
        if os.path.basename(launcher[0]) != "srun":
            return None
        options = [*self._named_options(), *self.settings.options]
        return [*launcher, "--nodes=1", "--time=5", *options]

    def each_node(self, nodes: int) -> tuple[str, ...]:
        """By srun, whose step shares the CPUs of others."""
        return ("srun", "--overlap", f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1")

    def step_words(self, job: Inside, cpus: int, *, quiet: bool = False) -> list[str]:
        """By srun."""
        words = ["srun", f"--jobid={job.job_id}", "--overlap", "--nodes=1", "--ntasks=1"]
        words += [f"--nodelist={job.node}"] if job.node else []
        words += [f"--cpus-per-task={cpus}", "--export=ALL"]
        return [*words, "--input=none", "--quiet"] if quiet else words

    def buffers(self) -> tuple[list[Pool], list[Burst]]:
        """Pools and buffers that exist; asked again while Slurm does not know them itself. After
        that the pools may come without the buffers. Raises SchedulerError."""
        end = time.monotonic() + self._patience_s
        while True:
            try:
                found = read_buffers(self.call(["scontrol", "show", "burst"], once=True))
                if not unlisted(found[0]) or time.monotonic() >= end:
                    return found
            except SchedulerError as error:
                if not error.passing or time.monotonic() >= end:
                    raise
            time.sleep(PAUSE_S)

    def buffer(self, name: str) -> Burst | None:
        """The persistent buffer of that name; None only by an answer that lists the buffers. Raises
        SchedulerError."""
        pools, bursts = self.buffers()
        burst = next((burst for burst in bursts if burst.name == name), None)
        if burst is None and (why := unlisted(pools)):
            raise SlurmError(why, passing=True)
        return burst

    def holders(self, *, ended: bool = False) -> list[Holder]:
        """Jobs with burst buffers, also other users' if Slurm shows them. Raises SchedulerError."""
        states = "all" if ended else ",".join(HOLDING)
        return read_holders(self.call(["squeue", "-h", "-t", states, "-O", holders_format()]))

    def remembers_since(self) -> str:
        """By MinJobAge. Raises SlurmError."""
        return remembered_since(self.call(["scontrol", "show", "config"]))

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
        command = ["sacct", "-X", "-n", "-P", "-j", job_id, "-o", ACCOUNT_FORMAT]
        found = None
        with contextlib.suppress(SlurmError):
            found = read_account(self.call(command, beside=True), job_id)
        return found or JobState(job_id, Phase.OVER, FORGOTTEN)


def _first_number(text: str) -> int:
    """``2`` of ``2-4``; 1 where there is none."""
    found = re.match(r"[1-9]\d*", text)
    return int(found[0]) if found else 1
