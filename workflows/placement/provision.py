"""Space for a run: asked for, found again, given back, from where no buffer can be seen."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from burstlens.cluster_configs.site import Site
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.buffer import BufferRef, candidate_root, with_room
from burstlens.workflows.placement.buffer_origin import BufferOrigin
from burstlens.workflows.placement.job_buffer import HostedLauncher, JobBuffer
from burstlens.workflows.placement.persistent_buffer import Persistent
from burstlens.workflows.recipe.recipe import Recipe


class Provision(Protocol):
    """One kind of space."""

    def provide(self, known: BufferRef | None) -> tuple[BufferRef, bool]:
        """The space, and whether it is the ``known`` one of this run. Raises SiteError;
        GivenUpError when the run was asked to stop while it was waited for: what was asked for is
        cancelled."""

    def origin(self, buffer: BufferRef) -> BufferOrigin | None:
        """What was observed of how a named buffer came to be, and whose it is for that; None where
        nothing was: others are always the run's own."""
        return None

    def left(self, known: BufferRef | None) -> BufferRef | None:
        """What this run has of it now, as the machine says; None for nothing. Raises SiteError."""

    def give_back(
        self, buffer: BufferRef, others: Sequence[str] = (), *, discard: bool = False
    ) -> None:
        """Give it back whole, if this run made it, and no files of others are on it, of which
        ``others`` were seen. With ``discard`` these go with it. Raises SiteError, with what to do;
        GivenUpError for a request to stop that comes meanwhile."""

    def lines(self, buffer: BufferRef) -> tuple[str, ...]:
        """The lines of a batch script that mount it."""
        return ()

    @property
    def name(self) -> str:
        """The name of the persistent buffer that is asked for; empty for other kinds."""

    @property
    def lasts(self) -> bool:
        """Whether it can stay for a person to look at when a run has failed."""


@dataclass(frozen=True, slots=True)
class Folder(Provision):
    """A folder of the run's own on a directory that every job sees."""

    site: Site
    folder: str
    capacity: int
    lasts: bool = True
    name: str = ""

    def provide(self, known: BufferRef | None) -> tuple[BufferRef, bool]:
        """The existing folder, else one on the first candidate with room."""
        if known is not None and (known.root() / known.folder).is_dir():
            return known, True
        root = with_room(self.site.buffer.folders, self.capacity, self.folder)
        return BufferRef("posix", str(root), self.folder), False

    def left(self, known: BufferRef | None) -> BufferRef | None:
        """The folder of the run, on whichever candidate it lies."""
        roots = [known.path] if known else []
        roots += [str(root) for root in map(candidate_root, self.site.buffer.folders) if root]
        found = (root for root in roots if os.path.isdir(os.path.join(root, self.folder)))
        root = next(found, None)
        return BufferRef("posix", root, self.folder) if root else None

    def give_back(
        self, buffer: BufferRef, others: Sequence[str] = (), *, discard: bool = False
    ) -> None:
        """No-op: a process that sees the directory deletes the folder."""


def provision(
    site: Site,
    run: RunDir,
    recipe: Recipe,
    launcher: BatchLauncher | HostedLauncher | None,
    leaving: Callable[[], bool],
) -> Provision:
    """How this run gets its space on that site."""
    folder = str(facts_of(run, "buffer_folder").buffer_folder)
    if isinstance(launcher, HostedLauncher):
        return JobBuffer(site, run, launcher, recipe, folder, leaving)
    if site.buffer.kind == "posix" or launcher is None:
        return Folder(site, folder, recipe.buffer.capacity)
    return Persistent(site, run, launcher, recipe.buffer, folder, leaving)
