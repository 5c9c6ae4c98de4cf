"""Which checkpoints of a launched run are whole.

A checkpoint is whole when each of its parts is there and proven. The model's adapter says what
proves a file (:class:`.Proof`): its name; its bytes and a witness, as those of a frame; or the log.
Each one that is not whole is reported once, and why: when the model has ended, or when its files
are quiet and later checkpoints have superseded it.

A part in tiles needs all of them. WRF's tiles say which cells of the domain they hold. Otherwise
their number is that of an earlier checkpoint, or of the tiles of frames. If neither is known, a
later checkpoint or a good end must show that no tile is still to come.
"""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from burstlens.core.ranks import absent
from burstlens.core.valid_time import label
from burstlens.workflows.frames import ready
from burstlens.workflows.frames.cursor import CheckpointCursor, FileStat, Open, OpenPart, Unit
from burstlens.workflows.frames.evidence import Scan
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.frames.listing import WatchedFolder
from burstlens.workflows.frames.ready import Evidence, for_record
from burstlens.workflows.frames.report import WholeCheckpoint
from burstlens.workflows.frames.speech import Written
from burstlens.workflows.frames.structure import Structure, structure_of
from burstlens.workflows.frames.writers import is_classic, superblock_of
from burstlens.workflows.models.continuation import Proof

_log = logging.getLogger(__name__)
_NO_SIGN = "no sign of its end"
MOST_OPEN = 16
"""Of checkpoints of which none is whole, so many of the newest stay open."""
SUPERSEDED_QUIET_S = ready.WEAK_QUIET_S
"""How long the files of a superseded checkpoint must be unchanged before it is given up."""


class CheckpointWatch:
    """Looks at the files of checkpoints, once per scan."""

    def __init__(self, folder: WatchedFolder, prober: Prober) -> None:
        self._folder, self._model, self._prober = folder, folder.model, prober
        self._parts: dict[str, tuple[str, ...]] = {}
        self._newest: dict[str, Unit] = {}
        self._ended_s: float | None = None

    def visit(self, scan: Scan) -> None:
        """Look at the files of each checkpoint that is not done, and report those that are whole
        now and those that are given up."""
        before, units = scan.cursor.checkpoints, scan.listing.checkpoints
        if not units and not before.open:
            return
        self._parts = {time: self._parts_at(time) for time in {unit.time or "" for unit in units}}
        ordered = sorted(filter(self._is_needed, units), key=lambda unit: unit.order)
        self._newest = {unit.stream: unit for unit in ordered}
        self._ended_s = None
        if scan.ended:
            self._ended_s = 0.0 if before.ended_s is None else before.ended_s + scan.elapsed_s
        known = {part.files.unit: part for part in before.open}
        found: defaultdict[str, list[OpenPart]] = defaultdict(list)
        for unit in ordered:
            part = self._look(scan, unit, known.get(unit))
            found[part.time].append(part)
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

    # One part.

    def _look(self, scan: Scan, unit: Unit, known: OpenPart | None) -> OpenPart:
        """The part after a look at its files."""
        tiles = scan.listing.checkpoints[unit]
        files = tuple(tiles[tile] for tile in sorted(tiles))
        before = known.files if known is not None else Open(unit, files)
        entry, paths = replace(before, files=files), self._folder.paths(files)
        try:
            stats = tuple(FileStat.of(os.stat(path)) for path in paths)
            changed = files != before.files or stats != before.stats
            entry = entry.aged(stats, scan.elapsed_s, changed=changed)
            if known is not None and known.signal and not changed:
                return OpenPart(entry, known.signal)
            return self._examine(scan, entry.answering(), paths, changed=changed)
        except OSError as error:
            # Without stats it counts as changed at the next look, and is read again.
            return OpenPart(replace(entry.failing(error, scan.elapsed_s), stats=()))

    def _examine(self, scan: Scan, entry: Open, paths: Sequence[str], *, changed: bool) -> OpenPart:
        """The part, with what proves it whole, or the reason why nothing does. Raises OSError."""
        evidence, proof = self._evidence(scan, entry), self._model.checkpoint_proof(entry.files[0])
        conditions = (
            *evidence.changing, evidence.logged, evidence.ended_well,
            _expected_tiles(scan, entry.unit),
            ready.looks(self._ended_s or 0.0) if entry.unread else 0,
        )  # fmt: skip
        if not changed and conditions == entry.conditions:
            return OpenPart(entry)
        entry = replace(entry, conditions=conditions, unread=False)
        if proof is Proof.NAME:
            return _judged(entry, "name", _missing_tiles(scan, entry, evidence))
        if (empty := entry.empty_file) is not None:
            return _judged(entry, reason=f"{_which(entry, empty)} has 0 bytes")
        blocks = dict(zip(entry.files, map(superblock_of, paths), strict=True))
        writers = [file for file, block in blocks.items() if block and block.has_writer]
        if writers:
            entry = replace(entry, written_to=entry.written_to.union(writers))
            reason = f"{_which(entry, writers[0])} is marked as open for writing"
            return _judged(entry, reason=reason)
        if proof is Proof.LOG:
            return self._by_log(scan, entry, paths, evidence)
        evidence = replace(
            evidence,
            closed=entry.written_to >= set(entry.files),
            logged=evidence.logged and not any(blocks.values()),
        )
        return self._by_bytes(scan, entry, paths, evidence, changed=changed)

    def _evidence(self, scan: Scan, entry: Open) -> Evidence:
        """What is known apart from its files' bytes. A long quiet alone is no evidence."""
        unit, speech, facts = entry.unit, scan.cursor.speech, self._folder.facts
        logged = (
            line.time == unit.time and line.stream in (None, unit.stream)
            for line in speech.checkpoints
        )
        newest, tiles = self._newest[unit.stream], scan.listing.checkpoints
        later = newest.order > unit.order and tiles[newest].keys() >= tiles[unit].keys()
        return Evidence(
            conclusive=True,
            logged=any(logged),
            log_speaks=True,
            asynchronous=speech.asynchronous,
            later=later or scan.cursor.checkpoints.done.last > (unit.time or ""),
            io_groups=facts.io_groups,
            ended=scan.ended,
            ended_well=speech.ended_well or not facts.tells_end,
            quiet_s=entry.quiet_s,
        )

    def _by_log(
        self, scan: Scan, entry: Open, paths: Sequence[str], evidence: Evidence
    ) -> OpenPart:
        """The part by its log, which must call it written. Its bytes must not contradict, as those
        of a file on a full disk."""
        if (signal := ready.witness_in_log(evidence)) is None:
            return _judged(entry, reason="the model's log does not call it written")
        if all(map(is_classic, paths)):
            whole = self._structure(scan, entry, paths, "", thorough=False)
            if whole.reason:
                return _judged(entry, reason=whole.reason, unread=whole.unread)
        return _judged(entry, signal, _missing_tiles(scan, entry, evidence))

    def _by_bytes(
        self, scan: Scan, entry: Open, paths: Sequence[str], evidence: Evidence, *, changed: bool
    ) -> OpenPart:
        """The part by its bytes and a witness, as the rule of frames has it."""
        if ready.witness(evidence) is None:  # reading it would be useless
            return _judged(entry, reason=_NO_SIGN)
        variable, thorough = self._model.time_variable, scan.ended or not changed
        whole = self._structure(scan, entry, paths, variable, thorough=thorough)
        if whole.undecoded:  # its time is in its name
            whole = self._structure(scan, entry, paths, "", thorough=thorough)
        if whole.reason:
            return _judged(entry, reason=whole.reason, unread=whole.unread)
        evidence = for_record(evidence, whole, 0, several=False, may_be_open=bool(entry.written_to))
        if (signal := ready.witness(evidence)) is None:
            return _judged(entry, reason=_NO_SIGN)
        covers = whole.cells[1] > 1
        return _judged(entry, signal, "" if covers else _missing_tiles(scan, entry, evidence))

    def _structure(
        self, scan: Scan, entry: Open, paths: Sequence[str], variable: str, *, thorough: bool
    ) -> Structure:
        ranks = sorted(scan.listing.checkpoints[entry.unit])
        return structure_of(
            entry, paths, variable, self._prober, ranks=ranks, thorough=thorough, settled=False
        )

    # All parts of one.

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


def _which(entry: Open, file: str) -> str:
    return f"the tile {file}" if entry.unit.tiled else "it"


def _judged(entry: Open, signal: str = "", reason: str = "", *, unread: bool = False) -> OpenPart:
    """The part with the witness for its files, or with the reason why these are not proven."""
    return OpenPart(replace(entry, reason=reason, unread=unread), "" if reason else signal)


def _is_still(entry: Open) -> bool:
    """Whether the files have been unchanged, or failing, for long."""
    still_s = entry.failing_s if entry.error else entry.quiet_s
    return still_s >= max(SUPERSEDED_QUIET_S, ready.patience_s(entry))


def _unanswered(parts: Iterable[OpenPart]) -> list[str]:
    """Which of its files cannot be read, a sentence each: the end of the watch waits for them."""
    entries = (part.files for part in parts if part.files.error)
    return [f"{entry.unit.name} does not answer: {os.strerror(entry.error)}" for entry in entries]


def _expected_tiles(scan: Scan, unit: Unit) -> int:
    """The number of its tiles by an earlier checkpoint, or by frames; 0 where neither shows it."""
    if not unit.tiled:
        return 0
    of_frames = max((len(tiles) for _, tiles in scan.listing.newest.values()), default=1)
    known = scan.cursor.checkpoints.tiles.get(unit.stream, 0)
    return known or (of_frames if of_frames > 1 else 0)  # one file per frame is not a tile


def _missing_tiles(scan: Scan, entry: Open, evidence: Evidence) -> str:
    """Why its tiles are not known to be complete, "" if they are."""
    unit = entry.unit
    if not unit.tiled:
        return ""
    ranks = sorted(scan.listing.checkpoints[unit])
    expected = _expected_tiles(scan, unit)
    if len(ranks) < max(expected, ranks[-1] + 1):
        return absent(ranks)
    if evidence.later or (evidence.ended and (evidence.ended_well or expected)):
        return ""
    if not expected:
        return "the number of its tiles is not known"
    return "" if evidence.quiet_s >= ready.QUIET_S else _NO_SIGN
