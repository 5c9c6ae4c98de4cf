"""The buffer of a run, handled where it is mounted: prepared, filled, emptied, freed.

These functions run on the viewing block. On the buffer a run owns the folder of its id, with
``inputs``, one folder per attempt, and ``out`` for products on their way.
"""

from __future__ import annotations

import contextlib
import fnmatch
import logging
import os
import shutil
import stat
import sys
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.core.durable import make_folders
from burstlens.core.errors import SiteError, StagingError
from burstlens.core.existence import again, check_existence
from burstlens.core.model import in_model_folder
from burstlens.core.quantity import show_bytes
from burstlens.core.whole_copy import rename
from burstlens.stagers.base import Stager, bring, bring_all, remove
from burstlens.stagers.registry import stager
from burstlens.workflows.hints.stripes import FolderStripes
from burstlens.workflows.hints.striping import set_stripes
from burstlens.workflows.models.base import SIMULATION_LOG, Model
from burstlens.workflows.models.inputs import selected
from burstlens.workflows.placement.attempt_places import Shared, make_way, place_of, set_aside
from burstlens.workflows.recipe.wanted import Wanted, remarks

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BufferRef:
    """The buffer of a run. Each process resolves the root for itself: mount paths differ by job.

    ``path`` is that of a shared directory, or ``$NAME`` for the variable that holds the buffer's
    mount path in a job. ``name`` is a persistent buffer's, ``owned`` says that the run made it.
    ``by`` names the stager, if it is not the usual one of such a buffer; ``created`` is when the
    scheduler says a persistent one was made, which tells it from a later one of its name.
    """

    kind: str
    path: str
    folder: str
    name: str = ""
    owned: bool = True
    by: str = ""
    created: str = ""

    def root(self) -> Path:
        """The buffer's root as this process sees it. Raises StagingError where it is not set."""
        if not self.path.startswith("$"):
            return Path(self.path)
        path = os.environ.get(self.path[1:])
        if not path:
            raise StagingError(f"{self.path[1:]} is not set: this job does not have that buffer",
                               path=self.path)  # fmt: skip
        return Path(path)

    def stager(self) -> Stager:
        """The stager that brings files from this buffer."""
        return stager(self.by or ("datawarp" if self.kind == "datawarp" else "posix"))


def free_bytes(root: Path) -> int | None:
    """Room left for this user at ``root``; None when it is not known."""
    try:
        status = os.statvfs(root)
    except OSError:
        return None
    return status.f_bavail * status.f_frsize


def candidate_root(candidate: str) -> Path | None:
    """This user's folder on a candidate directory; None where a variable of it is not set."""
    expanded = os.path.expandvars(os.path.expanduser(candidate))
    if "$" in expanded or not expanded:
        return None
    return Path(expanded) / f"burstlens-{os.getuid()}"


def with_room(candidates: Sequence[str], capacity_bytes: int, folder: str | None = None) -> Path:
    """This user's folder on the first candidate with room; with ``folder``, that is made in it.
    Nothing is made without ``folder``. Raises SiteError when no candidate can be used."""
    refused, full = [], False
    for root in filter(None, map(candidate_root, candidates)):
        refusal = refused_by(root, capacity_bytes, folder)
        if refusal is None:
            return root
        refused.append(refusal.reason)
        full = full or refusal.full
    names = "BURSTLENS_BUFFER names another folder, as does buffer.folders of a site file"
    if full:
        raise SiteError(
            f"no room in the buffer for {show_bytes(capacity_bytes)}: {'; '.join(refused)}. "
            f"{names}, [buffer] capacity in the recipe says what is needed"
        )
    unset = f"none of {', '.join(candidates)} is set"
    raise SiteError(f"there is no folder for the buffer: {'; '.join(refused) or unset}. {names}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a folder cannot be the buffer; ``full``: it could with more room."""

    reason: str
    full: bool = False


def refused_by(root: Path, capacity_bytes: int, folder: str | None = None) -> Refusal | None:
    """Why a user's folder cannot hold so much; None where it can, and then ``folder`` is made."""
    try:
        if folder is not None:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = _unfit(root)
        free = free_bytes(_existing(root))
        if reason is None and free is not None and free < capacity_bytes:
            return Refusal(f"{root} has {show_bytes(free)} free", full=True)
        if reason is None and folder is not None:
            (root / folder).mkdir(exist_ok=True)
    except OSError as error:
        return Refusal(f"{error.filename or root}: {error.strerror}")
    return None if reason is None else Refusal(reason)


def _unfit(root: Path) -> str | None:
    """Why a user's folder cannot be one, or cannot be made; None where it can."""
    if not os.path.lexists(root):
        above = _existing(root)
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            return f"{root} cannot be made"
        return None
    status = root.lstat()
    # In a folder that every user can write to, another user may have made this one first.
    if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
        return f"{root} is not a folder of yours"
    return f"{root} may be written by others" if status.st_mode & 0o022 else None


def _existing(root: Path) -> Path:
    """The path itself, or its nearest parent that exists."""
    return next(path for path in (root, *root.parents) if path.exists())


def stage_in(
    buffer: BufferRef,
    inputs: str,
    model: Model,
    leave: Sequence[str],
    stripes: Sequence[FolderStripes] = (),
) -> tuple[int, int, int]:
    """Bring the inputs to ``<run>/inputs``, links followed, output of earlier runs left behind.
    Folders of files that ``stripes`` mean get theirs first. Returns the number of files, their
    bytes and the number of files left behind. Raises StagingError."""
    try:
        chosen = selected(Path(inputs), model, leave)
    except OSError as error:
        raise StagingError.of(error, "cannot stage in", error.filename or inputs) from error
    target = buffer.root() / buffer.folder / "inputs"
    names = [name for _, name in chosen.files]
    stripe(target, [one.job() for one in stripes if one.any_of(names)])
    size = fill(buffer.stager(), chosen.files, chosen.folders, target)
    return len(chosen.files), size, chosen.left


def stripe(folder: Path, stripes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Set the stripes of folders below that one; returns and logs why some were not set."""
    failed = []
    for worked, text in set_stripes(folder, stripes):
        _log.log(logging.INFO if worked else logging.WARNING, "%s", text)
        failed += [] if worked else [text]
    return failed


def fill(
    stager: Stager, files: Sequence[tuple[str, str]], folders: Sequence[str], target: Path
) -> int:
    """Make the ``folders`` in ``target`` and bring (source, relative name) there; returns their
    bytes. Raises StagingError."""
    pairs = [(Path(source), target / relative) for source, relative in files]
    try:
        made = (target / folder for folder in folders)
        for folder in {target, *made, *(place.parent for _, place in pairs)}:
            folder.mkdir(parents=True, exist_ok=True)
        return sum(arrival.bytes for arrival in bring_all(stager, pairs, inward=True))
    except OSError as error:
        raise StagingError.of(error, "cannot stage in", error.filename or target) from error


def bring_home(
    buffer: BufferRef, folder: str, patterns: Sequence[str], target: str
) -> list[tuple[str, int]]:
    """Bring the matching files of ``folder`` (relative to the run's) home, and verify them. Files
    that are there already with the same content are not brought again. Returns names and bytes.
    Raises StagingError."""
    names = _matching(buffer.root() / buffer.folder / folder, patterns)
    return _bring_named(buffer, folder, {name: name for name in names}, Path(target))


def _bring_named(
    buffer: BufferRef, folder: str, places: Mapping[str, str], home: Path
) -> list[tuple[str, int]]:
    base, stager = buffer.root() / buffer.folder / folder, buffer.stager()
    return [
        (place, _bring_one(stager, base / name, home / place, home.parent))
        for name, place in places.items()
    ]


def _matching(base: Path, patterns: Sequence[str]) -> list[str]:
    """The names of the matching files below ``base``, which may be missing. Raises StagingError for
    a folder that cannot be listed: its files would be lost with the buffer."""

    def lost(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    def names() -> list[str]:
        return [
            os.path.relpath(os.path.join(path, name), base)
            for path, _, files in os.walk(base, onerror=lost)
            for name in sorted(files)
        ]

    try:
        found = again(names)
    except OSError as error:
        raise StagingError.of(error, "cannot bring home", error.filename or base) from error
    return [name for name in found if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def _bring_one(stager: Stager, source: Path, place: Path, below: Path) -> int:
    part = place.with_name(f".{place.name}.{uuid.uuid4().hex}.part")
    try:
        make_folders(place.parent, below)
        arrival = bring(stager, source, part)
        rename(part, place)
    except OSError as error:
        remove(part)
        raise StagingError.of(error, "cannot bring home", place) from error
    return arrival.bytes


@dataclass(frozen=True, slots=True)
class Home:
    """What came home: names and bytes of the kept files, and what was wanted and never came.
    ``others`` are folders and files on a buffer of the run's that are not the run's."""

    files: list[tuple[str, int]]
    missing: list[str]
    others: tuple[str, ...] = ()


def bring_all_home(
    buffer: BufferRef, attempts: Sequence[int], model: Model, what: Wanted, output: str, logs: str,
    stale: Mapping[int, Collection[str]] | None = None,
    given_up: Mapping[int, Collection[str]] | None = None, shared: Shared | None = None,
) -> Home:  # fmt: skip
    """What the recipe keeps of these attempts, to ``output``, and their logs, below ``logs``; of
    each without its ``stale`` files. Those that are ``given_up`` and home since an earlier end move
    to ``attempt-1/NAME`` there.

    Of a file that several attempts have left the newest counts; where it holds frames, that of an
    earlier attempt comes as well, as ``attempt-1/NAME``: ``shared`` are names of which some may be
    home already. See bring_home.
    """
    shared = shared or {}
    base = buffer.root() / buffer.folder
    files: list[tuple[str, int]] = []
    known: set[str] = set()
    for attempt in sorted(attempts, reverse=True):
        folder, place = str(attempt), f"attempt-{attempt}"
        bring_home(buffer, folder, (*model.keep_patterns, SIMULATION_LOG), f"{logs}/{place}")
        left, here = (stale or {}).get(attempt, ()), model.configured(base / folder)
        names = [name for name in _matching(base / folder, what.keep) if name not in left]
        places = {}
        for name in names:
            if name not in known and place_of(name, attempt, shared) == name:
                make_way(Path(output), base, name, attempt, shared)
                places[name] = name
            elif here.identify(name) is not None:
                places[name] = f"{place}/{name}"
        files += _bring_named(buffer, folder, places, Path(output))
        known.update(names)
    set_aside(Path(output), given_up or {})
    missing = remarks(what, base / str(max(attempts)), model, Path(output))
    return Home(sorted(files), missing, _others(buffer))


def _others(buffer: BufferRef) -> tuple[str, ...]:
    """What lies on a persistent buffer beside the run's folder, without the file system's own."""
    if not (buffer.name and buffer.owned):
        return ()
    try:
        names = sorted(os.listdir(buffer.root()))
    except OSError:
        return ()
    own = (buffer.folder, "lost+found")
    return tuple(name for name in names if name not in own and not name.startswith("."))


@dataclass(frozen=True, slots=True)
class Released:
    """What a release did: files deleted, those of them brought home before, the bytes that this
    freed, and the paths that stay since they are links, which hold no room."""

    files: int
    home: int
    bytes: int
    links: tuple[str, ...] = ()


def release(
    buffer: BufferRef, paths: Sequence[str], keep: Sequence[str], output: str,
    shared: Shared | None = None,
) -> Released:  # fmt: skip
    """Delete raw frames, each only when what ``keep`` names of it is home and verified; ``shared``
    as in bring_all_home. Raises StagingError."""
    base, target = buffer.root() / buffer.folder, Path(output)
    count = home = freed = 0
    links = []
    for path in dict.fromkeys(paths):
        source = buffer.root() / path
        relative = in_model_folder(path)
        try:
            status = source.lstat()
            if stat.S_ISLNK(status.st_mode):
                links.append(path)
                continue
            if any(fnmatch.fnmatch(relative, pattern) for pattern in keep):
                place = relative
                if shared and relative in shared:
                    attempt = int(path.split("/")[1])
                    make_way(target, base, relative, attempt, shared)
                    place = place_of(relative, attempt, shared)
                _bring_one(buffer.stager(), source, target / place, target.parent)
                home += 1
            source.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StagingError.of(error, "cannot release", source) from error
        count += 1
        freed += status.st_size if status.st_nlink == 1 else 0
    return Released(count, home, freed, tuple(links))


def remove_checkpoint(buffer: BufferRef, folders: Sequence[str], names: Sequence[str]) -> None:
    """Delete the files of a checkpoint from these folders of the run. Raises StagingError."""
    base = buffer.root() / buffer.folder
    for path in [base / folder / name for folder in folders for name in names]:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StagingError.of(error, "cannot delete", path) from error


def destroy(buffer: BufferRef) -> None:
    """Delete the run's folder on the buffer. Raises StagingError when something stays."""
    folder = buffer.root() / buffer.folder
    if not buffer.folder or "/" in buffer.folder or buffer.folder.startswith("."):
        raise StagingError("not a run's folder, left alone", path=str(folder))

    def delete() -> None:
        while check_existence(folder):
            # A file that another process deletes meanwhile ends rmtree half way.
            with contextlib.suppress(FileNotFoundError):
                _delete_tree(folder)

    try:
        again(delete)
    except OSError as error:
        raise StagingError.of(error, "cannot free the buffer", error.filename) from error


def _delete_tree(folder: Path) -> None:
    """Delete a folder with all that it holds. Raises OSError with the whole path of what stays:
    ``rmtree`` itself names it within its folder."""
    if sys.version_info >= (3, 12):
        shutil.rmtree(folder, onexc=_raise_with_path)
    else:
        shutil.rmtree(folder, onerror=lambda _, path, info: _raise_with_path(_, path, info[1]))


def _raise_with_path(_: object, path: str, error: BaseException) -> None:
    if isinstance(error, OSError):
        error.filename = path
    raise error
