"""When a frame is whole, and when it is lost: the only place with these rules.

A record is ready when its file's structure says so (:mod:`.frames.structure`) *and* so does a
witness other than these bytes. Which witnesses count depends on how the file is written:

==============  ==================================================================================
``log``         the model's log says that the frame is written. Not with asynchronous output
                (WRF's quilting), where the line comes before the data.
``later``       a later frame of the stream exists, made in this attempt. Not with more than one
                I/O group, where frames overtake each other. In one file of a fixed number of
                records, a later one counts if not all have their times yet, after ``QUIET_S``.
``closed``      the file itself: its HDF5 superblock said that a program had it open for
                writing, and no longer says so. A kill does not clear that mark.
``ended``       the model has ended. For files that several processes write, only if its log says
                that it ended well: such a file can have its full size although it is incomplete.
``quiet``       size and mtime unchanged for ``QUIET_S``: only where the structure is conclusive.
``flag``        the same, and the model's ready flag exists. The flag alone comes some
                milliseconds before the last write. A flag that the recipe expects counts for any
                structure, and without it no quiet does.
``weak``        unchanged for ``WEAK_QUIET_S`` in a file that several processes write, from a model
                whose log has never named a frame: there is no better evidence.
``unproven``    the same for a run that others started, after twice the stream's usual interval.
==============  ==================================================================================

A structure is conclusive for HDF5 (its end of file is written last) and for classic files of one
writer with a record dimension (the number of records is written last). An HDF5 file in which the
number of records is fixed is not, while a program has it open for writing: then neither quiet nor
the model's end count, nor in one that ends in a record that was not flushed (:mod:`.described`): of
the records before it the last one needs the log. ``docs/decisions`` has the measurements.

The files of checkpoints follow the same rules (:mod:`.checkpoint_parts`), with three exceptions.
The log does not decide for HDF5 files: its line comes before the file is closed. An HDF5 file that
a program has open for writing is never whole. A file whose bytes prove nothing needs the log.
"""

from __future__ import annotations

import errno

from msgspec import Struct
from msgspec.structs import replace

from burstlens.workflows.frames.cursor import Open
from burstlens.workflows.frames.speech import Recorded, Written
from burstlens.workflows.frames.structure import Structure
from burstlens.workflows.models.base import QUIET_S as QUIET_S

WEAK_QUIET_S = 30.0
LOST_QUIET_S = 2.0
"""How long a file must be unchanged after the model's end before it counts as damaged."""
UNREAD_QUIET_S = 70.0
"""The same for a file that could not be read: it is read again in the meantime."""
SETTLED_S = 2.0
"""An HDF5 file that is unchanged for so long in the middle of a record may have lost its writer:
the records before that one are looked for."""
LOOK_AGAIN_S = 0.25
"""mtime is coarse: an unchanged file is read again after this time, then at doubled intervals."""
_LASTING = {
    errno.ELOOP, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENXIO, errno.EINVAL,
    errno.ENAMETOOLONG, errno.ENOTDIR,
}  # fmt: skip
"""Errors of the file itself: a loop of links, a target that may not be read, a folder."""
AWAY_S = 600.0
"""How long after the model's end any other error may last: it is a file server's."""


class Evidence(Struct, frozen=True):
    """The evidence that one record is whole, apart from its structure. ``lines`` of the log and
    ``recorded`` may be about its file; ``old_lines`` are these and older ones, which count if a
    killed writer left the record. Quiet counts after ``steady_s`` where the writer may still have
    the file open; after ``patience_s`` it is the ``weakest`` witness."""

    conclusive: bool
    logged: bool = False
    log_speaks: bool = False
    asynchronous: bool = False
    later: bool = False
    io_groups: int = 1
    closed: bool = False
    flagged: bool = False
    expects_flag: bool = False
    held: bool = False
    ended: bool = False
    ended_well: bool = False
    quiet_s: float = 0.0
    steady_s: float = 0.0
    patience_s: float = WEAK_QUIET_S
    weakest: str | None = "weak"
    lines: tuple[Written, ...] = ()
    old_lines: tuple[Written, ...] = ()
    recorded: Recorded = Recorded()

    @property
    def changing(self) -> tuple[object, ...]:
        """What makes another look worthwhile when it is no longer the same."""
        return (
            self.later, self.ended, self.expects_flag, self.flagged, looks(self.quiet_s),
            self.quiet_s >= self.steady_s, self.quiet_s >= self.patience_s, self.weakest,
            self.lines[-1:],
        )  # fmt: skip


def for_record(
    evidence: Evidence, whole: Structure, index: int, *, several: bool, may_be_open: bool
) -> Evidence:
    """The evidence with what its file's structure adds for that record. ``several`` processes may
    write a classic file. ``may_be_open``: an HDF5 file was once seen to be open for writing."""
    quiet_s = evidence.quiet_s
    followed = whole.begun > index + 1
    if whole.is_fixed:
        # Times that are all there may be there from the beginning.
        followed &= bool(whole.reason) and quiet_s >= QUIET_S
    may_be_open |= whole.classic
    if may_be_open and not evidence.flagged and quiet_s < evidence.steady_s:
        quiet_s = 0.0
    return replace(
        evidence,
        conclusive=whole.conclusive and not (several and whole.classic),
        held=whole.held,
        later=evidence.later or followed,
        io_groups=1 if followed else evidence.io_groups,
        quiet_s=quiet_s,
    )


def witness(evidence: Evidence) -> str | None:
    """The name of the first witness that decides, or None while none does."""
    if evidence.logged and not evidence.asynchronous:
        return "log"
    if evidence.closed:
        return "closed"
    if evidence.later and evidence.io_groups <= 1:
        return "later"
    if evidence.ended and not evidence.held and (evidence.conclusive or evidence.ended_well):
        return "ended"
    if evidence.expects_flag:
        return "flag" if evidence.flagged and evidence.quiet_s >= QUIET_S else None
    if evidence.held:
        return None
    if evidence.conclusive and evidence.quiet_s >= QUIET_S:
        return "flag" if evidence.flagged else "quiet"
    if not evidence.log_speaks and evidence.quiet_s >= evidence.patience_s:
        return evidence.weakest
    return None


def witness_in_log(evidence: Evidence) -> str | None:
    """The witness for a file whose bytes prove nothing: ``log`` or None. Where the line comes
    before the data, a later file or a good end must show in addition that these were written."""
    after = (evidence.later and evidence.io_groups <= 1) or (evidence.ended and evidence.ended_well)
    return "log" if evidence.logged and (after or not evidence.asynchronous) else None


def looks(quiet_s: float) -> int:
    """How many times a file that has been unchanged for so long should have been read again."""
    count = 0
    while quiet_s >= LOOK_AGAIN_S * 2**count and count < 12:
        count += 1
    return count


def patience_s(entry: Open) -> float:
    """How long after the model's end a file may stay as it was seen last before it is lost."""
    if entry.error:
        return LOST_QUIET_S if entry.error in _LASTING else AWAY_S
    return UNREAD_QUIET_S if entry.unread else LOST_QUIET_S


def loss_of(entry: Open, evidence: Evidence, *, ended: bool) -> str | None:
    """What is lost with a unit that is finished, "" for nothing; None while it is not. After the
    end, what is not whole is lost, once its error or its state has lasted too long."""
    if entry.whole and entry.declared:
        settled = evidence.io_groups <= 1 or entry.quiet_s >= WEAK_QUIET_S
        return "" if ended or (evidence.later and settled) else None
    if entry.undecoded and evidence.later:
        return ""
    if not ended:
        return None
    if (entry.failing_s if entry.error else entry.quiet_s) < patience_s(entry):
        return None
    if entry.error:
        return entry.reason
    return "" if entry.undecoded else f"the model has ended and {entry.reason}"
