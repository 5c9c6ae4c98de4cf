"""Releases: raw frames that are not needed any more are deleted from the buffer."""

from __future__ import annotations

import time

from burstlens.core.run import events as ev
from burstlens.workflows.ordering import events
from burstlens.workflows.ordering.graph import Graph
from burstlens.workflows.ordering.instructions import Release
from burstlens.workflows.ordering.space import Space
from burstlens.workflows.placement import buffer as buffers
from burstlens.workflows.placement.buffer import BufferRef, Released
from burstlens.workflows.publishing.context import RunContext

RELEASE_PAUSE_S = 30.0
_PART = 0.05
"""Looks for such frames take at most this part of a core: each goes through all on the buffer."""
_QUICK_S = 0.001
"""A look that takes less is not followed by a pause."""


class Releases:
    """Journals what goes, and lets the viewing block delete it. Driver's thread only.

    ``open_files`` are those that the watcher has not finished with; ``behind``: the latest look was
    put off.
    """

    def __init__(self, context: RunContext, graph: Graph, buffer: BufferRef, space: Space) -> None:
        self._recipe = context.recipe
        self._journal = context.journal
        self._snapshot = context.snapshot
        self._output = str(context.run.output)
        self._graph = graph
        self._buffer = buffer
        self._space = space
        self._again = self._rest = 0.0
        self.behind = False
        self.under_way = 0
        self.open_files: set[str] = set()

    def begin(self, *, held: bool) -> None:
        """Delete raw frames that are not needed any more, journalled first. Raises OSError."""
        now, cpu = time.monotonic(), time.thread_time()
        if now < self._again:
            return
        self.behind = now < self._rest
        if self.behind:
            return
        keep = self._recipe.stage_out.keep
        if self._recipe.buffer.on_pressure == "spill":
            keep = ("*",)
        for group in self._space.releasable(self.open_files, held=held):
            for frame in group:
                if self._space.is_superseded(frame):
                    continue  # the record that has its time may stay
                self._journal.append(
                    ev.FrameReleased(stream=frame.stream, time=frame.time, attempt=frame.attempt)
                )
            self._journal.sync()
            paths = [path for frame in group for path in frame.paths]
            self.under_way += 1
            what = self._buffer, paths, keep, self._output
            self._graph.view(Release(tuple(group)), buffers.release, *what)
        cpu_s = time.thread_time() - cpu
        self._rest = time.monotonic() + (cpu_s * (1 / _PART - 1) if cpu_s > _QUICK_S else 0.0)

    def stuck(self, *, held: bool) -> str:
        """Why no raw frame can go before the model ends; empty where one can, or is about to."""
        return "" if self.under_way else self._space.stuck(self.open_files, held=held)

    def returned(self, event: events.Released) -> None:
        """Take the end of a release; what could not go is tried again after a while."""
        self.under_way -= 1
        if event.error is not None:
            self._snapshot.alarm(f"raw frames stay on the buffer: {event.error}")
            self._space.put_back(event.frames)
            self._again = time.monotonic() + RELEASE_PAUSE_S
            return
        did: Released = event.did
        self._journal.append(
            ev.ReleaseDone(files=did.files, home=did.home, bytes=did.bytes, links=list(did.links))
        )
        if did.links:
            stay = [frame for frame in event.frames if set(frame.paths) & set(did.links)]
            self._space.raw_bytes += sum(frame.bytes for frame in stay)
            text = f"{len(stay)} raw frames are links ({did.links[0]}): they free no room and stay"
            self._journal.append(ev.Alarm(text=text))
            self._snapshot.alarm(text)
