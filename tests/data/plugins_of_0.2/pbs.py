"""A client of OpenPBS and PBS Professional, by the manual pages of qsub, qstat, qselect, qdel."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from burstlens.cluster_configs.batch_script import clock, word
from burstlens.cluster_configs.polling import PollingScheduler
from burstlens.cluster_configs.scheduler import (
    FORGOTTEN,
    BatchJob,
    BlockJob,
    JobState,
    Phase,
    SchedulerError,
)

_COMMENT = "BURSTLENS_COMMENT"
"""A job has no comment of its user's, but variables."""
_STATES = {
    "Q": ("QUEUED", Phase.WAITING),
    "H": ("HELD", Phase.WAITING),
    "W": ("WAITING", Phase.WAITING),
    "T": ("IN TRANSIT", Phase.WAITING),
    "F": ("FINISHED", Phase.OVER),
}
"""By qstat's letter; a job in any other state has begun and may still run."""
_HOPELESS = re.compile("Can Never Run|too many failed attempts")


class PBS(PollingScheduler):
    """Commands of PBS. Safe to use from several threads."""

    name: ClassVar[str] = "pbs"
    title: ClassVar[str] = "PBS"
    offers: ClassVar[frozenset[str]] = frozenset()
    cpus_variable: ClassVar[str] = "NCPUS"
    submits: ClassVar[str] = "qsub"
    unknown: ClassVar[re.Pattern[str]] = re.compile(
        "Unknown Job|Job has finished|invalid for state", re.IGNORECASE
    )
    job_ids: ClassVar[re.Pattern[str]] = re.compile(r"[0-9]+(\[[0-9]*\])?(\.[A-Za-z0-9.-]+)?")

    def submit(self, script: str) -> str:
        """Hand a script to qsub; returns the job's id. Raises SchedulerError."""
        # -f: no background process, which would outlive a driver that is killed meanwhile.
        return self.call(["qsub", "-f"], script, with_parent=True).strip()

    def ask(self, job_id: str) -> JobState:
        """What qstat says of the job. Raises SchedulerError."""
        try:
            job, _ = next(read_jobs(self.call(["qstat", "-x", "-f", job_id])))
        except SchedulerError as error:
            if error.unknown_job:
                return JobState(job_id, Phase.OVER, FORGOTTEN)
            raise
        return replace(job, job_id=job_id)

    def owner(self, job_id: str) -> str:
        """The job's user, by qstat. Raises SchedulerError."""
        said = self.call(["qstat", "-x", "-f", job_id])
        found = re.search(r"Job_Owner = ([^@\s]+)", said)
        return found[1] if found else ""

    def queue(self) -> list[tuple[JobState, str]]:
        """This user's jobs with their comments. Raises SchedulerError."""
        ids = self.call(["qselect", "-x", "-u", getpass.getuser()]).split()
        return list(read_jobs(self.call(["qstat", "-x", "-f", *ids]))) if ids else []

    def cancel(self, job_ids: Sequence[str]) -> None:
        """Cancel jobs; those that are over already are ignored. Raises SchedulerError."""
        for job_id in job_ids:
            try:
                self.call(["qdel", job_id])
            except SchedulerError as error:
                if not error.unknown_job:
                    raise

    def cancel_command(self, job_id: str) -> str:
        """By qdel."""
        return f"qdel {job_id}"

    def header(self, job: BatchJob) -> Iterator[str]:
        """The lines of qsub. Raises SiteError for a value that a script cannot hold."""
        tasks = f"ncpus={job.tasks_per_node}:mpiprocs={job.tasks_per_node}"
        options = [f"-N {word(job.name)}", f"-o {word(str(job.output))}", "-j oe", "-k oed"]
        options += [f"-l select={job.nodes}:{tasks}{self._chunk}", "-l place=scatter"]
        options += [f"-l walltime={clock(job.walltime_s)}", "-S /bin/bash"]
        options += [f"-q {word(self.settings.partition)}"] if self.settings.partition else []
        options += [f"-A {word(self.settings.account)}"] if self.settings.account else []
        return _lines([*options, *_common(job.comment), *job.options])

    def after(self, job_id: str) -> str:
        """By a dependency."""
        return f"#PBS -W depend=after:{job_id}"

    def provider(self, block: BlockJob) -> tuple[type, dict[str, Any]]:
        """Parsl's PBSProProvider."""
        from parsl.launchers import MpiExecLauncher, SimpleLauncher
        from parsl.providers import PBSProProvider

        options = _lines([*_common(block.comment), *block.options])
        return PBSProProvider, {
            "queue": self.settings.partition,
            "account": self.settings.account,
            "cpus_per_node": block.cpus,
            "select_options": self._chunk,
            "scheduler_options": "\n".join([*block.lines, *options]),
            "launcher": MpiExecLauncher() if block.nodes > 1 else SimpleLauncher(),
        }

    @property
    def _chunk(self) -> str:
        """What each node has to have: ``:model=rome``."""
        return f":{word(self.settings.constraint)}" if self.settings.constraint else ""


def read_jobs(said: str) -> Iterator[tuple[JobState, str]]:
    """The jobs that ``qstat -f`` prints, with their comments."""
    # A long value is broken, also within words, by a line break and a tab.
    for part in said.replace("\n\t", "").split("Job Id: ")[1:]:
        job_id, *lines = part.splitlines()
        found = dict(line.strip().split(" = ", 1) for line in lines if " = " in line)
        comment = re.search(rf"\b{_COMMENT}=([^,]*)", found.get("Variable_List", ""))
        yield _job(job_id, found), comment[1] if comment else ""


def _job(job_id: str, found: dict[str, str]) -> JobState:
    state, phase = _STATES.get(found.get("job_state", ""), ("RUNNING", Phase.RUNNING))
    reason, code = found.get("comment", ""), found.get("Exit_status", "")
    if code:
        reason = f"exit status {code}"
    hopeless = phase is Phase.WAITING and bool(_HOPELESS.search(reason))
    # From 256 on a signal ended it, below 0 PBS did; one that never began has no status.
    cut = phase is Phase.OVER and not (code and 0 <= int(code) < 256)
    failed = cut or code != "0" if phase is Phase.OVER else None
    name = found.get("Job_Name", "")
    return JobState(job_id, phase, state, reason, name, hopeless, cut, failed=failed)


def _common(comment: str) -> tuple[str, ...]:
    """The user's environment, as with Slurm, and no second start by PBS itself."""
    return ("-V", f"-v {_COMMENT}={word(comment)}", "-r n")


def _lines(options: Sequence[str]) -> Iterator[str]:
    return (f"#PBS {option}" for option in options)
