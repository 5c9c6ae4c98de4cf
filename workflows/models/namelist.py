"""A reader of Fortran namelists for the few settings that are needed.

It never fails: it leaves out what it does not understand, and says in words what is broken. It
reads at most 1 MiB. f90nml reads the same (its texts are in the tests); it is not used because it
raises without a message on an open quote, gives up a file at its first fault, and allocates
whatever a repeat count asks for.

Rules: Fortran 2018, 13.11 (groups, indices, repeat counts, null values, comments), with ``$`` and
``&end`` of older compilers. Text outside of groups is no setting. Of groups of the same name the
first one counts, as in a program that reads each from the start of the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from burstlens.core.printable import printable

Value = str | bool | int | float
Namelist = dict[str, list[Value | None]]
"""Lower-case names, of all groups, with their values in order; None where none was given."""

MAX_BYTES = 1 << 20
MOST_VALUES = 10_000
"""Of one setting, and as a repeat count."""
_MOST_OF_ALL, _MOST_FAULTS = 200_000, 20
_BEGIN = re.compile(r"^[ \t\ufeff]*[&$](?P<group>[A-Za-z]\w*)", re.MULTILINE)
_NEXT = re.compile(r"[ \t]*[&$](?P<group>[A-Za-z]\w*)")
_TOKEN = re.compile(
    r"""(?P<blank>[\s\0]+) | (?P<comment>![^\n]*) | (?P<comma>,)
    | (?P<count>\d{1,9})\*(?=['"]) | '(?P<single>(?:[^']|'')*)' | "(?P<double>(?:[^"]|"")*)"
    | (?P<open>['"])[^\n]* | (?P<end>/|[&$]end\b) | [&$](?P<group>[a-z]\w*)
    | (?P<name>[a-z]\w*) \s{0,9} (?:\((?P<index>[^()=\n]{0,80})\))?
      (?P<part>(?:\s{0,9}%\s{0,9}\w+(?:\([^()=\n]{0,80}\))?){0,9}) \s{0,40} =
    | (?P<word>[^\s,=/'"!&$]+) | (?P<other>.)""",
    re.VERBOSE | re.IGNORECASE,
)
_REPEAT = re.compile(r"(\d{1,9})\*(.*)", re.DOTALL)
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_REAL = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[edq]([+-]?\d{1,3})|([+-]\d{1,3}))?", re.I)
_INDEX = re.compile(r"\s*\+?(\d{1,9})\s*(?::\s*\d*\s*)?")
_OPEN = "a text begins here and has no closing quote"


@dataclass(frozen=True, slots=True)
class NamelistContents:
    """The settings of all groups that were asked for, and what is broken there, with its line."""

    settings: Namelist
    faults: list[str]


def read(path: Path, groups: Collection[str] | None = None) -> NamelistContents:
    """The settings in a namelist file, none when it is missing or not readable. ``groups`` are
    those that the program reads, in lower case; None: all."""
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        text = ""
    return parse(text, groups)


def parse(text: str, groups: Collection[str] | None = None) -> NamelistContents:
    """The settings in that text.

    >>> parse("&time_control  run_hours = 2, restart = .false. /").settings
    {'run_hours': [2], 'restart': [False]}
    """
    found = NamelistContents({}, [])
    for group in groups_in(text):
        if groups is None or group.name in groups:
            found.settings.update(group.settings)
            for position, fault in group.faults[: _MOST_FAULTS - len(found.faults)]:
                line = text.count("\n", 0, position) + 1
                found.faults.append(f"line {line}: {fault}")
    return found


def groups_in(text: str) -> Iterator[Group]:
    """The groups of a text in order; of those of the same name the first."""
    known = {"end"}
    begin = _BEGIN.search(text)
    while begin is not None:
        group = Group(begin["group"].lower(), begin.end())
        end = begin.end() if group.name == "end" else group.read(text, begin.end())
        if group.name not in known:
            known.add(group.name)
            yield group
        begin = _NEXT.match(text, end) or _BEGIN.search(text, end)


@dataclass(frozen=True, slots=True)
class ValueText:
    """Where the text of a value is, ``start`` to ``end``. It gives ``count`` values of its setting,
    from that with the number ``first`` (from 0) on. Where a null value has no text, both positions
    are that of the comma behind it."""

    start: int
    end: int
    first: int
    count: int


@dataclass(slots=True)
class Assignment:
    """``name(index) = values`` in the text: the name begins at ``start``, ``equals`` is behind the
    ``=``. ``has_places``: the index, if any, is one that values are counted from."""

    name: str
    start: int
    equals: int
    index: str | None
    has_places: bool
    texts: list[ValueText] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """One group: the setting that values are read for, and where the next of them goes.

    ``begin`` is the position behind its name, ``end`` that of the ``/``, None where it has none.
    """

    name: str
    begin: int
    end: int | None = None
    settings: Namelist = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)
    """Positions in the text, and what is broken there."""
    assignments: list[Assignment] = field(default_factory=list)
    _name: str = ""
    """"": no setting has begun."""
    _next: int | None = 0
    """None: an index of several dimensions, or one below 1, which no reader needs."""
    _is_bare: bool = False
    """Whether nothing has come since the last comma or equals sign."""
    _left: int = _MOST_OF_ALL

    def read(self, text: str, begin: int) -> int:
        """Read it up to its end, and give the position behind that."""
        at, repeated = begin, None
        while at < len(text) and (token := _TOKEN.match(text, at)):
            kind, start, at = token.lastgroup, at, token.end()
            (count, where), repeated, fault = repeated or (1, start), None, ""
            if token["name"]:
                name = (token["name"] + token["part"]).lower()
                self._begin(name, token["index"], start, at)
            elif kind == "end":
                if token["end"] == "/" and self._is_bare and text[at : at + 1].isalnum():
                    fault = f"{self._name} ends at an unquoted /: put the text in quotes"
                self._note(start, fault)
                self.end = start
                return at
            elif kind == "group":
                self._note(start, "the group before it does not end with /")
                return start
            elif kind == "count":
                repeated = int(token["count"]), start
            elif kind in ("single", "double"):
                quote, inside = text[start], token[kind]
                if "\n" in inside and "=" in inside:  # it ends at the quote of another setting
                    fault, inside = _OPEN, inside[: inside.index("\n")]
                    at = start + 1 + len(inside)
                self._put([inside.replace(2 * quote, quote).strip()], count, where, at)
            elif kind == "open":
                fault = _OPEN
                self._put([token[0][1:].strip()], count, where, at)
            elif kind == "word":
                fault = self._put_word(token["word"], start, at)
            elif kind == "comma":
                if self._is_bare:
                    self._put([None], 1, start, start)
                self._is_bare = True
            elif kind == "other":
                fault = f"{printable(token['other'])!r} is out of place"
            self._note(start, fault)
        self._note(begin, "this group does not end with /")
        return len(text)

    def _note(self, position: int, fault: str) -> None:
        if fault and len(self.faults) < _MOST_FAULTS:
            self.faults.append((position, fault))

    def _begin(self, name: str, index: str | None, start: int, equals: int) -> None:
        """The values that follow are those of a setting, from an index on (None: the first)."""
        first = _INDEX.fullmatch(index) if index is not None else None
        self._name, self._is_bare = name, True
        self._next = 0 if index is None else int(first[1]) - 1 if first and int(first[1]) else None
        self.settings.setdefault(name, [])
        self.assignments.append(Assignment(name, start, equals, index, self._next is not None))

    def _put_word(self, word: str, start: int, end: int) -> str:
        """Add an unquoted value, perhaps with a repeat count; gives the fault in words."""
        if not self._name:
            return f"{printable(word)[:40]!r} is no setting: there is no = behind it"
        match = _REPEAT.fullmatch(word)
        if match is None:
            self._put([_value(word)], 1, start, end)
            return ""
        count = int(match[1])
        value = _value(match[2]) if match[2] else None
        self._put([value], min(count, MOST_VALUES), start, end)
        return f"{self._name} has {count} values" if count > MOST_VALUES else ""

    def _put(self, value: list[Value | None], count: int, start: int, end: int) -> None:
        """Add a value so many times, up to MOST_VALUES of a setting."""
        self._is_bare = False
        if self._next is None or not self._name:
            return
        values, first = self.settings[self._name], self._next
        count = max(0, min(count, MOST_VALUES - first, self._left))
        self._next = first + count
        if count:
            gap = max(0, first - len(values))
            self._left -= count + gap
            values += [None] * gap
            values[first : first + count] = value * count
            self.assignments[-1].texts.append(ValueText(start, end, first, count))


def _value(word: str) -> Value:
    """A logical, a number, else the word."""
    low = word.lower()
    if low.startswith((".t", ".f")) or low in ("t", "f", "true", "false"):
        return low.lstrip(".").startswith("t")
    if _INTEGER.fullmatch(word):
        return int(word)
    if (real := _REAL.fullmatch(word)) and isfinite(
        number := float(f"{real[1]}e{real[2] or real[3] or 0}")
    ):
        return number
    return word


def first(settings: Namelist, name: str, default: Value) -> Value:
    """The first value of that setting, or the default where it is absent."""
    values = settings.get(name) or [None]
    return default if values[0] is None else values[0]


def number(settings: Namelist, name: str, index: int = 0, default: float = 0.0) -> float:
    """A numeric setting of domain ``index``; beyond the end of the list, its last value."""
    values = settings.get(name) or [None]
    value = values[min(index, len(values) - 1)]
    return float(value) if isinstance(value, int | float) else default


def flag(settings: Namelist, name: str) -> bool:
    """A logical setting, false where it is absent."""
    return first(settings, name, False) is True
