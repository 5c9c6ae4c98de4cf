"""A reader of Fortran namelists for the few settings that are needed.

It never fails: it leaves out what it does not understand. It reads at most 1 MiB, and supports
comments, repeat counts (``3*60``), quoted text, logicals and numbers; of arrays given by index
only ``name(1) = ...``. (f90nml writes namelists too, and raises on odd ones.)
"""

from __future__ import annotations

import re
from pathlib import Path

Value = str | bool | int | float
Namelist = dict[str, list[Value]]
"""Lower-case names, of all groups, with their values in order."""

MAX_BYTES = 1 << 20
_TOKEN = re.compile(
    r"""(?P<comment>![^\n]*) | '(?P<single>[^']*)' | "(?P<double>[^"]*)"
    | (?P<name>[A-Za-z]\w*)\s*(?:\(\s*[\d:,\s]+\))?\s*= | (?P<word>[^\s,=/'"!]+)""",
    re.VERBOSE,
)
_REPEAT = re.compile(r"(\d{1,4})\*(.*)")


def read(path: Path) -> Namelist:
    """The settings in a namelist file, empty when it is missing or not readable."""
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    return parse(text)


def parse(text: str) -> Namelist:
    """The settings in that text.

    >>> parse("&time_control  run_hours = 2, restart = .false. /")
    {'run_hours': [2], 'restart': [False]}
    """
    found: Namelist = {}
    values: list[Value] = []
    repeat = 1
    for token in _TOKEN.finditer(text):
        if token["comment"]:
            continue
        if token["name"]:
            values = found.setdefault(token["name"].lower(), [])
            values.clear()
            continue
        quoted = token["single"] if token["single"] is not None else token["double"]
        if quoted is not None:
            values.extend([quoted.strip()] * repeat)
            repeat = 1
            continue
        word = token["word"]
        match = _REPEAT.fullmatch(word)
        repeat, word = (int(match[1]), match[2]) if match else (1, word)
        if word and not word.startswith("&"):
            values.extend([_value(word)] * repeat)
            repeat = 1
    return found


def _value(word: str) -> Value:
    low = word.lower()
    if low.startswith((".t", ".f")) or low in ("t", "f", "true", "false"):
        return low.lstrip(".").startswith("t")
    for kind in (int, float):
        try:
            return kind(low.replace("d", "e") if kind is float else low)
        except ValueError:
            continue
    return word


def first(settings: Namelist, name: str, default: Value) -> Value:
    """The first value of that setting, or the default where it is absent."""
    values = settings.get(name)
    return values[0] if values else default


def number(settings: Namelist, name: str, index: int = 0, default: float = 0.0) -> float:
    """A numeric setting of domain ``index``; beyond the end of the list, its last value."""
    values = [value for value in settings.get(name, []) if isinstance(value, int | float)]
    return float(values[min(index, len(values) - 1)]) if values else default


def flag(settings: Namelist, name: str) -> bool:
    """A logical setting, false where it is absent."""
    return first(settings, name, False) is True
