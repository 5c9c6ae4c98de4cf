"""Releases: raw frames that are not needed any more are deleted from the buffer."""

from __future__ import annotations

from burstlens.core.run import events as ev
from burstlens.workflows.ordering.events import FramesReleased
from burstlens.workflows.ordering.instructions import Release
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.ordering.space import Space
from burstlens.workflows.placement.buffer import BufferRef, Released
from burstlens.workflows.publishing.context import RunContext

RELEASE_PAUSE_S = 30.0
LOOK_PAUSE_S = 2e-4
"""Pause after a look for such frames, for each frame on the buffer: a look goes through all of them
in some 10 us each, and is to take at most 5 % of a core."""
_QUICK = 100
"""A look at so many frames is not followed by a pause."""


class Releases:
    """Journals what goes, and has the viewing block delete it.

    ``open_files`` are those that the watcher has not finished with; ``behind``: the latest look was
    put off.
    """

    def __init__(
        self, context: RunContext, outbox: Outbox, buffer: BufferRef, space: Space
    ) -> None:
        self._recipe, self._snapshot = context.recipe, context.snapshot
        self._outbox, self._buffer, self._space = outbox, buffer, space
        self._again = self._rest = 0.0
        self.behind = False
        self.under_way = 0
        self.open_files: set[str] = set()

    def begin(self, *, held: bool) -> None:
        """Have raw frames deleted that are not needed any more, journalled first."""
        now = self._outbox.now
        if now < self._again:
            return
        self.behind = now < self._rest
        if self.behind:
            return
        keep = self._recipe.stage_out.keep
        if self._recipe.buffer.on_pressure == "spill":
            keep = ("*",)
        frames = len(self._space.files)
        self._rest = now + LOOK_PAUSE_S * frames if frames > _QUICK else 0.0
        for group in self._space.releasable(self.open_files, held=held):
            for frame in group:
                if self._space.is_superseded(frame):
                    continue  # the record that has its time may stay
                self._outbox.append(
                    ev.FrameReleased(stream=frame.stream, time=frame.time, attempt=frame.attempt)
                )
            # A stale file must not take the place at home of the one that counts; one of several
            # frames counts where any of them does.
            counting = {
                path for one in group if not self._space.is_stale(one) for path in one.paths
            }
            counts = [one for one in group if not counting.isdisjoint(one.paths)]
            stale = [one for one in group if counting.isdisjoint(one.paths)]
            for part, kept in ((counts, tuple(keep)), (stale, ())):
                if part:
                    self.under_way += 1
                    shared = self._space.shared(frame.paths for frame in part) if kept else {}
                    self._outbox.do(Release(self._buffer, tuple(part), kept, shared))

    def stuck(self, *, held: bool) -> str:
        """Why no raw frame can go before the model ends; empty where one can, or is about to."""
        return "" if self.under_way else self._space.stuck(self.open_files, held=held)

    def returned(self, event: FramesReleased) -> None:
        """Take the end of a release; what could not go is tried again after a while."""
        self.under_way -= 1
        if event.error is not None:
            self._snapshot.alarm(f"raw frames stay on the buffer: {event.error}")
            self._space.put_back(event.frames)
            self._again = self._outbox.now + RELEASE_PAUSE_S
            return
        did: Released = event.did
        self._outbox.append(
            ev.ReleaseDone(files=did.files, home=did.home, bytes=did.bytes, links=list(did.links))
        )
        if did.links:
            stay = [frame for frame in event.frames if set(frame.paths) & set(did.links)]
            self._space.raw_bytes += sum(frame.bytes for frame in stay)
            text = f"{len(stay)} raw frames are links ({did.links[0]}): they free no room and stay"
            self._outbox.append(ev.Alarm(text=text))
