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

from burstlens.workflows.models.base import SIMULATION_LOG, Model, configured
from burstlens.workflows.placement import buffer as buffers
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.tuning.output_time import NoTimesError, output_time
from burstlens.workflows.tuning.trial import Measured


@dataclass(frozen=True, slots=True)
class Collected:
    """What a trial left: its times or why there are none, and the load average of the node."""

    measured: Measured | None
    problem: str
    load: float


def collect(buffer: BufferRef, folder: str, model: Model, skip: int, logs: str) -> Collected:
    """Bring the logs of the trial in ``folder`` of the run's on the buffer home, read its times
    there, delete it. May be called again. Raises StagingError when a log cannot be brought home."""
    load = os.getloadavg()[0]
    base = buffer.root() / buffer.folder / folder
    model = configured(model, base if base.is_dir() else Path(logs))
    kept = (*model.keep_patterns, *model.log_patterns, SIMULATION_LOG)
    buffers.bring_home(buffer, folder, kept, logs)
    measured, problem = None, ""
    try:
        measured = output_time(model, Path(logs), skip)
    except NoTimesError as error:
        problem = str(error)
    except OSError as error:
        problem = f"cannot read {error.filename}: {error.strerror}"
    with contextlib.suppress(OSError):  # it is only in the way of later trials
        shutil.rmtree(base)
    return Collected(measured, problem, load)
