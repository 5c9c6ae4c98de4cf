"""The time that a model spent in output, by its own log lines (``LogLine`` of kind ``written``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from burstlens.core.errors import BurstlensError
from burstlens.core.quantity import counted
from burstlens.workflows.models.base import Model
from burstlens.workflows.tuning.trial import Measured

MOST_BYTES = 64 * 1024 * 1024
"""Of one log; the rest of a longer one is not read."""
LONGEST = 4096


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
