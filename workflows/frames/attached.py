"""One scan of a folder in which a model writes that others started.

The rule for when a frame is whole is the same (:mod:`.ready`). What differs is its evidence: there
is no baseline, so a file, a log or a flag may be left from an earlier run. Later files, log lines
and quiet count only where the file server's own times agree. The folder is only read. What was
there on arrival is read newest first, about a second at a time.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from burstlens.core.model import Damage, Fingerprint
from burstlens.workflows.frames import ready
from burstlens.workflows.frames.arrival import Selection, choose, is_full, newest_first, records
from burstlens.workflows.frames.attached_listing import AttachedListing
from burstlens.workflows.frames.attached_logs import find_logs
from burstlens.workflows.frames.bad_ends import known_ends, lived_on
from burstlens.workflows.frames.closing import is_closed
from burstlens.workflows.frames.cursor import (
    Attached,
    Cursor,
    FileStat,
    Open,
    Speech,
    Unit,
    Written,
)
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.frames.intervals import intervals, usual_interval, with_mtime
from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.model_log import Heard
from burstlens.workflows.frames.ready import Evidence
from burstlens.workflows.frames.recorded import Recorded
from burstlens.workflows.frames.report import ClosedFile, FolderReport, Report
from burstlens.workflows.frames.server_clock import ServerClock
from burstlens.workflows.frames.stillness import after_scan
from burstlens.workflows.frames.structure import Structure
from burstlens.workflows.frames.watcher import Watcher
from burstlens.workflows.models.base import Model

SLICE_S, FIRST_SLICE_S = 1.0, 0.2
"""A scan returns after so long with what it has; the first one sooner, for the first picture."""
DEAD_S = 600.0
"""A file that is not whole and unchanged for longer, and for three intervals, is damaged."""
SEEN_S = 2.0
"""A file without a witness must be seen unchanged for so long, whatever its mtime says."""
STEADY_S = 10.0
"""The same at most for a file that its writer may still have open: a tenth of the interval."""
OLD_LOG_S = 600.0
"""A log that is so much older than a frame, and three intervals, is an earlier run's."""
AFTER_LOG_NS = 60 * 10**9
"""Frames may be written so long after the log's last line: servers of asynchronous output go on
when the model has said its end, and so do other ranks."""
FEW = 4
"""Files with declared frames whose dates are compared with a log's."""
SWEEP_S = 0.1


class AttachedWatcher(Watcher):
    """The scans of one call; see :class:`.Attachment`."""

    _listing: AttachedListing

    def __init__(
        self,
        root: Path,
        folder: str,
        model: Model,
        run: str,
        attempt: int,
        cursor: Cursor,
        *,
        selection: Selection,
        stamp: Path,
        prober: Prober | None = None,
        patterns: tuple[LogPattern, ...] = (),
    ) -> None:
        self._selection = selection
        self._clock = ServerClock(stamp, root / folder)
        self._more = False
        self._lost = self._restarted = ""
        self._changed: list[str] = []
        self._closed: list[ClosedFile] = []
        self._log_ns = 0
        place = root, folder, model, run, attempt, cursor
        super().__init__(*place, prober=prober, patterns=patterns)
        self._same = (*self._same, selection)

    def _new_listing(self, baseline: Mapping[str, tuple[int, int]]) -> AttachedListing:
        return AttachedListing(self._folder, self._facts.folders, self._model, self._follower)

    @property
    def _state(self) -> Attached:
        return self.cursor.attached or Attached()

    def scan(self, *, elapsed_s: float, now: float, ended: bool) -> Report:
        """Scan for about a second at most; the rest is left to the next scan."""
        self._more, self._lost, self._restarted = False, "", ""
        report = super().scan(elapsed_s=elapsed_s, now=now, ended=ended)
        found = self._folder_report(elapsed_s)
        self._changed.clear()
        self._closed.clear()
        return replace(report, cursor=self.cursor, folder=found)

    def sweep(self, declared: Mapping[str, Fingerprint]) -> None:
        """Look again at finished files: those with another fingerprint are read anew.

        Truncation in place changes no folder, so only this sees it.
        """
        again: set[str] = set()
        begin = time.monotonic()
        open_now = {file for entry in self.cursor.open for file in entry.files}
        for file, known in declared.items():
            if file in open_now or time.monotonic() - begin > SWEEP_S:
                continue
            with contextlib.suppress(OSError):
                found = FileStat.of(os.stat(self._folder / file)).fingerprint
                output = self._model.identify(file)
                if found[1:] != tuple(known)[1:] and output is not None:
                    again.add(Unit.of(file, output).name)
                    self._changed.append(file)
        if again:
            state = replace(self._state, again=self._state.again | again)
            self.cursor = replace(self.cursor, attached=state)

    # What the folder says.

    def _hear(self, speech: Speech, now: float, *, last: bool) -> Heard:
        self._restarted = self._look_at_logs()
        if self._restarted:  # what follows belongs to the next attempt
            return Heard(Speech(caught_up=True))
        heard = super()._hear(speech, now, last=last)
        ends = known_ends(heard.speech.bad_ends, self._folder, self._log_ns)
        heard.speech = replace(heard.speech, bad_ends=ends)
        return heard

    def _look_at_logs(self) -> str:
        """The sign that a log of the model began anew; empty if none did."""
        speaking = [name for name, speaks in self._listing.logs.items() if speaks]
        found = find_logs(self._folder, speaking, self.cursor, self._declared_files)
        self._log_ns = found.newest_ns
        for name, known in self._state.logs.items():
            if found.logs[name].mtime_ns > known.mtime_ns:
                self._clock.note(found.logs[name].mtime_ns, known.device)
        state = replace(self._state, logs=found.logs, reopened=found.reopened)
        self.cursor = replace(self.cursor, attached=state)
        return found.restarted

    def _declared_files(self) -> list[str]:
        """A few files with declared frames."""
        partly = [file for entry in self.cursor.open if entry.declared for file in entry.files]
        return [*partly[:FEW], *self._listing.finished(self.cursor, FEW)]

    def _away(self, error: OSError, complaints: list[str]) -> None:
        self._lost = f"the folder does not answer: {error.strerror or error}"

    def _has_more(self) -> bool:
        return self._more or bool(self._lost)

    def _folder_report(self, elapsed_s: float) -> FolderReport:
        device = self._listing.identity[0] if self._listing.identity else None
        about = self._log_ns, self.cursor.open, self._clock, device, elapsed_s
        state = after_scan(self._state, *about)
        newest, quiet_s, name = state.still
        frames_ns = max((entry.mtime_ns for entry in self.cursor.open), default=0)
        arriving = self._more or bool(state.pending)
        self.cursor = lived_on(replace(self.cursor, attached=state), arriving=arriving)
        longest = max(state.mtimes.values(), key=len, default=())
        return FolderReport(
            identity=None if self._lost else self._listing.identity,
            lost=self._lost,
            changed=tuple(self._changed),
            closed=tuple(self._closed),
            restarted=self._restarted,
            arriving=arriving,
            newest=name,
            written=newest / 1e9 if newest else None,
            quiet_s=quiet_s if newest else 0.0,
            dated=state.dated,
            intervals=intervals(longest),
            log_is_newest=bool(self._log_ns) and self._log_ns + AFTER_LOG_NS >= frames_ns,
            unsettled=any(
                not entry.whole
                and (entry.watched_s < 2 * SEEN_S or entry.quiet_s < ready.WEAK_QUIET_S)
                for entry in self.cursor.open
            ),
        )

    # Which units, in which order.

    def _visits(self) -> Iterator[Unit]:
        begin = time.monotonic()
        if self._restarted:
            return
        slice_s = SLICE_S if self._state.arrived else FIRST_SLICE_S
        if not self._state.arrived:
            self._arrive()
        known = {entry.unit for entry in self.cursor.open}
        units = sorted(self._listing.units, key=newest_first, reverse=True)
        units.sort(key=lambda unit: unit not in known)
        fresh = False  # each slice reads one that is new, however slow the file system is
        for unit in units:
            state = self._state
            if unit.name in state.pending and is_full(self._selection, state, unit):
                self._finish(unit)
                continue
            if fresh and time.monotonic() - begin > slice_s:
                self._more = True
                return
            fresh |= unit not in known
            yield unit
            state = self._state
            if unit.name in state.pending:
                pending = state.pending - {unit.name}
                self.cursor = replace(self.cursor, attached=replace(state, pending=pending))

    def _arrive(self) -> None:
        """Choose among what is there on arrival."""
        taken, done = choose(self._selection, self._listing.units)
        names = frozenset(unit.name for unit in taken)
        state = replace(self._state, arrived=True, pending=names, unread=names)
        self.cursor = replace(self.cursor, done=done, attached=state)
        for unit in self._listing.units.keys() - set(taken):
            self._listing.drop(unit)

    def _chosen(self, entry: Open, whole: Structure) -> tuple[Open, Container[int]]:
        if entry.unit.name not in self._state.unread or not whole.times or entry.declared:
            return entry, ()
        about = entry.unit, list(whole.times), whole.calendar
        state, passed = records(self._selection, self._state, *about)
        self.cursor = replace(self.cursor, attached=state)
        return entry, passed

    # What counts as evidence.

    def _aged(
        self, entry: Open, stats: tuple[FileStat, ...], changed: bool, elapsed_s: float
    ) -> Open:
        first = not entry.stats
        before, entry = entry, super()._aged(entry, stats, changed, elapsed_s)
        if first:
            entry = replace(entry, quiet_s=self._clock.quiet_s(entry.mtime_ns, stats[0].device))
        elif entry.mtime_ns > before.mtime_ns:
            self._clock.note(entry.mtime_ns, stats[0].device)
        entry = replace(entry, watched_s=0.0 if changed else before.watched_s + elapsed_s)
        was, is_ = ([(one.device, one.inode) for one in of] for of in (before.stats, stats))
        replaced = not first and was != is_
        if not before.declared:
            return entry
        if replaced or not stats[0].size:
            return self._afresh(entry)
        if self._is_another(entry):
            return self._after_closing(entry) or self._afresh(entry)
        return entry

    def _is_another(self, entry: Open) -> bool:
        """Whether a file with nothing new has changed since its last record was declared, and is
        quiet: it was written anew, or touched, or closed."""
        return (
            entry.whole
            and entry.stats != entry.declared_at
            and bool(entry.declared_at)
            and entry.watched_s >= ready.QUIET_S
        )

    def _after_closing(self, entry: Open) -> Open | None:
        """The entry after its writer has closed the file; None if something else changed it."""
        if not is_closed(entry.open_at, self._places(entry.files)):
            return None
        found = entry.stats[0].fingerprint
        self._closed.append(ClosedFile(entry.unit.stream, entry.files[0], found))
        return replace(entry, declared_at=entry.stats, open_at=0)

    def _rewritten(self, entry: Open, complaints: list[str]) -> Open:
        return self._afresh(entry)

    def _afresh(self, entry: Open) -> Open:
        """The entry as if it was never read."""
        return replace(
            entry, declared=0, declared_at=(), whole=False, asked=(), doubted=frozenset(),
            reason="it is written anew",
        )  # fmt: skip

    def _spoken(self, entry: Open) -> tuple[Written, ...]:
        """Lines of an earlier run's log, or older than the file, are evidence for nothing."""
        return tuple(
            line for line in super()._spoken(entry) if line.live or self._log_ns >= entry.mtime_ns
        )

    def _recorded(self, entry: Open) -> Recorded:
        fresh = self._log_ns >= entry.mtime_ns
        return super()._recorded(entry) if fresh else Recorded()

    def _waits(self, entry: Open) -> tuple[bool, ...]:
        steady, patient = self._steady_s(entry), self._patience_s(entry)
        return entry.quiet_s >= steady, entry.quiet_s >= patient, entry.watched_s >= SEEN_S

    def _steady_s(self, entry: Open) -> float:
        """How long a file that its writer may still have open must be quiet: a program that nobody
        knows may write a frame in several steps."""
        return max(SEEN_S, min(self._interval(entry.unit.stream) / 10, STEADY_S))

    def _inside(
        self, outside: Evidence, entry: Open, whole: Structure, index: int, key: str,
        spoken: tuple[Written, ...],
    ) -> Evidence:  # fmt: skip
        if whole.cut and self._is_fresh(entry):
            # The model died after its line, in the next record: the file is a little newer.
            spoken = super()._spoken(entry)
        found = super()._inside(outside, entry, whole, index, key, spoken)
        may_be_open = whole.classic or bool(entry.written_to)
        if may_be_open and not found.flagged and found.quiet_s < self._steady_s(entry):
            return replace(found, quiet_s=0.0)
        return found

    def _patience_s(self, entry: Open) -> float:
        return max(ready.WEAK_QUIET_S, 2 * self._interval(entry.unit.stream))

    def _is_fresh(self, entry: Open) -> bool:
        """Whether the log is not so much older than the file that it is an earlier run's."""
        older_s = (entry.mtime_ns - self._log_ns) / 1e9
        return older_s < max(OLD_LOG_S, 3 * self._interval(entry.unit.stream))

    def _outside(self, entry: Open, evidence: Evidence) -> Evidence:
        seen = entry.watched_s >= SEEN_S
        return replace(
            evidence,
            log_speaks=evidence.log_speaks and self._is_fresh(entry),
            ended_well=evidence.ended_well
            and (not self._facts.tells_end or self._log_ns >= entry.mtime_ns),
            patience_s=self._patience_s(entry),
            weakest="unproven" if seen else None,
        )

    def _has_later(self, entry: Open) -> bool:
        """Whether a later unit of its line was written after it, tile by tile."""
        own = self._listing.files(entry.unit)
        mine = dict(zip(sorted(own), entry.stats, strict=False))
        for unit in self._listing.after(entry.unit, 2):
            files = self._listing.files(unit)
            with contextlib.suppress(OSError, KeyError):
                if all(
                    os.stat(self._folder / files[tile]).st_mtime_ns >= stat.mtime_ns
                    for tile, stat in mine.items()
                ):
                    self._wake(entry.unit, unit)
                    return True
        return False

    def _wake(self, unit: Unit, later: Unit) -> None:
        """Of a file that was written anew, the later one that was written after it was, too: it is
        read again at once, without waiting for its turn in the sweep."""
        state = self._state
        if unit.name in state.again and later not in self._listing.units:
            self.cursor = replace(
                self.cursor, attached=replace(state, again=state.again | {later.name})
            )

    def _interval(self, stream: str) -> float:
        """The usual seconds between two frames of a stream, by their mtimes; 0.0 if unknown."""
        return usual_interval(self._state.mtimes.get(stream, ()))

    def _fingerprint(self, entry: Open) -> Fingerprint | None:
        if not entry.stats:
            return None
        self._note_mtime(entry)
        return entry.stats[0].fingerprint

    def _note_mtime(self, entry: Open) -> None:
        stream, state = entry.unit.stream, self._state
        known = with_mtime(state.mtimes.get(stream, ()), entry.mtime_ns / 1e9)
        mtimes = {**state.mtimes, stream: known}
        self.cursor = replace(self.cursor, attached=replace(state, mtimes=mtimes))

    def _is_finished(self, entry: Open, ended: bool, damaged: list[Damage]) -> bool:
        if entry.whole and entry.declared:
            finished = super()._is_finished(entry, ended, damaged)
            if finished and entry.stats != entry.declared_at:  # else the sweep would find it
                with contextlib.suppress(OSError):
                    self._after_closing(entry)
            return finished
        seen = entry.watched_s >= 2 * SEEN_S
        if entry.error or (ended and seen):
            return super()._is_finished(entry, ended or entry.failing_s >= DEAD_S, damaged)
        if not seen or entry.quiet_s < max(DEAD_S, 3 * self._interval(entry.unit.stream)):
            return False
        if not entry.undecoded:
            damaged.append(self._damage(entry, f"{entry.reason}, and nothing more comes"))
        return True
