"""Who else uses a persistent buffer: runs that other drivers have put on it, folders of others.

Jobs that mount it are in the scheduler's queue. Files are seen only in a job that mounts it; the
runs of this user say in their directories whether theirs are there still.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir, runs_in
from burstlens.core.run.facts import facts_of
from burstlens.core.run.places import runs_folders
from burstlens.core.run.snapshot import read_snapshot
from burstlens.core.run.status_file import BufferPart


def users_of(run: RunDir, name: str, created: str, folders: Sequence[str]) -> list[str]:
    """Runs but this one, and ``folders`` that were seen on it of no known run, whose files may be
    on that buffer."""
    runs, known = [], set()
    for other, folder, buffer in _others(run):
        known.add(folder)
        if _is_on(buffer, name, created) and not buffer.released:
            runs.append(f"run {other.id}")
    return [*sorted(runs), *(f"folder {folder}" for folder in folders if folder not in known)]


def _is_on(buffer: BufferPart, name: str, created: str) -> bool:
    """Whether it may be that very buffer: older versions did not note when it was made."""
    return buffer.name == name and (not created or buffer.created in {None, created})


def _others(run: RunDir) -> Iterator[tuple[RunDir, str, BufferPart]]:
    """The other runs, their folders and their parts of a buffer."""
    for other in runs_in([run.path.parent, *runs_folders()]):
        if other.path.resolve() == run.path.resolve():
            continue
        try:
            buffer, folder = read_snapshot(other).buffer, facts_of(other).buffer_folder
        except (RunError, OSError):
            continue
        yield other, folder or "", buffer or BufferPart("", True, 0.0, 0, 0)
