"""When a unit is finished, and what is lost with it: also of files that give an error."""

from __future__ import annotations

import errno

from msgspec.structs import replace

from burstlens.workflows.frames import ready
from burstlens.workflows.frames.cursor import Open
from burstlens.workflows.frames.ready import Evidence

_LASTING = frozenset(
    {
        errno.ELOOP,
        errno.EACCES,
        errno.EPERM,
        errno.EISDIR,
        errno.ENXIO,
        errno.EINVAL,
        errno.ENAMETOOLONG,
        errno.ENOTDIR,
    }
)
"""Errors of the file itself: a loop of links, a target that may not be read, a folder."""
AWAY_S = 600.0
"""How long after the model's end any other error may last: it is a file server's."""


def failing(entry: Open, error: OSError, elapsed_s: float) -> Open:
    """The entry after a look that failed, ``elapsed_s`` after the one before."""
    if entry.whole and entry.declared:
        return entry
    return replace(
        entry,
        whole=False,
        error=error.errno or errno.EIO,
        failing_s=entry.failing_s + elapsed_s if entry.error else 0.0,
        reason=f"it cannot be read: {error.strerror or error}",
    )


def answering(entry: Open) -> Open:
    """The entry after a look that did not fail."""
    return replace(entry, error=0, failing_s=0.0) if entry.error else entry


def loss_of(entry: Open, evidence: Evidence, *, ended: bool) -> str | None:
    """What is lost with a unit that is finished, "" for nothing; None while it is not. After the
    end, what is not whole is lost."""
    if entry.whole and entry.declared:
        settled = evidence.io_groups <= 1 or entry.quiet_s >= ready.WEAK_QUIET_S
        return "" if ended or (evidence.later and settled) else None
    if entry.undecoded and evidence.later:
        return ""
    if not ended or not is_given_up(entry):
        return None
    if entry.error:
        return entry.reason
    return "" if entry.undecoded else f"the model has ended and {entry.reason}"


def is_given_up(entry: Open) -> bool:
    """Whether, after the model's end, its error or its state has lasted too long."""
    if not entry.error:
        return entry.quiet_s >= (ready.UNREAD_QUIET_S if entry.unread else ready.LOST_QUIET_S)
    return entry.failing_s >= (ready.LOST_QUIET_S if entry.error in _LASTING else AWAY_S)
