"""What counts as evidence that a frame is whole: the policy of a watch, and that of launched runs.

In a run's own folder whatever is new since the model began counts. Runs that others started have
another policy: :mod:`.attached`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from burstlens.core.model import Damage, Frame
from burstlens.workflows.frames.cursor import Cursor, Open, Unit
from burstlens.workflows.frames.listing import Listing, WatchedFolder
from burstlens.workflows.frames.model_log import Follower, Heard
from burstlens.workflows.frames.ready import Evidence, loss_of
from burstlens.workflows.frames.report import FolderReport, UndecodedFile, WholeCheckpoint
from burstlens.workflows.frames.speech import Recorded
from burstlens.workflows.frames.structure import Structure
from burstlens.workflows.models.base import Facts


@dataclass(slots=True)
class Scan:
    """What one scan has found so far, and the cursor as it is by now. ``elapsed_s`` after the
    previous scan, ``now`` in Unix seconds; ``ended``: the model has, and all of its logs is read.
    ``lost``: how the folder does not answer; ``more``: units are left for the next scan."""

    cursor: Cursor
    listing: Listing
    elapsed_s: float
    now: float
    ended: bool
    lost: str = ""
    more: bool = False
    frames: list[Frame] = field(default_factory=list)
    damaged: list[Damage] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    undecoded: list[UndecodedFile] = field(default_factory=list)
    checkpoints: list[WholeCheckpoint] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    """Checkpoints that are not whole and are given up, a sentence each."""

    def finish(self, unit: Unit) -> None:
        self.listing.units.pop(unit, None)
        self.cursor = self.cursor.finishing(unit)

    def evidence(self, entry: Open, facts: Facts, *, later: bool) -> Evidence:
        """All evidence for a unit apart from its files' bytes, whatever its age."""
        speech, stream = self.cursor.speech, entry.unit.stream
        flag = self.listing.flag_of(entry.files)
        lines = tuple(line for line in speech.written if line.stream in (None, stream))
        return Evidence(
            conclusive=True,
            lines=lines,
            old_lines=lines,
            recorded=speech.recorded.get(stream, Recorded()),
            log_speaks=speech.speaks,
            asynchronous=speech.asynchronous,
            later=later,
            io_groups=facts.io_groups,
            flagged=flag is True,
            expects_flag=flag is not None,
            ended=self.ended,
            ended_well=speech.ended_well or not facts.tells_end,
            quiet_s=entry.quiet_s,
        )


class EvidencePolicy:
    """What counts as evidence in one kind of watch, and which units are looked at: here that of a
    launched run. ``baseline`` maps the names that were there before the model began to size and
    mtime (ns): these count once they change."""

    follows_rewrites = False
    """Whether files may be written anew: then each frame has the fingerprint of its file."""
    follows_checkpoints = True
    """Whether checkpoints are looked for."""
    options: object
    """Two watches of one folder with equal options are the same."""

    def __init__(
        self, folder: WatchedFolder, baseline: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        known = {name: (stat[0], stat[1]) for name, stat in (baseline or {}).items()}
        self.listing, self.options = Listing(folder, known), known
        self._facts = folder.facts

    def hear(self, scan: Scan, follower: Follower) -> Heard:
        """What is new in the logs. Raises OSError."""
        return follower.hear(self.listing.logs, scan.cursor.speech, scan.now, last=scan.ended)

    def visits(self, scan: Scan) -> Iterable[Unit]:
        """The units to look at in this scan, in order."""
        return sorted(self.listing.units, key=lambda unit: (unit.stream, unit.order))

    def observe(self, before: Open, entry: Open) -> Open:
        """The unit as it is now, with its files' new state; as one that was never read if its files
        were written anew."""
        return entry

    def evidence(self, scan: Scan, entry: Open) -> Evidence:
        """The evidence for a unit apart from its files' bytes, as far as it counts."""
        later = self.listing.has_later(entry.unit, scan.cursor)
        return scan.evidence(entry, self._facts, later=later)

    def choose(self, scan: Scan, entry: Open, whole: Structure) -> Container[int]:
        """The records that are passed over: they do not become frames."""
        return ()

    def finished(self, scan: Scan, entry: Open, evidence: Evidence) -> str | None:
        """What is lost with a unit that is finished, "" for nothing; None while it is not."""
        return loss_of(entry, evidence, ended=scan.ended)

    def report(self, scan: Scan) -> FolderReport | None:
        """What only this kind of watch reports; called last."""
        if scan.lost:
            scan.complaints.append(f"the model's {scan.lost}")
        return None
