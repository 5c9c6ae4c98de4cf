"""Stager for a buffer that is a plain directory: a copy through the kernel, on disk on return."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import ClassVar

from burstlens.core.errors import StagingError
from burstlens.stagers.base import BLOCK, State, remove


class PosixStager:
    """Copies at once: a start returns when the copy is done, so a wait returns at once."""

    name: ClassVar[str] = "posix"

    def __init__(self) -> None:
        self._states: dict[Path, tuple[State, int]] = {}

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

    def wait(self, path: Path) -> None:
        """Return at once."""

    def terminate(self, path: Path) -> None:
        """Forget the copy of ``path``. Raises StagingError when there was none."""
        if self._states.pop(path, None) is None:
            raise StagingError("no stage to terminate", path=str(path), number=errno.EINVAL)

    def _copy(self, source: Path, target: Path, buffer_side: Path) -> None:
        try:
            # The mode comes from the user's umask, not the source: products are group-readable.
            with source.open("rb") as reader, target.open("wb") as writer:
                self._pump(reader.fileno(), writer.fileno())
                os.fsync(writer.fileno())
        except OSError as error:
            remove(target)
            self._note(buffer_side, State.FAILED, error.errno or 0)
            raise StagingError(
                f"cannot stage to {target}", path=str(source), number=error.errno or 0
            ) from error
        self._note(buffer_side, State.COMPLETE, 0)

    def _note(self, path: Path, state: State, number: int) -> None:
        self._states[path] = (state, number)
        if len(self._states) > 1000:  # a worker stages for days; only the latest are queried
            self._states.pop(next(iter(self._states)), None)

    @staticmethod
    def _pump(reader: int, writer: int) -> None:
        while block := os.read(reader, BLOCK):
            view = memoryview(block)
            while view:
                view = view[os.write(writer, view) :]
