"""Room on the buffer: what raw frames use, when they may go, whether the model will run out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from burstlens.core.model import Frame, in_model_folder
from burstlens.core.run.history import History
from burstlens.workflows.ordering.repeats import is_stale
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.recipe.recipe import Recipe

GROUP = 64
"""Frames released in one go: one flush of the journal for all of them."""


@dataclass(slots=True)
class Space:
    """Raw frames on the buffer, by file, and the room that is left.

    A file is released when all of its frames' products are settled, nothing else needs it and the
    watcher has finished with it (with a growing file only at its end).
    """

    recipe: Recipe
    history: History
    buffer: BufferRef
    files: dict[tuple[str, ...], list[tuple[Frame, tuple[str, ...]]]] = field(default_factory=dict)
    guarded: Callable[[Frame], object] = lambda frame: False
    """Whether guards have to look at a frame before it may go."""
    beside: Callable[[Frame], bool] = lambda frame: False
    """Whether a product of another stream may want it."""
    outgrown: Callable[[Frame], bool] = lambda frame: False
    """Whether a picture of it is to be made again; if room is short it goes all the same."""
    raw_bytes: int = 0
    largest: int = 0
    """Bytes of the largest frame so far."""
    begun_bytes: int = 0
    """Bytes of files that have no whole frame yet."""
    releasing: bool = False
    urgent: bool = False
    """Whether room is short: then nothing is kept for a later resume."""
    _superseded: set[tuple[tuple[str, ...], int]] = field(default_factory=set)
    """Files and number of records that never had their time, as another one has it."""
    _stale_gone: set[tuple[str, ...]] = field(default_factory=set)
    """Files that were released with stale frames alone: nothing of them is at home."""
    _same: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.releasing = self.recipe.buffer.raw == "release"

    def add(self, frame: Frame, wanted: tuple[str, ...]) -> None:
        """Note that a frame is there, and that these products are still to be made of it."""
        frames = self.files.setdefault(frame.paths, [])
        if all(other.record != frame.record for other, _ in frames):
            frames.append((frame, self._same.setdefault(wanted, wanted)))
            self.raw_bytes += frame.bytes
            self.largest = max(self.largest, frame.bytes)

    def sharing(self, frame: Frame) -> Frame:
        """The frame with the texts that many frames have: each report brings copies of its own."""
        texts = (frame.run, frame.stream, frame.signal)
        run, stream, signal = self._same.setdefault(texts, texts)
        return replace(frame, run=run, stream=stream, signal=signal)

    def supersede(self, frame: Frame) -> None:
        """Note that another record has this frame's time."""
        self._superseded.add((frame.paths, frame.record))

    def is_superseded(self, frame: Frame) -> bool:
        """Whether another record has the frame's time: this one only goes with its file."""
        this = frame.paths, frame.record
        return this in self._superseded or is_stale(self.history, frame)

    def is_stale(self, frame: Frame) -> bool:
        """Whether another attempt owns the frame by now."""
        return self.history.is_stale(frame.stream, frame.time, frame.attempt)

    def oldest_unsettled(self) -> str | None:
        """The time of the oldest frame of which a product is still to be published; also one of an
        earlier driver that the watcher has not found again. None where there is none."""
        history = self.history
        known, owed = set(), []
        for frame, wanted in (one for frames in self.files.values() for one in frames):
            known.add((frame.stream, frame.time, frame.attempt))
            keys = ((product, frame.stream, frame.time) for product in wanted)
            if not all(history.settled(key, frame.attempt) for key in keys):
                owed.append(frame)
        times = [frame.time for frame in owed if not self.is_superseded(frame)]
        times += [
            key[1]
            for key in history.frames - history.released
            if key[2] >= history.first_on_buffer and key not in known and not history.is_stale(*key)
        ]
        return min(times, default=None)

    def stale_files(self) -> dict[int, frozenset[str]]:
        """By attempt, the files in the model's folder of which each frame is stale."""
        found: dict[int, set[str]] = {}
        for paths, frames in self.files.items():
            if frames and all(self.is_stale(frame) for frame, _ in frames):
                names = map(in_model_folder, paths)
                found.setdefault(frames[0][0].attempt, set()).update(names)
        return {attempt: frozenset(names) for attempt, names in found.items()}

    def shared(self, files: Iterable[tuple[str, ...]]) -> dict[str, tuple[int, ...]]:
        """Of these files, by their names in the model's folder, those that hold frames of several
        attempts, each its own; with the attempts in order. What has been released counts."""
        found: dict[str, tuple[int, ...]] = {}
        if self.history.lineage.is_forked:
            for paths in files:
                holders = tuple(self._holders([in_model_folder(path) for path in paths]))
                if len(holders) > 1:
                    found |= {in_model_folder(path): holders for path in paths}
        return found

    def _holders(self, names: Sequence[str]) -> Iterator[int]:
        """The attempts on the lineage whose files of these names hold frames that count."""
        for segment in self.history.lineage.segments:
            attempt = segment.attempt
            paths = tuple(f"{self.buffer.folder}/{attempt}/{name}" for name in names)
            frames = self.files.get(paths)
            if frames is None:
                known = self.history.holds_frames(names[0], attempt)
                counts = known and paths not in self._stale_gone
            else:
                counts = not all(self.is_stale(frame) for frame, _ in frames)
            if counts:
                yield attempt

    def frames(self) -> list[Frame]:
        """The frames on the buffer."""
        found = [frame for frames in self.files.values() for frame, _ in frames]
        if not (self._superseded or self.history.repeated or self.history.lineage.is_forked):
            return found
        return [frame for frame in found if not self.is_superseded(frame)]

    def newest(self, stream: str, beside: Frame) -> Frame | None:
        """The newest frame of a stream on the buffer up to the valid time of another stream's
        frame, of the same attempt if there is one."""
        found = [f for f in self.frames() if f.stream == stream and f.time <= beside.time]
        return max(
            found,
            key=lambda frame: (frame.attempt == beside.attempt, frame.time, frame.attempt),
            default=None,
        )

    def want(self, frame: Frame, products: tuple[str, ...]) -> None:
        """Note that these products are to be made of a frame as well before it may go."""
        self.files[frame.paths] = [
            (other, (*wanted, *products) if other == frame else wanted)
            for other, wanted in self.files[frame.paths]
        ]

    def releasable(self, open_files: set[str], *, held: bool) -> Iterator[list[Frame]]:
        """Groups of frames to release now; they count as gone at once."""
        if not self.releasing or held:
            return
        group: list[Frame] = []
        for paths, frames in list(self.files.items()):
            busy = self._busy(paths, open_files)
            if busy or not all(self._settled(frame, wanted) for frame, wanted in frames):
                continue
            del self.files[paths]
            if all(self.is_stale(frame) for frame, _ in frames):
                self._stale_gone.add(paths)
            self.raw_bytes -= sum(frame.bytes for frame, _ in frames)
            group += [frame for frame, _ in frames if not self._gone(frame)]
            if len(group) >= GROUP:
                yield group
                group = []
        if group:
            yield group

    def put_back(self, frames: Iterable[Frame]) -> None:
        """Note that these could not be released: they are still there and may be tried again."""
        for frame in frames:
            if not self.is_superseded(frame):
                self.history.released.discard((frame.stream, frame.time, frame.attempt))
            self.add(frame, ())

    def _gone(self, frame: Frame) -> bool:
        this = frame.stream, frame.time, frame.attempt
        return this in self.history.released and not self.is_superseded(frame)

    def _settled(self, frame: Frame, wanted: tuple[str, ...]) -> bool:
        this = (frame.stream, frame.time, frame.attempt)
        if self.is_stale(frame):
            return True
        if self.guarded(frame) and this not in self.history.inspected:
            return False
        if self.beside(frame) or (self.outgrown(frame) and not self.pressed(None)):
            return False
        return all(self._is_done(product, frame) for product in wanted)

    def _is_done(self, product: str, frame: Frame) -> bool:
        """Whether that product needs the frame no more. The frames of one that could not be made of
        any so far stay while there is room: a resume makes it when the cause is gone."""
        key = product, frame.stream, frame.time
        if key in self.history.retried or not self.history.settled(key, frame.attempt):
            return False
        hopeless = key in self.history.failed and not self.history.standing[product]
        return self.urgent or self.pressed(None) or not hopeless

    def stuck(self, open_files: set[str], *, held: bool) -> str:
        """Why no raw frame can go before the model ends; empty where one can."""
        if not self.files:
            return "there is no raw frame to release: other files fill it"
        if held:
            return "no raw frame can go: a step is still to read them"
        if all(self._busy(paths, open_files) for paths in self.files):
            return "no raw frame can go: their file is still being written"
        return ""

    def _busy(self, paths: tuple[str, ...], open_files: set[str]) -> bool:
        return any(in_model_folder(path) in open_files for path in paths)

    def fill(self) -> float:
        """The part of the recipe's capacity that raw frames hold."""
        return self.raw_bytes / self.recipe.buffer.capacity

    def pressed(self, free_bytes: int | None) -> bool:
        """Whether the reserve for products is reached, by the run's own account or the disk's."""
        return self.short(free_bytes) or self.short(None)

    def short(self, free_bytes: int | None) -> bool:
        """Whether the disk's own room is down to the reserve; its capacity's where none is known.

        Frames that exceed the capacity on a disk with room are not in danger.
        """
        reserve = self.recipe.buffer.reserve
        if free_bytes is None:
            return self.fill() > 1 - reserve
        return free_bytes < reserve * self.recipe.buffer.capacity or self.fits_no_frame(free_bytes)

    def fits_no_frame(self, free_bytes: int | None) -> bool:
        """Whether the frame in progress, or the next one, would not fit."""
        return free_bytes is not None and free_bytes + self.begun_bytes < self.largest
