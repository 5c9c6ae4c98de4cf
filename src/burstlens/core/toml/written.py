"""Values as TOML text, for files that Burstlens writes for people to edit."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDE = 100
"""Longer arrays get one line for each entry."""


def written(value: Any) -> str:
    """A value on the right of ``=``: text, number, truth, array or inline table.

    Raises TypeError for anything else.

    >>> written({"u": "U10", "levels": [1, 2.5]})
    '{ u = "U10", levels = [1, 2.5] }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON's escapes are TOML's; DEL must be escaped too.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {written(entry)}" for key, entry in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(written, value))}]"
    raise TypeError(f"TOML has no {type(value).__name__}")


def lines(table: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a table below its header, in its order."""
    for key, value in table.items():
        line = f"{_key(key)} = {written(value)}"
        if len(line) > _WIDE and isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{_key(key)} = ["
            yield from (f"  {written(entry)}," for entry in value)
            yield "]"
        else:
            yield line


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else written(str(key))
