"""Burst buffers as Slurm prints them: pools, buffers that exist, jobs that hold them."""

from __future__ import annotations

import re
import time

from burstlens.cluster_configs.bursts import Burst, Holder, Pool
from burstlens.cluster_configs.scheduler import SchedulerError
from burstlens.core.quantity import parse_bytes, show_bytes

HOLDING = ("COMPLETING", "CONFIGURING", "PENDING", "RUNNING", "STAGE_OUT", "SUSPENDED")
"""States of jobs that ask for buffers or have them."""
# Comments and directives never contain these, and they are not white space.
_CELL_END, _ROW_END = "\x01", "\x02"
_TIME = "%Y-%m-%dT%H:%M:%S"
_NOW = re.compile(r"^Configuration data as of (\d+-\d+-\d+T\d+:\d+:\d+)", re.MULTILINE)
_JOB_AGE = re.compile(r"^MinJobAge\s*=\s*(\d+)", re.MULTILINE)
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w/:]*)=")


def read_buffers(said: str) -> tuple[list[Pool], list[Burst]]:
    """Pools and buffers in what ``scontrol show burst`` prints.

    Raises SchedulerError, which passes, where no pool has a size: a controller that was started
    while the service of the buffers does not answer prints one of no size, and no buffers.
    """
    pools: list[Pool] = []
    found: list[Burst] = []
    for line in said.splitlines():
        values = fields(line)
        if "TotalSpace" in values:
            pools += _pools(values)
        elif "Size" in values:
            found.append(_burst(values))
    if not any(pool.total for pool in pools):
        raise SchedulerError(
            "scontrol show burst names no pool with its size: which buffers exist is not known",
            passing=True,
        )
    return pools, found


def holders_format() -> str:
    """The format with which squeue prints what :func:`read_holders` reads."""
    names = (
        "JobID",
        "UserName",
        "State",
        "Comment",
        "BurstBuffer",
        "Name",
        "SubmitTime",
        "EndTime",
    )
    return ",".join(f"{name}:{_CELL_END}" for name in names) + _ROW_END


def read_holders(said: str) -> list[Holder]:
    """Jobs with burst buffers in what squeue prints. Raises SchedulerError for anything else."""
    rows = [row.strip().split(_CELL_END) for row in said.split(_ROW_END) if row.strip()]
    if not all(row[8:] for row in rows):
        text = "squeue printed no list of jobs: which of them have a buffer is not known"
        raise SchedulerError(text, passing=True)
    return [_holder(*row[:8]) for row in rows if row[4] != "(null)"]


def remembered_since(config: str) -> str:
    """By what ``scontrol show config`` prints: the controller's time less the age at which it
    forgets jobs, as Slurm writes times; empty where either is missing."""
    now, age = _NOW.search(config), _JOB_AGE.search(config)
    if now is None or age is None:
        return ""
    if not int(age[1]):
        return time.strftime(_TIME, time.localtime(0))  # it forgets none
    seconds = time.mktime(time.strptime(now[1], _TIME)) - int(age[1])
    return time.strftime(_TIME, time.localtime(seconds))


def fields(line: str) -> dict[str, str]:
    """``A=1 B=two words C=3``, as scontrol writes it."""
    parts = _FIELD.split(line)
    return {key: value.strip() for key, value in zip(parts[1::2], parts[2::2], strict=True)}


def _holder(
    job_id: str, user: str, state: str, comment: str, lines: str, name: str, since: str, ends: str
) -> Holder:
    directives, over = tuple(lines.splitlines()), state not in HOLDING
    return Holder(job_id, user, state, comment, directives, name, since, ends, over)


def _pools(values: dict[str, str]) -> list[Pool]:
    granule, total, free, used = (
        _size(values.get(key, ""))
        for key in ("Granularity", "TotalSpace", "FreeSpace", "UsedSpace")
    )
    name, unlisted = values.get("DefaultPool", ""), ""
    # A controller learns the pools first. Until it has learned the buffers, or while the service
    # does not say them, it reckons that none of the pool is used, though not all of it is free.
    if free < total and not used:
        unlisted = (
            f"scontrol show burst lists no buffer, though {show_bytes(total - free)} of pool "
            f"{name} are not free: which buffers exist is not known"
        )
    return [Pool(name, granule, total, free, used, unlisted)]


def _burst(values: dict[str, str]) -> Burst:
    user = values.get("UserID", "").partition("(")[0]
    return Burst(
        values.get("Name", ""),
        _size(values["Size"]),
        values.get("State", ""),
        user,
        values.get("CreateTime", ""),
        values.get("JobID"),
    )


def _size(text: str) -> int:
    try:
        return parse_bytes(text)
    except ValueError:  # "0", or nothing
        return 0
