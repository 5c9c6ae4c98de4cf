"""The seam of stagers: how one file is brought from the buffer to the target, or back.

The calls have libdatawarp's shape: a stage is started, outlives the call, is asked about and
waited for. A wait proves nothing by itself, so :func:`bring` asks again after it and then
compares what arrived with what was sent.
"""

from __future__ import annotations

import enum
import errno
import os
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from burstlens.errors import StagingError

BLOCK = 4 << 20


class State(enum.Enum):
    """Where a stage stands."""

    COMPLETE = "complete"
    PENDING = "pending"
    DEFERRED = "deferred"
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Arrival:
    """What stands at the target, read back from there: size in bytes and CRC-32."""

    bytes: int
    crc32: int


class Stager(Protocol):
    """One way to move a file. All paths are absolute; the target's folder must exist.

    Each call raises StagingError. A target that could not be completed is either absent or
    never reported as COMPLETE.
    """

    name: ClassVar[str]

    def start_out(self, source: Path, target: Path) -> None:
        """Start bringing a closed, whole file from the buffer to the target."""

    def start_in(self, source: Path, target: Path) -> None:
        """Start bringing a file to the buffer; an existing target is replaced."""

    def query(self, path: Path) -> State:
        """How the stage of that file on the buffer stands; ABSENT when none was started."""

    def wait(self, path: Path) -> None:
        """Return when that file's stage is over, well or not."""

    def terminate(self, path: Path) -> None:
        """Give up that file's stage; what was written at the target is undefined."""


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

    Transient failures are tried again with a growing pause. Raises StagingError; the partial
    target is removed first, so that it can never be taken for the file.
    """
    buffer_side = target if inward else source
    pause = 0.1
    for turn in range(tries):
        try:
            (stager.start_in if inward else stager.start_out)(source, target)
            stager.wait(buffer_side)
            state = stager.query(buffer_side)
            if state is not State.COMPLETE:
                raise StagingError(f"staging ended as {state.value}", path=str(source))
            try:
                sent, arrived = checksum(source), checksum(target)
            except OSError as error:
                raise StagingError(
                    "cannot read back what was staged",
                    path=str(error.filename or target),
                    number=error.errno or 0,
                ) from error
            if sent != arrived:
                raise StagingError(
                    f"what arrived differs from what was sent ({arrived.bytes} of {sent.bytes} "
                    f"bytes, CRC-32 {arrived.crc32:08x} for {sent.crc32:08x})",
                    path=str(target),
                    number=errno.EAGAIN,
                )
            return arrived
        except StagingError as error:
            remove(target)
            if not error.transient or turn == tries - 1:
                raise
            time.sleep(pause)
            pause *= 4
    raise AssertionError("unreachable: the last try returns or raises")


def remove(path: Path) -> None:
    """Remove a file that may not be there; what cannot be removed is left."""
    try:
        os.unlink(path)
    except OSError:
        return
