"""The viewing blocks of a run as its driver sees them: opened, running, ended, replaced."""

from __future__ import annotations

from burstlens.core.errors import RunError, SiteError
from burstlens.core.existence import surely_exists
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.workflows.ordering.graph import Graph
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.snapshot import SupervisedJobs

FIRST_S = 5.0
"""How long a block of this machine is held back for the early worker's first picture."""
BLOCKS = 5
"""Viewing blocks in a row that may end without a result."""


class Viewing:
    """Journals the life of each block; the products' kinds are imported ahead of the first.

    ``gone``: no block can run any more.
    """

    gone = False

    def __init__(self, context: RunContext, graph: Graph) -> None:
        self._run = context.run
        self._graph = graph
        self._journal = context.journal
        self._snapshot = context.snapshot
        self._kinds = sorted({product.kind.name for product in context.recipe.products})
        self._ended = 0
        self._runs = False

    def open(self) -> None:
        """Ask for the first block."""
        self._journal.append(ev.ViewingQueued(label=self._graph.open_block()))
        self._graph.warm(self._kinds)

    def launch_late(self) -> None:
        """Launch the block that is held back for the early worker's first picture. Raises
        SiteError; OSError where the run directory cannot be written, unless it is full."""
        if not self._graph.is_early or not surely_exists(
            self._run.parsl
        ):  # it may be away for a while
            return
        try:
            self._graph.launch_late()
        except SiteError as error:
            raise SiteError(f"{error}; then: burstlens resume {self._run.id}") from error
        except OSError as error:  # a full disk: it is tried again
            if not self._snapshot.full_disk.take(error):
                raise

    def gave(self) -> None:
        """Note that a node of the graph has given a result: the block works."""
        self._ended = 0

    def mend(self) -> None:
        """Replace a block that has ended. Raises RunError when too many did, one after another."""
        try:
            mended = self._graph.mend_block()
        except OSError as error:  # as above
            if not self._snapshot.full_disk.take(error):
                raise
            return
        if mended is not None:
            self._ended += 1
            self._journal.append(ev.ViewingEnded(reason=mended))
            self._snapshot.alarm(f"viewing block: {mended}")
            if self._graph.is_early:  # what was asked of the block before may have died with it
                self._graph.warm(self._kinds)
        if self._ended > BLOCKS:
            raise RunError(
                f"the viewing block ended {self._ended} times without a result (the last time: "
                f"{mended}); its output is below {self._run.parsl}. When that is fixed: "
                f"burstlens resume {self._run.id}"
            )

    def end(self) -> Outcome | None:
        """How a run without a page ends whose blocks are ``gone``; None while that is not known."""
        return None

    def look(self, jobs: SupervisedJobs) -> None:
        """Bring the snapshot up to date, and journal that a block has begun to run."""
        state = self._graph.block_state()
        if state == "running" and not self._runs:
            self._journal.append(ev.ViewingStarted(label=self._graph.label))
        self._runs = state == "running"
        # Until the block answers, products come from the early worker: nothing waits.
        early = state == "queued" and self._graph.is_early
        self._snapshot.look(jobs, "running" if early else state, self._graph.block_waits)
