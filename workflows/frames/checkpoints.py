"""Which checkpoints of a launched run are whole.

A checkpoint is whole when each of its parts is there and proven (:mod:`.checkpoint_parts`). Each
one that is not whole is reported once, and why: when the model has ended, or when its files are
quiet and later checkpoints have superseded it.
"""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from burstlens.core.valid_time import label
from burstlens.workflows.frames import ready
from burstlens.workflows.frames.checkpoint_parts import PartScan
from burstlens.workflows.frames.cursor import CheckpointCursor, Open, OpenPart, Unit
from burstlens.workflows.frames.evidence import Scan
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.frames.listing import WatchedFolder
from burstlens.workflows.frames.report import WholeCheckpoint
from burstlens.workflows.frames.speech import Written

_log = logging.getLogger(__name__)
MOST_OPEN = 16
"""Of checkpoints of which none is whole, so many of the newest stay open."""
SUPERSEDED_QUIET_S = ready.WEAK_QUIET_S
"""How long the files of a superseded checkpoint must be unchanged before it is given up."""


class CheckpointWatch:
    """Looks at the files of checkpoints, once per scan."""

    def __init__(self, folder: WatchedFolder, prober: Prober) -> None:
        self._folder, self._model, self._prober = folder, folder.model, prober
        self._parts: dict[str, tuple[str, ...]] = {}
        self._ended_s: float | None = None

    def visit(self, scan: Scan) -> None:
        """Look at the files of each checkpoint that is not done, and report those that are whole
        now and those that are given up."""
        before, units = scan.cursor.checkpoints, scan.listing.checkpoints
        if not units and not before.open:
            return
        self._parts = {time: self._parts_at(time) for time in {unit.time or "" for unit in units}}
        ordered = sorted(filter(self._is_needed, units), key=lambda unit: unit.order)
        self._ended_s = None
        if scan.ended:
            self._ended_s = 0.0 if before.ended_s is None else before.ended_s + scan.elapsed_s
        known = {part.files.unit: part for part in before.open}
        newest = {unit.stream: unit for unit in ordered}
        parts = PartScan(self._folder, self._prober, scan, newest, self._ended_s)
        found: defaultdict[str, list[OpenPart]] = defaultdict(list)
        for unit in ordered:
            found[unit.time or ""].append(parts.look(unit, known.get(unit)))
        after = self._report(scan, found)
        still = tuple(part for parts in found.values() for part in parts)
        after = replace(after, open=still, ended_s=self._ended_s if still else None)
        lines = tuple(
            line
            for line in scan.cursor.speech.checkpoints
            if line.time in found or (line.time or "") > after.done.last
        )
        speech = replace(scan.cursor.speech, checkpoints=lines)
        scan.cursor = replace(scan.cursor, checkpoints=after, speech=speech)
        scan.listing.finish_checkpoints(scan.cursor)

    def _report(self, scan: Scan, found: dict[str, list[OpenPart]]) -> CheckpointCursor:
        """Report the checkpoints that are whole or given up, and remove them from those that were
        ``found``, which are in order of time. Returns the cursor with them as done."""
        cursor, times = scan.cursor.checkpoints, list(found)
        for number, time in enumerate(times, start=1):
            parts, later = found[time], len(times) - number
            whole = self._whole(scan, time, parts)
            if whole is not None:
                cursor = cursor.with_whole(time, parts)
                scan.checkpoints.append(whole)
                _log.info("the checkpoint of %s is whole: %s", time, whole.signal)
            elif self._is_given_up(parts, superseded=time < cursor.whole or later >= MOST_OPEN):
                cursor = cursor.with_given_up(time)
                text = f"the checkpoint of {label(time)} is not whole: {self._lack(time, parts)}"
                scan.unproven.append(text)
                _log.warning("%s", text)
            else:
                if scan.ended:
                    scan.complaints += _unanswered(parts)
                continue
            del found[time]
        return cursor

    def _parts_at(self, time: str) -> tuple[str, ...]:
        return tuple(self._model.checkpoint_parts(self._folder.path, time))

    def _is_needed(self, unit: Unit) -> bool:
        """Whether a checkpoint needs that part: WRF also writes the files of nests that have ended,
        each time with their last date."""
        parts = self._parts[unit.time or ""]
        return unit.stream in parts or not parts

    def _whole(self, scan: Scan, time: str, parts: Iterable[OpenPart]) -> WholeCheckpoint | None:
        """The checkpoint if all its parts are proven."""
        proven = {part.files.unit.stream: part for part in parts if part.signal}
        needed = self._parts[time]
        if not needed or not proven.keys() >= set(needed):
            return None
        chosen = [proven[part] for part in needed]
        stats = [stat for part in chosen for stat in part.files.stats]
        return WholeCheckpoint(
            time=time,
            files=tuple(file for part in chosen for file in part.files.files),
            bytes=sum(stat.size for stat in stats),
            written=max(stat.mtime_ns for stat in stats) / 1e9,
            signal=", ".join(dict.fromkeys(part.signal for part in chosen)),
            took_s=self._took_s(time, scan.cursor.speech.checkpoints),
            sizes=tuple(stat.size for stat in stats),
        )

    def _is_given_up(self, parts: Iterable[OpenPart], *, superseded: bool) -> bool:
        """Whether nothing more is expected of its files."""
        entries = [part.files for part in parts]
        if superseded and all(map(_is_still, entries)):
            return True
        return self._ended_s is not None and all(map(self._is_settled, entries))

    def _is_settled(self, entry: Open) -> bool:
        """Whether the model has ended so long ago that the files will not change. Where they could
        not be read, their state is not known: they are read again, however quiet they are."""
        ended_s = self._ended_s or 0.0
        waited_s = ended_s if entry.error or entry.unread else max(entry.quiet_s, ended_s)
        return waited_s >= ready.patience_s(entry)

    def _took_s(self, time: str, lines: Iterable[Written]) -> float | None:
        """The seconds of all parts together, as the log's lines say."""
        took = {line.stream: line.took_s for line in lines if line.time == time}
        if None in took:  # one line for all
            return took[None]
        needed = self._parts[time]
        each = [seconds for part in needed if (seconds := took.get(part)) is not None]
        return sum(each) if len(each) == len(needed) else None

    def _lack(self, time: str, parts: Sequence[OpenPart]) -> str:
        """The first thing that a checkpoint which is not whole lacks, for users."""
        proven = {part.files.unit.stream for part in parts if part.signal}
        files = {part.files.unit.stream: part.files for part in parts}
        if not (needed := self._parts[time]):
            return "the model's settings cannot be read, so its parts are not known"
        name = next(part for part in needed if part not in proven)
        if name not in files:
            return f"there is no file of {name or 'its state'}"
        return f"{files[name].unit.name}: {files[name].reason}"


def _is_still(entry: Open) -> bool:
    """Whether the files have been unchanged, or failing, for long."""
    still_s = entry.failing_s if entry.error else entry.quiet_s
    return still_s >= max(SUPERSEDED_QUIET_S, ready.patience_s(entry))


def _unanswered(parts: Iterable[OpenPart]) -> list[str]:
    """Which of its files cannot be read, a sentence each: the end of the watch waits for them."""
    entries = (part.files for part in parts if part.files.error)
    return [f"{entry.unit.name} does not answer: {os.strerror(entry.error)}" for entry in entries]
