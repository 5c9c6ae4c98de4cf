"""Repeated reads of a run's status, also while its directory is unavailable."""

from __future__ import annotations

import time
from collections.abc import Iterator

from msgspec.structs import replace

from burstlens.clients.opened.status import read_status
from burstlens.core.errors import RunError
from burstlens.core.quantity import show_duration
from burstlens.core.run.directory import RunDir
from burstlens.core.run.status_file import RunStatus

AWAY_S = 600.0
"""How long to wait for a run directory that is unavailable: its driver waits as long."""


def looks(run: RunDir) -> Iterator[RunStatus]:
    """The run's status, endlessly; while it cannot be read, the latest one, with a ``hint``.

    Raises RunError when the first read fails, and when none has succeeded for ``AWAY_S``.
    """
    last = read_status(str(run.path))
    seen = time.monotonic()
    yield last
    while True:
        try:
            last = read_status(str(run.path))
            seen = time.monotonic()
            yield last
        except RunError as error:
            away_s = time.monotonic() - seen
            if away_s > AWAY_S:
                raise
            since = f"the run's directory cannot be read for {show_duration(away_s)}"
            hint = f"{since} ({error}); the run may go on"
            yield replace(last, driver_alive=None, hint=hint)
