"""Frames that were declared once and found again: the same, touched, appended to, or written anew.

Only the last is a reason to make their products again. A file with another fingerprint is compared
by its content first: the products of its last record that has any are made once more, and their
CRC-32 decide. A ``touch`` against a purge, or a file that its model closed, changes nothing. Where
no product is published yet, it waits for the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from burstlens.core.errors import StagingError
from burstlens.core.model import Frame, in_model_folder
from burstlens.core.run.events import Fingerprint, FrameFingerprint
from burstlens.workflows.frames.report import FolderReport
from burstlens.workflows.making import tasks
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.ordering.instructions import Ask, Discard
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.publishing.context import RunContext

TRIES = 3
"""Chances of a comparison whose worker dies."""
RETRY_S = 10.0
"""Pause before a comparison for which there is no room is made again."""
Known = tuple[int, str, int, Fingerprint]
"""Attempt, file, record and fingerprint of a frame, as the history has them."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A file with another fingerprint: its frames that are known, in order, and as what."""

    frames: tuple[Frame, ...]
    known: tuple[Known, ...]
    orders: tuple[Order, ...] = ()
    """What is still to be made and compared."""
    tries: int = 1

    @property
    def file(self) -> str:
        """Its name."""
        return in_model_folder(self.frames[-1].paths[0])


class Rewrites:
    """Sorts found frames; ``begin`` starts a new attempt for a reason and returns its number,
    ``later`` has a comparison made after so many seconds."""

    def __init__(
        self, context: RunContext, outbox: Outbox, production: Production, buffer: BufferRef,
        begin: Callable[[str], int], later: Callable[[float, Ask], None],
    ) -> None:  # fmt: skip
        self._history, self._outbox = context.history, outbox
        self._recipe, self._snapshot = context.recipe, context.snapshot
        self._production, self._buffer = production, buffer
        self._begin, self._later = begin, later
        self._comparing: dict[str, Suspect] = {}
        self._waiting: dict[str, Suspect] = {}
        self._looked = (0, False)
        """How much was published, and whether all was, when those that wait were looked at."""

    @property
    def busy(self) -> bool:
        """Whether a comparison is under way, or waits for products."""
        return bool(self._comparing or self._waiting)

    @property
    def comparing(self) -> Collection[str]:
        """The files that are being compared: to find them changed once more is no news."""
        return self._comparing.keys() | self._waiting.keys()

    def look(self) -> None:
        """Compare what has waited for products that are published now."""
        known = len(self._history.published), self._production.settled
        if not self._waiting or known == self._looked:
            return
        self._looked = known
        for suspect in list(self._waiting.values()):
            del self._waiting[suspect.file]
            self._compare(suspect)

    def close(self, folder: FolderReport | None) -> None:
        """Note the fingerprints of files that were closed: their frames are what they were."""
        for one in folder.closed if folder else ():
            self._close(one.stream, one.file, one.fingerprint)

    def _close(self, stream: str, file: str, fingerprint: Fingerprint) -> None:
        last: tuple[str, Known] | None = None
        for (of, time), known in self._history.fingerprints.items():
            if (of, known[1]) == (stream, file) and (last is None or known[2] > last[1][2]):
                last = time, known
        if last is None or last[1][3][1] != fingerprint[1]:  # the sweep finds it
            return
        time, (attempt, _, record, _) = last
        self._note(attempt, stream, time, file, record, fingerprint)

    def take(self, frames: Iterable[Frame]) -> None:
        """Hand frames on to the production, and compare those that may be written anew."""
        files: defaultdict[tuple[str, str], list[Frame]] = defaultdict(list)
        for frame in frames:
            files[frame.stream, in_model_folder(frame.paths[0])].append(frame)
        good: list[Frame] = []
        for found in files.values():
            good += self._of_file(sorted(found, key=lambda frame: frame.record))
        self._production.take_frames(sorted(good, key=lambda frame: (frame.time, frame.stream)))

    def _of_file(self, found: list[Frame]) -> list[Frame]:
        """The frames of one file that are taken now."""
        good, suspects = [], []
        same = self._is_unchanged(found)
        for frame in found:
            known = self._history.fingerprints.get((frame.stream, frame.time))
            if known is None:
                good.append(frame)
            elif same or is_same(known[3], frame.fingerprint):
                good.append(replace(frame, attempt=known[0]))
            else:
                suspects.append((frame, known))
        if not suspects:
            return good
        if self._is_appended(good, suspects):
            return good + [replace(frame, attempt=known[0]) for frame, known in suspects]
        newer = [(frame, known) for frame, known in suspects if _is_newer(frame, known)]
        if newer:
            frames, known_ones = zip(*newer, strict=True)
            self._compare(Suspect(frames, known_ones))
        return good

    def _is_unchanged(self, found: list[Frame]) -> bool:
        """Whether the file is as it was when its last known record was declared: each record has
        the fingerprint of its own time."""
        last = found[-1]
        known = self._history.fingerprints.get((last.stream, last.time))
        return (
            known is not None
            and known[1] == in_model_folder(last.paths[0])
            and is_same(known[3], last.fingerprint)
        )

    def _is_appended(self, fresh: list[Frame], suspects: list[tuple[Frame, Known]]) -> bool:
        """Whether the file is the one that is known, with more records: appending is no rewrite,
        also where the times of new records are known."""
        frame, known = suspects[-1]
        _, file, _, fingerprint = known
        record = max(known[2] for _, known in suspects)
        fresh = [*fresh, *(frame for frame, _ in suspects)]
        return (
            frame.fingerprint is not None
            and file == in_model_folder(frame.paths[0])
            and fingerprint[1] == frame.fingerprint[1]
            and fingerprint[2] <= frame.fingerprint[2]
            and any(one.record > record for one in fresh)
        )

    def _compare(self, suspect: Suspect) -> None:
        self._waiting.pop(suspect.file, None)
        if not self._is_shown(suspect.frames[-1].stream):  # there is nothing to supersede
            self._note_frame(suspect)
            return
        for frame, known in zip(reversed(suspect.frames), reversed(suspect.known), strict=True):
            orders = tuple(self._orders(replace(frame, attempt=known[0])))
            if orders:
                self._make(replace(suspect, orders=orders))
                return
        if self._production.settled:
            self._differs(suspect)
        else:
            self._comparing.pop(suspect.file, None)
            self._waiting[suspect.file] = suspect

    def _note_frame(self, suspect: Suspect) -> None:
        """Note the fingerprint of the file's last record: that is the file's."""
        frame, known = suspect.frames[-1], suspect.known[-1]
        if frame.fingerprint is not None:
            about = known[0], frame.stream, frame.time, suspect.file, frame.record
            self._note(*about, frame.fingerprint)

    def _note(
        self, attempt: int, stream: str, time: str, file: str, record: int, found: Fingerprint
    ) -> None:
        self._outbox.append(
            FrameFingerprint(
                attempt=attempt, stream=stream, time=time, file=file, record=record,
                fingerprint=found,
            )
        )  # fmt: skip

    def _make(self, suspect: Suspect) -> None:
        self._comparing[suspect.file] = suspect
        self._outbox.do(self._ask(suspect))

    def _ask(self, suspect: Suspect) -> Ask:
        order = suspect.orders[0]
        return Ask("compare", tasks.produce, (self._buffer, order), about=suspect)

    def wants(self, suspect: Suspect) -> bool:
        """Whether the file was not found once more, and is compared as it is now."""
        return self._comparing.get(suspect.file) is suspect

    def _is_shown(self, stream: str) -> bool:
        """Whether any product or guard is of that stream."""
        backlog = self._production.backlog
        first = backlog.first_stream
        return any(
            product.kind.wants(product.options)
            or (product.common.stream or first or stream) == stream
            for product in backlog.products
        ) or any(guard.looks_at(stream, first) for guard in backlog.guards)

    def _orders(self, frame: Frame) -> Iterator[Order]:
        """The orders of the frame's published products that need no other one."""
        backlog = self._production.backlog
        for product in self._recipe.products:
            key = product.name, frame.stream, frame.time
            needed = product.kind.wants(product.options)
            if needed or key not in self._history.sums or key in self._history.holes:
                continue
            if self._history.published.get(key) != frame.attempt:
                continue
            drawn = self._history.drawn.get(key)
            context = replace(
                backlog.context, product=product.name, stream=frame.stream, time=frame.time,
                attempt=frame.attempt, calendar=frame.calendar, limits=drawn,
            )  # fmt: skip
            yield Order(product.kind.name, product.options, context, frame, backlog.folder)

    def failed(self, suspect: Suspect, error: BaseException) -> None:
        """Take the failure of a comparison."""
        if not self.wants(suspect):
            return
        if isinstance(error, StagingError):  # a full disk says nothing about the file
            self._later(RETRY_S, self._ask(suspect))
        elif suspect.tries < TRIES:  # its worker died
            self._make(replace(suspect, tries=suspect.tries + 1))
        else:
            del self._comparing[suspect.file]
            self._differs(suspect)

    def returned(self, suspect: Suspect, result: OrderResult) -> None:
        """Take the result of a comparison."""
        receipt = result.receipt
        if receipt is not None:
            self._outbox.do(Discard(receipt))
        if not self.wants(suspect):
            return
        del self._comparing[suspect.file]
        if receipt is None:
            self._differs(suspect)
            return
        if self._history.sums.get(receipt.key) != receipt.crc32:
            self._differs(suspect, f", with another {receipt.product}")
            return
        if len(suspect.orders) > 1:
            self._make(replace(suspect, orders=suspect.orders[1:]))
            return
        self._note_frame(suspect)
        self._snapshot.note(f"{suspect.file} has another date and the same content")
        known = zip(suspect.frames, suspect.known, strict=True)
        self._production.take_frames([replace(frame, attempt=one[0]) for frame, one in known])

    def _differs(self, suspect: Suspect, how: str = "") -> None:
        newest = max(known[0] for known in suspect.known)
        attempt = self._history.attempt
        if newest >= attempt:
            attempt = self._begin(f"{suspect.file} was written anew{how}")
        self._production.take_frames([replace(frame, attempt=attempt) for frame in suspect.frames])


def is_same(known: Fingerprint, found: Fingerprint | None) -> bool:
    """Whether a file is the one that is known. Other hosts, and a later mount, give a file system
    another device number."""
    return found is not None and tuple(known)[1:] == tuple(found)[1:]


def _is_newer(frame: Frame, known: Known) -> bool:
    """Whether it was written after the one that is known; of two files of one valid time the newer
    one counts."""
    if known[1] == in_model_folder(frame.paths[0]) or frame.fingerprint is None:
        return True
    return frame.fingerprint[3] > known[3][3]
