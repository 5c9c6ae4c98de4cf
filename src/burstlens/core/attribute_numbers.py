"""Numbers of an attribute of a file, also where they are text: ``"0.01"``, ``"-9999.f"``.

Text has the suffixes of CDL (``netCDF``: ``-9999.f``, ``-32767s``, ``255ub``) and C, and Fortran's
exponent (``1.0D20``). Needs no other package; numpy's values are read too.
"""

from __future__ import annotations

import re
from typing import Any

_INTEGER = re.compile(r"([-+]?\d+)(?:u?(?:b|s|ll?)|u)?", re.IGNORECASE)
_REAL = re.compile(
    r"([-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[ed][-+]?\d+)?|nan|inf|infinity))[fdl]?", re.IGNORECASE
)


def read_numbers(given: Any) -> list[float]:
    """The numbers of an attribute: whole ones as integers. Empty where it has none, or a text of
    something else too.

    >>> read_numbers("-9999.f"), read_numbers("1, 2"), read_numbers([0.5, 1]), read_numbers("2 K")
    ([-9999.0], [1, 2], [0.5, 1], [])
    """
    plain = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(plain, bytes):
        plain = plain.decode("latin-1")
    if isinstance(plain, str):
        found = [_number(word) for word in plain.strip("\0 \"'").replace(",", " ").split()]
        return [] if None in found else [one for one in found if one is not None]
    if isinstance(plain, list | tuple):
        return [number for one in plain for number in read_numbers(one)]
    return [plain] if isinstance(plain, int | float) and not isinstance(plain, bool) else []


def _number(word: str) -> float | None:
    if whole := _INTEGER.fullmatch(word):
        return int(whole[1])
    real = _REAL.fullmatch(word)
    return float(real[1].lower().replace("d", "e")) if real else None
