"""Checkpoints in the run directory: brought home, found there again, deleted.

``checkpoints/<attempt>/<time>/`` has the files of one under their names in the model's folder, and
a list of them with sizes and CRCs. It is filled under another name and renamed: a folder that has
its name is whole.
"""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burstlens.core.durable import make_folders, read_json, sync_folder, write_json
from burstlens.core.errors import StagingError
from burstlens.core.run.directory import RunDir
from burstlens.core.whole_copy import rename
from burstlens.stagers.base import bring_all
from burstlens.workflows.placement.buffer import BufferRef

LIST = ".files.json"
IN_FLIGHT = 2
"""Files that are brought at once: products of frames have the rest of the way."""


@dataclass(frozen=True, slots=True)
class CheckpointCopy:
    """A checkpoint in the run directory: of each file its name, bytes and CRC-32. ``ahead``: the
    job's host has brought it, without a driver."""

    attempt: int
    time: str
    files: list[tuple[str, int, int]]
    seconds: float | None = None
    ahead: bool = False

    @property
    def bytes(self) -> int:
        """Those of all files."""
        return sum(size for _, size, _ in self.files)


def bring_checkpoint(
    buffer: BufferRef,
    run: RunDir,
    attempt: int,
    valid: str,
    names: Sequence[str],
    *,
    ahead: bool = False,
) -> CheckpointCopy:
    """Bring the files of a checkpoint into the run directory, and verify them. What an earlier call
    has left unfinished is deleted. Raises StagingError; then no part of it is left there."""
    begin, target = time.monotonic(), run.checkpoint(attempt, valid)
    base = buffer.root() / buffer.folder / str(attempt)
    part = target.with_name(f".{valid}.{uuid.uuid4().hex}.part")
    try:
        for left in target.parent.glob(f".{valid}.*.part"):
            shutil.rmtree(left, ignore_errors=True)
        for folder in {part, *((part / name).parent for name in names)}:
            make_folders(folder, below=run.path)
        pairs = [(base / name, part / name) for name in names]
        arrivals = bring_all(buffer.stager(), pairs, in_flight=IN_FLIGHT)
        files = [(n, one.bytes, one.crc32) for n, one in zip(names, arrivals, strict=True)]
        copy = CheckpointCopy(attempt, valid, files, round(time.monotonic() - begin, 3), ahead)
        write_json(part / LIST, {"files": files, "ahead": ahead})
        _put_in_place(part, target)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise StagingError.of(error, "cannot bring home", error.filename or target) from error
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return copy


def _put_in_place(part: Path, target: Path) -> None:
    """Rename a folder that is whole, in the place of an older one of its name. Raises OSError."""
    sync_folder(part)
    old = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    if target.exists():
        rename(target, old)
    rename(part, target)
    sync_folder(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def copies_at_home(run: RunDir) -> Iterator[CheckpointCopy]:
    """The checkpoints in the run directory whose files are all there, by their sizes. Raises
    OSError."""
    for path in sorted(run.checkpoints.glob(f"*/*/{LIST}")):
        folder, listed = path.parent, read_json(path)
        if listed is None or folder.name.startswith(".") or not folder.parent.name.isdecimal():
            continue
        files = [(str(name), int(size), int(crc32)) for name, size, crc32 in listed["files"]]
        if all(_has_size(folder / name, size) for name, size, _ in files):
            attempt, ahead = int(folder.parent.name), bool(listed.get("ahead"))
            yield CheckpointCopy(attempt, folder.name, files, ahead=ahead)


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except FileNotFoundError:
        return False


def remove_copy(folder: Path) -> None:
    """Delete a checkpoint from the run directory. Raises StagingError."""
    gone = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.part")
    try:
        rename(folder, gone)  # a folder that has its name is whole
        shutil.rmtree(gone)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StagingError.of(error, "cannot delete", error.filename or folder) from error
