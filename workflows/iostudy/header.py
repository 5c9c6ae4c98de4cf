"""The header of a netCDF file (CDF-5) whose data the program writes, so that frames can be read."""

from __future__ import annotations

import math
import struct

from burstlens.workflows.iostudy.profile import WORD, Profile

_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_CHAR, _INT = 2, 4
_NAMES = ("z", "y", "x")


def header(profile: Profile, ranks: int) -> bytes:
    """The bytes before the data of one file, up to a multiple of ``profile.align``.

    As the CDF-5 specification (PnetCDF project) lays them out: variables of 4-byte integers, one
    after the other, in the order of their numbers.
    """
    lengths = profile.dimensions(ranks)
    begin = profile.align
    while len(_head(profile, lengths, begin)) > begin:
        begin += profile.align
    return _head(profile, lengths, begin).ljust(begin, b"\0")


def _head(profile: Profile, lengths: tuple[int, ...], begin: int) -> bytes:
    last = ["word"] if profile.pattern == "segments" or profile.words > 1 else []
    names = [*_NAMES[len(_NAMES) - len(lengths) + len(last) :], *last]
    size = WORD * math.prod(lengths)
    parts = [b"CDF\x05", struct.pack(">q", 0), _list(_DIMENSIONS, len(lengths))]
    for name, length in zip(names, lengths, strict=True):
        parts += [_name(name), struct.pack(">q", length)]
    parts += [_list(_ATTRIBUTES, 1), _name("title"), _text(profile.title)]
    parts.append(_list(_VARIABLES, profile.variables))
    for number in range(profile.variables):
        parts += [_name(f"v{number:02d}"), struct.pack(">q", len(lengths))]
        parts += [struct.pack(">q", index) for index in range(len(lengths))]
        parts += [_list(0, 0), struct.pack(">iqq", _INT, size, begin + number * size)]
    return b"".join(parts)


def _list(tag: int, count: int) -> bytes:
    return struct.pack(">iq", tag, count)


def _name(name: str) -> bytes:
    return struct.pack(">q", len(name)) + _padded(name.encode())


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack(">iq", _CHAR, len(raw)) + _padded(raw)


def _padded(raw: bytes) -> bytes:
    return raw + b"\0" * (-len(raw) % 4)
