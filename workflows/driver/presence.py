"""Whether the run directory still is this run's: there, away for a while, deleted, or another's.

A directory that was renamed, or whose file system is away, comes back: it is waited for. One that
was deleted does not, and under its name a new run may stand, into which nothing may be written.
"""

from __future__ import annotations

import os
from pathlib import Path

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.core.durable import read_json
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history import History
from burstlens.workflows.driver.claim import model_left

AWAY_S = 600.0
"""How long to wait for a directory that is away while its parent is there: a person who moved it
by mistake, or brings it back from a copy, takes minutes. Where the parent is away too, its file
system is, which may take hours."""


class Presence:
    """Checks for a driver that its run directory is still this run's; ``lost`` once it is not."""

    def __init__(self, run: RunDir, history: History, site_scheduler: str = LOCAL) -> None:
        self.lost = False
        self._scheduler = site_scheduler
        self._run = run
        self._history = history
        self._token = facts_of(run).buffer_folder
        self._parent = _place(run.path.parent)
        self._known = _place(run.facts)
        self._gone_since: float | None = None
        # A deleted file has no names left; a renamed one keeps its link count.
        self._held = os.open(run.journal, os.O_RDONLY | os.O_CLOEXEC)
        self._folder = os.open(run.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def look(self, now: float) -> None:
        """Raise RunError when the directory was deleted, has been away too long, or is another
        run's; nothing may then be written by its name."""
        if self._was_deleted():
            raise self._lost("was deleted")
        found = _place(self._run.facts)
        if found is not None:
            self._gone_since = None
            if found != self._known:
                self._recognise(found)
        elif self._parent is not None and _place(self._run.path.parent) == self._parent:
            self._gone_since = now if self._gone_since is None else self._gone_since
            if now - self._gone_since > AWAY_S:
                raise self._lost(f"has been away for {AWAY_S / 60:.0f} minutes")
        else:
            self._gone_since = None

    def close(self) -> None:
        """Close the journal and the folder that are held open."""
        os.close(self._held)
        os.close(self._folder)

    def _was_deleted(self) -> bool:
        try:
            return os.fstat(self._held).st_nlink == 0 and not self._has_facts()
        except OSError:  # a server that came back: whether the directory did is seen by its name
            return False

    def _has_facts(self) -> bool:
        """Whether the folder that is held has its facts still: then only that file was deleted,
        such as an older volume of the journal."""
        try:
            os.stat(self._run.facts.name, dir_fd=self._folder)
        except OSError:
            return False
        return True

    def _recognise(self, found: tuple[int, int]) -> None:
        """Handle another file than before: a copy of this run's, or another run's."""
        facts = read_json(self._run.facts)
        if facts is None:
            return
        if facts.get("buffer_folder") != self._token:
            raise self._lost("is another run's now")
        self._known = found

    def _lost(self, what: str) -> RunError:
        self.lost = True
        left = model_left(self._history, self._scheduler)
        return RunError(f"the run directory {self._run.path} {what}; this driver ends{left}")


def _place(path: Path) -> tuple[int, int] | None:
    """Device and inode; None when it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
