"""JSON of a run directory as frozen types, and messages for values that do not fit.

The types are msgspec structs: unknown keys are skipped, as a newer version may write more.
"""

from __future__ import annotations

import functools
import json
import re
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

Clock = Annotated[float, Meta(ge=-1e11, le=1e11, description="Unix seconds, UTC")]
"""A moment in Unix seconds; calendars end before 1e11."""
Count = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""A count or a size in bytes."""
Limits = tuple[float, float]
"""Colour limits: the lower one, the upper one."""

DEEPEST = 32
"""Deeper nesting is damage, and would cause a RecursionError in later readers."""

_EXPECTED = re.compile(r"Expected `(?P<kind>[^`]*)`(?P<more>.*)")
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]*)`")
_LENGTH = re.compile(r" of length (\d+), got (\d+)")
_PLACE = re.compile(r" - at `\$\.?(?P<place>.*)`$")
_NAMES = {
    "str": "a text", "bool": "true or false", "int": "a whole number", "float": "a number",
    "object": "an object", "array": "a list", "null": "null",
}  # fmt: skip

T = TypeVar("T", bound=Struct)


def record(value: Struct) -> dict[str, Any]:
    """The struct as plain JSON values."""
    plain: dict[str, Any] = msgspec.to_builtins(value)
    return plain


def convert(value: object, kind: type[T]) -> T:
    """JSON values as that type. Raises ValueError with a message that names the key."""
    if too_deep(value):
        raise ValueError("it is nested too deep")
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ValueError(reason(error)) from None


def loads(text: bytes | str) -> Any:
    """The JSON value, also with NaN and half surrogates, which json.dumps writes and strict readers
    refuse. Raises ValueError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None


def too_deep(value: object, levels: int = DEEPEST) -> bool:
    """Whether lists and objects in ``value`` are nested deeper than any that Burstlens writes."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(too_deep(one, levels - 1) for one in inner)


def reason(error: msgspec.ValidationError) -> str:
    """Which key does not fit, and why.

    >>> class Frames(Struct):
    ...     ready: int
    >>> convert({"ready": "3"}, Frames)
    Traceback (most recent call last):
    ValueError: "ready" is a text, not a whole number
    >>> convert({}, Frames)
    Traceback (most recent call last):
    ValueError: "ready" is missing
    """
    text = str(error)
    found = _PLACE.search(text)
    place = found["place"] if found else ""
    text = text.removesuffix(found[0]) if found else text
    if missing := _MISSING.fullmatch(text):
        return f"{_quoted('.'.join(filter(None, (place, missing['name']))))} is missing"
    if "out of range" in text:
        return f"{_quoted(place)} is out of range"
    if expected := _EXPECTED.fullmatch(text):
        kinds = (one for one in expected["kind"].split(" | ") if one != "null")
        kind = " or ".join(_NAMES.get(one, one) for one in kinds)
        got = expected["more"].rpartition("got ")[2].strip("`")
        if got in _NAMES:
            return f"{_quoted(place)} is {_NAMES[got]}, not {kind}"
        if length := _LENGTH.match(expected["more"]):
            return f"{_quoted(place)} has {length[2]} entries, not {length[1]}"
        return f"{_quoted(place)} is {'out of range' if expected['more'] else f'not {kind}'}"
    return f"{_quoted(place)}: {text[:200]}"


def _quoted(name: str) -> str:
    return f'"{name[:80]}"' if name else "it"


@functools.cache
def decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """A reader of JSON text of that type, or of one of a union of tagged types."""
    return msgspec.json.Decoder(kind)
