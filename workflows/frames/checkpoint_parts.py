"""What proves one part of a checkpoint: the files of one domain, or of the whole state.

The model's adapter says what proves a file (:class:`.Proof`): its name; its bytes and a witness, as
those of a frame; the log; or a flag, a file that comes after it.

A part in tiles needs all of them. WRF's tiles say which cells of the domain they hold. Otherwise
their number is that of an earlier checkpoint, or of the tiles of frames. If neither is known, a
later checkpoint or a good end must show that no tile is still to come.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from burstlens.core.ranks import absent
from burstlens.workflows.frames import ready
from burstlens.workflows.frames.cursor import FileStat, Open, OpenPart, Unit
from burstlens.workflows.frames.evidence import Scan
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.frames.listing import WatchedFolder
from burstlens.workflows.frames.ready import Evidence, for_record
from burstlens.workflows.frames.structure import Structure, structure_of
from burstlens.workflows.frames.writers import has_gap, is_classic, superblock_of
from burstlens.workflows.models.continuation import Proof

_NO_SIGN = "no sign of its end"
_GAP = "it has a gap: bytes that were never written, as a full disk leaves them"


@dataclass(frozen=True, slots=True)
class PartScan:
    """Looks at parts of checkpoints in one scan. ``newest`` is the newest unit of each part;
    ``ended_s``: for how long the model has ended, None before its end."""

    folder: WatchedFolder
    prober: Prober
    scan: Scan
    newest: Mapping[str, Unit]
    ended_s: float | None

    def look(self, unit: Unit, known: OpenPart | None) -> OpenPart:
        """The part after a look at its files."""
        scan, tiles = self.scan, self.scan.listing.checkpoints[unit]
        files = tuple(tiles[tile] for tile in sorted(tiles))
        before = known.files if known is not None else Open(unit, files)
        entry, paths = replace(before, files=files), self.folder.paths(files)
        try:
            stats = tuple(FileStat.of(os.stat(path)) for path in paths)
            changed = files != before.files or stats != before.stats
            entry = entry.aged(stats, scan.elapsed_s, changed=changed)
            if known is not None and known.signal and not changed:
                return replace(known, files=entry)
            return self._examine(entry.answering(), paths, changed=changed)
        except OSError as error:
            # Without stats it counts as changed at the next look, and is read again.
            return OpenPart(replace(entry.failing(error, scan.elapsed_s), stats=()))

    def _examine(self, entry: Open, paths: Sequence[str], *, changed: bool) -> OpenPart:
        """The part with its witness, or with the reason why it is not proven. Raises OSError."""
        evidence, proof = self._evidence(entry), self.folder.model.checkpoint_proof(entry.files[0])
        conditions = (
            *evidence.changing, evidence.logged, evidence.ended_well, self._tiles(entry.unit),
            ready.looks(self.ended_s or 0.0) if entry.unread else 0,
        )  # fmt: skip
        if not changed and conditions == entry.conditions:
            return OpenPart(entry)
        entry = replace(entry, conditions=conditions, unread=False)
        if proof is Proof.NAME:
            return _judged(entry, "name", self._missing_tiles(entry, evidence))
        if (empty := entry.empty_file) is not None:
            return _contradicted(entry, evidence, f"{_which(entry, empty)} has 0 bytes")
        blocks = dict(zip(entry.files, map(superblock_of, paths), strict=True))
        writers = [file for file, block in blocks.items() if block and block.has_writer]
        if writers:
            entry = replace(entry, written_to=entry.written_to.union(writers))
            reason = f"{_which(entry, writers[0])} is marked as open for writing"
            return _judged(entry, reason=reason)
        if proof is Proof.LOG:
            missing = "the model's log does not call it written"
            return self._by_word(entry, paths, evidence, ready.witness_in_log(evidence), missing)
        if proof is Proof.FLAG:
            return self._by_word(entry, paths, evidence, *_flag(evidence))
        evidence = replace(
            evidence,
            closed=entry.written_to >= set(entry.files),
            logged=evidence.logged and not any(blocks.values()),
        )
        return self._by_bytes(entry, paths, evidence, changed=changed)

    def _evidence(self, entry: Open) -> Evidence:
        """What is known apart from its files' bytes. A long quiet alone is no evidence."""
        scan, unit, facts = self.scan, entry.unit, self.folder.facts
        speech = scan.cursor.speech
        logged = (
            line.time == unit.time and line.stream in (None, unit.stream)
            for line in speech.checkpoints
        )
        newest, tiles = self.newest[unit.stream], scan.listing.checkpoints
        flagged = scan.listing.flag_of(entry.files)
        later = newest.order > unit.order and tiles[newest].keys() >= tiles[unit].keys()
        return Evidence(
            conclusive=True,
            logged=any(logged),
            log_speaks=True,
            asynchronous=speech.asynchronous,
            later=later or scan.cursor.checkpoints.whole > (unit.time or ""),
            io_groups=facts.io_groups,
            expects_flag=flagged is not None,
            flagged=bool(flagged),
            ended=scan.ended,
            ended_well=speech.ended_well or not facts.tells_end,
            quiet_s=entry.quiet_s,
        )

    def _by_word(
        self, entry: Open, paths: Sequence[str], evidence: Evidence, signal: str | None, lack: str
    ) -> OpenPart:
        """The part by its log or its flag, which must call it written, with the reason if they do
        not. Its bytes must not contradict."""
        if signal is None:
            return _judged(entry, reason=lack)
        if all(map(is_classic, paths)):
            whole = self._structure(entry, paths, "", thorough=False)
            if whole.reason:
                return _contradicted(entry, evidence, whole.reason, unread=whole.unread)
        elif not (evidence.later or evidence.ended or evidence.quiet_s >= ready.QUIET_S):
            return _judged(entry, reason=_NO_SIGN)  # an HDF5 file is closed after its line
        elif any(map(_is_short, paths)):
            return _contradicted(entry, evidence, f"{_which(entry, entry.files[0])} is cut short")
        return self._proven(entry, paths, signal, self._missing_tiles(entry, evidence))

    def _by_bytes(
        self, entry: Open, paths: Sequence[str], evidence: Evidence, *, changed: bool
    ) -> OpenPart:
        """The part by its bytes and a witness, as the rule of frames has it."""
        if ready.witness(evidence) is None:  # reading it would be useless
            return _judged(entry, reason=_NO_SIGN)
        variable, thorough = self.folder.model.time_variable, self.scan.ended or not changed
        whole = self._structure(entry, paths, variable, thorough=thorough)
        if whole.undecoded:  # its time is in its name
            whole = self._structure(entry, paths, "", thorough=thorough)
        if whole.reason:
            return _contradicted(entry, evidence, whole.reason, unread=whole.unread)
        evidence = for_record(evidence, whole, 0, several=False, may_be_open=bool(entry.written_to))
        if (signal := ready.witness(evidence)) is None:
            return _judged(entry, reason=_NO_SIGN)
        covers = whole.cells[1] > 1
        missing = "" if covers else self._missing_tiles(entry, evidence)
        return self._proven(entry, paths, signal, missing)

    def _structure(
        self, entry: Open, paths: Sequence[str], variable: str, *, thorough: bool
    ) -> Structure:
        ranks = sorted(self.scan.listing.checkpoints[entry.unit])
        return structure_of(
            entry, paths, variable, self.prober, ranks=ranks, thorough=thorough, settled=False
        )

    def _proven(self, entry: Open, paths: Sequence[str], signal: str, missing: str) -> OpenPart:
        """The part, of whose bytes none is missing, unless one of its files has a gap.

        A gap alone is not enough: file systems that compress show zeros as holes.
        """
        gap = any(has_gap(path, 0) for path in paths)
        if gap and (entry.doubted or entry.unit.stream in self.scan.cursor.checkpoints.gapless):
            return _judged(entry, reason=_GAP)
        return replace(_judged(entry, signal, missing), has_gap=gap)

    def _tiles(self, unit: Unit) -> int:
        """The number of its tiles by an earlier checkpoint, or by frames; 0 where neither shows
        it."""
        if not unit.tiled:
            return 0
        if counted := self.folder.model.checkpoint_tiles:
            return counted
        newest = self.scan.listing.newest.values()
        of_frames = max((len(tiles) for _, tiles in newest), default=1)
        known = self.scan.cursor.checkpoints.tiles.get(unit.stream, 0)
        return known or (of_frames if of_frames > 1 else 0)  # one file per frame is not a tile

    def _missing_tiles(self, entry: Open, evidence: Evidence) -> str:
        """Why its tiles are not known to be complete, "" if they are."""
        unit = entry.unit
        if not unit.tiled:
            return ""
        ranks = sorted(self.scan.listing.checkpoints[unit])
        expected = self._tiles(unit)
        # Where the recipe gives their number, the first may be 0 or 1.
        is_counted = bool(self.folder.model.checkpoint_tiles)
        if len(ranks) < (expected if is_counted else max(expected, ranks[-1] + 1)):
            return f"{len(ranks)} of {expected} tiles are there" if is_counted else absent(ranks)
        if evidence.later or (evidence.ended and (evidence.ended_well or expected)):
            return ""
        if not expected:
            return "the number of its tiles is not known"
        return "" if evidence.quiet_s >= ready.QUIET_S else _NO_SIGN


def _flag(evidence: Evidence) -> tuple[str | None, str]:
    """The witness for files whose flag is there; without it the reason. The flag may come shortly
    before the last write."""
    if not evidence.flagged:
        return None, "its flag is missing"
    if evidence.quiet_s >= ready.QUIET_S or evidence.ended:
        return "flag", ""
    return None, "it was written a moment ago"


def _is_short(path: str) -> bool:
    """Whether an HDF5 file has fewer bytes than its superblock says. Raises OSError."""
    block = superblock_of(path)
    return block is not None and os.stat(path).st_size < block.end


def _judged(entry: Open, signal: str = "", reason: str = "") -> OpenPart:
    """The part with the witness for its files, or with the reason why these are not proven."""
    return OpenPart(replace(entry, reason=reason), "" if reason else signal)


def _contradicted(
    entry: Open, evidence: Evidence, reason: str, *, unread: bool = False
) -> OpenPart:
    """The part whose bytes are not whole. If the log calls it written it stays doubted."""
    is_doubted = evidence.logged and not (evidence.asynchronous or unread)
    doubted = frozenset({0}) if is_doubted else entry.doubted
    return _judged(replace(entry, unread=unread, doubted=doubted), reason=reason)


def _which(entry: Open, file: str) -> str:
    return f"the tile {file}" if entry.unit.tiled else "it"
