"""Where run directories lie: the folder of the user's choice, and the user's state folder."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from burstlens.core.durable import write_whole
from burstlens.core.errors import RunError

VARIABLE = "BURSTLENS_RUNS"
_MOST = 100
"""Folders of runs that are kept in mind."""


def runs_folder() -> Path:
    """Where runs are kept: ``$BURSTLENS_RUNS``, else ``./runs``."""
    return Path(os.path.expanduser(os.environ.get(VARIABLE) or "runs")).resolve()


def state_folder() -> Path:
    """Where runs are kept that look at a folder, if ``./runs`` does not suit: the user's state
    folder."""
    from platformdirs import user_state_path

    return user_state_path("burstlens") / "runs"


def runs_folders() -> tuple[Path, ...]:
    """The folders in which runs are looked for; a run in the first one hides its namesake."""
    return tuple(dict.fromkeys((runs_folder(), state_folder())))


def all_folders() -> tuple[Path, ...]:
    """The same, and where the user has made runs before, so that they are found wherever a command
    is called; not where ``$BURSTLENS_RUNS`` says where runs are."""
    if os.environ.get(VARIABLE):
        return runs_folders()
    return tuple(dict.fromkeys((*runs_folders(), *map(Path, reversed(_known())))))


def remember_folder(folder: Path) -> None:
    """Keep in mind that runs lie in that folder, where the user's state folder can be written."""
    text, known = str(folder), _known()
    if text in known or Path(text) == state_folder() or "\n" in text or not folder.is_absolute():
        return
    lines = "".join(f"{one}\n" for one in (*known[1 - _MOST :], text))
    with contextlib.suppress(OSError):
        _known_file().parent.mkdir(parents=True, exist_ok=True)
        write_whole(_known_file(), os.fsencode(lines), sync=False)


def _known_file() -> Path:
    return state_folder().with_name("run-folders")


def _known() -> list[str]:
    """The folders that are kept in mind, the newest last."""
    try:
        return os.fsdecode(_known_file().read_bytes()).split("\n")[:-1][-_MOST:]
    except OSError:
        return []


def runs_places() -> str:
    """The folders of ``runs_folders()`` as text, without a state folder that does not exist."""
    first, *others = runs_folders()
    return " and ".join(map(str, [first, *(it for it in others if os.path.isdir(it))]))


def folder_for(path: Path) -> Path:
    """Where the run directory of a look at ``path`` is to lie, outside of that folder.

    ``$BURSTLENS_RUNS``, else ``./runs``, which is made, else the user's state folder: where
    ``./runs`` would lie below ``path``, or cannot be made or written. Raises RunError when the
    place that was named, or the state folder, lies below ``path``.
    """
    real = Path(os.path.realpath(path))
    chosen = os.environ.get(VARIABLE)
    if not chosen:
        here = None
        with contextlib.suppress(OSError):  # the current folder is gone
            here = Path(os.path.realpath("runs"))
        if here is not None and not here.is_relative_to(real) and _takes_runs(here):
            return here
    place = runs_folder() if chosen else state_folder()
    if Path(os.path.realpath(place)).is_relative_to(real):
        raise RunError(
            f"the run directory would lie in {place}, which is below {path}: nothing is written "
            f"there; {VARIABLE} names another place"
        )
    return place


def _takes_runs(folder: Path) -> bool:
    """Whether a run directory can be made in that folder. It is tried, as permissions alone do not
    say so: a mount may be read-only, a quota spent, root squashed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.rmdir(tempfile.mkdtemp(prefix=".", dir=folder))
    except OSError:
        return False
    return True
