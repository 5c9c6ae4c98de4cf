"""Follows the model's logs: reads the new lines and what they mean.

Of the logs that match one pattern, the first by name speaks for the model (``rsl.error.0000``,
of the first rank); from the others only trouble is read.
"""

from __future__ import annotations

import copy
import errno
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from burstlens.core.model import Frame, Progress
from burstlens.workflows.frames.log_file import PIECE_BYTES, Position, read_piece
from burstlens.workflows.frames.log_search import LogBlock, LogPattern, Search, block_readers
from burstlens.workflows.frames.progress import Pulse, at_speed, progressed, recounted, went_back
from burstlens.workflows.frames.reason import (
    LONGEST,
    Opened,
    Reason,
    with_line,
    with_reason,
    without,
)
from burstlens.workflows.frames.speech import (
    MAX_CHECKPOINTS,
    MAX_WRITTEN,
    Recorded,
    Speech,
    Written,
)
from burstlens.workflows.models.base import BANNER, CAUSE, SIGNAL, TROUBLE, Facts, LogLine, Model
from burstlens.workflows.models.ends import is_rule, read_end

TAIL_LINES = 400
"""The latest new lines of a report, which the driver adds to `logs/model.log`."""
MAX_TROUBLE = 20
_OUTPUT = frozenset({"written", "output", "checkpoint"})
"""Kinds of lines about what the model wrote: with a time, it is that of what was written."""
_REFUSED = {errno.EACCES, errno.EISDIR, errno.EINVAL, errno.ELOOP, errno.ENXIO}
"""Errors of a log that is not a regular file or may not be read: it is skipped."""
_SHOWN = 500
"""Longest part of a log line that is shown, in characters."""


@dataclass(slots=True)
class Heard:
    """What the logs said in one scan. ``tail`` has the latest of the new ``lines`` of logs that
    speak for the model. ``behind``: a log has more than was read. ``trouble`` has the most
    important last. ``unreadable`` says which logs cannot be read, and why."""

    speech: Speech
    lost: list[LogLine] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    timed: list[Written] = field(default_factory=list)
    blocks: list[LogBlock] = field(default_factory=list)
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))
    lines: int = 0
    search: Search = field(default_factory=lambda: Search(()))
    behind: bool = False
    unreadable: list[str] = field(default_factory=list)
    reasons: dict[Reason, None] = field(default_factory=dict)
    steps: dict[str, str] = field(default_factory=dict)
    elapsed: float | None = None
    last_line: str = ""

    @property
    def trouble(self) -> list[str]:
        """What to show to the user: the most important last, of equal ones the first."""
        # Of plain trouble the latest counts.
        weighed = sorted(
            (one.weight, at if one.weight == TROUBLE else -at, one)
            for at, one in enumerate(self.reasons)
        )
        return [reason.text for *_, reason in weighed[-MAX_TROUBLE:]]


def logs_of(model: Model, names: Iterable[str]) -> dict[str, bool]:
    """The logs among these names, and whether each speaks for the model."""
    names = sorted(names)
    found: dict[str, bool] = {}
    for pattern in model.log_patterns:
        for index, name in enumerate(n for n in names if fnmatchcase(n, pattern)):
            found[name] = found.get(name, False) or index == 0
    return found


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

    def hear(
        self, logs: Mapping[str, bool], speech: Speech, now: float, *, last: bool = False
    ) -> Heard:
        """Read what is new, a bounded piece of each log. ``last``: the logs are complete. Raises
        OSError if the file system does not answer; a log that is missing is skipped."""
        heard = Heard(speech, search=Search(self._patterns), steps={**speech.steps})
        positions, opened = dict(speech.positions), dict(speech.opened)
        blocks = {name: copy.deepcopy(readers) for name, readers in speech.blocks.items()}
        for name, speaks in logs.items():
            position = positions.get(name) or Position(self._baseline.get(name, (0, 0))[0])
            try:
                piece = read_piece(
                    self._folder / name, position, PIECE_BYTES // len(logs), last=last
                )
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno not in _REFUSED:
                    raise
                heard.unreadable.append(f"{name} cannot be read: {error.strerror}")
                continue
            positions[name] = piece.position
            heard.behind |= piece.behind
            if piece.anew:
                opened.pop(name, None)
                heard.steps.pop(name, None)
                ends = without(heard.speech.bad_ends, name)
                heard.speech = replace(heard.speech, bad_ends=ends)
            for line in piece.lines:
                self._take(heard, opened, name, line, speaks=speaks)
            if speaks:
                for reader in blocks.setdefault(name, block_readers()):
                    heard.blocks += reader.take_all(piece.lines)
                heard.tail.extend(map(_shown, piece.lines[-TAIL_LINES:]))
                heard.lines += len(piece.lines)
            if last and not piece.behind and name in opened:
                self._conclude(heard, name, opened.pop(name).said)
        if last and not heard.behind:
            for reader in chain.from_iterable(blocks.values()):
                heard.blocks += reader.finish()
        heard.unreadable += self._model.given_up()
        last_line = heard.last_line.strip()[:_SHOWN] or speech.last_line
        idle = block_readers()
        pulse = speech.pulse.after(now, heard.elapsed, behind=heard.behind)
        progress = heard.speech.progress
        heard.speech = replace(
            heard.speech,
            positions=positions,
            opened=opened,
            steps=heard.steps,
            last_line=last_line,
            caught_up=speech.caught_up or not heard.behind,
            blocks={name: readers for name, readers in blocks.items() if readers != idle},
            pulse=pulse,
            progress=progress and at_speed(progress, pulse.speed),
        )
        return heard

    def recount(self, speech: Speech, frames: Iterable[Frame]) -> Speech:
        """With the calendar of the first of these frames whose days are not Gregorian: seconds are
        counted in it from now on, and those that were counted before anew."""
        named = next((frame.calendar for frame in frames if frame.calendar), "")
        if not named or speech.calendar:
            return speech
        progress = speech.progress and recounted(speech.progress, self._facts, named)
        if progress is None or progress == speech.progress:
            return replace(speech, calendar=named)
        pulse = Pulse(looked=speech.pulse.looked)
        return replace(speech, calendar=named, progress=at_speed(progress, None), pulse=pulse)

    def _take(
        self, heard: Heard, opened: dict[str, Opened], name: str, line: str, *, speaks: bool
    ) -> None:
        """Interpret one line; it may belong to an entry that earlier lines began."""
        said: LogLine | None
        entry = opened.pop(name, None)
        longer = entry and entry.taking(line)
        if longer is not None:
            opened[name], said = longer, longer.said
        else:
            if entry is not None:
                self._conclude(heard, name, entry.said)
            said = self._model.read_line(line) or read_end(line)
            if said is not None and said.kind == "trouble" and said.more:
                opened[name] = Opened(said)
            elif said is not None:
                self._apply(heard, name, said, speaks=speaks)
            if (said is None or said.kind != "trouble") and not is_rule(line):
                ends = with_line(heard.speech.bad_ends, name, line)
                heard.speech = replace(heard.speech, bad_ends=ends)
        progress = heard.speech.progress
        has_time = said is not None and said.kind not in _OUTPUT
        time = (said.time if said and has_time else "") or (
            progress.time if progress and speaks else ""
        )
        heard.search.take(name, line, time)
        banner = said is not None and said.kind == "trouble" and said.weight == BANNER
        if speaks and not banner and not is_rule(line):
            heard.last_line = line

    def _conclude(self, heard: Heard, name: str, said: LogLine) -> None:
        """Record an entry of trouble in that log, with all its lines."""
        reason = Reason(said.weight, " ".join(said.text.split())[:LONGEST])
        if not reason.text:
            return
        before = heard.speech.reason
        ends = with_reason(heard.speech.bad_ends, name, reason)
        heard.speech = replace(heard.speech, reason=reason.against(before), bad_ends=ends)
        # More ranks that were killed by the same cause are not reported again.
        again = before is not None and before.weight == reason.weight in {SIGNAL, CAUSE}
        if reason.weight > BANNER and not again:
            heard.reasons[reason] = None

    def _apply(self, heard: Heard, name: str, said: LogLine, *, speaks: bool) -> None:
        if said.kind == "trouble":
            self._conclude(heard, name, said)
            if said.file is not None and speaks:
                heard.lost.append(said)
            return
        if not speaks:
            return
        speech = heard.speech
        if said.kind in {"written", "output"}:
            stream, file, recorded = said.stream or "", said.file, None
            if said.kind == "written" and said.record is not None and file is None:
                # It is about the file that the model writes now.
                recorded = speech.recorded.get(stream, Recorded()).hearing(said.record)
                file = recorded.file
            about = said.stream, said.time, file, said.cut, said.record
            written = Written(*about, live=speech.caught_up, took_s=said.took_s)
            if written.took_s is not None:
                heard.timed.append(written)
            if said.kind == "output":
                return
            heard.written.append(written)
            if recorded is not None:
                known = {**speech.recorded, stream: recorded}
                heard.speech = replace(speech, speaks=True, recorded=known)
            elif not said.cut:
                waits = said.time is None or said.time > speech.declared.get(stream, "")
                waiting = _bounded((*speech.written, written)) if waits else speech.written
                heard.speech = replace(speech, speaks=True, written=waiting)
        elif said.kind == "checkpoint":
            self._take_checkpoint(heard, name, said)
        elif said.kind == "asynchronous":
            heard.speech = replace(speech, asynchronous=True)
        else:
            if said.time is not None:
                heard.steps[name] = said.time
            progress = progressed(speech.progress or Progress(), said, self._facts, speech.calendar)
            over = speech.ended_well or said.kind == "end"
            heard.speech = replace(speech, progress=progress, ended_well=over)
            if speech.bad_ends and went_back(speech.progress, progress):
                heard.speech = replace(heard.speech, bad_ends=without(speech.bad_ends, name))
            heard.elapsed = progress.elapsed_s

    @staticmethod
    def _take_checkpoint(heard: Heard, name: str, said: LogLine) -> None:
        """Note a line about a checkpoint. Without a time it is about the state after the latest
        step in that log; without a step before it, about none that is known."""
        time, live = said.time or heard.steps.get(name), heard.speech.caught_up
        if said.took_s is not None:  # of no stream: these are of frames
            heard.timed.append(Written(None, time, said.file, live=live, took_s=said.took_s))
        if time is not None:
            line = Written(said.stream, time, said.file, live=live, took_s=said.took_s)
            lines = (*heard.speech.checkpoints, line)[-MAX_CHECKPOINTS:]
            heard.speech = replace(heard.speech, checkpoints=lines)


def _shown(line: str) -> str:
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _bounded(written: tuple[Written, ...]) -> tuple[Written, ...]:
    stream = written[-1].stream
    same = [index for index, entry in enumerate(written) if entry.stream == stream]
    if len(same) <= MAX_WRITTEN:
        return written
    return written[: same[0]] + written[same[0] + 1 :]
