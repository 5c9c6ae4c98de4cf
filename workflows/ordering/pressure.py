"""What is done when the buffer is nearly full: release frames, or stop the model.

``on_pressure`` in the recipe says which. A release that can free nothing (a file that still
grows, a step that may read the frames) does not help: then the model is stopped as well, since
models ignore a full disk and lose frames in silence.
"""

from __future__ import annotations

from burstlens.core.quantity import show_bytes
from burstlens.workflows.ordering.instructions import Request
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.ordering.space import Space
from burstlens.workflows.publishing.snapshot import Snapshot
from burstlens.workflows.recipe.recipe import Recipe

SPACE = "space"
"""``by`` of a stop for want of space in ``control/``."""
REPORTS = 2
"""Watcher's reports in a row without relief before the model is stopped: the room in the first one
may have been measured before the latest release."""
MARGIN = 1.25
"""How much more than the forecast the model may still write."""


class Pressure:
    """Watches the room on the buffer."""

    def __init__(self, recipe: Recipe, snapshot: Snapshot, outbox: Outbox) -> None:
        self._outbox = outbox
        self._buffer = recipe.buffer
        self._snapshot = snapshot
        self._since: tuple[float, int] | None = None
        self._in_vain = 0
        self._said: set[str] = set()
        self._stopping = False

    def look(
        self,
        space: Space,
        stuck: str,
        *,
        free_bytes: int | None,
        fraction: float | None,
        stopping: bool = False,
    ) -> None:
        """Look once for each report of the watcher; asks for a stop, unless the model is
        ``stopping``.

        ``stuck`` says why no frame can go (empty where one can), ``free_bytes`` the disk's room,
        ``fraction`` the part of the simulation that is done.
        """
        self._stopping = stopping
        room = free_bytes
        if room is not None and fraction is not None and self._since is None:
            self._since = fraction, room
        space.urgent = space.pressed(room)
        if not space.urgent:
            # Frames that the recipe keeps are released only while they must be.
            space.releasing = self._buffer.raw == "release"
            self._in_vain = 0
            return
        if room is not None and space.short(room):
            nearly = f"the buffer is nearly full ({show_bytes(room)} free)"
        else:
            nearly = f"raw frames hold {space.fill():.0%} of the buffer's capacity"
        if self._buffer.on_pressure == "stop":
            self._stop(f"{nearly}, and the recipe stops the model then")
            return
        if not space.releasing:
            space.releasing = True
            self._in_vain = 0
            self._say(f"{nearly}: {stuck or 'published frames are released'}")
            return
        if stuck:
            self._say(f"{nearly}: {stuck}")
        elif not space.fits_no_frame(room):
            self._in_vain = 0
            return
        self._in_vain += 1
        if (
            self._in_vain >= REPORTS
            and space.short(room)
            and not self._fits(room, fraction, space.largest)
        ):
            why = stuck or "frames are released more slowly than the model writes them"
            self._stop(f"{nearly}: {why}")

    def _fits(self, room: int | None, fraction: float | None, largest: int) -> bool:
        """Whether what the model still writes fits, as it has filled the buffer so far."""
        if room is None or fraction is None or self._since is None:
            return False
        done, used = fraction - self._since[0], self._since[1] - room
        if done <= 0.0:
            return False
        # The log shows a time before its frame is written: that frame is still to come.
        return MARGIN * used * (1.0 - fraction) / done + largest < room

    def _say(self, text: str) -> None:
        # The room changes with each report; only a new reason is worth an alarm.
        reason = text.partition(": ")[2]
        if reason not in self._said:
            self._said.add(reason)
            self._snapshot.alarm(text)

    def _stop(self, why: str) -> None:
        if self._stopping:
            return
        text = f"stopped for want of space: {why}"
        self._snapshot.alarm(f"the model is {text}")
        self._outbox.do(Request("stop", {"by": SPACE, "text": text}))
