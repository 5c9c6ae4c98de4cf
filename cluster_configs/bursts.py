"""Burst buffers as a scheduler lists them: pools, buffers that exist, jobs that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of burst-buffer space, in bytes."""

    name: str
    granule: int
    total: int
    free: int
    used: int = 0
    """What the buffers that the scheduler knows take of it."""
    unlisted: str = ""
    """Why buffers of it may exist that the scheduler did not list, in one sentence."""


@dataclass(frozen=True, slots=True)
class Burst:
    """A burst buffer that exists: persistent, or ``job_id``'s own. Its ``state`` is ``allocated``
    as long as jobs can use it; ``created`` is when it was made, in ISO 8601."""

    name: str
    size: int
    state: str
    user: str
    created: str
    job_id: str | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """A job that asks for burst buffers or has them; ``lines`` are its directives, ``submitted``
    and ``ends`` are when, by the scheduler's clock in ISO 8601; ``over`` when it holds none."""

    job_id: str
    user: str
    state: str
    comment: str
    lines: tuple[str, ...]
    name: str = ""
    submitted: str = ""
    ends: str = ""
    """When it has ended, or is to end at the latest."""
    over: bool = False

    def mounts(self, name: str) -> bool:
        """Whether it mounts the persistent buffer of that name."""
        return any(f"name={name}" in line.split() and "_persistent" not in line
                   for line in self.lines)  # fmt: skip

    def creates(self, name: str) -> bool:
        """Whether it asks for a persistent buffer of that name to be made."""
        return any(f"name={name}" in line.split() and "create_persistent" in line
                   for line in self.lines)  # fmt: skip


@runtime_checkable
class BurstScheduler(Protocol):
    """What a scheduler has as well that makes, lists and destroys burst buffers."""

    def buffers(self) -> tuple[list[Pool], list[Burst]]:
        """Pools, one or more, and buffers that exist. :func:`unlisted` says whether all are known.
        Raises SchedulerError, also when it does not know of its pools for long."""

    def buffer(self, name: str) -> Burst | None:
        """The persistent buffer of that name, None when there is none for certain. Raises
        SchedulerError, also when it does not know of its buffers for long."""

    def holders(self, *, ended: bool = False) -> list[Holder]:
        """Jobs with burst buffers, also other users' if they are shown; with ``ended`` also those
        that are over and not forgotten. Raises SchedulerError."""

    def remembers_since(self) -> str:
        """The time since which no job that has ended is forgotten, by the scheduler's clock in ISO
        8601; empty where that is not known. Raises SchedulerError."""


def unlisted(pools: Sequence[Pool]) -> str:
    """Why buffers may exist that an answer with these pools does not list; "" where it has all."""
    return next((pool.unlisted for pool in pools if pool.unlisted), "")
