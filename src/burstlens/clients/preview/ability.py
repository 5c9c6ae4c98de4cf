"""How a terminal can show a picture: asked once, within a time limit, without losing keys."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import struct
import termios
import time
import tty
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from burstlens.core.child_process import can_read

LIMIT_S = 0.6
"""For the terminal's answer: ssh across an ocean takes 0.3 s."""
CELL = (8, 16)
"""Pixels of a cell where the terminal does not report them: small, so that nothing overflows."""
# Ask for kitty's graphics, the size of a cell, and last what every terminal answers.
_QUESTION = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[16t\x1b[c"
_KITTY = re.compile(rb"\x1b_Gi=31;([^\x1b]*)\x1b\\")
_CELL = re.compile(rb"\x1b\[6;(\d+);(\d+)t")
_ATTRIBUTES = re.compile(rb"\x1b\[\?([\d;]*)c")
_SIXEL = b"4"


@dataclass(frozen=True, slots=True)
class Ability:
    """The way to show pictures, and the pixels of one cell (width, height)."""

    way: Literal["kitty", "sixel", "cells"]
    cell: tuple[int, int] = CELL


@contextlib.contextmanager
def quiet_keys(keyboard: int) -> Iterator[None]:
    """Within the block keys are not echoed and come one by one; Ctrl-C still interrupts."""
    if not os.isatty(keyboard):
        yield
        return
    before = termios.tcgetattr(keyboard)
    # TCSANOW, not TCSAFLUSH: keys that were typed ahead stay for the shell.
    tty.setcbreak(keyboard, termios.TCSANOW)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)


def ability(keyboard: int, screen: int, *, limit_s: float = LIMIT_S) -> Ability:
    """What the terminal of these descriptors can show. Call it within :func:`quiet_keys`.

    When keys were typed ahead, the terminal is not queried. Then, and when no answer comes in time,
    pictures are made of coloured cells, which any terminal can show.
    """
    if not (os.isatty(keyboard) and os.isatty(screen)) or can_read(keyboard, 0.0):
        return Ability("cells")
    os.write(screen, _QUESTION)
    answer = _answer(keyboard, limit_s)
    give_back(keyboard, answer)
    kitty, attributes = _KITTY.search(answer), _ATTRIBUTES.search(answer)
    cell = _cell(screen, answer)
    if kitty is not None and kitty[1] == b"OK":
        return Ability("kitty", cell)
    if attributes is not None and _SIXEL in attributes[1].split(b";"):
        return Ability("sixel", cell)
    return Ability("cells", cell)


def drop_late_answer(keyboard: int) -> None:
    """Discard an answer that came too late, so that the shell does not read it."""
    if os.isatty(keyboard) and can_read(keyboard, 0.0):
        give_back(keyboard, os.read(keyboard, 4096))


def give_back(keyboard: int, read: bytes) -> None:
    """Type input again that was read and is not an answer, where the kernel allows it."""
    for pattern in (_KITTY, _CELL, _ATTRIBUTES):
        read = pattern.sub(b"", read)
    with contextlib.suppress(OSError):
        for byte in read:
            fcntl.ioctl(keyboard, termios.TIOCSTI, bytes([byte]))


def _answer(keyboard: int, limit_s: float) -> bytes:
    end = time.monotonic() + limit_s
    answer = b""
    while _ATTRIBUTES.search(answer) is None and can_read(keyboard, end - time.monotonic()):
        answer += os.read(keyboard, 1024)
    return answer


def _cell(screen: int, answer: bytes) -> tuple[int, int]:
    found = _CELL.search(answer)
    if found is not None and int(found[1]) and int(found[2]):
        return int(found[2]), int(found[1])
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(screen, termios.TIOCGWINSZ, bytes(8))
        rows, columns, width, height = struct.unpack("HHHH", size)
        if rows and columns and width >= columns and height >= rows:
            return width // columns, height // rows
    return CELL
