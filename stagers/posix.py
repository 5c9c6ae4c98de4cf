"""Stager for a buffer that is a plain directory: whole copies, on disk on return."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import ClassVar

from burstlens.core.errors import StagingError
from burstlens.core.whole_copy import copy_whole
from burstlens.stagers.base import Arrival, State


class PosixStager:
    """Copies at once: a start returns when the copy is done, so a wait returns at once."""

    name: ClassVar[str] = "posix"

    def __init__(self) -> None:
        self._states: dict[Path, tuple[State, int]] = {}
        self._arrived: dict[Path, Arrival] = {}

    def start_out(self, source: Path, target: Path) -> None:
        """Copy ``source`` to ``target`` and bring it to disk. Raises StagingError."""
        self._copy(source, target, buffer_side=source)

    def start_in(self, source: Path, target: Path) -> None:
        """Copy ``source`` (links followed) to ``target``. Raises StagingError."""
        self._copy(source, target, buffer_side=target)

    def query(self, path: Path) -> State:
        """The state of the latest copy of ``path`` made by this stager."""
        return self._states.get(path, (State.ABSENT, 0))[0]

    def reason(self, path: Path) -> int:
        """The errno of the latest copy of ``path``, 0 when it did not fail."""
        return self._states.get(path, (State.ABSENT, 0))[1]

    def arrived(self, path: Path) -> Arrival | None:
        """What the latest copy of ``path`` has read, and read back; a second call returns None."""
        return self._arrived.pop(path, None)

    def wait(self, path: Path) -> None:
        """Return at once."""

    def terminate(self, path: Path) -> None:
        """Forget the copy of ``path``. Raises StagingError when there was none."""
        if self._states.pop(path, None) is None:
            raise StagingError("no stage to terminate", path=str(path), number=errno.EINVAL)

    def _copy(self, source: Path, target: Path, buffer_side: Path) -> None:
        try:
            # The mode comes from the user's umask, not the source: products are group-readable.
            copied = copy_whole(source, target)
        except OSError as error:
            self._note(buffer_side, State.FAILED, error.errno or 0)
            if error.filename in {str(source), source}:
                message, place = f"cannot stage to {target}", source
            else:  # what is full is the place that is written to
                message, place = f"cannot stage {source} to", target
            raise StagingError.of(error, message, place) from error
        self._note(buffer_side, State.COMPLETE, 0)
        self._arrived[buffer_side] = Arrival(copied.bytes, copied.crc32)

    def _note(self, path: Path, state: State, number: int) -> None:
        self._states[path] = (state, number)
        self._arrived.pop(path, None)
        # A worker stages for days; only the latest are queried.
        for noted in (self._states, self._arrived):
            if len(noted) > 1000:
                noted.pop(next(iter(noted)), None)
