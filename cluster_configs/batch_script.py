"""The batch script of a job: lines for the buffer, options for the scheduler, one program.

No part of it is made from a recipe's or a file's text without quotes, and the program is the
batch shell's own process, so that the scheduler's signals reach it.
"""

from __future__ import annotations

import math
import re
import shlex

from burstlens.cluster_configs.scheduler import BatchJob, Scheduler
from burstlens.core.errors import SiteError

WARNED_S = 60
VIEWING = "parsl"
"""What follows the run's token in the names of the viewing blocks' jobs."""
BLOCK_VARIABLE = "BURSTLENS_BLOCK"
"""Names Parsl's folder of the run in the environment of each process of its viewing block."""
_UNSAFE = re.compile(r"[%\s\\]")


def batch_script(job: BatchJob, scheduler: Scheduler) -> str:
    """The script that is submitted. Raises SiteError for a value that a script cannot hold, and
    for what the scheduler cannot do."""
    lines = ["#!/bin/bash", *job.buffer_lines, *scheduler.header(job)]
    lines += [scheduler.after_end(job.after_end)] if job.after_end else []
    for line in lines:
        if "\n" in line:
            raise SiteError(f"an option of a batch script has a line break: {line!r}")
    lines += [line for line in job.init.splitlines() if line.strip()]
    return "\n".join([*lines, f"exec {shlex.join(job.argv)}", ""])


def minutes(seconds: float) -> int:
    """Whole minutes, rounded up."""
    return max(1, math.ceil(seconds / 60))


def clock(seconds: float) -> str:
    """``HH:MM:00``, rounded up."""
    whole = minutes(seconds)
    return f"{whole // 60:02d}:{whole % 60:02d}:00"


def unmeasured_lead_s(walltime_s: float) -> float:
    """How long before its end a job is sent SIGTERM, so that the end is noted and logs come home,
    where nothing is known of its program: a minute, of a short job a quarter of its time."""
    return min(WARNED_S, walltime_s / 4)


def warned_s(job: BatchJob) -> int:
    """How long before the job's end it is sent SIGTERM, where the scheduler can do that."""
    return int(unmeasured_lead_s(job.walltime_s) if job.lead_s is None else job.lead_s)


def word(value: str) -> str:
    """The value, if it can stand in a script's header as it is. Raises SiteError."""
    if _UNSAFE.search(value):
        raise SiteError(f"{value!r} cannot stand in a batch script: no spaces, no '%'")
    return value
