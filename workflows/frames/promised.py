"""Frames that the model's log calls written: at the end each is in a file, or it is lost.

A model may ignore a full disk (WRF does): it calls the frame written, continues, and ends with
status 0. The watcher sees only files, so the driver compares the log's lines with the frames.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from burstlens.core import valid_time
from burstlens.core.model import Damage, in_model_folder
from burstlens.core.run.history import History
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.speech import Written
from burstlens.workflows.models.base import Model

ROUNDING_S = 0.0021
"""Keys of elapsed times have milliseconds; the log and the file are rounded separately."""
REASON = "the model's log calls it written, and no file holds it"
CUT = "the log cuts its time, and there may be more of them"


class Promised:
    """The lines of one attempt that call a frame of a watched stream written. ``streams`` are those
    of the model's settings; the log may cut off a file's name."""

    def __init__(
        self, run: str, folder: str, model: Model, history: History, streams: Iterable[str]
    ) -> None:
        self._run, self._folder, self._model, self._history = run, folder, model, history
        self._streams = frozenset(streams)
        self._said: dict[Written, None] = {}

    def hear(self, lines: Iterable[Written]) -> None:
        """Keep these lines. A resumed driver reads the log again, so a line may come twice."""
        self._said |= dict.fromkeys(line for line in lines if self._is_watched(line))

    def forget(self) -> None:
        """Another attempt begins: it is not to write what the log of the one before named."""
        self._said.clear()

    def _is_watched(self, line: Written) -> bool:
        if line.stream is None or (line.time is None and line.file is None):
            return False
        return line.stream in self._streams or (
            line.file is not None and self._model.identify(line.file) is not None
        )

    def placed(self, damage: Damage) -> Damage:
        """The damage with the valid time of its frame, if only the log has it. In a growing file
        that is the first frame, from the file's start, that the log calls written and that is not
        whole."""
        if damage.time is not None or not damage.paths:
            return damage
        named = self._model.identify(in_model_folder(damage.paths[0]))
        start = (named.time if named else None) or ""
        times = [
            line.time
            for line in self._missing(damage.attempt)
            if line.time is not None
            and not line.cut
            and line.stream == damage.stream
            and line.time >= start
        ]
        return replace(damage, time=min(times)) if times else damage

    def lost(self, report: Report, attempt: int) -> list[Damage]:
        """The frames that the log calls written and that are neither whole nor damaged. ``report``
        is the attempt's final one: no frame is lost before the end. A log line that comes before
        its data (quilting) does not count unless the model ended well."""
        speech = report.cursor.speech
        if not report.ended or (speech.asynchronous and not speech.ended_well):
            return []
        history = self._history
        damaged = _FrameTimes((s, t) for s, t, a in history.damaged if a == attempt)
        files = {file for _, file, _, a in history.undated if a == attempt}
        undecoded = {stream for stream, (a, _) in history.undecoded.items() if a == attempt}
        return [
            self._damage(line, attempt)
            for line in self._missing(attempt)
            if line.stream not in undecoded  # its files are there
            and not (damaged.have(line) if line.time is not None else line.file in files)
        ]

    def _damage(self, line: Written, attempt: int) -> Damage:
        # For a growing file the log names one file per frame, and these files do not exist.
        paths = () if line.time else (f"{self._folder}/{attempt}/{line.file}",)
        record = (line.record or 1) - 1
        time, reason = line.time, REASON
        if line.time is not None and line.cut:  # the first time that the line may mean
            time, reason = line.time + "YYYYMMDDT000000"[len(line.time) :], f"{REASON}; {CUT}"
        return Damage(self._run, attempt, line.stream or "", time, paths, record, reason)

    def _missing(self, attempt: int) -> list[Written]:
        """The lines whose frame is not whole, in log order."""
        whole = _FrameTimes((s, t) for s, t, a in self._history.frames if a == attempt)
        holds_frames = self._history.holds_frames
        reached = self._history.reached.get(attempt, {})
        nameless = holds_frames("", attempt)  # a journal of an older version names no files

        def is_there(line: Written) -> bool:
            if line.time is not None:
                return whole.have(line)
            if line.record is not None:
                return nameless or reached.get(line.file or "", 0) >= line.record
            return nameless or holds_frames(line.file or "", attempt)

        return [line for line in self._said if not is_there(line)]


class _FrameTimes:
    """The valid times of frames by stream, for lookup by the start of a time."""

    def __init__(self, frames: Iterable[tuple[str, str]]) -> None:
        self._of: dict[str, list[str]] = defaultdict(list)
        for stream, time in sorted(frames):
            self._of[stream].append(time)

    def have(self, line: Written) -> bool:
        """Whether the frame of that line exists: the log may cut off its time."""
        times, start = self._of[line.stream or ""], line.time or ""
        at = bisect.bisect_left(times, start)
        near = times[max(0, at - 1) : at + 1]
        return any(time.startswith(start) or _close(time, start) for time in near)


def _close(one: str, other: str) -> bool:
    """Whether two elapsed times differ only by rounding."""
    if not (valid_time.is_elapsed(one) and valid_time.is_elapsed(other)):
        return False
    return abs(valid_time.seconds(one) - valid_time.seconds(other)) <= ROUNDING_S
