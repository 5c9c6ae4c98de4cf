"""How the state of a run is put into words: the same in ``status``, on pages and in mails."""

from __future__ import annotations

import math

from burstlens.core import valid_time
from burstlens.core.exit_codes import (
    FRAMES_LOST,
    NO_SPACE,
    STOPPED_BY_GUARD,
    TRIPPED_AFTER_END,
)
from burstlens.core.printable import printable
from burstlens.core.quantity import show_duration
from burstlens.core.run.snapshot import Status

OVER = {"done", "failed", "stopped", "lost"}
"""States in which a run is over; ``quiet`` is one as well, once there is an outcome."""
QUIET = "quiet"


def is_over(status: Status) -> bool:
    """Whether the run goes on no more, well or not. An attached run may be ``quiet`` while it goes
    on, and end so: then it has an outcome."""
    state = status["state"]
    return state in OVER or (state == QUIET and bool(status.get("outcome")))


def progress_text(status: Status) -> str:
    """The model's progress; empty while that is not known."""
    progress = status.get("progress")
    if not progress:
        return ""
    over = is_over(status)
    phase = progress.get("phase")
    parts = [] if over or phase in {None, "", "running"} else [printable(phase)]
    if progress.get("fraction") is not None:
        parts.append(f"{math.floor(100 * progress['fraction'] + 1e-9)} %")  # 100 is the end
    if progress.get("time"):
        parts.append(valid_time.label(progress["time"]))
    if progress.get("speed"):
        parts.append(f"{progress['speed']:.3g} times real time")
    if progress.get("rate_mpps"):
        parts.append(f"{progress['rate_mpps']:.0f} Mpoint/s")
    if progress.get("eta_s") and not over:
        parts.append(f"ETA {show_duration(progress['eta_s'])}")
    return ", ".join(parts)


def next_steps(status: Status) -> list[str]:
    """What a person may do about a run that did not end well, one sentence each."""
    left = (status.get("outcome") or {}).get("left")
    if not is_over(status) or status["state"] == "done":
        return [printable(left)] if left else []
    if status.get("attached"):
        return [f"look again: burstlens resume {status['run']}"]
    code = (status.get("outcome") or {}).get("exit_code")
    steps = [f"go on with: burstlens resume {status['run']}"]
    if (status.get("tuning") or {}).get("concluded"):  # to resume would repeat the verdict
        steps = ["correct what is named, then tune anew"]
    elif code == STOPPED_BY_GUARD:
        steps[0] += "; the guard that stopped it looks again"
    elif code == NO_SPACE:
        steps = [
            "when there is room again (what this attempt wrote stays on the buffer): "
            f"burstlens resume {status['run']}"
        ]
    elif code == FRAMES_LOST:
        steps = ["only the model can write the lost frames again: start a new run"]
    elif code == TRIPPED_AFTER_END:
        steps = ["correct the model's settings and start a new run"]
    return [*steps, printable(left)] if left else steps + _buffer_steps(status)


def _buffer_steps(status: Status) -> list[str]:
    """What to do about the buffer of a run that is over, if the run holds one."""
    buffer = status.get("buffer") or status.get("buffer_requested")
    if not buffer or buffer.get("released"):
        return []
    if buffer.get("owned") is False:
        return [
            f"its files stay on buffer {printable(buffer['name'])}, which it did not make: to free "
            f"their space, delete {buffer['path']} in a job that mounts it"
        ]
    return [f"give its buffer back: burstlens free {status['run']}"]
