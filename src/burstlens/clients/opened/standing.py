"""The state of a run: its snapshot, and whether its driver lives, starts, is silent or is dead."""

from __future__ import annotations

import contextlib
import time

from burstlens.clients.opened.starting import end_of, job_runs, progress_of
from burstlens.core.decode import record
from burstlens.core.errors import RunError
from burstlens.core.existence import surely_exists
from burstlens.core.lines import read_lines
from burstlens.core.printable import printable
from burstlens.core.quantity import show_duration
from burstlens.core.run.directory import RunDir, runs_in
from burstlens.core.run.heartbeat import CONFIRM_S, STALE_S, driver_lives, is_here, process_state
from burstlens.core.run.history_file import history_of
from burstlens.core.run.places import runs_folders
from burstlens.core.run.snapshot import Status, read_snapshot
from burstlens.core.run.start import Start, last_words, read_start
from burstlens.core.run.wording import OVER as OVER
from burstlens.core.run.wording import is_over as is_over

_DOES = {
    "T": "its process is suspended, kill -CONT {pid} lets it continue",
    "t": "its process is held by a debugger",
    "D": "its process waits for its file system",
}
"""Why a live process writes nothing, by the kernel's state letter."""


def standing_of(run: RunDir, *, confirm_s: float = CONFIRM_S) -> Status:
    """The snapshot of a run with the state of its driver. Raises RunError, OSError.

    Waits up to ``confirm_s`` for a sign of a driver on another host that seems to be dead.

    ``driver_alive``: whether it lives, or can still begin. ``hint`` says what a person should know
    about it. A run whose driver is known to be dead is ``lost``; one whose driver was requested
    and has not begun is ``starting``.
    """
    found = _snapshot(run)
    start = read_start(run)
    end = None
    if start is not None and _is_ahead(start, found):
        end = end_of(start)
        # It may have begun, and even ended, between the two reads.
        found = _snapshot(run)
        if not _is_ahead(start, found):
            start = end = None
        elif end is None:
            return _starting(run, found, start)
    over = is_over(found)
    alive = end is None and driver_lives(run, found["driver"], confirm_s=0.0 if over else confirm_s)
    by_job = False
    if not (alive or over or end) and start is not None:
        alive = by_job = start.epoch == found["driver"].get("epoch") and job_runs(start)
    found["driver_alive"] = alive
    if alive and not over:
        _add_silence(found, by_job=by_job)
    elif not alive:
        if not over:
            found["state"] = "lost"
            found["hint"] = f"its driver is gone{_left(run, found)}"
        if end is not None and start is not None:
            found["hint"] = _failed_start(run, start, end)
        _add_sentinels(run, found)
    if is_over(found):
        _note_gone_buffer(run, found)
    return found


def has_ended(status: Status) -> bool:
    """Whether the run has an end: it is over, and not just without its driver."""
    return status["state"] != "lost" and is_over(status)


def _snapshot(run: RunDir) -> Status:
    # The driver may have had another mount, and a run may have been moved or copied.
    return record(read_snapshot(run)) | {"run": run.id, "pictures": str(run.products)}


def _is_ahead(start: Start, found: Status) -> bool:
    """Whether the driver of that start has not yet written the snapshot."""
    return start.epoch > (found["driver"].get("epoch") or 0)


def _starting(run: RunDir, found: Status, start: Start) -> Status:
    found |= {
        "state": "starting",
        "outcome": None,
        "driver": {"epoch": start.epoch, "host": start.host, "heartbeat": start.asked},
        "driver_alive": True,
        "hint": progress_of(start),
    }
    _add_sentinels(run, found)
    return found


def _failed_start(run: RunDir, start: Start, end: str) -> str:
    """The message for a start that is known to be dead."""
    said = last_words(run, start)
    why = f": {said}" if said else ""
    log = "" if start.log_from is None else f"; its log is {run.logs / 'driver.log'}"
    return f"its driver failed to start, {end}{why}{log}"


def _add_silence(found: Status, *, by_job: bool) -> None:
    """Add that a live driver has written nothing for long, and what its process does."""
    driver = found["driver"]
    who = f"pid {driver.get('pid')} on {driver.get('host')}"
    if driver.get("loading"):
        found["hint"] = f"its driver is loading ({who})"
        return
    uptime = driver.get("uptime")
    if is_here(driver) and isinstance(uptime, int | float):
        silent_s = time.monotonic() - uptime  # the clocks of the day may have been set
    else:
        silent_s = time.time() - (driver.get("heartbeat") or 0.0)
    if silent_s <= STALE_S or not (by_job or is_here(driver)):
        return  # elsewhere its heartbeat was seen to change: only its clock differs
    scheduler = found.get("scheduler")
    does = None if by_job else process_state(driver["pid"], driver.get("ticks"))
    why = _DOES.get(does or "", "its file system may not answer").format(**driver)
    if scheduler and does not in {"T", "t"}:
        lasts = show_duration(scheduler["silent_s"] + silent_s)
        why = f"{printable(scheduler['title'])} has not answered for {lasts}"
    found["silent_s"] = round(silent_s, 1)
    found["hint"] = (
        f"its driver lives ({who}) and has written nothing for {show_duration(silent_s)}: {why}"
    )


def _model_ended(run: RunDir) -> bool:
    """Whether the newest attempt's supervisor has recorded that its model ended."""
    started = [int(path.name) for path in run.path.glob("attempts/*") if path.name.isdecimal()]
    return bool(started) and surely_exists(run.job(f"attempt-{max(started)}") / "ended.json")


def _left(run: RunDir, found: Status) -> str:
    """What a dead driver has left behind; adds whether its model has ended."""
    if found.get("attached"):
        return ": nobody looks; the model was not touched"
    asked = _asked_buffer(run, found)
    if asked:
        return f"; {asked}"
    found["model_ended"] = _model_ended(run)
    if found["model_ended"]:
        return ", and the model has ended"
    if run.stop_requested():
        return "; the model is asked to stop"
    return "; a model that was started may go on"


def _note_gone_buffer(run: RunDir, found: Status) -> None:
    """Mark as released a buffer that the run had adopted and whose maker has given it back."""
    buffer = found.get("buffer") or {}
    if buffer.get("released") is not False or buffer.get("owned") is not False:
        return
    this = (buffer.get("name"), buffer.get("created"))
    if None in this:
        return
    with contextlib.suppress(RunError, OSError):
        for other in runs_in([run.path.parent, *runs_folders()]):
            with contextlib.suppress(RunError, OSError):
                made = read_snapshot(other).buffer
                if made and made.owned and made.released and (made.name, made.created) == this:
                    buffer["released"] = True
                    found["alarms"].append(
                        {"text": f"buffer {made.name} is gone: run {other.id} had made it, and "
                                 "gave it back"}
                    )  # fmt: skip
                    return


def _asked_buffer(run: RunDir, found: Status) -> str:
    """The buffer that a dead driver had asked for and did not see, with the job that makes it; adds
    it to the status. Empty where there is none."""
    if found.get("buffer"):
        return ""
    with contextlib.suppress(RunError, OSError):
        history = history_of(run.journal)
        if not history.buffer_requested or (history.buffer and not history.buffer_released):
            return ""
        asked = found["buffer_requested"] = {"name": history.buffer_name}
        what = f"buffer {history.buffer_name}" if history.buffer_name else "its buffer"
        for kind in ("buffer-create", "host"):
            marks = sorted(run.path.glob(f"steps/{kind}-*/job_id"), key=lambda path: path.parent)
            if marks:
                asked["job"] = marks[-1].read_text().strip()
                return f"it had asked for {what}, which job {asked['job']} was to make"
        return f"it may have asked for {what}"
    return ""


def _add_sentinels(run: RunDir, found: Status) -> None:
    """Add the trips that the sentinel found without a driver; the next driver journals them."""
    names = ("guard", "stream", "time", "attempt")
    known = {tuple(trip.get(name) for name in names) for trip in found.get("trips") or []}
    for trip in read_lines(run.sentinel):
        if tuple(trip.get(name) for name in names) not in known:
            found.setdefault("trips", []).append(trip)
            place = {key: trip[key] for key in ("stream", "time") if trip.get(key)}
            text = printable(f'guard "{trip.get("guard")}": {trip.get("text")}')
            found["alarms"].append({"t": trip.get("t"), "text": text, **place})
