"""The folder that a supervised program runs in: made before it starts, its logs brought home.

Standard library alone: the supervisor imports it, on any python3.
``python model_folder.py make|logs JOB_FOLDER ROOT`` does the same on each node of a job whose nodes
have a disk of their own; ``ROOT`` is the buffer's.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import re
import stat
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

if not __package__:  # started by its path: a package of the files here, without its __init__
    sys.modules["burstlens"] = package = ModuleType("burstlens")
    package.__path__ = [str(Path(__file__).parents[2])]

from burstlens.core.whole_copy import Checksum, copy_whole, rename

LAST_BYTES = 4096
"""So much of a log's end is searched for its last line."""


def make(base: Path, job: Mapping[str, Any]) -> Path:
    """The folder of that job below the buffer's root ``base``, with the small files that the job
    brings along, a link to each input, and the checkpoint that the model continues from. Raises
    OSError, and ValueError where that is gone."""
    folder: Path = base / job["folder"]
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in job.get("files", {}).items():
        part = folder / f"{name}.part"
        part.write_text(text, encoding="utf-8")
        rename(part, folder / name)  # never through a link
    # Before the inputs: a file of another run may be among them under the same name.
    copied = job.get("checkpoint_copied", False)
    for source, name, *size in job.get("checkpoint", ()):
        give_checkpoint(base / source, folder / name, *size, copied=copied)
    for path, name, *sums in job.get("home", ()):
        copy_checkpoint(Path(path), folder / name, Checksum(*sums))
    if job.get("inputs"):
        inputs = base / job["inputs"]
        link_inputs(inputs, folder, job.get("unlinked", ()), job.get("copied", ""))
        # Stage-in through DataWarp loses the executable bits.
        for name in job.get("executables", ()):
            path = inputs / name
            with contextlib.suppress(FileNotFoundError):  # it may have been left behind
                path.chmod(path.stat().st_mode | 0o111 & ~_umask())
    return folder


def link_inputs(inputs: Path, folder: Path, unlinked: Sequence[str] = (), copied: str = "") -> None:
    """Give ``folder`` a relative link to each input file; folders are made, not linked.

    What stands there already stays: a copy has its name only when it is whole. Names that match
    ``unlinked`` get none: a program before the model may have left logs of that name. Those that
    match ``copied`` (a regular expression) get a copy: the model may write them, and must not do so
    through a link. Raises OSError.
    """
    for path, names, files in os.walk(inputs, onerror=_raise):
        here = folder / os.path.relpath(path, inputs)
        for name in names:
            (here / name).mkdir(exist_ok=True)
        for name in files:
            link, source = here / name, os.path.join(path, name)
            relative = os.path.relpath(link, folder)
            if any(fnmatch.fnmatch(relative, pattern) for pattern in unlinked):
                continue
            if _stands(link):
                continue
            if re.fullmatch(copied, relative):
                copy_whole(source, link, keep_mode=True)
            else:
                _link(link, os.path.relpath(source, here))


def _stands(path: Path) -> bool:
    """Whether there is something of that name. Raises OSError where that is not known."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def _link(link: Path, target: str) -> None:
    try:
        link.symlink_to(target)
    except OSError:  # it may have been made all the same
        if not link.is_symlink() or os.readlink(link) != target:
            raise


def give_checkpoint(
    source: Path, target: Path, size: int | None = None, *, copied: bool = False
) -> None:
    """Give the model a file of a checkpoint that an earlier attempt has written, by a hard link
    where the file system has them: to release one of the two leaves the other. ``copied``: the
    model may write to it, and must not do so through a link. Raises ValueError where it is gone or
    has not that ``size`` any more, OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        if size not in (None, found := source.stat().st_size):
            raise ValueError(f"the checkpoint's file {source} has {found} bytes instead of {size}")
    if _stands(target):
        return
    try:
        if copied:
            copy_whole(source, target)
        else:
            _hard_link(source, target)
    except FileNotFoundError:
        raise ValueError(f"the checkpoint's file {source} is gone") from None


def _hard_link(source: Path, link: Path) -> None:
    try:
        os.link(source, link, follow_symlinks=False)
    except FileNotFoundError:
        raise
    except OSError:
        copy_whole(source, link)


def copy_checkpoint(source: Path, target: Path, sums: Checksum) -> None:
    """Give the model a file of a checkpoint from the run directory, a copy: what the model writes
    under this name must not change the one at home. Raises ValueError where that is gone or is not
    what was brought there, OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if _stands(target):
        return
    part = target.with_name(f".{target.name}.part")
    try:
        copied = copy_whole(source, part)
    except FileNotFoundError as error:
        if error.filename != os.fspath(source):
            raise
        raise ValueError(f"the checkpoint's file {source} is gone") from None
    if copied != sums:
        part.unlink()
        raise ValueError(f"the checkpoint's file {source} is damaged")
    rename(part, target)


def remove_link(path: Path) -> None:
    """Remove a link of that name; anything else stays. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISLNK(path.lstat().st_mode):
            path.unlink()


def home(job: Mapping[str, Any]) -> Path:
    """The folder of the run directory that the job's logs are brought to."""
    return Path(job["run_dir"], "logs", job["name"])


def last_line(log: Path) -> str:
    """The last line with text of a job's log, which mostly says why it failed; else empty. It goes
    with the job's end: the log itself comes home after it."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - LAST_BYTES))
        lines = file.read(LAST_BYTES).decode(errors="replace").splitlines()
        return next((line for line in reversed(lines) if line.strip()), "")
    return ""


def logs(base: Path, job: Mapping[str, Any]) -> Iterator[str]:
    """The logs of the job, by their names relative to its folder. Raises OSError for a folder that
    cannot be listed: ``glob`` would find nothing there."""
    for pattern in job.get("keep_logs", ()):
        yield from _matching(base / job["folder"], Path(pattern).parts)


def _matching(folder: Path, parts: Sequence[str]) -> list[str]:
    """The names, relative to ``folder``, that match a pattern, folder by folder."""
    first, *rest = parts
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    hidden = first.startswith(".")
    names = [
        name
        for name in sorted(names)
        if fnmatch.fnmatchcase(name, first) and (hidden or not name.startswith("."))
    ]
    if not rest:
        return names
    return [os.path.join(name, one) for name in names for one in _matching(folder / name, rest)]


def bring_home(base: Path, job: Mapping[str, Any], log: str) -> None:
    """Copy a log to the run directory, whole or not at all. Raises OSError."""
    home(job).mkdir(exist_ok=True)  # never logs/ itself: the run may be away
    target = home(job) / log
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_whole(base / job["folder"] / log, target, grows=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def main(what: str, job_folder: Path, base: Path) -> int:
    """The program. Returns 1, with one line on standard error, when it cannot do all of it."""
    try:
        job = json.loads((job_folder / "job.json").read_text(encoding="utf-8"))
        if what == "make":
            make(base, job)
            return 0
        for log in logs(base, job):
            # What all nodes have came from the first one.
            if not (home(job) / log).exists() and not (base / job["folder"] / log).is_symlink():
                bring_home(base, job, log)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def baseline(folder: Path, passing: Collection[int]) -> dict[str, list[int]]:
    """Size and mtime in nanoseconds of each file below ``folder``, by its relative name. Raises
    OSError where a folder cannot be read, or a file with an error of ``passing``: what is left out
    would count as new."""
    found = {}
    for path, _, files in os.walk(folder, onerror=_raise):
        for full in (os.path.join(path, name) for name in files):
            try:
                status = os.stat(full)
            except OSError as error:
                if error.errno in passing:
                    raise
                continue  # a dead link, or gone since it was listed
            found[os.path.relpath(full, folder)] = [status.st_size, status.st_mtime_ns]
    return found


def _raise(error: OSError) -> NoReturn:
    raise error


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        sys.exit()
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
