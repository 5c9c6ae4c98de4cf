"""Burst buffers as Slurm prints them: pools, buffers that exist, jobs that hold them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from burstlens.cluster_configs.scheduler import Scheduler
from burstlens.core.quantity import parse_bytes

HOLDING = ("COMPLETING", "CONFIGURING", "PENDING", "RUNNING", "STAGE_OUT", "SUSPENDED")
"""States of jobs that ask for buffers or have them."""
# Comments and directives never contain these, and they are not white space.
_CELL_END, _ROW_END = "\x01", "\x02"
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w/:]*)=")


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


@runtime_checkable
class BurstScheduler(Scheduler, Protocol):
    """A scheduler that makes, lists and destroys burst buffers: Slurm with its plugin."""

    def buffers(self) -> tuple[list[Pool], list[Burst]]:
        """Pools and buffers that exist. Raises SchedulerError."""

    def buffer(self, name: str) -> Burst | None:
        """The persistent buffer of that name. Raises SchedulerError."""

    def holders(self) -> list[Holder]:
        """Jobs with burst buffers, also other users' if they are shown. Raises SchedulerError."""


def read_buffers(said: str) -> tuple[list[Pool], list[Burst]]:
    """Pools and buffers in what ``scontrol show burst`` prints."""
    pools: list[Pool] = []
    found: list[Burst] = []
    for line in said.splitlines():
        values = fields(line)
        if "TotalSpace" in values:
            pools += _pools(values)
        elif "Size" in values:
            found.append(_burst(values))
    return pools, found


def holders_format() -> str:
    """The format with which squeue prints what :func:`read_holders` reads."""
    names = ("JobID", "UserName", "State", "Comment", "BurstBuffer")
    return ",".join(f"{name}:{_CELL_END}" for name in names) + _ROW_END


def read_holders(said: str) -> list[Holder]:
    """Jobs with burst buffers in what squeue prints."""
    rows = [row.strip().split(_CELL_END) for row in said.split(_ROW_END)]
    return [
        Holder(job_id, user, state, comment, tuple(lines.splitlines()))
        for job_id, user, state, comment, lines in (row[:5] for row in rows if row[5:])
        if lines != "(null)"
    ]


def fields(line: str) -> dict[str, str]:
    """``A=1 B=two words C=3``, as scontrol writes it."""
    parts = _FIELD.split(line)
    return {key: value.strip() for key, value in zip(parts[1::2], parts[2::2], strict=True)}


def _pools(values: dict[str, str]) -> list[Pool]:
    granule, total, free = (
        _size(values.get(key, "")) for key in ("Granularity", "TotalSpace", "FreeSpace")
    )
    return [Pool(values.get("DefaultPool", ""), granule, total, free)]


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
