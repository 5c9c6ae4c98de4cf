"""The terminal's other screen: a few lines of text above a picture, only what changed sent."""

from __future__ import annotations

import os
import sys

from rich.console import Console, RenderableType

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


class Canvas:
    """Draws on the alternate screen of ``console``; a context manager. ``sent`` counts bytes."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.sent = 0
        self.size: tuple[int, int] = (0, 0)
        """Columns and rows."""
        self._lines: list[str] = []

    def __enter__(self) -> Canvas:
        self._send(ENTER + HIDE)
        return self

    def __exit__(self, *_: object) -> None:
        self._send(LEAVE + SHOW)

    def resized(self) -> bool:
        """Whether the window's size has changed since the last call; then all must be drawn."""
        now = self.console.size
        if now == self.size:
            return False
        self.size = now
        self._lines = []
        self._send("\x1b[0m\x1b[2J")
        return True

    def show(self, top: int, lines: list[str]) -> None:
        """Put lines from row ``top`` (from 0) on; unchanged lines are not sent."""
        missing = top + len(lines) - len(self._lines)
        self._lines += [""] * missing
        for row, line in enumerate(lines, start=top):
            if self._lines[row] != line:
                self._lines[row] = line
                self._send(f"\x1b[{row + 1};1H{line}\x1b[0m\x1b[K")

    def put(self, top: int, sequence: bytes, rows: int) -> None:
        """Put a picture of so many rows, as an escape sequence, with its corner in row ``top``."""
        self._send(f"\x1b[{top + 1};1H")
        self._write(sequence)

    def lines(self, renderable: RenderableType) -> list[str]:
        """The lines that Rich renders."""
        with self.console.capture() as held:
            self.console.print(renderable, soft_wrap=False)
        return held.get().splitlines()

    def _send(self, text: str) -> None:
        self._write(_encoded(self.console, text))

    def _write(self, data: bytes) -> None:
        self.sent += len(data)
        _write(data)


class Roll:
    """The terminal's own screen, where what is printed stays: lines and pictures one below the
    other, each once. The rows that :class:`Canvas` has above a picture are left out."""

    sent = 0

    def __init__(self, console: Console) -> None:
        self.console = console

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return self.console.size.width, self.console.size.height

    def show(self, top: int, lines: list[str]) -> None:
        """Print lines, without the empty ones at their end."""
        while lines and not lines[-1]:
            lines = lines[:-1]
        _write(_encoded(self.console, "".join(f"{line}\x1b[0m\n" for line in lines)))

    def put(self, top: int, sequence: bytes, rows: int) -> None:
        """Print a picture: rows are made for it first, as a terminal may not scroll for it."""
        _write(b"\n" * rows + b"\x1b[%dA\x1b7" % rows + sequence + b"\x1b8\x1b[%dB" % rows)


def _encoded(console: Console, text: str) -> bytes:
    return text.encode(console.encoding or "utf-8", "replace")


def _write(data: bytes) -> None:
    sys.stdout.flush()
    while data:
        data = data[os.write(sys.stdout.fileno(), data) :]
