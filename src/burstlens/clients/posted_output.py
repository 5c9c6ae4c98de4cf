"""Output that nobody waits for: a thread writes it, so that a driver's loop never does.

A full pipe, a terminal that was stopped with Ctrl-S, a full disk under ``> file`` or a login shell
that has ended hold up or refuse a write for as long as they like. The run goes on, as with
``--detach``; what they do not take in time is not shown.
"""

from __future__ import annotations

import collections
import contextlib
import io
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

MOST_BYTES = 1 << 16
"""What may wait to be written; a text beyond it is dropped whole."""
AT_ONCE_BYTES = select.PIPE_BUF
"""What a pipe that is ready takes without waiting."""
LOOK_S = 0.2
"""How often what takes nothing is asked whether it does, and whether it still has to."""
PATIENCE_S = 3.0
"""How long the end of a command waits for output that makes no progress."""


class PostedText(io.TextIOBase):
    """A text stream whose ``write`` never waits and never fails."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._descriptor = os.dup(stream.fileno())
        self._terminal = stream.isatty()
        self._encoding = stream.encoding or "utf-8"
        self._texts: collections.deque[bytes] = collections.deque()
        self._waiting = self._written = 0
        self._changed = threading.Condition()
        self.lost = False
        """Whether nothing more can be written there."""
        self._over = False
        threading.Thread(target=self._work, name="output", daemon=True).start()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream that it stands for."""
        return self._encoding

    def fileno(self) -> int:
        """The descriptor that is written to. Raises UnsupportedOperation when that is over."""
        if self._over:
            raise io.UnsupportedOperation("nothing is written any more")
        return self._descriptor

    def isatty(self) -> bool:
        """Whether that is a terminal."""
        return self._terminal

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """Have the text written, or dropped where that does not work or too much waits already."""
        data = text.encode(self._encoding, errors="replace")
        with self._changed:
            if data and not self.lost and self._waiting + len(data) <= MOST_BYTES:
                self._texts.append(data)
                self._waiting += len(data)
                self._changed.notify()
        return len(text)

    def _work(self) -> None:
        ready = select.poll()
        ready.register(self._descriptor, select.POLLOUT)
        with contextlib.suppress(OSError):
            while (data := self._next()) is not None:
                # Only what it takes at once: a thread that waits in a write never ends.
                if ready.poll(1000 * LOOK_S):
                    with contextlib.suppress(BlockingIOError):  # a parent has made it non-blocking
                        self._wrote(os.write(self._descriptor, data))
        self.end()
        os.close(self._descriptor)

    def _next(self) -> bytes | None:
        """The next bytes, when there are any; None when it is over."""
        with self._changed:
            while not self._texts and not self._over:
                self._changed.wait()
            return None if self._over else self._texts[0][:AT_ONCE_BYTES]

    def _wrote(self, count: int) -> None:
        with self._changed:
            if self._over:
                return
            self._texts[0] = self._texts[0][count:]
            if not self._texts[0]:
                self._texts.popleft()
            self._waiting -= count
            self._written += count

    def end(self) -> None:
        """Write nothing more; thread and descriptor go."""
        with self._changed:
            self.lost = self._over = True
            self._waiting = 0
            self._texts.clear()
            self._changed.notify()

    def finish(self, patience_s: float = PATIENCE_S) -> bool:
        """Wait until all is written; False, and no more is then written, when nothing was taken
        for so long, but for what a write has begun with."""
        before, since = -1, time.monotonic()
        while True:
            with self._changed:
                waiting, written = self._waiting, self._written
                if self.lost or not waiting:
                    return not self.lost
                if written != before:
                    before, since = written, time.monotonic()
                elif time.monotonic() - since > patience_s:
                    break
            time.sleep(0.01)
        self.end()
        return False


@contextlib.contextmanager
def posted_output() -> Iterator[None]:
    """Let this process print so. A stream that was lost stays so: what is printed to it later is
    dropped as well, so that the command ends with its exit code."""
    before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    # A job in the background that a terminal stops for its output (stty tostop) goes on.
    stopping = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    posted: dict[tuple[int, int], PostedText] = {}  # one for both on the same file: they keep order
    for name, stream in before.items():
        with contextlib.suppress(OSError, AttributeError, io.UnsupportedOperation):
            stream.flush()
            about = os.fstat(stream.fileno())
            file = about.st_dev, about.st_ino
            if file not in posted:
                posted[file] = PostedText(stream)
            setattr(sys, name, posted[file])
    try:
        yield
    finally:
        for text in posted.values():
            if text.finish():
                for name, stream in before.items():
                    if getattr(sys, name) is text:
                        setattr(sys, name, stream)
                text.end()
        signal.signal(signal.SIGTTOU, stopping)


def open_standard_streams() -> None:
    """Open what the caller has closed of the standard streams on the null device: else the next
    file that is opened gets its number, and with it what is printed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            with contextlib.suppress(OSError):
                opened = os.open(os.devnull, os.O_RDWR)
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115
