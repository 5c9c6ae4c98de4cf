"""Reads one log file from where the previous read ended, in bounded pieces of whole lines."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from burstlens.core.durable import open_regular

PIECE_BYTES = 1 << 20
"""Bytes read per scan, shared by all logs of a model: a long log takes several scans."""
LONGEST_LINE_BYTES = 1 << 16
"""Longer lines are cut here; the rest of the line is skipped."""
_MARK_BYTES = 4096
"""Of a log before the position: jobs of one model begin their logs alike, but for times."""
_LINE_END = re.compile(rb"[\r\n]")


@dataclass(frozen=True, slots=True)
class Position:
    """How far a log is read: ``offset`` in bytes, ``mark`` the CRC-32 of the bytes before it.
    ``inside``: the offset is inside a line that was cut."""

    offset: int = 0
    mark: int | None = None
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines without line ends, the position after them, whether the file has more, and
    whether it began anew (what was read of it before is no longer there)."""

    lines: list[str]
    position: Position
    behind: bool
    anew: bool = False


def began_anew(path: Path, position: Position, size: int) -> bool:
    """Whether a log of now ``size`` bytes is not the one that was read to ``position``: it is
    shorter, or was truncated and has grown since (the bytes before the position differ). OSError if
    it cannot be read.
    """
    if size < position.offset:
        return True
    if position.mark is None or size == position.offset:
        return False
    before = min(position.offset, _MARK_BYTES)
    with open_regular(path) as file:
        file.seek(position.offset - before)
        return zlib.crc32(file.read(before)) != position.mark


def read_piece(path: Path, position: Position, size: int, *, last: bool = False) -> Piece:
    """The lines from ``position`` on, at most ``size`` bytes (at least ``LONGEST_LINE_BYTES``).
    Reads from the beginning if the file is shorter than before or was replaced (the mark differs).
    ``last``: no process writes to it any more, so its last line may lack a line end. Lines end with
    LF, CR LF or CR alone. Raises OSError."""
    size = max(size, LONGEST_LINE_BYTES)
    with open_regular(path) as file:
        before = min(position.offset, _MARK_BYTES)
        file.seek(position.offset - before)
        known = file.read(before)
        moved = position.mark is not None and zlib.crc32(known) != position.mark
        anew = len(known) < before or moved
        if anew:
            position, known = Position(), b""
            file.seek(0)
        data = file.read(size)
    behind = len(data) == size
    end = len(data) if last and not behind else max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    skip, cut = 0, False
    if position.inside:
        found = _LINE_END.search(data)
        skip, cut = found.end() if found else len(data), found is None
        end = max(end, skip)
    elif not end and len(data) >= LONGEST_LINE_BYTES:
        end, cut = len(data), True
    if (known + data[:skip]).endswith(b"\r") and data[skip : skip + 1] == b"\n":
        skip += 1  # the second half of a line end
    text = data[skip:end].decode("utf-8", "replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    mark = zlib.crc32((known + data[:end])[-_MARK_BYTES:])
    after = Position(position.offset + end, mark, cut)
    return Piece([line[:LONGEST_LINE_BYTES] for line in lines], after, behind, anew)
