"""Whether a start can still begin: by its process, or by the scheduler where it is a job."""

from __future__ import annotations

import socket
import time
from functools import cache
from typing import TYPE_CHECKING

from burstlens.core.errors import SiteError
from burstlens.core.printable import printable
from burstlens.core.run.heartbeat import LOADING_S, Start, process_state

if TYPE_CHECKING:
    from burstlens.cluster_configs.scheduler import JobState, Scheduler


def end_of(start: Start) -> str | None:
    """Why it cannot begin any more, as text; None unless it is known to be dead."""
    if start.job is not None:
        state = _job_state(start)
        return f"{start.who} ended ({state.text})" if state.over else None
    if start.host == socket.gethostname():
        lives = start.pid is not None and process_state(start.pid, start.ticks) is not None
        return None if lives else f"{start.who} ended"
    late = time.time() - start.asked > LOADING_S
    return f"{start.who} has given no sign since it was started" if late else None


def progress_of(start: Start) -> str:
    """What the start does now, as text."""
    if start.job is None:
        return f"its driver is loading ({start.who})"
    state = _job_state(start)
    if not state.waiting:
        return f"its driver is loading ({start.who})"
    reason = f": {printable(state.reason)}" if state.reason else ""
    return f"its driver waits in the scheduler's queue ({start.who}{reason})"


def job_runs(start: Start) -> bool:
    """Whether the scheduler lists the batch job of that start as not ended."""
    return start.job is not None and not _job_state(start).over


def _job_state(start: Start) -> JobState:
    from burstlens.cluster_configs.scheduler import JobState, Phase
    from burstlens.cluster_configs.schedulers import FIRST

    assert start.job is not None
    try:
        return _scheduler(start.scheduler or FIRST).state(start.job)
    except SiteError as error:  # its plugin is not installed here: it is not known to be dead
        return JobState(start.job, Phase.WAITING, "PENDING", str(error))


@cache
def _scheduler(name: str) -> Scheduler:
    """It with rare, single queries: readers of a run must not wait for a scheduler."""
    from burstlens.cluster_configs.schedulers import scheduler

    return scheduler(name)(patience_s=0.0)
