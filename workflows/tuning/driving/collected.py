"""A trial of a tuning on the viewing block: its times are read, its logs come home, it is deleted.

Deleting its output also takes its unwritten pages out of the node's memory, so that the next trial
does not wait for them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from burstlens.core.errors import BurstlensError
from burstlens.core.quantity import counted
from burstlens.workflows.frames.model_log import Follower, logs_of
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.models.base import SIMULATION_LOG, Facts, Model
from burstlens.workflows.placement import buffer as buffers
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.tuning.space import Measured

MOST_PIECES = 64
"""Of a log that are read for the reason of a bad end."""
MOST_BYTES = 64 * 1024 * 1024
"""Of one log; the rest of a longer one is not read."""
LONGEST = 4096


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


class NoTimesError(BurstlensError):
    """The logs do not say how long output took."""


def output_time(model: Model, folder: Path, skip: int = 1) -> Measured:
    """Seconds in output of a run that has ended, by stream, without its first ``skip`` frames.

    ``folder`` has the logs. Where several ranks' logs say it, the one with the most frames counts.
    Raises NoTimesError, and OSError where a log cannot be read.
    """
    names = dict.fromkeys(
        path for pattern in model.log_patterns for path in sorted(folder.glob(pattern))
    )
    told = [frame_times(model, _lines(path)) for path in names if path.is_file()]
    most = max(told, key=lambda streams: sum(map(len, streams.values())), default={})
    if not most:
        looked = ", ".join(path.name for path in names) or "there is no log"
        raise NoTimesError(
            f"the model's log does not say how long a frame took ({looked}): {_wanted(model)}"
        )
    kept = {stream: times[skip:] for stream, times in most.items() if len(times) > skip}
    if not kept:
        count = max(map(len, most.values()))
        raise NoTimesError(
            f"the run wrote {counted(count, 'frame')} of each stream, and skip = {skip} leaves out "
            "as many: a longer run is needed, or a smaller skip in [tune]"
        )
    return Measured(
        {stream: sum(times) for stream, times in kept.items()},
        {stream: len(times) for stream, times in kept.items()},
    )


def _wanted(model: Model) -> str:
    if model.name == "command":
        return "`written` needs a group `seconds`, and must name the files of `frames`"
    return f'the adapter "{model.name}" knows such lines, and none was printed'


def frame_times(model: Model, lines: Iterable[str]) -> dict[str, list[float]]:
    """Seconds of each frame, by stream, in the order of the log; a stream without a name is
    ``output``. Files that are no frames of the recipe are passed over."""
    found: dict[str, list[float]] = {}
    for line in lines:
        said = model.read_line(line)
        if said is None or said.kind != "written" or said.took_s is None:
            continue
        if said.stream is not None or said.file is None:
            found.setdefault(said.stream or "output", []).append(said.took_s)
    return found


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        left = MOST_BYTES
        while left > 0 and (line := file.readline(LONGEST)):
            left -= len(line)
            yield line.decode(errors="replace").rstrip("\r\n")
