"""The batch script of a job: options for Slurm, lines for the buffer, one program.

No part of it is made from a recipe's or a file's text without quotes, and the program is the
batch shell's own process, so that Slurm's signals reach it.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from burstlens.cluster_configs.site import SlurmSite
from burstlens.core.errors import SiteError

WARNED_S = 60
"""How long before a job's end Slurm sends it SIGTERM, so that the end is noted and logs come home;
a quarter of a shorter job's time."""
VIEWING = "parsl"
"""What follows the run's token in the names of the viewing blocks' jobs."""
_UNSAFE = re.compile(r"[%\s\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """One job: what it runs, on how many nodes, for how long, with which buffer.

    ``comment`` finds the job again, ``output`` is where Slurm puts what the script prints.
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


def batch_script(job: BatchJob, site: SlurmSite) -> str:
    """The script for sbatch. Raises SiteError for a value that a script cannot hold."""
    lines = ["#!/bin/bash", *job.buffer_lines]
    lines += [f"#SBATCH {option}" for option in _options(job, site)]
    for line in lines:
        if "\n" in line:
            raise SiteError(f"an option of a batch script has a line break: {line!r}")
    lines += [line for line in job.init.splitlines() if line.strip()]
    return "\n".join([*lines, f"exec {shlex.join(job.argv)}", ""])


def _options(job: BatchJob, site: SlurmSite) -> Iterator[str]:
    for name in ("partition", "account", "qos", "constraint"):
        value = getattr(site, name)
        if value:
            yield f"--{name}={_word(value)}"
    yield f"--job-name={_word(job.name)}"
    yield f"--comment={_word(job.comment)}"
    yield f"--nodes={job.nodes}"
    yield f"--ntasks-per-node={job.tasks_per_node}"
    yield f"--time={minutes(job.walltime_s)}"
    yield f"--output={_word(str(job.output))}"
    yield "--open-mode=append"
    # A job that Slurm restarts by itself would be a second model in the first one's files.
    yield "--no-requeue"
    yield f"--signal=B:TERM@{min(WARNED_S, int(job.walltime_s / 4))}"
    yield from (option for option in job.options)


def minutes(seconds: float) -> int:
    """Whole minutes, as ``--time`` takes them, rounded up."""
    return max(1, math.ceil(seconds / 60))


def _word(value: str) -> str:
    if _UNSAFE.search(value):
        raise SiteError(f"{value!r} cannot stand in a batch script: no spaces, no '%'")
    return value
