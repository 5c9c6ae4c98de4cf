"""One scan of the model's folder: which frames are whole, which are lost, what the log said.

It lists the folder, stats only files that are not finished, and opens a file only if something
about it has changed. The rule is in :mod:`burstlens.workflows.frames.ready`; what counts as
evidence is for the policy to say: :mod:`.evidence`, :mod:`.attached`.
"""

from __future__ import annotations

import logging
import os

from msgspec.structs import replace

from burstlens.core.model import Damage, Fingerprint, Frame
from burstlens.core.valid_time import counting_calendar
from burstlens.workflows.frames import ready
from burstlens.workflows.frames.checkpoints import CheckpointWatch
from burstlens.workflows.frames.cursor import Cursor, FileStat, Open, Unit
from burstlens.workflows.frames.evidence import EvidencePolicy, Scan
from burstlens.workflows.frames.hdf5 import Prober, shared_prober
from burstlens.workflows.frames.listing import WatchedFolder
from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.model_log import Follower, Heard
from burstlens.workflows.frames.ready import Evidence, for_record
from burstlens.workflows.frames.report import Report, UndecodedFile
from burstlens.workflows.frames.speech import matching, with_declared, with_files
from burstlens.workflows.frames.structure import Structure, structure_of
from burstlens.workflows.frames.writers import digest, has_gap, has_writer

_log = logging.getLogger(__name__)


class Watcher:
    """The scans of one call; the caller passes the times in."""

    def __init__(
        self,
        folder: WatchedFolder,
        run: str,
        attempt: int,
        cursor: Cursor,
        policy: EvidencePolicy,
        *,
        prober: Prober | None = None,
        patterns: tuple[LogPattern, ...] = (),
    ) -> None:
        self._folder, self._run, self._attempt = folder, run, attempt
        self.cursor = cursor
        self._policy, self.listing = policy, policy.listing
        self._prober = prober or shared_prober()
        self._checkpoints = CheckpointWatch(folder, self._prober)
        self._same = folder, run, attempt, policy.options, patterns
        about = folder.path, folder.model, folder.facts
        self._follower = Follower(*about, policy.listing.baseline, patterns)

    def adopt(self, other: Watcher) -> bool:
        """Take over the other watcher's cursor if it is a later one of the same watch."""
        if self._same != other._same or other.cursor.scans < self.cursor.scans:
            return False
        if not self.listing.units.keys() >= {entry.unit for entry in other.cursor.open}:
            return False
        parts = {part.files.unit for part in other.cursor.checkpoints.open}
        if not self.listing.checkpoints.keys() >= parts:
            return False
        for unit in [unit for unit in self.listing.units if other.cursor.is_done(unit)]:
            self.listing.units.pop(unit, None)
        self.listing.finish_checkpoints(other.cursor)
        self.cursor = other.cursor
        return True

    def scan(self, *, elapsed_s: float, now: float, ended: bool) -> Report:
        """Scan once, ``elapsed_s`` after this object's previous scan; ``now`` in Unix seconds."""
        before = self.cursor
        scan = Scan(before, self.listing, elapsed_s, now, ended)
        heard = Heard(before.speech)
        try:
            self.listing.refresh(before)
            begun = ((unit.stream, unit.order) for unit in self.listing.units)
            recorded = with_files(before.speech.recorded, begun)
            scan.cursor = replace(before, speech=replace(before.speech, recorded=recorded))
            heard = self._policy.hear(scan, self._follower)
            scan.cursor = replace(scan.cursor, speech=heard.speech)
            for said in heard.lost:
                self._lose(scan, said.file or "", said.text)
            # The log says how the model ended: conclude nothing until all of it is read.
            scan.ended = ended and not heard.behind
            self._visit(scan)
            if self._policy.follows_checkpoints:
                self._checkpoints.visit(scan)
        except OSError as error:
            scan.lost = f"folder does not answer: {error.strerror or error}"
        folder = self._policy.report(scan)
        texts = (*scan.complaints, *heard.unreadable)
        unfinished = scan.cursor.open or scan.cursor.checkpoints.open
        left = unfinished or scan.complaints or scan.lost or scan.more
        self.cursor = replace(scan.cursor, complaints=texts[:20], scans=before.scans + 1)
        return Report(
            frames=tuple(sorted(scan.frames, key=lambda frame: (frame.time, frame.stream))),
            damaged=tuple(scan.damaged),
            cursor=self.cursor,
            progress=self.cursor.speech.progress,
            trouble=tuple(heard.trouble),
            notices=tuple(text for text in texts if text not in before.complaints),
            tail=tuple(heard.tail),
            missed=heard.lines - len(heard.tail),
            written=tuple(heard.written),
            timed=tuple(heard.timed),
            blocks=tuple(heard.blocks),
            hits=tuple(heard.search.hits.values()),
            given_up=dict(heard.search.failed),
            undecoded=tuple(scan.undecoded),
            checkpoints=tuple(scan.checkpoints),
            unproven_checkpoints=tuple(scan.unproven),
            ended=scan.ended and not left,
            behind=heard.behind,
            folder=folder,
        )

    def _visit(self, scan: Scan) -> None:
        """Check each unit that is not finished, and keep those that remain open."""
        known = {entry.unit: entry for entry in scan.cursor.open}
        still: list[Open] = []
        for unit in self._policy.visits(scan):
            tiles = self.listing.units[unit]
            files = tuple(tiles[tile] for tile in sorted(tiles))
            before = known.pop(unit, None) or Open(unit, files)
            entry = replace(before, files=files)
            try:
                stats = tuple(FileStat.of(os.stat(path)) for path in self._folder.paths(files))
            except FileNotFoundError:
                # Released, or renamed by the model: its records were declared, or not a frame.
                files = ()
            except OSError as error:
                entry = entry.failing(error, scan.elapsed_s)
                self._keep(scan, entry, self._policy.evidence(scan, entry), still)
                continue
            if not files:
                self.listing.units.pop(unit, None)
                if entry.declared:
                    scan.finish(unit)
                continue
            changed = files != before.files or stats != before.stats
            entry = entry.aged(stats, scan.elapsed_s, changed=changed)
            entry = self._policy.observe(before, entry)
            evidence = self._policy.evidence(scan, entry)
            try:
                entry = self._look(scan, entry, evidence, changed).answering()
            except OSError as error:
                entry = entry.failing(error, scan.elapsed_s)
            if entry.undecoded:
                self._note_undecoded(scan, entry, evidence)
            self._keep(scan, entry, evidence, still)
        left = (entry for unit, entry in known.items() if unit in self.listing.units)
        speech = self._follower.recount(scan.cursor.speech, scan.frames)
        scan.cursor = replace(scan.cursor, open=(*still, *left), speech=speech)

    def _keep(self, scan: Scan, entry: Open, evidence: Evidence, still: list[Open]) -> None:
        """Finish the unit, or keep it among those that are ``still`` open."""
        lost = self._policy.finished(scan, entry, evidence)
        if lost is None:
            still.append(entry)
            if entry.error:
                error = os.strerror(entry.error)
                scan.complaints.append(f"{entry.unit.name} does not answer: {error}")
            return
        if lost:
            scan.damaged.append(self._damage(entry, lost))
        scan.finish(entry.unit)

    def _look(self, scan: Scan, entry: Open, evidence: Evidence, changed: bool) -> Open:
        """Read the unit if anything relevant has changed, and declare the ready records."""
        unit, flags, recorded = entry.unit, self.listing.flags, evidence.recorded
        conditions = (
            *evidence.changing,
            (unit.stream, unit.time) in flags,
            recorded.file == unit.name and recorded.record,
        )
        if not changed and conditions == entry.conditions:
            return entry
        entry = replace(entry, conditions=conditions, unread=False, undecoded=False)
        if (empty := entry.empty_file) is not None:
            which = f"the tile {empty}" if unit.tiled else "it"
            return replace(entry, reason=f"{which} has 0 bytes", whole=False)
        paths = self._folder.paths(entry.files)
        writers = {file for file, path in zip(entry.files, paths, strict=True) if has_writer(path)}
        if not writers <= entry.written_to:
            entry = replace(entry, written_to=entry.written_to | writers)
        evidence = replace(
            evidence,
            closed=not writers and entry.written_to >= set(entry.files),
            logged=bool(evidence.lines) or recorded.proves(unit.name, entry.declared),
        )
        if ready.witness(evidence) is None and unit.time is not None and not entry.declared:
            # No witness yet: reading it would be useless.
            return replace(entry, whole=False)
        ended = scan.ended
        whole = structure_of(
            entry, paths, self._folder.model.time_variable, self._prober,
            ranks=sorted(self.listing.units[unit]), thorough=ended or not changed,
            settled=ended or entry.quiet_s >= ready.SETTLED_S,
        )  # fmt: skip
        entry = replace(entry, unread=whole.unread, undecoded=whole.undecoded)
        if entry.declared > whole.begun and not whole.reason:
            if self._policy.follows_rewrites:
                return entry.afresh()
            scan.complaints.append(f"{unit.name} was rewritten after its frames were handed on")
            return replace(entry, whole=True, reason="")
        passed_over = self._policy.choose(scan, entry, whole)
        if len(evidence.lines) > len(whole.times) and not evidence.asynchronous:
            place = entry.declared + len(whole.times)
            entry = replace(entry, doubted=entry.doubted | {place})
        for index, key in enumerate(whole.times, entry.declared):
            if index in passed_over:
                entry = replace(entry, declared=index + 1)
                continue
            signal = ready.witness(self._for_record(evidence, entry, whole, index, key))
            if signal is None:
                return replace(entry, whole=False, reason=f"record {index}: no sign of its end")
            if index in entry.doubted and any(has_gap(path, index) for path in paths):
                reason = "it was not whole when the log called it written, and has a gap"
                damage = self._damage(replace(entry, declared=index), reason, key)
                scan.damaged.append(damage)
            else:
                scan.frames.append(self._frame(entry, whole, index, key, scan.now, signal))
                _log.info("%s record %d (%s) is whole: %s; writers %d, later %s, quiet %.1f s, "
                          "log lines %d", unit.name, index, key, signal, len(writers),
                          evidence.later, entry.quiet_s, len(evidence.lines))  # fmt: skip
            opened = digest(paths) if writers and self._policy.follows_rewrites else 0
            entry = replace(entry, declared=index + 1, declared_at=entry.stats, open_at=opened)
            speech = with_declared(scan.cursor.speech, unit.stream, key, entry.files, index)
            scan.cursor = replace(scan.cursor, speech=speech)
        done = not whole.reason and entry.declared >= whole.begun
        return replace(entry, whole=done, reason=whole.reason)

    def _for_record(
        self, evidence: Evidence, entry: Open, whole: Structure, index: int, key: str
    ) -> Evidence:
        """The evidence for one record, with what the file's structure adds."""
        unit = entry.unit
        lines = evidence.old_lines if whole.cut else evidence.lines
        logged = any(matching(lines, unit.stream, key, (unit.name, *entry.files), index))
        flagged = evidence.flagged or (unit.stream, key) in self.listing.flags
        return for_record(
            replace(
                evidence,
                logged=logged or evidence.recorded.proves(unit.name, index),
                flagged=flagged,
            ),
            whole, index, several=not (unit.tiled or self._folder.facts.serial_classic),
            may_be_open=bool(entry.written_to),
        )  # fmt: skip

    def _frame(
        self, entry: Open, whole: Structure, index: int, key: str, now: float, signal: str
    ) -> Frame:
        return Frame(
            run=self._run,
            attempt=self._attempt,
            stream=entry.unit.stream,
            time=key,
            paths=self._paths(entry),
            record=index,
            bytes=whole.frame_bytes,
            written=entry.mtime_ns / 1e9,
            detected=now,
            signal=signal,
            fingerprint=self._fingerprint(entry),
            calendar=counting_calendar(key, whole.calendar),
        )

    def _fingerprint(self, entry: Open) -> Fingerprint | None:
        """Of its first file; None where nobody else writes."""
        shared = self._policy.follows_rewrites and entry.stats
        return entry.stats[0].fingerprint if shared else None

    def _note_undecoded(self, scan: Scan, entry: Open, evidence: Evidence) -> None:
        """Report a stream's first file whose times cannot be decoded, when nobody writes it."""
        stream, known = entry.unit.stream, scan.cursor.undecoded
        settled = scan.ended or entry.quiet_s >= ready.QUIET_S or evidence.later
        if settled and stream not in known:
            scan.undecoded.append(UndecodedFile(stream, entry.files[0], entry.reason))
            _log.warning("%s", scan.undecoded[-1].sentence)
            scan.cursor = replace(scan.cursor, undecoded=(*known, stream))

    def _lose(self, scan: Scan, file: str, reason: str) -> None:
        """Report the damage of a frame that the model itself says it could not write."""
        output = self._folder.model.identify(file)
        if output is None or scan.cursor.is_done(unit := Unit.of(file, output)):
            return
        known = next((entry for entry in scan.cursor.open if entry.unit == unit), None)
        scan.finish(unit)
        scan.damaged.append(self._damage(known or Open(unit, (file,)), reason))

    def _damage(self, entry: Open, reason: str, time: str | None = None) -> Damage:
        _log.warning("%s record %d is damaged: %s", entry.unit.name, entry.declared, reason)
        time_key = time or (entry.unit.time if not entry.declared else None)
        return Damage(
            self._run, self._attempt, entry.unit.stream, time_key, self._paths(entry),
            entry.declared, reason, self._fingerprint(entry),
            entry.mtime_ns / 1e9 if entry.stats else None,
        )  # fmt: skip

    def _paths(self, entry: Open) -> tuple[str, ...]:
        return tuple(f"{self._folder.prefix}{file}" for file in entry.files)
