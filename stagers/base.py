"""The seam of stagers: how one file is brought from the buffer to the target, or back.

The calls are those of libdatawarp: a stage is started, outlives the call, is queried and waited
for. A wait proves nothing by itself, so :func:`bring` queries again after it and then compares
what arrived with what was sent.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import logging
import os
import time
import uuid
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

from burstlens.core.errors import FULL_ERRNO, BurstlensError, StagingError
from burstlens.core.existence import PASSING
from burstlens.core.renamed import moved
from burstlens.core.whole_copy import rename

_log = logging.getLogger(__name__)
BLOCK = 4 << 20
IN_FLIGHT = 8
"""Stages that one process has in flight at once."""
# A server reports EIO for any trouble of its own, and 0 means that the reason is not known.
_WORTH_ANOTHER = PASSING | {0}


class State(enum.Enum):
    """The state of a stage."""

    COMPLETE = "complete"
    PENDING = "pending"
    DEFERRED = "deferred"
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Arrival:
    """The file at the target, read back from there: size in bytes and CRC-32."""

    bytes: int
    crc32: int


@runtime_checkable
class Stager(Protocol):
    """One way to move a file. All paths are absolute; the target's folder must exist.

    Each call raises StagingError. A target that could not be completed is either absent or
    never reported as COMPLETE. Threads may share a stager.
    """

    name: ClassVar[str]

    def start_out(self, source: Path, target: Path) -> None:
        """Start bringing a closed, whole file from the buffer to the target.

        A stage of the same file that is still active, also another process's, is over on return.
        """

    def start_in(self, source: Path, target: Path) -> None:
        """Start bringing a file to the buffer; an existing target is replaced."""

    def query(self, path: Path) -> State:
        """The state of that file's stage on the buffer; ABSENT when none was started."""

    def reason(self, path: Path) -> int:
        """The errno of that file's FAILED stage; 0 when it is not known."""

    def wait(self, path: Path) -> None:
        """Return when that file's stage is over, well or not.

        One that makes no progress is given up: ETIMEDOUT.
        """

    def terminate(self, path: Path) -> None:
        """Give up that file's stage; what was written at the target is undefined."""


@runtime_checkable
class CopyingStager(Protocol):
    """A stager that copies itself, and reads the copy back while it does."""

    def arrived(self, path: Path) -> Arrival | None:
        """What that file's latest stage has read, and found again at the target.

        None when it is not known (any more).
        """


def checksum(path: Path) -> Arrival:
    """Size and CRC-32 of a file as it is read back. Raises OSError."""
    crc = 0
    size = 0
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            crc = zlib.crc32(block, crc)
            size += len(block)
    return Arrival(size, crc)


def bring(
    stager: Stager, source: Path, target: Path, *, inward: bool = False, tries: int = 4
) -> Arrival:
    """Stage ``source`` to ``target`` and verify size and CRC-32 of what arrived.

    Failures that may pass are tried again, with growing pauses. Raises StagingError; the partial
    target is removed first, so that it is never mistaken for the file.
    """
    pause = 0.1
    for turn in range(tries):
        try:
            _stage(stager, source, target, inward)
            return _verified(stager, source, target, inward)
        except BaseException as error:
            remove(target)
            _log.warning("try %d of %d: %s %s", turn + 1, tries, _code(error), error)
            if turn == tries - 1 or not _may_pass(error):
                raise
            time.sleep(pause)
            pause *= 4
    raise AssertionError("unreachable: the last try returns or raises")


def bring_all(
    stager: Stager,
    pairs: Iterable[tuple[Path, Path]],
    *,
    inward: bool = False,
    in_flight: int = IN_FLIGHT,
) -> list[Arrival]:
    """:func:`bring` each (source, target), ``in_flight`` at once; returns what arrived, in order.

    Returns when all have arrived. Raises the first one's StagingError, and starts no more.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(in_flight, thread_name_prefix="stage") as pool:
        stages = [pool.submit(bring, stager, *pair, inward=inward) for pair in pairs]
        try:
            return [stage.result() for stage in stages]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def deliver(stager: Stager, source: Path, target: Path, *, inward: bool = False) -> Arrival:
    """:func:`bring`, seen at the target's end only when whole: staged under another name there.

    Raises StagingError; an older file under that name is then still there.
    """
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    arrival = bring(stager, source, part, inward=inward)
    try:
        rename(part, target)
    except OSError as error:
        remove(part)
        raise StagingError.of(error, "cannot put in place", target) from error
    return arrival


def _stage(stager: Stager, source: Path, target: Path, inward: bool) -> None:
    """One stage, from its start to COMPLETE."""
    buffer_side = target if inward else source
    (stager.start_in if inward else stager.start_out)(source, target)
    try:
        stager.wait(buffer_side)
    except BaseException:
        # An interrupting process may unlink the staged file next: no copy must run then.
        with contextlib.suppress(BurstlensError):
            stager.terminate(buffer_side)
        raise
    state = stager.query(buffer_side)
    if state is State.COMPLETE:
        return
    number = stager.reason(buffer_side) if state is State.FAILED else 0
    place = target if number in FULL_ERRNO else source  # what is full is written to
    raise StagingError(f"staging ended as {state.value}", path=str(place), number=number)


def _verified(stager: Stager, source: Path, target: Path, inward: bool) -> Arrival:
    """What arrived. Raises StagingError when it is not what was sent, or cannot be read."""
    buffer_side = target if inward else source
    sent = stager.arrived(buffer_side) if isinstance(stager, CopyingStager) else None
    try:
        if sent is not None:
            arrived = Arrival(target.stat().st_size, sent.crc32)
        else:
            sent, arrived = checksum(source), checksum(target)
    except OSError as error:
        raise StagingError.of(
            error, "cannot read back what was staged", error.filename or target
        ) from error
    if sent != arrived:
        raise StagingError(
            f"what arrived differs from what was sent ({arrived.bytes} of {sent.bytes} "
            f"bytes, CRC-32 {arrived.crc32:08x} for {sent.crc32:08x})",
            path=str(target),
            number=errno.EAGAIN,
        )
    return arrived


def _code(error: BaseException) -> str:
    """The name of the error's number, such as ``ENOSPC``; else that of its class."""
    number = getattr(error, "errno", None)
    return errno.errorcode.get(number or 0, type(error).__name__)


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, StagingError) and (error.transient or error.errno in _WORTH_ANOTHER)


def remove(path: Path) -> None:
    """Remove a file that may not be there; what cannot be removed is left."""
    try:
        os.unlink(path)
    except OSError:
        return


def __getattr__(name: str) -> object:
    return moved(__name__, name)
