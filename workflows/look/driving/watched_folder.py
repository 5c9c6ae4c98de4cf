"""The folder of a look: whether it is there and the same, how workers see it, what is swept."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.core.model import Fingerprint
from burstlens.core.run import events as ev
from burstlens.workflows.frames.report import FolderReport
from burstlens.workflows.look.options import declared_files, in_turn
from burstlens.workflows.ordering.instructions import Ask, AskPlace

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

FOLDER = "look"
"""The folder of the run's links and of its unfinished products, below ``watched/``."""
SWEPT = 200
"""Finished files that one call looks at again."""


class WatchedFolder:
    """What is known of it; ``begin`` starts a new attempt of the model for a reason."""

    def __init__(self, state: RunState, path: str, begin: Callable[[str], object]) -> None:
        self._state, self._path, self._begin = state, path, begin
        self._swept = 0
        self._identity: tuple[int, int] | None = None
        known = state.history.attached
        if known is not None and known.inode is not None:
            self._identity = known.device or 0, known.inode
        self.read_declared()

    def read_declared(self) -> None:
        """Take the files that are declared by now."""
        self._declared = declared_files(self._state.history)

    def to_sweep(self, comparing: Collection[str]) -> dict[str, Fingerprint]:
        """The next finished files to look at again, in turn, but for those."""
        chosen, self._swept = in_turn(self._declared, self._swept, SWEPT)
        return {file: found for file, found in chosen.items() if file not in comparing}

    def link(self, attempt: int) -> None:
        """Have the link made through which workers see the folder as that of the attempt."""
        link = self._state.run.path / "watched" / FOLDER / str(attempt)
        self._state.do(Ask("link", make_link, (link, self._path), AskPlace.LOOP))

    def take(self, folder: FolderReport) -> None:
        """Take what the watcher says of it."""
        if folder.lost:
            self.lose(folder.lost)
            return
        if folder.identity is None:
            return
        known, self._identity = self._identity, folder.identity
        same = known is None or known[1] == folder.identity[1]  # a later mount is another device
        if self._state.history.path_lost is not None:
            what = "is back" if same else "is another one now"
            self._state.outbox.append(ev.PathBack(evidence=f"the folder {what}", same=same))
        if not same:
            self._begin("the folder is another one")
        if folder.restarted:
            self._begin(folder.restarted)

    def lose(self, evidence: str) -> None:
        """Journal that it is away, once."""
        if self._state.history.path_lost is None:
            self._state.outbox.append(ev.PathLost(evidence=evidence))


def make_link(link: Path, folder: str) -> None:
    """Make a link to the folder, unless it is there. Raises OSError."""
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(folder)
