"""Stored numbers as the values that they stand for: packed ones, unsigned ones, missing ones.

CF conventions 1.11, sections 8.1 (packed data) and 2.5.1 (missing data); netCDF's user guide,
"Best practices" (``_Unsigned``) and ``netcdf.h`` (what unwritten values are).

Numbers of an attribute may be text, such as ``"0.01"``, with the suffixes of CDL (``netCDF``:
``-9999.f``, ``-32767s``, ``255ub``) and C, and Fortran's exponent (``1.0D20``). Needs no other
package; numpy's values are read too.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_INTEGER = re.compile(r"([-+]?\d+)(?:u?(?:b|s|ll?)|u)?", re.IGNORECASE)
_REAL = re.compile(
    r"([-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[ed][-+]?\d+)?|nan|inf|infinity))[fdl]?", re.IGNORECASE
)
_FILLS: dict[str, float] = {
    "h": -32767,
    "H": 65535,
    "i": -2147483647,
    "I": 4294967295,
    "q": -9223372036854775806,
    "Q": 18446744073709551614,
    "f": 9.969209968386869e36,
    "d": 9.969209968386869e36,
}
"""What netCDF fills variables with that have no ``_FillValue``, by type. Bytes have none."""
_LARGEST_IN_4_BYTES = 3.4028234e38


@dataclass(frozen=True, slots=True)
class Packing:
    """How the numbers of a variable are stored: ``scale`` and ``offset`` make values of them.

    ``missing`` are stored numbers that are no values; ``wrap`` is added to negative ones, as of
    unsigned numbers in a file that has none. ``is_integer``: whole numbers are stored;
    ``is_single``: floating-point ones of 4 bytes.
    """

    scale: float = 1.0
    offset: float = 0.0
    missing: frozenset[float] = frozenset()
    wrap: int = 0
    is_integer: bool = False
    is_single: bool = False

    @property
    def is_packed(self) -> bool:
        """Whether the stored numbers are not the values."""
        return self.scale != 1.0 or self.offset != 0.0

    @property
    def step(self) -> float:
        """The distance of neighbouring values where packing has rounded them, else 0. A step that
        people chose, such as 0.25 or 6, rounds nothing."""
        rounds = self.is_integer and float(f"{self.scale:.6g}") != self.scale
        return abs(self.scale) if rounds else 0.0

    def value(self, stored: float) -> float | None:
        """The value of a stored number, an integer where nothing is packed; None if missing."""
        if stored in self.missing:
            return None
        if self.wrap and stored < 0:
            stored += self.wrap
        return stored * self.scale + self.offset if self.is_packed else stored


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


def read_packing(attributes: Mapping[str, Any], code: str) -> Packing:
    """The packing by a variable's attributes; ``code`` is the ``struct`` letter of its type."""
    missing = [
        one for key in ("_FillValue", "missing_value") for one in read_numbers(attributes.get(key))
    ]
    if code == "f":  # numbers of 8 bytes and text say it with more digits than 4 bytes keep
        fitting = [one for one in missing if abs(one) < _LARGEST_IN_4_BYTES]
        missing += [struct.unpack("f", struct.pack("f", one))[0] for one in fitting]
    if "_FillValue" not in attributes and code in _FILLS:
        missing.append(_FILLS[code])
    if code == "q":
        missing.append(-(1 << 63))  # numpy's and pandas' "not a time", which xarray writes
    is_unsigned = str(attributes.get("_Unsigned", "")).strip().lower() == "true"
    return Packing(
        next(iter(read_numbers(attributes.get("scale_factor"))), 1.0),
        next(iter(read_numbers(attributes.get("add_offset"))), 0.0),
        frozenset(missing),
        1 << 8 * struct.calcsize(code) if is_unsigned and code in "bhiq" else 0,
        code not in "fd",
        code == "f",
    )
