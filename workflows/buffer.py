"""The buffer of a run, handled from where it can be seen: prepared, filled, emptied, freed.

These functions run on the viewing block. On the buffer a run owns the folder of its id, with
``inputs``, one folder an attempt, and ``out`` for products on their way.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import shutil
import stat
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burstlens.errors import SiteError, StagingError
from burstlens.quantity import show_bytes
from burstlens.stagers.base import Stager, bring, bring_all, remove, stager
from burstlens.workflows.models.base import Configurable, Model


@dataclass(frozen=True, slots=True)
class BufferRef:
    """The buffer of a run. Each process resolves the root for itself: mount paths differ by job.

    ``path`` is that of a shared directory, or ``$NAME`` of the variable that tells a job where
    its buffer is mounted. ``name`` is a persistent buffer's, ``owned`` says that the run made it.
    ``by`` names the stager, where it is not the one that such a buffer usually has.
    """

    kind: str
    path: str
    folder: str
    name: str = ""
    owned: bool = True
    by: str = ""

    def root(self) -> Path:
        """The buffer's root as this process sees it. Raises StagingError where it is not seen."""
        if not self.path.startswith("$"):
            return Path(self.path)
        path = os.environ.get(self.path[1:])
        if not path:
            raise StagingError(f"{self.path[1:]} is not set: this job has not that buffer",
                               path=self.path)  # fmt: skip
        return Path(path)

    def stager(self) -> Stager:
        """The stager that brings files from this buffer."""
        return stager(self.by or ("datawarp" if self.kind == "datawarp" else "posix"))


def free_bytes(root: Path) -> int | None:
    """Room left for this user at ``root``; None when it cannot be told."""
    try:
        status = os.statvfs(root)
    except OSError:
        return None
    return status.f_bavail * status.f_frsize


def prepare(
    candidates: Sequence[str], folder: str, capacity_bytes: int, adopt: BufferRef | None
) -> tuple[BufferRef, bool]:
    """Make the run's folder on the first candidate with room, or find the one there was.

    Returns the buffer and whether it is the one to adopt. Raises SiteError when none has room.
    """
    if adopt is not None and (adopt.root() / adopt.folder).is_dir():
        return adopt, True
    refused = []
    for candidate in candidates:
        expanded = os.path.expandvars(os.path.expanduser(candidate))
        if "$" in expanded or not expanded:
            continue
        root = Path(expanded) / f"burstlens-{os.getuid()}"
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = root.lstat()
            # In a folder that all may write, somebody else may have made this one first.
            if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
                refused.append(f"{root} is not a folder of yours")
                continue
            if status.st_mode & 0o022:
                refused.append(f"{root} may be written by others")
                continue
            free = free_bytes(root)
            if free is None or free < capacity_bytes:
                refused.append(f"{root} has {show_bytes(free or 0)} free")
                continue
            (root / folder).mkdir(exist_ok=True)
        except OSError as error:
            refused.append(f"{root}: {error.strerror}")
            continue
        return BufferRef("posix", str(root), folder), False
    raise SiteError(
        f"no room in the buffer for {show_bytes(capacity_bytes)}: {'; '.join(refused)}. "
        "BURSTLENS_BUFFER names another folder, [buffer] capacity in the recipe says what is needed"
    )


def stage_in(
    buffer: BufferRef, inputs: str, model: Model, leave: Sequence[str]
) -> tuple[int, int, int]:
    """Bring the inputs to ``<run>/inputs``, links followed, output of earlier runs left behind.

    Returns the number of files, their bytes and the number of files left behind. Raises
    StagingError.
    """
    files, left = selected(Path(inputs), model, leave)
    size = fill(buffer.stager(), files, buffer.root() / buffer.folder / "inputs")
    return len(files), size, left


def selected(inputs: Path, model: Model, leave: Sequence[str]) -> tuple[list[tuple[str, str]], int]:
    """What is to be staged in, as (source, relative name), and how many files are left behind."""
    if isinstance(model, Configurable):
        model = model.configured(inputs)
    everything = input_files(inputs)
    files = [
        (str(source), relative)
        for source, relative in everything
        if not model.is_leftover(source.name)
        and not any(fnmatch.fnmatch(relative, pattern) for pattern in leave)
    ]
    return files, len(everything) - len(files)


def fill(stager: Stager, files: Sequence[tuple[str, str]], target: Path) -> int:
    """Bring (source, relative name) to ``target``; returns their bytes. Raises StagingError."""
    pairs = [(Path(source), target / relative) for source, relative in files]
    try:
        for folder in {target, *(place.parent for _, place in pairs)}:
            folder.mkdir(parents=True, exist_ok=True)
        return sum(arrival.bytes for arrival in bring_all(stager, pairs, inward=True))
    except OSError as error:
        raise StagingError(
            "cannot stage in", path=str(error.filename or target), number=error.errno or 0
        ) from error


def input_files(inputs: Path) -> list[tuple[Path, str]]:
    """Each file below ``inputs`` with its relative name, links followed, each folder once."""
    found: list[tuple[Path, str]] = []
    seen: set[str] = set()
    for path, names, files in os.walk(inputs, followlinks=True):
        real = os.path.realpath(path)
        if real in seen:  # a link that leads back up
            names.clear()
            continue
        seen.add(real)
        for name in sorted(files):
            full = Path(path, name)
            found.append((full, os.path.relpath(full, inputs)))
    return found


def bring_home(
    buffer: BufferRef, folder: str, patterns: Sequence[str], target: str
) -> list[tuple[str, int]]:
    """Bring the files of ``folder`` (relative to the run's) that match home, verified.

    Files that stand there already with the same content are not brought again. Returns names
    and bytes. Raises StagingError.
    """
    base = buffer.root() / buffer.folder / folder
    stager = buffer.stager()
    home = []
    for path, _, files in os.walk(base):
        for name in sorted(files):
            source = Path(path, name)
            relative = os.path.relpath(source, base)
            if not any(fnmatch.fnmatch(relative, pattern) for pattern in patterns):
                continue
            home.append((relative, _bring_one(stager, source, Path(target) / relative)))
    return home


def _bring_one(stager: Stager, source: Path, place: Path) -> int:
    part = place.with_name(f".{place.name}.{uuid.uuid4().hex}.part")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        arrival = bring(stager, source, part)
        os.replace(part, place)
    except OSError as error:
        remove(part)
        raise StagingError("cannot bring home", path=str(place), number=error.errno or 0) from error
    return arrival.bytes


def in_model_folder(path: str) -> str:
    """The part of a frame's path (``<run>/<attempt>/<name>``) that the model itself knows."""
    return path.split("/", 2)[2]


def bring_all_home(
    buffer: BufferRef,
    folder: str,
    keep: Sequence[str],
    output: str,
    logs: Sequence[str],
    log_folder: str,
) -> list[tuple[str, int]]:
    """What the recipe keeps, to ``output``, and the logs, to ``log_folder``. See bring_home."""
    bring_home(buffer, folder, logs, log_folder)
    return bring_home(buffer, folder, keep, output) if keep else []


def release(
    buffer: BufferRef, paths: Sequence[str], keep: Sequence[str], output: str
) -> tuple[int, int]:
    """Delete raw frames, each only when what ``keep`` names of it is home and verified.

    Returns how many were deleted and brought home. Raises StagingError.
    """
    count = home = 0
    for path in dict.fromkeys(paths):
        source = buffer.root() / path
        relative = in_model_folder(path)
        try:
            if any(fnmatch.fnmatch(relative, pattern) for pattern in keep) and source.exists():
                _bring_one(buffer.stager(), source, Path(output) / relative)
                home += 1
            source.unlink()
            count += 1
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StagingError(
                "cannot release", path=str(source), number=error.errno or 0
            ) from error
    return count, home


def destroy(buffer: BufferRef) -> None:
    """Delete the run's folder on the buffer. Raises StagingError when something stays."""
    folder = buffer.root() / buffer.folder
    if not buffer.folder or "/" in buffer.folder or buffer.folder.startswith("."):
        raise StagingError("not a run's folder, left alone", path=str(folder))
    try:
        while folder.exists():
            # A file that somebody else deletes meanwhile ends rmtree half way.
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(folder)
    except OSError as error:
        raise StagingError(
            "cannot free the buffer", path=str(error.filename), number=error.errno or 0
        ) from error
