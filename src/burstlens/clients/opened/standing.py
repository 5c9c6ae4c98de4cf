"""The state of a run: its snapshot, and whether its driver lives, starts, is silent or is dead."""

from __future__ import annotations

import contextlib
import socket
import time
from functools import cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from burstlens.core.decode import convert
from burstlens.core.errors import RunError, SiteError
from burstlens.core.existence import surely_exists
from burstlens.core.lines import read_lines
from burstlens.core.printable import printable
from burstlens.core.quantity import show_duration
from burstlens.core.run import heartbeat
from burstlens.core.run.directory import RunDir, runs_in
from burstlens.core.run.heartbeat import Start, last_words, read_start
from burstlens.core.run.history_file import history_of
from burstlens.core.run.places import runs_folders
from burstlens.core.run.snapshot import read_snapshot
from burstlens.core.run.status_file import (
    DriverPart,
    Message,
    RequestedBuffer,
    RunStatus,
    StatusFile,
    TripPart,
)
from burstlens.core.run.wording import is_over as is_over

if TYPE_CHECKING:
    from burstlens.cluster_configs.scheduler import JobState, Scheduler

_DOES = {
    "T": "its process is suspended, kill -CONT {pid} lets it continue",
    "t": "its process is held by a debugger",
    "D": "its process waits for its file system",
}
"""Why a live process writes nothing, by the kernel's state letter."""


def standing_of(run: RunDir, *, confirm_s: float = heartbeat.CONFIRM_S) -> RunStatus:
    """The snapshot of a run with the state of its driver. Raises RunError, OSError.

    Waits up to ``confirm_s`` for a sign of a driver on another host that seems to be dead.

    ``hint`` says what a person should know about the driver. A run whose driver is known to be dead
    is ``lost``; one whose driver was requested and has not begun is ``starting``.
    """
    found = _snapshot(run)
    start = read_start(run)
    end = None
    if start is not None and _is_ahead(start, found):
        end = _end_of_start(start)
        # It may have begun, and even ended, between the two reads.
        found = _snapshot(run)
        if not _is_ahead(start, found):
            start = end = None
        elif end is None:
            return _starting(run, found, start)
    over = is_over(found)
    wait_s = 0.0 if over else confirm_s
    alive = end is None and heartbeat.driver_lives(run, found.driver, confirm_s=wait_s)
    by_job = False
    if not (alive or over or end) and start is not None:
        is_its_job = start.epoch == found.driver.epoch and start.job is not None
        # Its heartbeat stands still, but the scheduler lists its job as not ended.
        alive = by_job = is_its_job and not _job_state(start).over
    found = replace(found, driver_alive=alive)
    if alive and not over:
        found = _with_silence(found, by_job=by_job)
    elif not alive:
        if not over:
            found = _lost(run, found)
        if end is not None and start is not None:
            found = replace(found, hint=_failed_start(run, start, end))
        found = _with_sentinels(run, found)
    return _with_gone_buffer(run, found) if is_over(found) else found


def has_ended(status: StatusFile) -> bool:
    """Whether the run has an end: it is over, and not just without its driver."""
    return status.state != "lost" and is_over(status)


def _snapshot(run: RunDir) -> RunStatus:
    # The driver may have had another mount, and a run may have been moved or copied.
    return RunStatus.of(read_snapshot(run), run=run.id, pictures=str(run.products))


def _is_ahead(start: Start, found: RunStatus) -> bool:
    """Whether the driver of that start has not yet written the snapshot."""
    return start.epoch > (found.driver.epoch or 0)


def _starting(run: RunDir, found: RunStatus, start: Start) -> RunStatus:
    driver = DriverPart(host=start.host, epoch=start.epoch, heartbeat=start.asked)
    found = replace(
        found, state="starting", outcome=None, driver=driver, driver_alive=True,
        hint=_progress_of(start),
    )  # fmt: skip
    return _with_sentinels(run, found)


def _failed_start(run: RunDir, start: Start, end: str) -> str:
    """The message for a start that is known to be dead."""
    said = last_words(run, start)
    why = f": {said}" if said else ""
    log = "" if start.log_from is None else f"; its log is {run.logs / 'driver.log'}"
    return f"its driver failed to start, {end}{why}{log}"


def _with_silence(found: RunStatus, *, by_job: bool) -> RunStatus:
    """Add that a live driver has written nothing for long, and what its process does."""
    driver = found.driver
    who = f"pid {driver.pid} on {driver.host}"
    if driver.loading:
        return replace(found, hint=f"its driver is loading ({who})")
    if heartbeat.is_here(driver) and driver.uptime is not None:
        silent_s = time.monotonic() - driver.uptime  # the clocks of the day may have been set
    else:
        silent_s = time.time() - (driver.heartbeat or 0.0)
    if silent_s <= heartbeat.STALE_S or not (by_job or heartbeat.is_here(driver)):
        return found  # elsewhere its heartbeat was seen to change: only its clock differs
    does = None if by_job else heartbeat.state_of(driver)
    why = _DOES.get(does or "", "its file system may not answer").format(pid=driver.pid)
    if found.scheduler and does not in {"T", "t"}:
        lasts = show_duration(found.scheduler.silent_s + silent_s)
        why = f"{printable(found.scheduler.title)} has not answered for {lasts}"
    hint = f"its driver lives ({who}) and has written nothing for {show_duration(silent_s)}: {why}"
    return replace(found, silent_s=round(silent_s, 1), hint=hint)


def _model_ended(run: RunDir) -> bool:
    """Whether the newest attempt's supervisor has recorded that its model ended."""
    started = [int(path.name) for path in run.path.glob("attempts/*") if path.name.isdecimal()]
    return bool(started) and surely_exists(run.job(f"attempt-{max(started)}") / "ended.json")


def _lost(run: RunDir, found: RunStatus) -> RunStatus:
    """The status of a run whose driver is dead, with what that has left behind."""
    found = replace(found, state="lost")
    if found.attached:
        left = ": nobody looks; the model was not touched"
    elif requested := _requested_buffer(run, found):
        found, left = replace(found, buffer_requested=requested), f"; {_maker(requested)}"
    else:
        found = replace(found, model_ended=_model_ended(run))
        if found.model_ended:
            left = ", and the model has ended"
        elif run.stop_requested():
            left = "; the model is asked to stop"
        else:
            left = "; a model that was started may go on"
    return replace(found, hint=f"its driver is gone{left}")


def _with_gone_buffer(run: RunDir, found: RunStatus) -> RunStatus:
    """Mark as released a buffer that the run had adopted and whose maker has given it back."""
    buffer = found.buffer
    if buffer is None or buffer.released or buffer.owned is not False:
        return found
    this = (buffer.name, buffer.created)
    if None in this:
        return found
    with contextlib.suppress(RunError, OSError):
        for other in runs_in([run.path.parent, *runs_folders()]):
            with contextlib.suppress(RunError, OSError):
                made = read_snapshot(other).buffer
                if made and made.owned and made.released and (made.name, made.created) == this:
                    maker = f"run {other.id} had made it, and gave it back"
                    alarms = [*found.alarms, Message(f"buffer {made.name} is gone: {maker}")]
                    return replace(found, buffer=replace(buffer, released=True), alarms=alarms)
    return found


def _requested_buffer(run: RunDir, found: RunStatus) -> RequestedBuffer | None:
    """The buffer that a dead driver had asked for and did not see, with the job that makes it; None
    where there is none."""
    if found.buffer:
        return None
    with contextlib.suppress(RunError, OSError):
        history = history_of(run.journal)
        if not history.buffer_requested or (history.buffer and not history.buffer_released):
            return None
        for kind in ("buffer-create", "host"):
            marks = sorted(run.path.glob(f"steps/{kind}-*/job_id"), key=lambda path: path.parent)
            if marks:
                return RequestedBuffer(history.buffer_name, marks[-1].read_text().strip())
        return RequestedBuffer(history.buffer_name)
    return None


def _maker(buffer: RequestedBuffer) -> str:
    """As text: the buffer that was asked for, and the job that was to make it."""
    what = f"buffer {buffer.name}" if buffer.name else "its buffer"
    if buffer.job is None:
        return f"it may have asked for {what}"
    return f"it had asked for {what}, which job {buffer.job} was to make"


def _with_sentinels(run: RunDir, found: RunStatus) -> RunStatus:
    """Add the trips that the sentinel found without a driver; the next driver journals them."""
    trips, alarms = list(found.trips or ()), list(found.alarms)
    known = {_trip_key(trip) for trip in trips}
    for line in read_lines(run.sentinel):
        with contextlib.suppress(ValueError):
            trip = convert(line, TripPart)
            if _trip_key(trip) not in known:
                trips.append(trip)
                text = printable(f'guard "{trip.guard}": {trip.text}')
                alarms.append(Message(text, trip.t or None, trip.stream or None, trip.time or None))
    return replace(found, trips=trips or found.trips, alarms=alarms)


def _trip_key(trip: TripPart) -> tuple[object, ...]:
    return trip.guard, trip.stream, trip.time, trip.attempt


def _end_of_start(start: Start) -> str | None:
    """Why it cannot begin any more, as text; None unless it is known to be dead."""
    if start.job is not None:
        state = _job_state(start)
        return f"{start.who} ended ({state.text})" if state.over else None
    if start.host == socket.gethostname():
        lives = start.pid is not None and heartbeat.process_state(start.pid, start.ticks)
        return None if lives else f"{start.who} ended"
    late = time.time() - start.asked > heartbeat.LOADING_S
    return f"{start.who} has given no sign since it was started" if late else None


def _progress_of(start: Start) -> str:
    """What the start does now, as text."""
    state = None if start.job is None else _job_state(start)
    if state is None or not state.waiting:
        return f"its driver is loading ({start.who})"
    reason = f": {printable(state.reason)}" if state.reason else ""
    return f"its driver waits in the scheduler's queue ({start.who}{reason})"


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
