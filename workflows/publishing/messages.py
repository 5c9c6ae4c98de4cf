"""What people are told of a run: alarms, the latest events, why products failed."""

from __future__ import annotations

import collections
import logging
import time
from collections.abc import Callable

from burstlens.core.model import Failure, in_model_folder
from burstlens.core.printable import printable
from burstlens.core.run import events as ev
from burstlens.core.run.event import Event, FrameKey
from burstlens.core.run.history import History
from burstlens.core.run.status_file import Message
from burstlens.workflows.frames.promised import REASON
from burstlens.workflows.frames.report import UndecodedFile
from burstlens.workflows.guards.finding import journalled_trip

_log = logging.getLogger(__name__)


class Messages:
    """The messages of one driver, most of which its journal's events give."""

    def __init__(self, history: History, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self.alarms: collections.deque[Message] = collections.deque(maxlen=20)
        self.events: collections.deque[Message | str] = collections.deque(maxlen=30)
        self.reasons: dict[str, str] = {}
        """The latest reason why each product failed."""
        self._history = history
        self._faulty: set[str] = set()
        """Products whose own fault was reported."""
        self._unreadable: set[FrameKey] = set()
        """Frames that were reported to be damaged, or not to be read."""

    def apply(self, event: Event) -> None:
        """Add what the event means for people."""
        match event:
            case ev.Alarm():
                self.alarm(event.text)
            case ev.FrameReady():
                self.note(f"frame {event.stream} {event.time} ready ({event.signal})")
            case ev.FrameDamaged():
                frame = event.time or ", ".join(map(in_model_folder, event.paths or ()))
                reason = event.reason or ""
                is_lost = reason.startswith(REASON) or event.paths == []  # no file holds it
                what = "lost frame" if is_lost else "damaged frame"
                self.report_frame(event.stream, frame, event.attempt, reason, what)
            case ev.StreamUndecoded():
                found = UndecodedFile(event.stream, event.file, event.reason)
                self.alarm(found.sentence, stream=event.stream)
            case ev.GuardTripped(earlier=False):
                place = {"stream": event.stream, "time": event.time}
                known = {key: text for key, text in place.items() if text}
                self.alarm(journalled_trip(event).sentence, **known)
            case ev.ProductLimits(product=product, limits=(low, high)):
                self.note(f"colour limits of {product}: {low:g} to {high:g}")
            case ev.ProductFailed():
                self.reasons[event.product] = event.reason or ""
            case ev.ProductAdded():
                self.note(f"product {event.product} is added")
            case ev.ProductRefused():
                self.alarm(f"products are not added: {event.reason}")
            case ev.ControlReceived(control="pause"):
                self.note("watching is paused")
            case ev.ControlReceived(control="resume-watching"):
                self.note("watching goes on")
            case ev.AttemptObserved() if event.attempt > 1:
                self.alarm(f"attempt {event.attempt} of the model: {event.evidence}")
            case ev.ModelObserved():
                self.note(f"the model: {event.state}, {event.evidence}")
            case ev.PathLost(for_good=False):
                self.alarm(f"{self._folder}: {event.evidence}; it is looked for again")
            case ev.PathBack():
                self.note(f"{self._folder} {event.evidence.removeprefix('the folder ')}")

    @property
    def _folder(self) -> str:
        """The folder that the run looks at."""
        attached = self._history.attached
        return attached.path if attached else ""

    def blame(self, failure: Failure) -> None:
        """Report a product's failure: of a frame that cannot be read once for all its products, of
        a product at fault once for all its frames."""
        if failure.unreadable:
            self.report_frame(failure.stream, failure.time, failure.attempt, failure.reason)
        elif failure.product not in self._faulty:
            self._faulty.add(failure.product)
            self.alarm(f"{failure.product} of {failure.stream} {failure.time}: {failure.reason}")

    def report_frame(
        self, stream: str, time: str, attempt: int, reason: str, what: str = "frame"
    ) -> None:
        """Report a frame that is damaged or cannot be read: once, however many notice it."""
        if (stream, time, attempt) not in self._unreadable:
            self._unreadable.add((stream, time, attempt))
            self.alarm(f"{what} {stream} {time}: {reason}")

    def alarm(self, text: str, **place: str) -> None:
        """Add what a person should see; ``stream``, ``time`` and ``product`` say where."""
        text = printable(text)
        _log.warning("%s", text)
        self.alarms.append(Message(text, round(self.clock(), 3), **place))
        self.note(text)

    def note(self, text: str) -> None:
        """Add one line to the latest events."""
        self.events.append(Message(text, round(self.clock(), 3)))
