"""The evidence in a folder in which a model writes that others started.

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
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from burstlens.core.model import Fingerprint
from burstlens.workflows.frames import ready, server_clock
from burstlens.workflows.frames.arrival import Selection, choose, is_full, newest_first, records
from burstlens.workflows.frames.attached_logs import find_logs, known_ends, lived_on
from burstlens.workflows.frames.cursor import Attached, Cursor, FileStat, Open, Unit
from burstlens.workflows.frames.evidence import EvidencePolicy, Scan
from burstlens.workflows.frames.listing import AttachedListing, WatchedFolder
from burstlens.workflows.frames.model_log import Follower, Heard
from burstlens.workflows.frames.ready import Evidence, loss_of
from burstlens.workflows.frames.report import ClosedFile, FolderReport
from burstlens.workflows.frames.speech import Recorded, Speech
from burstlens.workflows.frames.structure import Structure
from burstlens.workflows.frames.writers import is_closed

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
KEPT = 9
"""mtimes that are remembered of a stream."""


class AttachedEvidence(EvidencePolicy):
    """``selection``: what is wanted of the frames that are there on arrival; ``stamp``: a file of
    the run directory, see :class:`.ServerClock`."""

    follows_rewrites = True
    follows_checkpoints = False

    def __init__(self, folder: WatchedFolder, selection: Selection, stamp: Path) -> None:
        self.listing: AttachedListing = AttachedListing(folder)
        self.options = self._selection = selection
        self._folder, self._facts = folder, folder.facts
        self._clock = server_clock.ServerClock(stamp, folder.path)
        self._log_ns = 0
        self._restarted = ""
        self._closed: list[ClosedFile] = []

    # What the folder says.

    def hear(self, scan: Scan, follower: Follower) -> Heard:
        speaking = [name for name, speaks in self.listing.logs.items() if speaks]
        frames = partial(self._declared_files, scan.cursor)
        found = find_logs(self._folder.path, speaking, scan.cursor, frames)
        self._log_ns, self._restarted = found.newest_ns, found.restarted
        for name, known in _state(scan).logs.items():
            if found.logs[name].mtime_ns > known.mtime_ns:
                self._clock.note(found.logs[name].mtime_ns, known.device)
        _note(scan, logs=found.logs, reopened=found.reopened)
        if self._restarted:  # what follows belongs to the next attempt
            return Heard(Speech(caught_up=True))
        heard = follower.hear(self.listing.logs, scan.cursor.speech, scan.now, last=scan.ended)
        ends = known_ends(heard.speech.bad_ends, self._folder.path, self._log_ns)
        heard.speech = replace(heard.speech, bad_ends=ends)
        return heard

    def _declared_files(self, cursor: Cursor) -> list[str]:
        partly = [file for entry in cursor.open if entry.declared for file in entry.files]
        return [*partly[:FEW], *self.listing.finished(cursor, FEW)]

    def report(self, scan: Scan) -> FolderReport:
        self._note_mtimes(scan)
        device = self.listing.identity[0] if self.listing.identity else None
        entries = scan.cursor.open
        about = self._log_ns, entries, self._clock, device, scan.elapsed_s
        state = server_clock.after_scan(_state(scan), *about)
        newest, quiet_s, name = state.still
        frames_ns = max((entry.mtime_ns for entry in entries), default=0)
        arriving = scan.more or bool(state.pending)
        _note(scan, still=state.still, dated=state.dated, changed=())
        scan.cursor = lived_on(scan.cursor, arriving=arriving)
        longest = max(state.mtimes.values(), key=len, default=())
        report = FolderReport(
            identity=None if scan.lost else self.listing.identity,
            lost=scan.lost and f"the {scan.lost}",
            changed=state.changed,
            closed=tuple(self._closed),
            restarted=self._restarted,
            arriving=arriving,
            newest=name,
            written=newest / 1e9 if newest else None,
            quiet_s=quiet_s if newest else 0.0,
            dated=state.dated,
            intervals=server_clock.intervals(longest),
            log_is_newest=bool(self._log_ns) and self._log_ns + AFTER_LOG_NS >= frames_ns,
            unsettled=any(
                not entry.whole
                and (entry.watched_s < 2 * SEEN_S or entry.quiet_s < ready.WEAK_QUIET_S)
                for entry in entries
            ),
        )
        self._restarted = ""
        self._closed.clear()
        return report

    @staticmethod
    def _note_mtimes(scan: Scan) -> None:
        mtimes = dict(_state(scan).mtimes)
        found = [(frame.stream, frame.written) for frame in scan.frames]
        lost = [(one.stream, one.fingerprint[3] / 1e9) for one in scan.damaged if one.fingerprint]
        for stream, mtime in found + lost:
            mtimes[stream] = tuple(sorted({*mtimes.get(stream, ()), mtime})[-KEPT:])
        _note(scan, mtimes=mtimes)

    # Which units, in which order, and which of their records.

    def visits(self, scan: Scan) -> Iterator[Unit]:
        begin = time.monotonic()
        if self._restarted:
            return
        slice_s = SLICE_S if _state(scan).arrived else FIRST_SLICE_S
        if not _state(scan).arrived:
            self._arrive(scan)
        known = {entry.unit for entry in scan.cursor.open}
        units = sorted(self.listing.units, key=newest_first, reverse=True)
        units.sort(key=lambda unit: unit not in known)
        fresh = False  # each slice reads one that is new, however slow the file system is
        for unit in units:
            state = _state(scan)
            if unit.name in state.pending and is_full(self._selection, state, unit):
                scan.finish(unit)
                continue
            if fresh and time.monotonic() - begin > slice_s:
                scan.more = True
                return
            fresh |= unit not in known
            yield unit
            pending = _state(scan).pending
            if unit.name in pending:
                _note(scan, pending=pending - {unit.name})

    def _arrive(self, scan: Scan) -> None:
        """Choose among what is there on arrival."""
        taken, done = choose(self._selection, self.listing.units)
        names = frozenset(unit.name for unit in taken)
        _note(scan, arrived=True, pending=names, unread=names)
        scan.cursor = replace(scan.cursor, done=done)
        for unit in self.listing.units.keys() - set(taken):
            self.listing.units.pop(unit, None)

    def choose(self, scan: Scan, entry: Open, whole: Structure) -> Container[int]:
        state = _state(scan)
        if entry.unit.name not in state.unread or not whole.times or entry.declared:
            return ()
        about = entry.unit, list(whole.times), whole.calendar
        after, passed = records(self._selection, state, *about)
        scan.cursor = replace(scan.cursor, attached=after)
        return passed

    # Files that are written anew.

    def observe(self, before: Open, entry: Open) -> Open:
        stat = entry.stats[0]
        if not before.stats:
            age_s = self._clock.age_s(entry.mtime_ns, stat.device)
            entry = replace(entry, quiet_s=age_s or 0.0)
        elif entry.mtime_ns > before.mtime_ns:
            self._clock.note(entry.mtime_ns, stat.device)
        if not before.declared:
            return entry
        was, is_ = ([(one.device, one.inode) for one in of] for of in (before.stats, entry.stats))
        if was != is_ or not stat.size:
            return entry.afresh()
        is_another = (
            entry.whole
            and entry.stats != entry.declared_at
            and bool(entry.declared_at)
            and entry.watched_s >= ready.QUIET_S
        )  # and has nothing new: it was written anew, or touched, or closed
        return self._after_closing(entry) or entry.afresh() if is_another else entry

    def _after_closing(self, entry: Open) -> Open | None:
        """The entry after its writer has closed the file; None if something else changed it."""
        if not is_closed(entry.open_at, self._folder.paths(entry.files)):
            return None
        found = entry.stats[0].fingerprint
        self._closed.append(ClosedFile(entry.unit.stream, entry.files[0], found))
        return replace(entry, declared_at=entry.stats, open_at=0)

    # What counts as evidence.

    def evidence(self, scan: Scan, entry: Open) -> Evidence:
        """What is not an earlier run's: lines of its log, or older than the file, are evidence for
        nothing, nor is a later file that was written before."""
        later = self.listing.written_after(entry)
        if later is not None:
            self._wake(scan, entry.unit, later)
        found = scan.evidence(entry, self._facts, later=later is not None)
        is_fresh = self._log_ns >= entry.mtime_ns
        interval = self._interval(scan, entry)
        older_s = (entry.mtime_ns - self._log_ns) / 1e9
        is_ours = older_s < max(OLD_LOG_S, 3 * interval)
        lines = tuple(line for line in found.lines if is_fresh or line.live)
        return replace(
            found,
            lines=lines,
            # The model may have died after its line, in the next record: the file is newer.
            old_lines=found.lines if is_ours else lines,
            recorded=found.recorded if is_fresh else Recorded(),
            log_speaks=found.log_speaks and is_ours,
            ended_well=found.ended_well and (is_fresh or not self._facts.tells_end),
            # A program that nobody knows may write a frame in several steps.
            steady_s=max(SEEN_S, min(interval / 10, STEADY_S)),
            patience_s=max(ready.WEAK_QUIET_S, 2 * interval),
            weakest="unproven" if entry.watched_s >= SEEN_S else None,
        )

    def _wake(self, scan: Scan, unit: Unit, later: Unit) -> None:
        """Of a file that was written anew, the later one that was written after it was, too: it is
        read again at once, without waiting for its turn in the sweep."""
        again = _state(scan).again
        if unit.name in again and later not in self.listing.units:
            _note(scan, again=again | {later.name})

    def finished(self, scan: Scan, entry: Open, evidence: Evidence) -> str | None:
        lost = loss_of(entry, evidence, ended=scan.ended)
        if entry.whole and entry.declared:
            if lost is not None and entry.stats != entry.declared_at:  # else the sweep finds it
                with contextlib.suppress(OSError):
                    self._after_closing(entry)
            return lost
        seen = entry.watched_s >= 2 * SEEN_S
        if entry.error or (scan.ended and seen):
            return loss_of(entry, evidence, ended=scan.ended or entry.failing_s >= DEAD_S)
        if not seen or entry.quiet_s < max(DEAD_S, 3 * self._interval(scan, entry)):
            return None
        return "" if entry.undecoded else f"{entry.reason}, and nothing more comes"

    @staticmethod
    def _interval(scan: Scan, entry: Open) -> float:
        """The usual seconds between two frames of its stream, by their mtimes; 0.0 if unknown."""
        return server_clock.usual_interval(_state(scan).mtimes.get(entry.unit.stream, ()))


def _state(scan: Scan) -> Attached:
    return scan.cursor.attached or Attached()


def _note(scan: Scan, **changes: Any) -> None:
    scan.cursor = replace(scan.cursor, attached=replace(_state(scan), **changes))


def sweep(cursor: Cursor, folder: WatchedFolder, declared: Mapping[str, Fingerprint]) -> Cursor:
    """The cursor after another look at finished files: those with another fingerprint than the one
    with which they were ``declared`` are read anew.

    Truncation in place changes no folder, so only this sees it.
    """
    again: set[str] = set()
    changed: list[str] = []
    begin = time.monotonic()
    open_now = {file for entry in cursor.open for file in entry.files}
    for file, known in declared.items():
        if file in open_now or time.monotonic() - begin > SWEEP_S:
            continue
        with contextlib.suppress(OSError):
            found = FileStat.of(os.stat(folder.path / file)).fingerprint
            output = folder.model.identify(file)
            if found[1:] != tuple(known)[1:] and output is not None:
                again.add(Unit.of(file, output).name)
                changed.append(file)
    if not again:
        return cursor
    state = cursor.attached or Attached()
    changes = {"again": state.again | again, "changed": (*state.changed, *changed)}
    return replace(cursor, attached=replace(state, **changes))
