"""Whether a file that has changed after its last record was declared was closed by its writer."""

from __future__ import annotations

from collections.abc import Iterable

from burstlens.workflows.frames.cursor import Open
from burstlens.workflows.frames.structure import has_writer

CLOSES_NS = 60 * 10**9
"""A program closes a file within so long after its last record: later changes are compared."""


def is_closed(entry: Open, paths: Iterable[str]) -> bool:
    """Whether the mark that a program has the file open for writing was there at the declaration
    and is gone since: that is all that closing writes. Raises OSError."""
    declared_ns = max((stat.mtime_ns for stat in entry.declared_at), default=0)
    if not entry.open_at or entry.mtime_ns - declared_ns > CLOSES_NS:
        return False
    return not any(has_writer(path) for path in paths)
