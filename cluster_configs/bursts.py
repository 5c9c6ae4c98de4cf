"""Burst buffers as Slurm prints them: pools, buffers that exist, jobs that hold them."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from burstlens.cluster_configs.scheduler import Scheduler, SchedulerError
from burstlens.core.quantity import parse_bytes, show_bytes

HOLDING = ("COMPLETING", "CONFIGURING", "PENDING", "RUNNING", "STAGE_OUT", "SUSPENDED")
"""States of jobs that ask for buffers or have them."""
# Comments and directives never contain these, and they are not white space.
_CELL_END, _ROW_END = "\x01", "\x02"
_TIME = "%Y-%m-%dT%H:%M:%S"
_NOW = re.compile(r"^Configuration data as of (\d+-\d+-\d+T\d+:\d+:\d+)", re.MULTILINE)
_JOB_AGE = re.compile(r"^MinJobAge\s*=\s*(\d+)", re.MULTILINE)
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w/:]*)=")


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of burst-buffer space, in bytes."""

    name: str
    granule: int
    total: int
    free: int
    used: int = 0
    """What the buffers that the scheduler knows take of it."""


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
    """A job that asks for burst buffers or has them; ``lines`` are its directives, ``submitted``
    and ``ends`` are when, by the scheduler's clock."""

    job_id: str
    user: str
    state: str
    comment: str
    lines: tuple[str, ...]
    name: str = ""
    submitted: str = ""
    ends: str = ""
    """When it has ended, or is to end at the latest."""

    def mounts(self, name: str) -> bool:
        """Whether it mounts the persistent buffer of that name."""
        return any(f"name={name}" in line.split() and "_persistent" not in line
                   for line in self.lines)  # fmt: skip

    def creates(self, name: str) -> bool:
        """Whether it asks for a persistent buffer of that name to be made."""
        return any(f"name={name}" in line.split() and "create_persistent" in line
                   for line in self.lines)  # fmt: skip


@runtime_checkable
class BurstScheduler(Scheduler, Protocol):
    """A scheduler that makes, lists and destroys burst buffers: Slurm with its plugin."""

    def buffers(self) -> tuple[list[Pool], list[Burst]]:
        """Pools, one or more, and buffers that exist. :func:`are_listed` says whether the buffers
        are known. Raises SchedulerError, also when it does not know of its pools for long."""

    def buffer(self, name: str) -> Burst | None:
        """The persistent buffer of that name, None when there is none for certain. Raises
        SchedulerError, also when it does not know of its buffers for long."""

    def holders(self, *, ended: bool = False) -> list[Holder]:
        """Jobs with burst buffers, also other users' if they are shown; with ``ended`` also those
        that are over and not forgotten. Raises SchedulerError."""

    def remembers_since(self) -> str:
        """The time since which no job that has ended is forgotten, by the scheduler's clock; empty
        where that is not known. Raises SchedulerError."""


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


def are_listed(pools: list[Pool]) -> bool:
    """Whether an answer with these pools lists all buffers that exist.

    A controller learns the pools first. Until it has learned the buffers, or while the service does
    not say them, it reckons that none of the pool is used, though not all of it is free.
    """
    return all(pool.used or pool.free >= pool.total for pool in pools)


def unlisted(pools: list[Pool]) -> str:
    """What is not known while the buffers are not listed, in one sentence."""
    pool = next(pool for pool in pools if pool.free < pool.total)
    return (
        f"scontrol show burst lists no buffer, though {show_bytes(pool.total - pool.free)} of pool "
        f"{pool.name} are not free: which buffers exist is not known"
    )


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
    return [
        Holder(job_id, user, state, comment, tuple(lines.splitlines()), *more)
        for job_id, user, state, comment, lines, *more in (row[:8] for row in rows)
        if lines != "(null)"
    ]


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


def _pools(values: dict[str, str]) -> list[Pool]:
    granule, total, free, used = (
        _size(values.get(key, ""))
        for key in ("Granularity", "TotalSpace", "FreeSpace", "UsedSpace")
    )
    return [Pool(values.get("DefaultPool", ""), granule, total, free, used)]


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
