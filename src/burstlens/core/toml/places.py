"""The place of each value in a TOML text, which tomllib does not give."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from itertools import count

from burstlens.core.fault import KeyPath

DEEPEST = 32
"""Tables and arrays that are nested deeper are refused: no recipe needs them, and code that walks
through them would raise a RecursionError."""

_STRING = (
    r'"""(?:\\[\s\S]|(?!""")[^\\])*""""{0,2}'
    r"|'''(?:(?!''')[\s\S])*''''{0,2}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
)
_KEY_PART = r'(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
KEY = rf"{_KEY_PART}(?:[ \t]*\.[ \t]*{_KEY_PART})*"
"""A key of one or more parts, as a regular expression."""
_PART = re.compile(_KEY_PART)
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_HEADER = re.compile(rf"(\[\[?)[ \t]*({KEY})[ \t]*\]\]?")
_ASSIGNED = re.compile(rf"({KEY})[ \t]*=[ \t]*")
_SCALAR = re.compile(rf"{_STRING}|[^\s,\]}}#]+(?: \d[^\s,\]}}#]*)?")
_BRACKETS = re.compile(rf"{_STRING}|#[^\n]*|([\[{{])|([\]}}])")

Places = dict[KeyPath, tuple[int, int]]
"""Line and column, from 1: of a table's header, a value's key, or a value in an array."""


def places(text: str) -> Places:
    """The place of each table, key and array entry in ``text``, which tomllib has accepted. An
    entry of an array of tables is found by its index: ``("product", 0, "name")``."""
    return _Scanner(text).places()


def statements(text: str) -> dict[int, KeyPath]:
    """The path that each statement of ``text`` sets (a header's table or a key), by its line. The
    statements need not be consistent: a key may be there twice."""
    scanner = _Scanner(text)
    scanner.places()
    return scanner.lines


def too_deep(text: str) -> tuple[int, int] | None:
    """Line and column of the first bracket that is nested deeper than ``DEEPEST``."""
    depth = 0
    for found in _BRACKETS.finditer(text):
        if found[1]:
            depth += 1
            if depth > DEEPEST:
                before = text[: found.start()]
                return before.count("\n") + 1, found.start() - before.rfind("\n")
        elif found[2]:
            depth = max(0, depth - 1)
    return None


def parts(key: str) -> tuple[str, ...]:
    """The parts of a key: ``a."b.c"`` has two."""
    return tuple(_plain(part) for part in _PART.findall(key))


def _plain(part: str) -> str:
    if part[0] == '"':
        return next(iter(tomllib.loads(f"{part} = 0")))
    return part[1:-1] if part[0] == "'" else part


class _Scanner:
    """Scans a text once, with a stack instead of recursion."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.found: Places = {}
        self.last: dict[KeyPath, int] = {}
        """The index of the newest entry of each array of tables."""
        self.lines: dict[int, KeyPath] = {}

    def places(self) -> Places:
        table: KeyPath = ()
        while self._skip():
            header = _HEADER.match(self.text, self.at)
            if header:
                path = table = self._table(header)
            else:
                found = self._key(table)
                if found is None:
                    break
                path = found
            self.lines.setdefault(self._line(self.at), path)
            if header:
                self.at = header.end()
            else:
                self._value(path)
        return self.found

    def _skip(self) -> bool:
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        return self.at < len(self.text)

    def _table(self, header: re.Match[str]) -> KeyPath:
        *above, name = parts(header[2])
        path: KeyPath = ()
        for step in above:
            path = self._inside((*path, step))
            self._note(path, header.start())
        path = (*path, name)
        if header[1] == "[[":
            self._note(path, header.start())
            self.last[path] = self.last.get(path, -1) + 1
            path = self._inside(path)
        self._note(path, header.start())
        return path

    def _inside(self, path: KeyPath) -> KeyPath:
        return (*path, self.last[path]) if path in self.last else path

    def _key(self, table: KeyPath) -> KeyPath | None:
        assigned = _ASSIGNED.match(self.text, self.at)
        if assigned is None:
            return None
        path = table
        for step in parts(assigned[1]):
            path = (*path, step)
            self._note(path, self.at)
        self.at = assigned.end()
        return path

    def _value(self, path: KeyPath) -> None:
        """Skip a value, noting the places in its arrays and inline tables."""
        waiting: list[tuple[KeyPath, Iterator[int] | None]] = []
        here: KeyPath | None = path
        while True:
            if here is not None:
                opened = self.text[self.at : self.at + 1]
                if opened in ("[", "{"):
                    self.at += 1
                    waiting.append((here, count() if opened == "[" else None))
                else:
                    scalar = _SCALAR.match(self.text, self.at)
                    self.at = scalar.end() if scalar else len(self.text)
                here = None
            if not waiting:
                return
            here = self._next(*waiting[-1])
            if here is None:
                waiting.pop()

    def _next(self, path: KeyPath, numbers: Iterator[int] | None) -> KeyPath | None:
        """The path of the next value of an array or inline table; None at its end."""
        while self._skip() and self.text[self.at] == ",":
            self.at += 1
        if self.at >= len(self.text) or self.text[self.at] in "]}":
            self.at += 1
            return None
        if numbers is None:
            return self._key(path)
        inner = (*path, next(numbers))
        self._note(inner, self.at)
        return inner

    def _note(self, path: KeyPath, at: int) -> None:
        if path not in self.found:
            number = self._line(at)
            self.found[path] = number, at - self.starts[number - 1] + 1

    def _line(self, at: int) -> int:
        return bisect_right(self.starts, at)
