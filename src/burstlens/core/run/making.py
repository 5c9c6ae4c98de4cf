"""A run directory is made aside and renamed: its name belongs to a whole run or to none."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir, taken, unmade
from burstlens.core.run.places import remember_folder

ASIDE = ".making-"
"""How the names of the folders begin in which run directories are made, beside the runs."""
OLD_S = 86_400.0
"""What was killed so long ago, by the file server's clock, is deleted."""


@contextlib.contextmanager
def made_aside(run: RunDir) -> Iterator[RunDir]:
    """The run directory at another place, to be filled; with the end of the block it has its name.
    Whatever ends the block otherwise, an interrupt included, removes it. Raises RunError where the
    name is taken, or the directory cannot be made."""
    if os.path.lexists(run.path):
        raise taken(run)
    parent = run.path.parent
    aside = parent / f"{ASIDE}{secrets.token_hex(4)}"
    try:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            aside.mkdir()
        except OSError as error:
            raise unmade(run, error) from error
        _tidy(aside)
        made = RunDir(aside / run.id)
        try:
            made.create()
        except RunError as error:
            raise RunError(str(error).replace(str(made.path), str(run.path))) from error
        yield made
        _rename(made, run)
        remember_folder(parent)
    finally:
        # Also where a file server made it and reported an error.
        shutil.rmtree(aside, ignore_errors=True)


def _rename(made: RunDir, run: RunDir) -> None:
    known = made.path.stat()
    try:
        os.rename(made.path, run.path)
    except OSError as error:
        with contextlib.suppress(OSError):
            if os.path.samestat(run.path.stat(), known):  # done, and reported as failed
                return
        if os.path.lexists(run.path):
            raise taken(run) from None
        raise RunError(f"cannot make the run directory {run.path}: {error.strerror}") from error


def _tidy(aside: Path) -> None:
    """Delete what this user's killed commands have left beside it long ago."""
    with contextlib.suppress(OSError):
        now = aside.stat()
        for other in aside.parent.glob(f"{ASIDE}*"):
            found = other.lstat()
            if found.st_uid == now.st_uid and now.st_mtime - found.st_mtime > OLD_S:
                shutil.rmtree(other, ignore_errors=True)
