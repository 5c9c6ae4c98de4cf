"""The records of a file whose times are not numbers or texts along a time: they are counted."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePath

from burstlens.core.valid_time import file_key


def counted_keys(path: str, first: int, end: int) -> list[str]:
    """The keys of the records ``first`` to ``end`` of a file that has a dimension of records and
    no times along it: the file's name and their number, from 0.

    >>> counted_keys("out/waves.nc", 2, 4)
    ['f-waves_record0000000002', 'f-waves_record0000000003']
    """
    stem = PurePath(path).stem
    return [file_key(f"{stem}_record{number}", "record") for number in range(first, end)]


def no_variable(name: str, names: Iterable[str]) -> str:
    """The message for a file without its time variable, with similar names."""
    known = list(names)
    near = get_close_matches(name, known, 3, 0.4) or known[:5]
    return f"it has no variable {name!r}" + (f" (near: {', '.join(near)})" if near else "")
