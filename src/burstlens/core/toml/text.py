"""A TOML file or text with all faults of its syntax, and the table of its valid part.

tomllib stops at the first fault. Here each statement (a header, or a key with its value) that it
refuses is reported and replaced by the nearest that it accepts, so that all other faults of the
table can be reported as well.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from burstlens.core.decode import too_deep as nested
from burstlens.core.errors import RecipeError
from burstlens.core.fault import Fault, KeyPath, Place
from burstlens.core.toml.faults import key_of, report
from burstlens.core.toml.places import DEEPEST, KEY, Places, places, statements, too_deep

MOST_BYTES = 1024**2
"""A larger file is not a recipe."""
LONGEST_STATEMENT = 400
"""The end of a statement is searched in at most this many lines."""
MOST_REPAIRS = 50

_STARTS = re.compile(rf"[ \t]*(?:\[\[?[ \t]*{KEY}[ \t]*(?:\]|$)|{KEY}[ \t]*=)")
_HEADER = re.compile(rf"[ \t]*(\[\[?)[ \t]*({KEY})")
_KEY = re.compile(rf"[ \t]*({KEY})[ \t]*(=?)[ \t]*")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_NO_END = "the value has no end: a closing bracket or quote is missing"
_COMMA = "a comma or the closing bracket is missing before this"
_QUOTE = "the closing quote is missing"
_QUOTED = re.compile(r"=[ \t]*([\"'])(?!\1\1)")
_ESCAPE = "a backslash in double quotes begins an escape; write it in single quotes"
_OPEN = (_NO_END, _COMMA, _QUOTE)
_DEEP = f"arrays and tables are nested more than {DEEPEST} deep"
_BLANK = re.compile(r"[ \t]*(?:#.*)?")


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """tomllib's message about one statement, with its line and column from 1."""

    message: str
    line: int
    column: int
    path: KeyPath | None = None
    """The path that the statement sets; None where that could not be read."""
    value: str | None = None
    """The value as written."""


@dataclass(slots=True)
class TomlText:
    """A text that was read: its table without the faulty parts, and the faults."""

    text: str
    table: dict[str, Any] = field(default_factory=dict)
    faults: list[SyntaxFault] = field(default_factory=list)
    incomplete: bool = False
    """Whether something is missing in the table, not only replaced."""
    _places: Places | None = None

    @property
    def places(self) -> Places:
        """The place of each value of the table; computed on first use."""
        if self._places is None:
            self._places = places(self.text)
        return self._places


def read_file(path: Path) -> TomlText:
    """The text of a file with its table. Raises RecipeError when it is not UTF-8, or too large."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RecipeError(f"cannot read {path}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise RecipeError(f"{path} is larger than {MOST_BYTES // 1024**2} MiB: not a recipe")
    try:
        return read_text(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        place = Place(path, line, column)
        message = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        fault = Fault((), message, None, place)
        raise RecipeError(f"{place.text()} is not TOML: {message}", (fault,)) from error


def syntax_faults(path: Path, text: TomlText, table: dict[str, Any]) -> Iterator[Fault]:
    """The faults of a file's syntax, each at its place and key."""
    for fault in text.faults:
        steps = fault.path or ()
        place = Place(path, fault.line, fault.column)
        yield Fault(steps, fault.message, fault.value, place, key_of(table, steps))


def parse(path: Path) -> dict[str, Any]:
    """The table in a TOML file. Raises RecipeError with all faults of its syntax."""
    text = read_file(path)
    if text.faults:
        faults = list(syntax_faults(path, text, text.table))
        first = f"{path} is not TOML: {faults[0].message} (line {text.faults[0].line})"
        raise RecipeError(
            first if len(faults) == 1 else report(f"{path} is not TOML: it", faults), faults
        )
    return text.table


def read_text(text: str) -> TomlText:
    """The table of ``text`` with all faults of its syntax."""
    deep = too_deep(text)
    if deep is not None:
        return TomlText("", faults=[SyntaxFault(_DEEP, *deep)], incomplete=True)
    try:
        made = TomlText(text, tomllib.loads(text))
    except (ValueError, RecursionError):
        made = _Repair(text.replace("\r\n", "\n").split("\n")).text()
    for key in [key for key, value in made.table.items() if nested(value, DEEPEST - 1)]:
        made.faults.append(SyntaxFault(_DEEP, *made.places[key,], path=(key,)))
        made.table.pop(key)
        made.incomplete = True
    _without_endless_numbers(made)
    return made


def _without_endless_numbers(made: TomlText) -> None:
    """Refuse integers beyond TOML's 64 bits, some of which Python cannot even print, and floats
    that are not finite: "1e999" is one, and no key means anything with them."""
    waiting: list[tuple[KeyPath, Any]] = [((), made.table)]
    while waiting:
        path, place = waiting.pop()
        for key, value in place.items() if isinstance(place, dict) else enumerate(place):
            if isinstance(value, dict | list):
                waiting.append(((*path, key), value))
            elif isinstance(value, int) and not -(2**63) <= value < 2**63:
                at = made.places[*path, key]
                said = "the number needs more than 64 bits"
                made.faults.append(SyntaxFault(said, *at, path=(*path, key), value="a number"))
                place[key] = 0
            elif isinstance(value, float) and not math.isfinite(value):
                at = made.places[*path, key]
                said = "not a finite number"
                made.faults.append(SyntaxFault(said, *at, path=(*path, key), value=str(value)))
                place[key] = 1.0


class _Repair:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.made = TomlText("")
        self.found: list[tuple[int, SyntaxFault]] = []
        """Each fault with the line, from 0, on which its statement begins."""

    def text(self) -> TomlText:
        """Repair each statement, then the faults of all of them together."""
        first = 0
        while first < len(self.lines):
            first = self._statement(first)
        paths = statements("\n".join(self.lines))
        self._without_repetitions()
        self.made.text = "\n".join(self.lines)
        self.made.faults = sorted(
            (replace(fault, path=paths.get(line + 1)) for line, fault in self.found),
            key=lambda fault: (fault.line, fault.column),
        )
        return self.made

    def _statement(self, first: int) -> int:
        """Check the statement that begins on this line; returns the line after it."""
        line = self.lines[first]
        if _BLANK.fullmatch(line):
            return first + 1
        fault = None
        for last in range(first + 1, min(first + LONGEST_STATEMENT, len(self.lines)) + 1):
            try:
                tomllib.loads("\n".join(self.lines[first:last]))
            except (ValueError, RecursionError) as error:
                message, row, column = _said(str(error))
            else:
                return last
            ended = row > 0
            if row > 1 and _STARTS.match(self.lines[last - 1]):
                message, row = _NO_END, 0  # tomllib reports it where the next statement begins
            at = (first + row, column) if row else (first + 1, len(line.rstrip()) + 1)
            fault = SyntaxFault(message, *at)
            if ended:
                break
        assert fault is not None
        last = first + 1
        if re.search(r"=[ \t]*\{[^}]*$", line):
            fault = replace(fault, message="an inline table stands on one line")
            while last < len(self.lines) and "}" not in self.lines[last - 1]:
                last += 1
        if fault.message in _OPEN and not _QUOTED.search(line):
            # The rest of a value that is cut short belongs to the statement.
            while last < len(self.lines) and not _STARTS.match(self.lines[last]):
                last += 1
        self.found.append((first, replace(fault, value=self._replace(first, last))))
        return last

    def _replace(self, first: int, last: int) -> str | None:
        """Replace a statement by its readable part; returns its value as written."""
        line = self.lines[first]
        header, key = _HEADER.match(line), _KEY.match(line)
        self.lines[first:last] = [""] * (last - first)
        if header is not None:
            self.lines[first] = f"{header[1]}{header[2]}{']' * len(header[1])}"
            return None
        if key is None or not key[2]:
            self.made.incomplete = True
            return line.strip()
        # A word without quotes is taken as a text; its fault is reported in any case.
        value = line[key.end() :].split("#")[0].strip()
        plain = re.sub(r"[\"'\\\x00-\x1f\x7f]", "", value)
        self.lines[first] = f'{key[1]} = "{plain}"'
        return value

    def _without_repetitions(self) -> None:
        """Take out statements that conflict with others, such as a key that is there twice."""
        for _ in range(MOST_REPAIRS):
            try:
                self.made.table = tomllib.loads("\n".join(self.lines))
            except (ValueError, RecursionError) as error:
                message, row, _ = _said(str(error))
                first = self._start(row or len(self.lines))
                column = len(self.lines[first]) - len(self.lines[first].lstrip()) + 1
                self.found.append((first, SyntaxFault(message, first + 1, column)))
                self._take_out(first)
            else:
                return
        self.lines, self.made.incomplete = [], True

    def _start(self, row: int) -> int:
        """The line on which the statement begins that ends on line ``row``, from 1."""
        first = min(row, len(self.lines)) - 1
        while first > 0 and not _STARTS.match(self.lines[first]):
            first -= 1
        return first

    def _take_out(self, first: int) -> None:
        header = _HEADER.match(self.lines[first])
        if header is not None and header[1] == "[":
            array = f"[[{header[2]}]]"
            if any(line.strip().startswith(array) for line in self.lines):
                self.lines[first] = array  # one pair of brackets is missing
                return
        self.lines[first] = ""
        last = first + 1
        while last < len(self.lines):
            begins = _STARTS.match(self.lines[last])
            if begins and (header is None or _HEADER.match(self.lines[last])):
                break
            self.lines[last] = ""
            last += 1
        self.made.incomplete = self.made.incomplete or header is not None


def _said(message: str) -> tuple[str, int, int]:
    """tomllib's message without its place, the line and the column; line 0 at the end."""
    place = _PLACE.search(message)
    if place is None:
        return _in_words(message), 0, 0
    line, column = (int(place[1]), int(place[2])) if place[1] else (0, 0)
    return _in_words(message[: place.start()]), line, column


_WORDS = {
    "Invalid value": "not a TOML value; a text stands in quotes",
    "Cannot overwrite a value": "the key is given twice in this table",
    "Illegal character '\\n'": _QUOTE,
    "Unclosed array": _COMMA,
    "Unclosed inline table": _COMMA,
    "Unterminated string": _QUOTE,
    'Expected "\'"': _QUOTE,
    "Expected \"'''\"": _QUOTE,
    "Unescaped '\\' in a string": _ESCAPE,
    "Expected newline or end of document after a statement": "unexpected text after the value",
    "Invalid statement": "neither a [table] nor a key = value",
}


def _in_words(message: str) -> str:
    twice = re.fullmatch(r"Cannot declare \((.*?),?\) twice", message)
    if twice:
        name = ".".join(re.findall(r"'([^']*)'", twice[1]))
        return f"the table [{name}] is given twice"
    return _WORDS.get(message, message[:1].lower() + message[1:].split(";")[0])
