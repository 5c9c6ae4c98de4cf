"""Patterns of file names: globs in which ``{name}`` stands for a text that other patterns share.

``atmf{hour}.nc`` and ``log.atm.f{hour}`` are a frame and its flag: the text of ``{hour}`` in one
name is that in the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from functools import lru_cache
from pathlib import PurePosixPath

TEXT = "[A-Za-z0-9._-]+"
"""What a placeholder stands for."""
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_WILD = re.compile(r"[*?[]")


class PatternError(ValueError):
    """The pattern is not valid; the message says why."""


class NamePattern:
    """One pattern, compiled. Only the file's name may have wildcards (``*``, ``?``, ``[...]``).

    ``names`` are its placeholders, ``glob`` matches at least the same names.
    Raises :class:`PatternError`.
    """

    def __init__(self, text: str) -> None:
        path = PurePosixPath(text)
        self.path, self.folder = str(path), "" if path.parent.name == "" else str(path.parent)
        if path.is_absolute() or ".." in path.parts or re.search(r"[*?[{}]", self.folder):
            raise PatternError(f"{text!r} must be relative, with its wildcards in the file's name")
        pieces = _PLACE.split(path.name)
        literal, places = pieces[::2], pieces[1::2]
        if any("{" in piece or "}" in piece for piece in literal):
            raise PatternError(
                f"{text!r}: braces must hold a name of letters, digits and '_', as in {{hour}}"
            )
        self.names = frozenset(places)
        self.is_wild = any(_WILD.search(piece) for piece in literal)
        self.glob = _PLACE.sub("*", self.path)
        self._regex = re.compile(_regex(literal, places))
        start = _WILD.split(literal[0])[0]
        end = re.split(r"[*?\]]", literal[-1])[-1] if self.names or self.is_wild else ""
        self._varies = slice(len(start), -len(end) or None)

    def match(self, name: str) -> re.Match[str] | None:
        """The match of a name relative to the model's folder, with the placeholders as groups."""
        folder, _, file = name.rpartition("/")
        return self._regex.fullmatch(file) if folder == self.folder else None

    def varying(self, name: str) -> str:
        """The part of a matching name that the pattern leaves open; empty if it leaves nothing."""
        return name.rpartition("/")[2][self._varies]

    def filled(self, texts: Mapping[str, str]) -> str:
        """The name with these texts for its placeholders."""
        return _PLACE.sub(lambda place: texts[place[1]], self.path)


def _regex(literal: list[str], places: list[str]) -> str:
    """The pieces of a glob, with its placeholders between them, as a regular expression."""
    parts = [_translated(literal[0])]
    for index, name in enumerate(places):
        again = name in places[:index]
        parts.append(f"(?P={name})" if again else f"(?P<{name}>{TEXT})")
        parts.append(_translated(literal[index + 1]))
    return "".join(parts)


def _translated(glob: str) -> str:
    # Without the anchor at the end: more may follow.
    return re.sub(r"\\[Zz]$", "", translate(glob))


@lru_cache(maxsize=64)
def compiled(text: str) -> NamePattern:
    """The pattern of that text. Raises :class:`PatternError`."""
    return NamePattern(text)
