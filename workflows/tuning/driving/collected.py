"""A trial of a tuning on the viewing block: its times are read, its logs come home, it is deleted.

Deleting its output also takes its unwritten pages out of the node's memory, so that the next trial
does not wait for them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from burstlens.workflows.frames.model_log import Follower, logs_of
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.models.base import SIMULATION_LOG, Facts, Model
from burstlens.workflows.placement import buffer as buffers
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.tuning.output_time import NoTimesError, output_time
from burstlens.workflows.tuning.trial import Measured

MOST_PIECES = 64
"""Of a log that are read for the reason of a bad end."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a trial left: its times, or why there are none or it ended badly; and the load average
    of the node."""

    measured: Measured | None
    problem: str
    load: float


def collect(
    buffer: BufferRef, folder: str, model: Model, skip: int, logs: str, well: bool
) -> Collected:
    """Bring the logs of the trial in ``folder`` of the run's on the buffer home, read its times
    there, or why it did not end ``well``; delete it. May be called again. Raises StagingError when
    a log cannot be brought home."""
    load = os.getloadavg()[0]
    base = buffer.root() / buffer.folder / folder
    model = model.configured(base if base.is_dir() else Path(logs))
    kept = (*model.keep_patterns, *model.log_patterns, SIMULATION_LOG)
    buffers.bring_home(buffer, folder, kept, logs)
    measured, problem = None, ""
    try:
        measured = output_time(model, Path(logs), skip)
    except NoTimesError as error:
        problem = str(error)
    except OSError as error:
        problem = f"cannot read {error.filename}: {error.strerror}"
    if not well:
        problem = _why(model, Path(logs)) or ""
    with contextlib.suppress(OSError):  # it is only in the way of later trials
        shutil.rmtree(base)
    return Collected(measured, problem, load)


def _why(model: Model, logs: Path) -> str | None:
    """What its logs say about a program's bad end."""
    follower, speech = Follower(logs, model, Facts(), {}), Speech()
    try:
        names = logs_of(model, (path.name for path in logs.iterdir()))
        for _ in range(MOST_PIECES):
            heard = follower.hear(names, speech, 0.0, last=True)
            speech = heard.speech
            if not heard.behind:
                break
    except OSError:
        return None
    return speech.why
