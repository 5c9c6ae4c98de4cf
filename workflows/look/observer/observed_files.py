"""What logs and frames show of a model that somebody else started: writing, quiet, its last words.

That nothing is written shows that a model is quiet, never that it has ended: only its log does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from burstlens.core.printable import printable
from burstlens.core.quantity import show_duration
from burstlens.workflows.look.observer.witness import clock

QUIET_S = 600.0
"""Nothing was written for so long, or for three intervals: the model is quiet."""
LINGERS_S = 60.0
"""What is written later than so long after the log's end is another start's: other ranks write
after rank 0 has called it the end. As long, a line about a failure may still be survived."""

UNDATED = "how long ago is not known: no clock of its file server can be read"


@dataclass(frozen=True, slots=True)
class Activity:
    """What the watcher reports of the folder.

    ``newest`` is the newest file among frames and logs, ``written`` its mtime in Unix seconds;
    ``quiet_s``: for how long nothing was written, as the watcher judges, since its arrival unless
    the newest file is ``dated``: no clock says how old that was then. ``ended_well``: the log has
    said that the model is done. ``reason`` is the log's line that shows a bad end, None without
    one: never trouble alone (weight ``TROUBLE`` of ``models.base``), which models survive, and
    never just the last line. ``last_line`` is the log's, ``""`` where there is no log.
    ``in_progress``: a frame is half written. ``intervals`` are the latest seconds between two
    frames.
    """

    newest: str | None
    written: float | None
    quiet_s: float
    dated: bool
    ended_well: bool
    reason: str | None
    last_line: str
    in_progress: bool
    intervals: tuple[float, ...]


class ObservedFiles:
    """The latest report of the watcher, and what follows from it. Times are monotonic seconds."""

    def __init__(self) -> None:
        self.seen: Activity | None = None
        self.reported = -math.inf
        """When the latest report came."""
        self._now = 0.0
        self._end_written: float | None = None
        """When the newest file was written as the log's end was first seen."""

    def take(self, now: float, activity: Activity | None) -> None:
        """Take a report; None and the one of before are no new one."""
        self._now = now
        if activity is None or activity is self.seen:
            return
        self.seen, self.reported = activity, now
        if not activity.ended_well:
            self._end_written = None
        elif self._end_written is None:
            self._end_written = activity.written or 0.0

    @property
    def quiet_s(self) -> float:
        """For how long nothing was written, by the latest report; 0 without one."""
        return 0.0 if self.seen is None else self.seen.quiet_s

    @property
    def _since_report(self) -> float:
        return self._now - self.reported

    @property
    def _read(self) -> str:
        """When the folder was last read, where that is long ago: what was written since then is not
        known."""
        ago = show_duration(self._since_report)
        return f"the folder was last read, {ago} ago" if self._since_report > LINGERS_S else ""

    @property
    def says_end(self) -> bool:
        """Whether the log has said that the model is done, and that still holds: files that are
        written well after it belong to another start, whose log is elsewhere."""
        if self._end_written is None or self.seen is None:
            return False
        # mtimes only: while this node is busy, the watcher counts less quiet than there is.
        later = (self.seen.written or 0.0) - self._end_written >= LINGERS_S
        return not later or self.quiet_s >= self.long_s

    @property
    def failure(self) -> str:
        """The line of the log that explains a bad end, or nothing."""
        seen = self.seen
        if seen is None or seen.ended_well or not seen.reason:
            return ""
        return printable(seen.reason.strip())

    @property
    def line(self) -> str:
        """The line of the log that matters, or nothing."""
        last = "" if self.seen is None else printable(self.seen.last_line.strip())
        return self.failure or last

    @property
    def is_dated(self) -> bool:
        """Whether it is known when the newest file was written, as time goes on its server."""
        return self.seen is None or self.seen.dated

    @property
    def usual_s(self) -> float:
        """A model that has written within so long runs; one that has not is quiet. Where the age of
        what was there on arrival is not known, nobody waits for another interval."""
        if not self.is_dated:
            return LINGERS_S
        return max(LINGERS_S, 2 * self._interval_s) if self._interval_s else QUIET_S

    @property
    def long_s(self) -> float:
        """A silence that nobody would call usual."""
        return max(QUIET_S, 3 * self._interval_s)

    @property
    def _interval_s(self) -> float:
        """The second longest of the latest intervals, as the longest may be a pause between two
        starts; streams that are written together have short ones. 0 where there is none."""
        longest = sorted(() if self.seen is None else self.seen.intervals)[-2:]
        return longest[0] if longest else 0.0

    @property
    def silence(self) -> str:
        """``nothing was written for 14 min 00 s (newest file wrfout_d01, 09:41:02)``."""
        seen = self.seen
        if seen is None or seen.newest is None:
            return "no frame and no log was written yet"
        at = "" if seen.written is None else f", {clock(seen.written)}"
        lasts = show_duration(seen.quiet_s + (0.0 if self._read else self._since_report))
        lasts += f" when {self._read}" if self._read else ""
        newest = f"newest file {printable(seen.newest)}{at}"
        if seen.dated:
            return f"nothing was written for {lasts} ({newest})"
        return f"nothing was written since this look began, for {lasts} ({newest}; {UNDATED})"

    @property
    def ago(self) -> str:
        """``wrfout_d01 was written 3.0 s ago``."""
        seen = self.seen
        if seen is None or seen.newest is None:
            return "no frame and no log was written yet"
        name = printable(seen.newest)
        if seen.dated and self._read:
            return f"{name} was written {show_duration(seen.quiet_s)} before {self._read}"
        if seen.dated:
            return f"{name} was written {show_duration(seen.quiet_s + self._since_report)} ago"
        at = "" if seen.written is None else f" at {clock(seen.written)}"
        return f"{name} was written{at}; {UNDATED}"
