"""The claim: which process drives a run, one epoch after the other, and never two at once."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from burstlens.core.decode import Count
from burstlens.core.errors import RunError
from burstlens.core.exclusive import make_exclusive
from burstlens.core.passing_errors import again
from burstlens.core.run.directory import RunDir
from burstlens.core.run.heartbeat import driver_lives, shown_driver
from burstlens.core.run.record import read_record
from burstlens.core.run.start import driver_process
from burstlens.core.run.status_file import DriverPart

HEARTBEAT_OLD_S = 60.0
"""A driver on another host is taken for dead when its heartbeat has not changed for so long."""
HEARTBEAT_LOOK_S = 5.0


class Claim(Struct, frozen=True):
    """The process that drives a run; ``ticks`` tells processes of one id apart."""

    host: str
    pid: Count
    ticks: Count


def take_over(run: RunDir) -> int:
    """The epoch of this driver, claimed so that an older one ends. Raises RunError."""
    epoch = free_epoch(run)
    claim = json.dumps(driver_process())
    try:
        again(lambda: make_exclusive(run.claim(epoch), claim))
    except FileExistsError:
        raise RunError(f"another driver of {run.id} started at the same moment") from None
    except OSError as error:
        raise RunError(f"the run directory {run.path} is not writable: {error.strerror}") from error
    return epoch


def free_epoch(run: RunDir) -> int:
    """The epoch that the next driver takes. Raises RunError when the latest one lives."""
    epochs = run.epochs
    driver = driver_alive(run, epochs)
    if driver is not None:
        raise RunError(
            f"run {run.id} has a driver already ({driver}); burstlens watch {run.id} shows it, "
            f"burstlens stop {run.id} stops it"
        )
    return max(epochs, default=0) + 1


def driver_alive(run: RunDir, epochs: Sequence[int]) -> str | None:
    """The process that drives the run, as ``pid 12 on host``; None when none does, as far as can
    be seen."""
    # A file without a claim is a stray, or its driver was killed while it wrote it: the one before
    # it counts. A driver that lives gives way to the next.
    claims = ((epoch, _read(run, epoch)) for epoch in reversed(epochs))
    epoch, claim = next(((epoch, claim) for epoch, claim in claims if claim), (0, None))
    if claim is None:
        return None
    shown = shown_driver(run)
    known = shown if shown and shown.epoch in (None, epoch) else DriverPart()
    driver = replace(known, host=claim.host, pid=claim.pid, ticks=claim.ticks)
    # Whatever the clocks say: a heartbeat that changes is a driver's.
    alive = driver_lives(
        run, driver, stale_s=HEARTBEAT_OLD_S, confirm_s=HEARTBEAT_LOOK_S, certain_s=math.inf
    )
    return f"pid {claim.pid} on {claim.host}" if alive else None


def _read(run: RunDir, epoch: int) -> Claim | None:
    try:
        return read_record(run.claim(epoch), Claim, "")
    except RunError:
        return None
