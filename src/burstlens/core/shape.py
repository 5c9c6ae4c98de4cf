"""The required shape of JSON values of a run directory, and messages for wrong ones.

A shape is a type (``str``, ``bool``, ``int`` for a count or a size, ``float`` for any finite
number, ``dict``, ``list``), a dict of shapes by key, a list with the shape of its entries (given
n times, n > 1: exactly n entries), or one of :data:`CLOCK`, :class:`Each` and :class:`Either`. A
key that ends in ``?`` may be missing or null. Keys that a shape does not name are allowed: a newer
version may write more.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

MOST: dict[Any, float] = {int: 2.0**63, float: sys.float_info.max, "clock": 1e11}
"""The largest size in bytes, finite number and Unix second (calendars end there); NaN fails."""
CLOCK = "clock"
"""A moment in Unix seconds."""
DEEPEST = 32
"""Deeper nesting is damage, and would cause a RecursionError in later readers."""

Shape = Any


@dataclass(frozen=True, slots=True)
class Each:
    """An object with any keys, whose values all have this shape."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class Either:
    """A value of one of these shapes; None stands for null."""

    shapes: tuple[Shape, ...]


_NAMES: dict[Any, str] = {
    str: "a text", bool: "true or false", int: "a whole number", float: "a number",
    dict: "an object", list: "a list", type(None): "null", "clock": "a number",
}  # fmt: skip


def fault(value: object, shape: Shape, name: str = "") -> str:
    """The first part of ``value`` that does not fit ``shape``, as text; empty when all of it fits.

    >>> fault({"frames": {"ready": "3"}}, {"frames": {"ready": int}})
    '"frames.ready" is a text, not a whole number'
    >>> fault({}, {"title": str})
    '"title" is missing'
    """
    if isinstance(shape, dict):
        return _kind(value, dict, name) or _members(value, shape, name)
    if isinstance(shape, list):
        return _kind(value, list, name) or _listed(value, shape, name)
    if isinstance(shape, Each):
        return _kind(value, dict, name) or _entries(value.items(), shape.shape, name)  # type: ignore[attr-defined]
    if isinstance(shape, Either):
        wrong = [fault(value, one, name) for one in shape.shapes]
        return "" if "" in wrong else wrong[0]
    return _kind(value, type(None) if shape is None else shape, name)


def too_deep(value: object, levels: int = DEEPEST) -> bool:
    """Whether lists and objects in ``value`` are nested deeper than any that Burstlens writes."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(too_deep(one, levels - 1) for one in inner)


def _members(value: Any, shape: dict[str, Shape], name: str) -> str:
    for key, inner in shape.items():
        plain = key.removesuffix("?")
        full = f"{name}.{plain}" if name else plain
        if key != plain and value.get(plain) is None:
            continue
        if plain not in value:
            return f'"{full}" is missing'
        if wrong := fault(value[plain], inner, full):
            return wrong
    return ""


def _listed(value: Any, shape: list[Shape], name: str) -> str:
    if len(shape) > 1 and len(value) != len(shape):
        return f"{_quoted(name)} has {len(value)} entries, not {len(shape)}"
    return _entries(enumerate(value), shape[0], name)


def _entries(entries: Any, shape: Shape, name: str) -> str:
    for key, one in entries:
        if wrong := fault(one, shape, f"{name}.{key}"):
            return wrong
    return ""


def _kind(value: object, kind: Any, name: str) -> str:
    known = type(value)
    if known is kind and kind is not int and kind is not float:
        return ""
    if known is int or (known is float and kind in (float, CLOCK)):
        most = MOST.get(kind)
        if most is not None:
            fits = -most <= value <= most  # type: ignore[operator]
            return "" if fits else f"{_quoted(name)} is out of range"
    return f"{_quoted(name)} is {_NAMES.get(known, known.__name__)}, not {_NAMES[kind]}"


def _quoted(name: str) -> str:
    return f'"{name[:80]}"' if name else "it"
