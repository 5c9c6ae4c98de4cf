"""What Slurm's commands print about jobs, read so that no text of a user's is taken for Slurm's.

Names and comments of jobs may hold anything: ``JobState=FAILED``, blanks, line breaks. A site's
``sbatch`` may print a banner.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from burstlens.cluster_configs.scheduler import (
    CANCELLED,
    FORGOTTEN,
    PREEMPTED,
    TIME_OVER,
    JobState,
    Phase,
)

# Names, comments and reasons never contain these, and they are not white space.
CELL_END, ROW_END = "\x01", "\x02"
QUEUE_FORMAT = CELL_END.join(("%i", "%T", "%r", "%Q", "%j", "%k", "")) + ROW_END
"""Of squeue: what :func:`read_queue` reads."""
ACCOUNT_FORMAT = "State%60,JobName%60"
"""Of sacct: what :func:`read_account` reads."""
_NUMBER = re.compile(r"([0-9]+)(?:;\S+)?")
_JOB = re.compile(r"[0-9]+\S*")
_STATE = re.compile(r"([A-Z_]+)\b\+?\s*(.*)")
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w/:]*)=")
_CELLS = {
    "JobId": "JobID", "JobName": "Name", "JobState": "State", "Reason": "Reason",
    "UserId": "UserName", "uid": "UserID", "NodeList": "NodeList", "BatchHost": "BatchHost",
    "NumCPUs": "NumCPUs", "NumNodes": "NumNodes", "Priority": "PriorityLong",
}  # fmt: skip
"""The fields of ``scontrol show job`` that are used, and what squeue calls them."""

_WAITING = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"}
_ACTIVE = {"CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING"}
_AFTER = {"STAGE_OUT"}
_CUT = {
    "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "DEADLINE", "BOOT_FAIL",
}  # fmt: skip
"""What Slurm calls a job that did not end by its program."""
_ENDED_BY = {"PREEMPTED": PREEMPTED, "CANCELLED": CANCELLED, "TIMEOUT": TIME_OVER}
_ENDED = {"COMPLETED", "FAILED", "REVOKED"} | _CUT
_HOPELESS = re.compile(
    r"burst_buffer/|held|BadConstraints|PartitionTimeLimit|PartitionConfig|PartitionNodeLimit|PartitionInactive"
    r"|Invalid|InvalidAccount|InvalidQOS|launch.failed|DependencyNeverSatisfied",
    re.IGNORECASE,
)
_HELD = "0"
"""Slurm's priority of a job that it will not begin: a held one, or one whose buffer it has lost."""
_ORDER = (Phase.RUNNING, Phase.UNKNOWN, Phase.WAITING, Phase.LEAVING, Phase.OVER)


def submitted_job(said: str) -> str | None:
    """The job's id in what ``sbatch --parsable`` prints: the last line that is one."""
    numbers = (_NUMBER.fullmatch(line.strip()) for line in reversed(said.splitlines()))
    return next((number[1] for number in numbers if number), None)


def read_parts(said: str) -> list[dict[str, str]] | None:
    """The fields of each part of a job in what ``scontrol --oneliner show job`` prints.

    None where a user's text holds what a field looks like: then the text does not say what is
    Slurm's. A line without a state is not one of a job.
    """
    found = []
    for line in said.splitlines():
        parts = _FIELD.split(line)
        counts = Counter(parts[1::2])
        if "JobState" not in counts:
            continue
        if any(counts[name] > 1 for name in _CELLS):
            return None
        found.append(
            {key: text.strip() for key, text in zip(parts[1::2], parts[2::2], strict=True)}
        )
    numbers = [part["JobId"] for part in found if "JobId" in part]
    # A name with a line break makes a line of its own.
    return None if numbers and len({*numbers}) < len(found) else found


def cells_format() -> str:
    """The format with which squeue prints what :func:`read_cells` reads."""
    return ",".join(f"{name}:{CELL_END}" for name in _CELLS.values()) + ROW_END


def read_cells(said: str) -> list[dict[str, str]]:
    """The fields of each part of a job in what squeue prints, where any text stays in its cell."""
    found = [dict(zip(_CELLS, row, strict=True)) for row in _rows(said, len(_CELLS))]
    for part in found:
        part["UserId"] += f"({part.pop('uid')})"
    return found


def read_queue(said: str) -> Iterator[tuple[JobState, str]]:
    """The jobs in what squeue prints, with their comments."""
    for job_id, state, reason, priority, name, comment in _rows(said, 6):
        yield read_job(job_id, state, _given(reason), name, priority), _given(comment)


def read_account(said: str, job_id: str) -> JobState | None:
    """The job in what ``sacct -P`` prints, of an array or a heterogeneous job the part that is
    least far; None where it prints none."""
    parts = []
    for line in said.splitlines():
        state, bar, name = line.partition("|")
        word = _STATE.fullmatch(state.strip())
        if bar and word:
            parts.append(read_job(job_id, word[1], word[2], name.strip()))
    return least_far(parts) if parts else None


def read_part(job_id: str, found: Mapping[str, str]) -> JobState:
    """A job by the fields of one of its parts."""
    reason, system = (_given(found.get(key, "")) for key in ("Reason", "SystemComment"))
    if system:
        reason = f"{reason}: {system}" if reason else system
    priority = found.get("Priority", "")
    job = read_job(job_id, found["JobState"], reason, found.get("JobName", ""), priority)
    return replace(job, nodes=_given(found.get("NodeList", "")))


def read_job(
    job_id: str, state: str, reason: str = "", name: str = "", priority: str = ""
) -> JobState:
    """A job by Slurm's word for its state. A word that is not known, of a newer Slurm, is that of a
    job that lives. One that waits with priority 0 is hopeless, whatever the reason."""
    if state in _WAITING:
        phase = Phase.WAITING
    elif state in _ACTIVE:
        phase = Phase.RUNNING
    elif state in _AFTER:
        phase = Phase.LEAVING
    else:
        phase = Phase.OVER if state in _ENDED or state == FORGOTTEN else Phase.UNKNOWN
    hopeless = phase is Phase.WAITING and bool(_HOPELESS.search(reason))
    if phase is Phase.WAITING and not hopeless and priority == _HELD:
        hopeless, reason = True, ", ".join(part for part in (reason, "priority 0") if part)
    # Slurm calls a job completed whose stage out failed, and gives that only in the reason.
    cut = state in _CUT or (state == "COMPLETED" and "burst_buffer" in reason)
    failed = (cut or state != "COMPLETED") if state in _ENDED else None
    return JobState(
        job_id, phase, state, reason, name, hopeless, cut, failed=failed,
        ending=state == "COMPLETING",
        staging=phase is Phase.WAITING and "BurstBuffer" in reason,
        ended_by=_ENDED_BY.get(state, ""),
    )  # fmt: skip


def least_far(parts: Sequence[JobState]) -> JobState:
    """The part of a job that is least far; one that has failed stands for those that are over."""
    return min(parts, key=lambda job: (_ORDER.index(job.phase), not job.failed))


def _rows(said: str, count: int) -> Iterator[list[str]]:
    """The cells of each row; what is not a row of a job, such as a banner, is skipped."""
    for row in said.split(ROW_END)[:-1]:
        *cells, rest = row.split(CELL_END)
        if len(cells) == count and not rest:
            job_id = cells[0].split()[-1:]  # a banner stands before the first one
            if job_id and _JOB.fullmatch(job_id[0]):
                yield [*job_id, *cells[1:]]


def _given(text: str) -> str:
    return "" if text in {"None", "(null)"} else text
