"""What the watcher found: journalled where that was not done, and its products ordered."""

from __future__ import annotations

from collections.abc import Sequence

from burstlens.core.model import Damage, Frame, in_model_folder
from burstlens.core.run import events as ev
from burstlens.core.run.event import FrameKey
from burstlens.core.run.history import History
from burstlens.core.valid_time import label
from burstlens.workflows.frames.report import UndecodedFile
from burstlens.workflows.ordering.backlog import Backlog
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.ordering.repeats import Repeats, frame_key
from burstlens.workflows.ordering.restart_holes import RestartHoles
from burstlens.workflows.ordering.space import Space
from burstlens.workflows.publishing.snapshot import Snapshot

_FRAME_FIELDS = (
    "attempt", "stream", "time", "record", "bytes", "written", "detected", "signal", "fingerprint",
    "calendar",
)  # fmt: skip
_DAMAGE_FIELDS = ("attempt", "stream", "time", "record", "reason", "fingerprint", "written")


class Arrivals:
    """Frames, damaged frames and undecoded files on their way into the journal and the backlog."""

    def __init__(
        self, outbox: Outbox, history: History, snapshot: Snapshot, backlog: Backlog, space: Space
    ) -> None:
        self._outbox = outbox
        self._history = history
        self._snapshot = snapshot
        self._backlog = backlog
        self._space = space
        self.repeats = Repeats(history)
        self._holes = RestartHoles(history)
        self.repeated: set[FrameKey] = set()
        """Frames of the latest report that took another record's place."""
        self._reported = {(stream, attempt) for stream, _, attempt in history.repeated}

    def take_frames(self, frames: Sequence[Frame]) -> bool:
        """Take whole frames; returns whether some of them replace records of the same times."""
        found = self.repeats.sort_out(frames)
        self.repeated = {frame_key(frame) for frame in found.repeated}
        for frame in map(self._space.sharing, found.others):
            self._space.add(frame, ())  # it goes with its file
            self._space.supersede(frame)
        for frame in sorted(found.repeated, key=lambda frame: frame.time):
            self._report_repeats(frame)
        for frame in frames:
            self._backlog.count(frame.stream, frame.time)
        for frame in map(self._space.sharing, found.counting):
            key = frame_key(frame)
            if key in self.repeated or key not in self._history.frames:
                self._note(frame, repeated=key in self.repeated)
            if key in self.repeated:
                self._backlog.repeat(frame)
            self._space.add(frame, self._backlog.add(frame))
            self._backlog.refresh(frame)  # where a former driver did not get as far
        for damage in self._holes.find(found.counting):
            self.take_damage(damage)
        return bool(found.repeated)

    def _report_repeats(self, frame: Frame) -> None:
        """Raise an alarm, once per stream and attempt, that its times come twice."""
        if (frame.stream, frame.attempt) in self._reported:
            return
        self._reported.add((frame.stream, frame.attempt))
        self._snapshot.alarm(
            f"times of stream {frame.stream} come twice, such as {label(frame.time)} in "
            f"{in_model_folder(frame.paths[0])}: of each the later record counts",
            stream=frame.stream, time=frame.time,
        )  # fmt: skip

    def _note(self, frame: Frame, *, repeated: bool) -> None:
        fields = {name: getattr(frame, name) for name in _FRAME_FIELDS}
        file = in_model_folder(frame.paths[0])
        self._outbox.append(ev.FrameReady(**fields, file=file, repeated=repeated))

    def take_undecoded(self, found: UndecodedFile, attempt: int) -> None:
        """Take a stream's first file whose times cannot be decoded."""
        known = self._history.undecoded.get(found.stream)
        event = ev.StreamUndecoded(
            stream=found.stream, attempt=attempt, file=found.file, reason=found.reason
        )
        if known is None or known[0] != attempt:
            self._outbox.append(event)

    def take_damage(self, damage: Damage) -> None:
        """Take a frame that will never be whole."""
        if (damage.stream, damage.time, damage.attempt) in self._history.frames:
            return  # whole when it was declared, before a driver or the model died
        if not self._history.has_damage(damage):
            fields = {name: getattr(damage, name) for name in _DAMAGE_FIELDS}
            self._outbox.append(ev.FrameDamaged(**fields, paths=list(damage.paths)))
        self._backlog.add_damage(damage)
