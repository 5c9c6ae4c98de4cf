"""Dispatch: what a run wants done goes to workers, and to the disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from burstlens.workflows.hints.stripes import folder_stripes
from burstlens.workflows.making import tasks, watching
from burstlens.workflows.making.order import OrderResult
from burstlens.workflows.ordering.events import ProductsPublished, ResultsRead, WorkReturned
from burstlens.workflows.ordering.instructions import (
    URGENT,
    BringHome,
    Make,
    Publish,
    Release,
    StageIn,
    Watch,
)
from burstlens.workflows.ordering.shown_points import ShownPoints
from burstlens.workflows.placement import buffer as buffers
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.flushing import Flushing
from burstlens.workflows.publishing.publish import Publisher
from burstlens.workflows.recipe.wanted import wanted
from burstlens.workflows.viewing.graph import Graph
from burstlens.workflows.viewing.result_files import ResultFiles

PROBE_BYTES = 4096


class Dispatch:
    """Sends batches and reads their results, publishes, has files moved, watched and deleted.

    It goes on where an earlier driver has stopped: what that had published is settled, and
    ``shown`` has which points of further dimensions its pictures show. No worker of an earlier
    driver may live. Raises OSError when ``products/`` cannot be read or written.
    """

    def __init__(self, context: RunContext, graph: Graph) -> None:
        self._run, self._recipe, self._graph = context.run, context.recipe, graph
        self.publisher = Publisher.of(context)
        self._flushing = Flushing(context)
        self._files = ResultFiles(context.run.incoming)
        self.publisher.settle()
        self.publisher.clean_incoming()
        self.shown = ShownPoints()
        if context.history.standing:
            self.shown.read(context.run.index)

    def stage_in(self, node: StageIn) -> None:
        """Have the inputs brought to the buffer."""
        recipe, simulation = self._recipe, self._recipe.simulation
        stripes = folder_stripes(simulation.stripes, recipe.ranks)
        self._graph.view(
            node, buffers.stage_in, node.buffer, str(recipe.inputs), recipe.model,
            simulation.leave, stripes,
        )  # fmt: skip

    def watch(self, node: Watch) -> None:
        """Have the output of an attempt looked at."""
        what = node.buffer, self._recipe.model, self._run.id, node.attempt, node.cursor
        how = node.longest_s, node.poll_s, node.patterns
        view = partial(self._graph.view, node, priority=URGENT)
        if node.attachment is not None:
            view(watching.watch_folder, *what, node.attachment, *how)
        else:
            job = str(self._run.job(f"attempt-{node.attempt}"))
            view(watching.watch_buffer, *what, job, *how)

    def bring_home(self, node: BringHome) -> None:
        """Have logs brought home, and what the recipe keeps."""
        self._graph.view(
            node, buffers.bring_all_home, node.buffer, node.attempts, self._recipe.model,
            wanted(self._recipe, set(node.streams)), str(self._run.output), str(self._run.logs),
            node.stale, node.earlier,
        )  # fmt: skip

    def make(self, node: Make) -> None:
        """Send a batch to the viewing block."""
        file = self._files.open(node.batch)
        what = tasks.work, node.buffer, node.batch.orders, file
        self._graph.view(node, *what, priority=node.priority)

    def made(
        self, node: Make, results: Mapping[int, OrderResult] | None, error: BaseException | None
    ) -> WorkReturned:
        """What is left of a batch that has ended."""
        return WorkReturned(node.batch, {**self._files.close(node.batch), **(results or {})}, error)

    def wait_s(self, longest: float) -> float:
        """How long the loop may wait before it looks for results."""
        return self._files.wait_s(longest)

    def results(self) -> Iterator[ResultsRead]:
        """What has come of batches that are under way."""
        return self._files.look()

    def release(self, node: Release) -> None:
        """Have raw frames deleted."""
        paths = [path for frame in node.frames for path in frame.paths]
        what = node.buffer, paths, node.keep, str(self._run.output)
        self._graph.view(node, buffers.release, *what)

    def publish(self, node: Publish, now: float) -> ProductsPublished:
        """Publish, and write what is written beside."""
        try:
            if node.probe:
                self._probe()
            if node.receipts:
                self.publisher.publish(node.receipts)
            if node.sweeps:
                self.publisher.clean_incoming()
            self.publisher.flush()
            self._flushing.look(self.publisher, now)
        except OSError as error:
            return ProductsPublished(error=error)
        return ProductsPublished()

    def _probe(self) -> None:
        """Write a little, where nothing else may be left to write. Raises OSError."""
        part = self._run.path / ".room.part"
        try:
            part.write_bytes(bytes(PROBE_BYTES))
        finally:
            part.unlink(missing_ok=True)

    def close(self) -> None:
        """Write what is outstanding."""
        self.publisher.close()
