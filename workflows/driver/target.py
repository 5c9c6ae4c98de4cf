"""The file system with the run directory, which may be full or away for a while."""

from __future__ import annotations

import time
from pathlib import Path

from burstlens.core.errors import NoSpaceError, RunError
from burstlens.core.no_space import is_full
from burstlens.workflows.publishing.snapshot import Snapshot

TICK_S = 0.5
"""How often a driver looks around, and how long it waits for what cannot be written."""
PATIENCE_S = 120.0
"""How long to wait for a target that cannot be written, or for products that cannot be staged,
when nothing else is left to do."""

PROBE_BYTES = 4096


class Target:
    """What the driver of a run does while its directory cannot be written: it waits.

    Finished products wait in ``.incoming`` or on the buffer, and are published when possible.
    """

    def __init__(self, run: Path, snapshot: Snapshot) -> None:
        self._run = run
        self._snapshot = snapshot
        self._last_good = time.monotonic()
        self._fault = ""
        self._full = False

    def written(self, now: float) -> None:
        """Note that it could be written."""
        self._last_good, self._fault = now, ""
        if self._full:  # else there may have been nothing to write
            self._snapshot.full_disk.room()
        self._full = False

    def probe(self) -> None:
        """Write a little, where nothing else may be left to write. Raises OSError."""
        part = self._run / ".room.part"
        try:
            part.write_bytes(bytes(PROBE_BYTES))
        finally:
            part.unlink(missing_ok=True)

    def refuse(self, why: str) -> None:
        """End a run for want of space whose supervisor cannot write the model's end either, nor its
        journal the run's; nothing where ``why`` is another reason. Raises NoSpaceError."""
        if is_full(why):
            raise NoSpaceError(f"{why}; when there is room: burstlens resume {self._run.name}")

    def wait(self, error: OSError, now: float, *, over: bool) -> None:
        """Wait a moment; an alarm says why, once. Raises RunError where the run is ``over`` but for
        this, when it could not be written for ``PATIENCE_S``; NoSpaceError where it is full."""
        fault = f"{error.filename or self._run} cannot be written ({error.strerror or error})"
        self._full = full = self._snapshot.full_disk.take(error)
        if not full and fault != self._fault:
            self._fault = fault
            self._snapshot.alarm(f"{fault}; the run waits until it can")
        if over and now - self._last_good > PATIENCE_S:
            kind = NoSpaceError if full else RunError
            raise kind(
                f"{fault}; when it can be again: burstlens resume {self._run.name}"
            ) from error
        time.sleep(TICK_S)
