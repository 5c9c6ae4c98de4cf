"""What signals request of a run. Each takes effect after the step under way."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

END_SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""They end the run: its exit code is 128 plus the number."""
CHECKPOINT_SIGNALS = (signal.SIGUSR1, signal.SIGUSR2)
"""They request a checkpoint; after the second the run stops."""


class SignalRequests:
    """``end`` is the number of the signal that ends the run, 0 for none. ``checkpoint``: one is
    requested, until that is unset; ``stop``: the run is to stop with it.
    """

    def __init__(self) -> None:
        self.end = 0
        self.checkpoint = self.stop = False

    @contextmanager
    def listen(self, *numbers: signal.Signals) -> Iterator[None]:
        """Note these signals in place of what they do otherwise."""
        before = {number: signal.signal(number, self._note) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if number in END_SIGNALS:
            self.end = number
        else:
            self.checkpoint = True
            self.stop = self.stop or number == signal.SIGUSR2
