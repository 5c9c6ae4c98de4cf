"""Following the model's logs: new lines only, and what they mean.

Of the logs that one pattern matches, the first by name speaks for the model (``rsl.error.0000``,
the first rank's); the others can only tell of trouble.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path

from burstlens import valid_time
from burstlens.model import Progress
from burstlens.workflows.cursor import MAX_WRITTEN, Speech, Written
from burstlens.workflows.guards.log import LogPattern, Search
from burstlens.workflows.models.base import Facts, LogLine, Model

MAX_READ_BYTES = 1 << 20
"""Bytes of one log read in one scan: a long log takes several."""
TAIL_LINES = 20
MAX_TROUBLE = 20
_MAX_LINE_BYTES = 1 << 16
_SAMPLE_S, _SAMPLES = 4.0, 16


@dataclass(slots=True)
class Heard:
    """What the logs said in one scan."""

    speech: Speech
    trouble: list[str] = field(default_factory=list)
    lost: list[LogLine] = field(default_factory=list)
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))
    moved: bool = False
    search: Search = field(default_factory=lambda: Search(()))


class Follower:
    """Reads the logs of one model folder."""

    def __init__(
        self,
        folder: Path,
        model: Model,
        facts: Facts,
        baseline: Mapping[str, tuple[int, int]],
        patterns: Sequence[LogPattern] = (),
    ) -> None:
        self._folder, self._model, self._facts = folder, model, facts
        self._baseline, self._patterns = baseline, patterns

    def logs(self, names: Iterable[str]) -> dict[str, bool]:
        """The logs among these names, and whether each speaks for the model."""
        names = sorted(names)
        found: dict[str, bool] = {}
        for pattern in self._model.log_patterns:
            for index, name in enumerate(n for n in names if fnmatchcase(n, pattern)):
                found[name] = found.get(name, False) or index == 0
        return found

    def hear(
        self, logs: Mapping[str, bool], speech: Speech, now: float, *, last: bool = False
    ) -> Heard:
        """Read what is new. ``last``: nothing more will come, so that a line may lack its end.

        Raises OSError when the file system does not answer; a log that is not there is none.
        """
        heard = Heard(speech, search=Search(self._patterns))
        offsets = dict(speech.offsets)
        for name, speaks in logs.items():
            start = offsets.get(name, self._baseline.get(name, (0, 0))[0])
            try:
                lines, offsets[name] = _read(self._folder / name, start, last=last)
            except FileNotFoundError:
                continue
            for line in lines:
                self._take(heard, line, now, speaks=speaks)
            heard.search.take(name, lines)
            if speaks:
                heard.tail.extend(lines)
        if offsets != speech.offsets:
            heard.speech = replace(heard.speech, offsets=offsets)
        return heard

    def _take(self, heard: Heard, line: str, now: float, *, speaks: bool) -> None:
        said = self._model.read_line(line)
        if said is None:
            return
        speech = heard.speech
        if said.kind == "trouble":
            if len(heard.trouble) < MAX_TROUBLE and said.text not in heard.trouble:
                heard.trouble.append(said.text)
            if said.file is not None and speaks:
                heard.lost.append(said)
        elif not speaks:
            return
        elif said.kind == "written":
            written = Written(said.stream, said.time, said.file)
            known = said.time is not None and said.time <= speech.told.get(said.stream or "", "")
            waiting = speech.written if known else _bounded((*speech.written, written))
            heard.speech = replace(speech, speaks=True, written=waiting)
        elif said.kind == "asynchronous":
            heard.speech = replace(speech, asynchronous=True)
        else:
            heard.moved = True
            heard.speech = progressed(speech, said, self._facts, now)


def _read(path: Path, start: int, *, last: bool) -> tuple[list[str], int]:
    """The whole lines from ``start`` on, from the beginning if the file shrank; where they end."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size < start:
            start = 0
        file.seek(start)
        data = file.read(MAX_READ_BYTES)
    end = len(data) if last or len(data) > _MAX_LINE_BYTES > data.rfind(b"\n") else 0
    end = max(end, data.rfind(b"\n") + 1)
    return data[:end].decode("utf-8", "replace").splitlines(), start + end


def _bounded(written: tuple[Written, ...]) -> tuple[Written, ...]:
    stream = written[-1].stream
    same = [index for index, entry in enumerate(written) if entry.stream == stream]
    if len(same) <= MAX_WRITTEN:
        return written
    return written[: same[0]] + written[same[0] + 1 :]


def progressed(speech: Speech, said: LogLine, facts: Facts, now: float) -> Speech:
    """How far the model is after that line; speed is taken over about the last minute."""
    before = speech.progress or Progress()
    if said.kind == "phase":
        return replace(speech, progress=replace(before, phase=said.text))
    ended = said.kind == "end"
    elapsed = said.elapsed_s
    if elapsed is None and said.time is not None and facts.start is not None:
        elapsed = seconds_between(facts.start, said.time)
    elapsed = before.elapsed_s if elapsed is None else elapsed
    total = said.total_s or before.total_s or facts.total_s
    samples = speech.samples if elapsed is None else _sampled(speech.samples, now, elapsed)
    speed = _speed(samples) or before.speed
    left = None if total is None or elapsed is None else max(0.0, total - elapsed)
    progress = Progress(
        time=said.time or before.time,
        elapsed_s=elapsed,
        total_s=total,
        speed=speed,
        eta_s=0.0 if ended else (left / speed if left is not None and speed else None),
        rate_mpps=said.rate_mpps or before.rate_mpps,
        phase="ended" if ended else "running",
    )
    return replace(
        speech, progress=progress, samples=samples, ended_well=speech.ended_well or ended
    )


def _sampled(
    samples: tuple[tuple[float, float], ...], now: float, elapsed: float
) -> tuple[tuple[float, float], ...]:
    """With one more, at most one a few seconds: the newest always counts."""
    if samples and elapsed < samples[-1][1]:
        samples = ()
    if len(samples) > 1 and now - samples[-2][0] < _SAMPLE_S:
        samples = samples[:-1]
    return (*samples, (now, elapsed))[-_SAMPLES:]


def _speed(samples: tuple[tuple[float, float], ...]) -> float | None:
    if len(samples) < 2 or samples[-1][0] <= samples[0][0]:
        return None
    return (samples[-1][1] - samples[0][1]) / (samples[-1][0] - samples[0][0])


def seconds_between(start: str, end: str) -> float | None:
    """Seconds from one valid-time key to another of the same kind, else None."""
    if valid_time.is_calendar(start) and valid_time.is_calendar(end):
        try:
            first, second = (datetime.strptime(key, "%Y%m%dT%H%M%S") for key in (start, end))
        except ValueError:
            return None
        return (second - first).total_seconds()
    if start.startswith("t") and end.startswith("t"):
        return float(end[1:]) - float(start[1:])
    return None


def matching(
    written: Iterable[Written], stream: str, time: str, files: tuple[str, ...]
) -> Iterator[Written]:
    """The log lines that speak of the frame of that stream and time, or of one of its files."""
    for entry in written:
        if entry.stream not in (None, stream):
            continue
        if entry.time is not None:
            if time.startswith(entry.time):
                yield entry
        elif entry.file in files:
            yield entry


def heeded(speech: Speech, stream: str, time: str, files: tuple[str, ...]) -> Speech:
    """Without the lines that speak of that frame, which is declared now."""
    spoken = set(matching(speech.written, stream, time, files))
    told = {**speech.told, stream: max(time, speech.told.get(stream, ""))}
    written = tuple(entry for entry in speech.written if entry not in spoken)
    return replace(speech, written=written, told=told)
