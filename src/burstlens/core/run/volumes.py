"""The volumes of a long journal: the files that it lies in, read as one.

``journal.jsonl`` is the newest; the files before it, ``journal-000001.jsonl`` and so on, are never
written again. Its first line says which volume it is, unless it is the first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from burstlens.core.decode import Count
from burstlens.core.durable import open_regular
from burstlens.core.errors import RunError
from burstlens.core.lines import lines_of

VOLUME_EVENTS = 20_000
"""A journal of so many events is continued in a new file."""


class _First(msgspec.Struct):
    """What the first line of a later volume has."""

    event: str = ""
    volume: Count = 0


def volume_path(path: Path, number: int) -> Path:
    """The file of that volume of the journal ``path`` once it is not the newest any more."""
    return path.with_name(f"{path.stem}-{number:06d}{path.suffix}")


def volume_numbers(path: Path) -> list[int]:
    """The volumes of the journal ``path`` before the newest, in order. Raises OSError."""
    name = re.compile(rf"{re.escape(path.stem)}-([0-9]{{6,}}){re.escape(path.suffix)}")
    try:
        found = os.listdir(path.parent)
    except FileNotFoundError:
        return []
    return sorted(int(match[1]) for match in map(name.fullmatch, found) if match)


def newest_volume(path: Path) -> int:
    """The number of the volume that ``path`` is, or would be, from 1 on. Raises OSError."""
    newest, number = _open_newest(path)
    if newest is not None:
        newest.close()
    return number


def lines_after(path: Path, volume: int = 0) -> Iterator[tuple[Path, int, bytes]]:
    """Each line after that volume with its file and number there, in order, without torn ones.
    Raises RunError for a missing volume, OSError."""
    # First, and held: it may become a volume while the others are read.
    newest, last = _open_newest(path)
    try:
        for number in range(volume + 1, last):
            place = volume_path(path, number)
            with open_volume(place) as stream:
                for at, line in lines_of(stream):
                    yield place, at, line
        if newest is not None and last > volume:
            for at, line in lines_of(newest):
                yield path, at, line
    finally:
        if newest is not None:
            newest.close()


def open_volume(place: Path) -> BinaryIO:
    """Open a volume before the newest. Raises RunError when it is missing, OSError."""
    try:
        return open_regular(place)
    except FileNotFoundError:
        raise RunError(
            f"{place} is missing, a volume of the run's journal: restore it from a copy"
        ) from None


def _open_newest(path: Path) -> tuple[BinaryIO | None, int]:
    """The newest file, None when it is missing, and the number of its volume."""
    before = volume_numbers(path)  # first: what is opened next may be one of them in a moment
    try:
        stream = open_regular(path)
    except FileNotFoundError:  # also between the two renames of Journal.turn
        return None, max(volume_numbers(path), default=0) + 1
    try:
        number = continued_from(stream.readline(4096)) or max(before, default=0) + 1
        stream.seek(0)
    except BaseException:
        stream.close()
        raise
    return stream, number


def continued_from(line: bytes) -> int:
    """The volume that this first line begins; 0 when it begins none."""
    try:
        first = msgspec.json.decode(line, type=_First)
    except (ValueError, RecursionError):
        return 0
    return max(0, first.volume) if first.event == "journal.continued" else 0
