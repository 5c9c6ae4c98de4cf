"""The driver's log: what it began with, each event of the journal in a line, how it ended."""

from __future__ import annotations

import contextlib
import logging
import platform
import time
from collections.abc import Iterator

from burstlens.cluster_configs.schedulers import own_job
from burstlens.cluster_configs.site import Site
from burstlens.core.errors import BurstlensError
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.events import Event
from burstlens.core.run.logs import close_log, open_log
from burstlens.core.version import __version__

STALL_S = 5.0
"""A turn of the driver's loop that takes longer is logged."""
_log = logging.getLogger(__name__)
_QUIET = (ev.ProductPublishing, ev.ProductPublished, ev.ProductKept, ev.FrameInspected,
          ev.FrameReleased, ev.ReleaseDone)  # fmt: skip
"""Events of each frame or product whose lines are for the level ``debug``."""
_BAD = (ev.FrameDamaged, ev.ProductFailed, ev.ProductRefused, ev.GuardTripped, ev.ViewingEnded)
_LEFT_OUT = ("t", "driver")


@contextlib.contextmanager
def driver_log(run: RunDir, level: str, site: Site, epoch: int) -> Iterator[None]:
    """Log this process as the run's driver for as long as the block takes."""
    log = open_log(run.path, "driver", level)
    logging.raiseExceptions = False  # Parsl's own log may lie on a full disk: no tracebacks of that
    job = own_job()
    try:
        _log.info("driver %d of %s begins in %s: Burstlens %s, Python %s, %s, site %s (%s), "
                  "in job %s", epoch, run.id, run.path, __version__, platform.python_version(),
                  platform.platform(), site.name, site.scheduler,
                  job.job_id if job else None)  # fmt: skip
        yield
        _log.info("driver %d ends", epoch)
    except BurstlensError as error:
        _log.error("driver %d ends: %s", epoch, error)
        raise
    except BaseException:
        _log.exception("driver %d ends by a defect or an interrupt", epoch)
        raise
    finally:
        close_log(log)


def log_event(event: Event) -> None:
    """Log the event with its plain values. An alarm is logged where it is raised."""
    if isinstance(event, ev.Alarm):
        return
    quiet, bad = isinstance(event, _QUIET), isinstance(event, _BAD)
    level = logging.DEBUG if quiet else logging.WARNING if bad else logging.INFO
    if _log.isEnabledFor(level):
        values = {name: getattr(event, name) for name in event.__struct_fields__}
        plain = (
            f"{name}={value}"
            for name, value in values.items()
            if name not in _LEFT_OUT and isinstance(value, str | int | float) and value != ""
        )
        _log.log(level, "%s %s", event.event, " ".join(plain))


def note_turn(before: float) -> float:
    """The time now; a turn of the loop that began long ago is logged."""
    now = time.monotonic()
    if now - before > STALL_S:
        _log.warning("a turn of the loop took %.0f s", now - before)
    return now
