"""The file system with the run directory, which may be full or away for a while."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from burstlens.core.errors import FULL_ERRNO, NoSpaceError, RunError, StagingError
from burstlens.core.existence import PASSING
from burstlens.core.outcome import is_full
from burstlens.core.run.directory import RunDir

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

TICK_S = 0.5
"""How often a driver looks around, and how long it waits for what cannot be written."""
PATIENCE_S = 120.0
"""How long to wait for a target that cannot be written, or for products that cannot be staged,
when nothing else is left to do."""
AWAY = PASSING | {errno.ENOENT, errno.ENOTDIR, errno.ENOTCONN, errno.EHOSTDOWN}
"""Errors of a directory that is renamed or unmounted, or whose server does not answer."""
AWAY_PAUSE_S = 1.0
"""Between attempts to write into a run directory that is away or full, at the end of a job."""


def may_come_back(error: BaseException, run: RunDir) -> TypeGuard[StagingError]:
    """Whether a file could not be written as the run directory is away or full, which may pass."""
    return (
        isinstance(error, StagingError)
        and Path(error.path).is_relative_to(run.path)
        and error.errno in AWAY | FULL_ERRNO
    )


class Target:
    """What a run does while its directory cannot be written: it waits.

    Finished products wait in ``.incoming`` or on the buffer, and are published when possible.
    """

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._since: float | None = None
        self._fault = ""
        self._full = False

    def written(self) -> None:
        """Note that it could be written."""
        self._since, self._fault = None, ""
        if self._full:  # else there may have been nothing to write
            self._state.snapshot.full_disk.room()
        self._full = False

    def refuse(self, why: str) -> None:
        """End the driver for want of space where the supervisor cannot write the model's end
        either, nor the journal the run's; nothing where ``why`` is another reason."""
        if is_full(why):
            again = f"when there is room: burstlens resume {self._state.run.id}"
            self._state.fail(NoSpaceError(f"{why}; {again}"))

    def refused(self, error: OSError, *, over: bool) -> None:
        """Wait; an alarm says why, once. End the driver of a run that is ``over`` but for this when
        it could not be written for ``PATIENCE_S``."""
        state = self._state
        place = error.filename or state.run.path
        fault = f"{place} cannot be written ({error.strerror or error})"
        self._full = full = state.snapshot.full_disk.take(error)
        if not full and fault != self._fault:
            self._fault = fault
            state.snapshot.alarm(f"{fault}; the run waits until it can")
        self._since = state.now if self._since is None else self._since
        if over and state.now - self._since > PATIENCE_S:
            kind = NoSpaceError if full else RunError
            text = f"{fault}; when it can be again: burstlens resume {state.run.id}"
            state.fail(kind(text))
