"""How the state of a run is put into words: the same in ``status``, on pages and in mails."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from burstlens.core import valid_time
from burstlens.core.exit_codes import FRAMES_LOST, NO_SPACE, STOPPED_BY_GUARD, TRIPPED_AFTER_END
from burstlens.core.printable import printable
from burstlens.core.quantity import show_duration
from burstlens.core.run.status_file import OutcomePart, RunStatus, StatusFile

if TYPE_CHECKING:
    from burstlens.core.run.history import History

OVER = {"done", "failed", "stopped", "lost"}
"""States in which a run is over; ``quiet`` is one as well, once there is an outcome."""
QUIET = "quiet"


def is_over(status: StatusFile) -> bool:
    """Whether the run goes on no more, well or not. An attached run may be ``quiet`` while it goes
    on, and end so: then it has an outcome."""
    return status.state in OVER or (status.state == QUIET and status.outcome is not None)


def progress_text(status: StatusFile) -> str:
    """The model's progress; empty while that is not known."""
    progress = status.progress
    if progress is None:
        return ""
    over = is_over(status)
    phase = "" if over or progress.phase == "running" else progress.phase
    parts = [printable(phase)] if phase else []
    if progress.fraction is not None:
        parts.append(f"{math.floor(100 * progress.fraction + 1e-9)} %")  # 100 is the end
    if progress.time:
        parts.append(valid_time.label(progress.time))
    if progress.speed:
        parts.append(f"{progress.speed:.3g} times real time")
    if progress.rate_mpps:
        parts.append(f"{progress.rate_mpps:.0f} Mpoint/s")
    if progress.eta_s and not over:
        parts.append(f"ETA {show_duration(progress.eta_s)}")
    return ", ".join(parts)


def next_steps(status: RunStatus) -> list[str]:
    """What a person may do about a run that did not end well, one sentence each."""
    outcome = status.outcome or OutcomePart()
    left, code = outcome.left, outcome.exit_code
    if not is_over(status) or status.state == "done":
        return [printable(left)] if left else []
    if status.attached:
        return [f"look again: burstlens resume {status.run}"]
    resume = f"burstlens resume {status.run}"
    good = _good_checkpoint(status)
    at = f"from its checkpoint of {good}"
    steps = [f"continue {at}: {resume}" if good else f"go on with: {resume}"]
    if status.tuning and status.tuning.concluded:  # to resume would repeat the verdict
        steps = ["correct what is named, then tune anew"]
    elif outcome.advice:
        steps = [printable(outcome.advice)]
    elif code == STOPPED_BY_GUARD:
        steps[0] += "; the guard that stopped it looks again"
    elif code == NO_SPACE:
        steps = [
            f"when there is room again (what this attempt wrote stays on the buffer): {resume}"
        ]
    elif code == FRAMES_LOST:
        steps = ["only the model can write the lost frames again: start a new run"]
    elif code == TRIPPED_AFTER_END:
        steps = ["correct the model's settings and start a new run"]
    if good and at in steps[0]:
        settings = "with --set for other settings of a model that takes them"
        steps.append(f"from another one, {settings}: {resume} --from TIME")
    elif good and not (outcome.advice and "--from latest" in outcome.advice):
        steps.append(f"{at}: {resume} --from latest")
    return [*steps, printable(left)] if left else steps + _buffer_steps(status)


def _good_checkpoint(status: RunStatus) -> str:
    """The newest checkpoint of a run that has ended from which it can be resumed, as people write
    its time; "" for none. A run that has lost its driver continues by itself."""
    good = [one.time for one in status.checkpoints or () if one.state != "suspect"]
    return valid_time.label(good[-1]) if good and status.state != "lost" else ""


def _buffer_steps(status: RunStatus) -> list[str]:
    """What to do about the buffer of a run that is over, if the run holds one."""
    buffer = status.buffer
    if not (buffer or status.buffer_requested) or (buffer and buffer.released):
        return []
    if buffer and buffer.owned is False:
        return [
            f"its files stay on buffer {printable(buffer.name or '')}, which it did not make: to "
            f"free their space, delete {buffer.path} in a job that mounts it"
        ]
    return [f"give its buffer back: burstlens free {status.run}"]


def too_late(history: History) -> str:
    """What to say of guards that were to stop the latest attempt of a model which ended by itself,
    with the earliest bad frame by model time; empty where none tripped."""
    trips = [trip for trip in history.stopping.values() if trip.attempt == history.attempt]
    if not trips:
        return ""
    first = min(trips, key=lambda trip: trip.moment)
    words = (first.stream, valid_time.label(first.time)) if first.time else ()
    frame = f", {' '.join(filter(None, words))}" if words else ""
    others = sorted({f'"{trip.guard}"' for trip in trips} - {f'"{first.guard}"'})
    more = f" (and {', '.join(others)})" if others else ""
    when = "asked for a stop, and the model ended by itself before it was stopped"
    if all(trip.after_end for trip in trips):
        when = "tripped after the model's end"
    return f'guard "{first.guard}"{more} {when}: {first.text}{frame}'
