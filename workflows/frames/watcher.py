"""One scan of the model's folder: which frames are whole, which are lost, what the log said.

It lists the folder, stats only files that are not finished, and opens a file only if something
about it has changed. The rule is in :mod:`burstlens.workflows.frames.ready`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from burstlens.core.model import Damage, Fingerprint, Frame
from burstlens.core.valid_time import counting_calendar
from burstlens.workflows.frames import ready
from burstlens.workflows.frames.closing import digest
from burstlens.workflows.frames.cursor import Cursor, FileStat, Open, Speech, Unit, Written
from burstlens.workflows.frames.failing import answering, failing, is_given_up
from burstlens.workflows.frames.hdf5 import Prober, shared_prober
from burstlens.workflows.frames.listing import Listing
from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.model_log import Follower, Heard, matching, with_declared
from burstlens.workflows.frames.ready import Evidence, with_structure
from burstlens.workflows.frames.recorded import Recorded, with_files
from burstlens.workflows.frames.report import Report, UndecodedFile
from burstlens.workflows.frames.structure import Structure, has_gap, has_writer
from burstlens.workflows.frames.unit_structure import structure_of
from burstlens.workflows.models.base import Model

_log = logging.getLogger(__name__)


class Watcher:
    """The scans of one call; the caller passes the times in."""

    def __init__(
        self,
        root: Path,
        folder: str,
        model: Model,
        run: str,
        attempt: int,
        cursor: Cursor,
        *,
        baseline: Mapping[str, Sequence[int]] | None = None,
        prober: Prober | None = None,
        patterns: tuple[LogPattern, ...] = (),
    ) -> None:
        self._folder, self._prefix = root / folder, "" if folder in ("", ".") else f"{folder}/"
        self._run, self._attempt = run, attempt
        self._prober = prober or shared_prober()
        self.cursor = cursor
        self._model = model.configured(self._folder)
        known = {name: (stat[0], stat[1]) for name, stat in (baseline or {}).items()}
        self._facts = self._model.facts(self._folder)
        same = self._folder, self._model, run, attempt, known, self._facts, patterns
        self._same: tuple[object, ...] = same
        self._follower = Follower(self._folder, self._model, self._facts, known, patterns)
        self._listing = self._new_listing(known)
        self._undecoded: list[UndecodedFile] = []

    def _new_listing(self, baseline: Mapping[str, tuple[int, int]]) -> Listing:
        folders = self._facts.folders
        return Listing(self._folder, folders, self._model, self._follower, baseline)

    def adopt(self, other: Watcher) -> bool:
        """Take over the other watcher's cursor if it is a later one of the same watch."""
        if self._same != other._same or other.cursor.scans < self.cursor.scans:
            return False
        if not self._listing.units.keys() >= {entry.unit for entry in other.cursor.open}:
            return False
        for unit in [unit for unit in self._listing.units if other.cursor.is_done(unit)]:
            self._listing.drop(unit)
        self.cursor = other.cursor
        return True

    def places(self) -> tuple[list[str], list[str]]:
        """The paths of the folders and logs whose changes matter."""
        return self._listing.places()

    def scan(self, *, elapsed_s: float, now: float, ended: bool) -> Report:
        """Scan once, ``elapsed_s`` after this object's previous scan; ``now`` in Unix seconds."""
        frames: list[Frame] = []
        damaged: list[Damage] = []
        complaints: list[str] = []
        self._undecoded.clear()
        before = self.cursor
        heard = Heard(before.speech)
        over = ended
        try:
            self._listing.refresh(before)
            begun = ((unit.stream, unit.order) for unit in self._listing.units)
            speech = replace(before.speech, recorded=with_files(before.speech.recorded, begun))
            heard = self._hear(speech, now, last=ended)
            self.cursor = replace(self.cursor, speech=heard.speech)
            for said in heard.lost:
                damaged += self._lose(said.file or "", said.text)
            # The log says how the model ended: conclude nothing until all of it is read.
            over = ended and not heard.behind
            self._visit(elapsed_s, now, over, frames, damaged, complaints)
        except OSError as error:
            self._away(error, complaints)
        texts = (*complaints, *heard.unreadable)
        self.cursor = replace(self.cursor, complaints=texts[:20], scans=before.scans + 1)
        return Report(
            frames=tuple(sorted(frames, key=lambda frame: (frame.time, frame.stream))),
            damaged=tuple(damaged),
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
            undecoded=tuple(self._undecoded),
            ended=over and not self.cursor.open and not complaints and not self._has_more(),
            behind=heard.behind,
        )

    def _hear(self, speech: Speech, now: float, *, last: bool) -> Heard:
        return self._follower.hear(self._listing.logs, speech, now, last=last)

    def _away(self, error: OSError, complaints: list[str]) -> None:
        complaints.append(f"the model's folder does not answer: {error.strerror or error}")

    def _has_more(self) -> bool:
        """Whether this scan left units for the next one."""
        return False

    def _visits(self) -> Iterable[Unit]:
        """The units to look at in this scan, in order."""
        return sorted(self._listing.units, key=lambda unit: (unit.stream, unit.order))

    def _visit(
        self, elapsed_s: float, now: float, ended: bool, frames: list[Frame],
        damaged: list[Damage], complaints: list[str],
    ) -> None:  # fmt: skip
        """Check each unit that is not finished, and keep those that remain open."""
        known = {entry.unit: entry for entry in self.cursor.open}
        still: list[Open] = []
        for unit in self._visits():
            tiles = self._listing.units[unit]
            files = tuple(tiles[tile] for tile in sorted(tiles))
            entry = known.pop(unit, Open(unit, files))
            try:
                stats = tuple(FileStat.of(os.stat(path)) for path in self._places(files))
            except FileNotFoundError:
                # Released, or renamed by the model: its records were declared, or not a frame.
                files = ()
            except OSError as error:
                entry = failing(replace(entry, files=files), error, elapsed_s)
                self._keep(entry, ended, still, damaged, complaints)
                continue
            if not files:
                self._listing.drop(unit)
                if entry.declared:
                    self._finish(unit)
                continue
            changed = files != entry.files or stats != entry.stats
            entry = self._aged(replace(entry, files=files), stats, changed, elapsed_s)
            try:
                entry = self._look(entry, now, ended, changed, frames, damaged, complaints)
                entry = answering(entry)
            except OSError as error:
                entry = failing(entry, error, elapsed_s)
            if entry.undecoded:
                self._note_undecoded(entry, ended)
            self._keep(entry, ended, still, damaged, complaints)
        left = (entry for unit, entry in known.items() if unit in self._listing.units)
        speech = self._follower.recount(self.cursor.speech, frames)
        self.cursor = replace(self.cursor, open=(*still, *left), speech=speech)

    def _keep(
        self, entry: Open, ended: bool, still: list[Open], damaged: list[Damage],
        complaints: list[str],
    ) -> None:  # fmt: skip
        """Finish the unit, or keep it among those that are ``still`` open."""
        if self._is_finished(entry, ended, damaged):
            return self._finish(entry.unit)
        still.append(entry)
        if entry.error:
            complaints.append(f"{entry.unit.name} does not answer: {os.strerror(entry.error)}")

    def _aged(
        self, entry: Open, stats: tuple[FileStat, ...], changed: bool, elapsed_s: float
    ) -> Open:
        """The entry with what was seen of its files now, and for how long they are unchanged."""
        return replace(entry, stats=stats, quiet_s=0.0 if changed else entry.quiet_s + elapsed_s)

    def _spoken(self, entry: Open) -> tuple[Written, ...]:
        """The log's lines that may be about this unit."""
        return tuple(w for w in self.cursor.speech.written if w.stream in (None, entry.unit.stream))

    def _recorded(self, entry: Open) -> Recorded:
        """The records that the log calls written without naming their file."""
        return self.cursor.speech.recorded.get(entry.unit.stream, Recorded())

    def _waits(self, entry: Open) -> tuple[bool, ...]:
        """Whether it is unchanged long enough for the weakest witness."""
        return (entry.quiet_s >= ready.WEAK_QUIET_S,)

    def _outside(self, entry: Open, evidence: Evidence) -> Evidence:
        """The evidence from outside the unit's files, as this kind of watch has it."""
        return evidence

    def _chosen(self, entry: Open, whole: Structure) -> tuple[Open, Container[int]]:
        """The records that do not become frames: none."""
        return entry, ()

    def _look(
        self, entry: Open, now: float, ended: bool, changed: bool, frames: list[Frame],
        damaged: list[Damage], complaints: list[str],
    ) -> Open:  # fmt: skip
        """Read the unit if anything relevant has changed, and declare the ready records."""
        unit, later = entry.unit, self._has_later(entry)
        spoken, recorded = self._spoken(entry), self._recorded(entry)
        flag = self._listing.flag_of(entry.files)
        asked = (
            later,
            ended,
            flag,
            (unit.stream, unit.time) in self._listing.flags,
            ready.looks(entry.quiet_s),
            self._waits(entry),
            spoken[-1:],
            recorded.file == unit.name and recorded.record,
        )
        if not changed and asked == entry.asked:
            return entry
        entry = replace(entry, asked=asked, unread=False, undecoded=False)
        if (empty := entry.empty_file) is not None:
            which = f"the tile {empty}" if unit.tiled else "it"
            return replace(entry, reason=f"{which} has 0 bytes", whole=False)
        paths = self._places(entry.files)
        writers = {file for file, path in zip(entry.files, paths, strict=True) if has_writer(path)}
        if not writers <= entry.written_to:
            entry = replace(entry, written_to=entry.written_to | writers)
        closed = not writers and entry.written_to >= set(entry.files)
        outside = self._outside(
            entry,
            Evidence(
                conclusive=True,
                logged=bool(spoken) or recorded.proves(unit.name, entry.declared),
                log_speaks=self.cursor.speech.speaks,
                asynchronous=self.cursor.speech.asynchronous,
                closed=closed,
                later=later,
                io_groups=self._facts.io_groups,
                flagged=flag is True,
                expects_flag=flag is not None,
                ended=ended,
                ended_well=self.cursor.speech.ended_well or not self._facts.tells_end,
                quiet_s=entry.quiet_s,
            ),
        )
        if ready.witness(outside) is None and unit.time is not None and not entry.declared:
            # No witness yet: reading it would be useless.
            return replace(entry, whole=False)
        whole = structure_of(
            entry, paths, self._model.time_variable, self._prober,
            ranks=sorted(self._listing.units[unit]), thorough=ended or not changed,
            settled=ended or entry.quiet_s >= ready.SETTLED_S,
        )  # fmt: skip
        entry = replace(entry, unread=whole.unread, undecoded=whole.undecoded)
        if entry.declared > whole.begun and not whole.reason:
            return self._rewritten(entry, complaints)
        entry, passed_over = self._chosen(entry, whole)
        if len(spoken) > len(whole.times) and not self.cursor.speech.asynchronous:
            place = entry.declared + len(whole.times)
            entry = replace(entry, doubted=entry.doubted | {place})
        for index, key in enumerate(whole.times, entry.declared):
            if index in passed_over:
                entry = replace(entry, declared=index + 1)
                continue
            signal = ready.witness(self._inside(outside, entry, whole, index, key, spoken))
            if signal is None:
                return replace(entry, whole=False, reason=f"record {index}: no sign of its end")
            if index in entry.doubted and any(has_gap(path, index) for path in paths):
                reason = "it was not whole when the log called it written, and has a gap"
                damaged.append(self._damage(replace(entry, declared=index), reason, key))
            else:
                frames.append(self._frame(entry, whole, index, key, now, signal))
                _log.info("%s record %d (%s) is whole: %s; writers %d, later %s, quiet %.1f s, "
                          "log lines %d", unit.name, index, key, signal, len(writers), later,
                          entry.quiet_s, len(spoken))  # fmt: skip
            opened = digest(paths) if writers and self.cursor.attached else 0
            entry = replace(entry, declared=index + 1, declared_at=entry.stats, open_at=opened)
            speech = with_declared(self.cursor.speech, unit.stream, key, entry.files, index)
            self.cursor = replace(self.cursor, speech=speech)
        done = not whole.reason and entry.declared >= whole.begun
        return replace(entry, whole=done, reason=whole.reason)

    def _rewritten(self, entry: Open, complaints: list[str]) -> Open:
        complaints.append(f"{entry.unit.name} was rewritten after its frames were handed on")
        return replace(entry, whole=True, reason="")

    def _inside(
        self, outside: Evidence, entry: Open, whole: Structure, index: int, key: str,
        spoken: tuple[Written, ...],
    ) -> Evidence:  # fmt: skip
        """The evidence for one record, with what the file's structure adds."""
        unit = entry.unit
        files = unit.name, *entry.files
        logged = any(matching(spoken, unit.stream, key, files, index))
        several = not (unit.tiled or self._facts.serial_classic)
        return replace(
            with_structure(outside, whole, index, several=several),
            logged=logged or self._recorded(entry).proves(unit.name, index),
            flagged=outside.flagged or (unit.stream, key) in self._listing.flags,
        )

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
        """Nothing: the buffer's frames are the run's own."""
        return None

    def _has_later(self, entry: Open) -> bool:
        """Whether a later unit of the same line, with the same tiles, exists or existed."""
        order, tiles = self._listing.newest.get(entry.unit.line, (entry.unit.order, frozenset()))
        if order > entry.unit.order:
            return tiles >= self._listing.units[entry.unit].keys()
        done = self.cursor.done.get(entry.unit.series)
        return done is not None and done.last > entry.unit.name

    def _is_finished(self, entry: Open, ended: bool, damaged: list[Damage]) -> bool:
        """Whether the unit is finished; after the end, what is not whole is damaged."""
        if entry.whole and entry.declared:
            settled = self._facts.io_groups <= 1 or entry.quiet_s >= ready.WEAK_QUIET_S
            return ended or (self._has_later(entry) and settled)
        if entry.undecoded and self._has_later(entry):
            return True
        if not ended or not is_given_up(entry):
            return False
        reason = entry.reason if entry.error else f"the model has ended and {entry.reason}"
        if entry.error or not entry.undecoded:
            damaged.append(self._damage(entry, reason))
        return True

    def _note_undecoded(self, entry: Open, ended: bool) -> None:
        """Report a stream's first file whose times cannot be decoded, when nobody writes it."""
        stream = entry.unit.stream
        settled = ended or entry.quiet_s >= ready.QUIET_S or self._has_later(entry)
        if settled and stream not in self.cursor.undecoded:
            self._undecoded.append(UndecodedFile(stream, entry.files[0], entry.reason))
            _log.warning("%s", self._undecoded[-1].sentence)
            known = (*self.cursor.undecoded, stream)
            self.cursor = replace(self.cursor, undecoded=known)

    def _lose(self, file: str, reason: str) -> list[Damage]:
        """The damage for a frame that the model itself says it could not write."""
        output = self._model.identify(file)
        unit = None if output is None else Unit.of(file, output)
        if unit is None or self.cursor.is_done(unit):
            return []
        known = next((entry for entry in self.cursor.open if entry.unit == unit), None)
        self._finish(unit)
        return [self._damage(known or Open(unit, (file,)), reason)]

    def _damage(self, entry: Open, reason: str, time: str | None = None) -> Damage:
        _log.warning("%s record %d is damaged: %s", entry.unit.name, entry.declared, reason)
        time_key = time or (entry.unit.time if not entry.declared else None)
        return Damage(
            self._run, self._attempt, entry.unit.stream, time_key, self._paths(entry),
            entry.declared, reason, self._fingerprint(entry),
        )  # fmt: skip

    def _finish(self, unit: Unit) -> None:
        self._listing.drop(unit)
        self.cursor = self.cursor.finishing(unit)

    def _places(self, files: Sequence[str]) -> list[str]:
        """The paths of those files."""
        return [f"{self._folder}/{file}" for file in files]

    def _paths(self, entry: Open) -> tuple[str, ...]:
        return tuple(f"{self._prefix}{file}" for file in entry.files)
