"""Patterns of file names: globs in which ``{name}`` stands for a text that other patterns share.

``atmf{hour}.nc`` and ``log.atm.f{hour}`` are a frame and its flag: the text of ``{hour}`` in one
name is that in the other. The ``command`` model takes such patterns from its recipe.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from functools import lru_cache
from pathlib import PurePosixPath

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean

DEFAULT_STREAM = "output"
Patterns = Mapping[str, str] | str
"""One pattern, or one per stream."""
TEXT = "[A-Za-z0-9._-]+"
"""What a placeholder stands for."""
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_WILD = re.compile(r"[*?[]")


class PatternError(ValueError):
    """The pattern is not valid; the message says why."""


class NamePattern:
    """One pattern, compiled. Only the file's name may have wildcards (``*``, ``?``, ``[...]``).
    ``names`` are its placeholders, ``glob`` matches at least the same names. Raises
    :class:`PatternError`."""

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


def globs(frames: Patterns) -> Mapping[str, str]:
    """The pattern of each stream's files, in the recipe's order."""
    return {DEFAULT_STREAM: frames} if isinstance(frames, str) else frames


def frame_patterns(frames: Patterns) -> dict[str, NamePattern]:
    """The same, compiled. Raises RecipeError."""
    named = globs(frames).items()
    return {stream: compiled(f"simulation.frames.{stream}", glob) for stream, glob in named}


def flag_patterns(frames: Patterns, ready: Patterns) -> dict[str, NamePattern]:
    """The pattern of the flags of each stream that has them. Raises RecipeError."""
    if isinstance(ready, str):
        flag = compiled("simulation.ready", ready)
        return dict.fromkeys(globs(frames), flag)
    return {stream: compiled(f"simulation.ready.{stream}", flag) for stream, flag in ready.items()}


def all_patterns(frames: Patterns, ready: Patterns) -> list[NamePattern]:
    """Those of frames, then those of flags. Raises RecipeError."""
    return [*frame_patterns(frames).values(), *flag_patterns(frames, ready).values()]


def check(frames: Patterns, ready: Patterns) -> None:
    """Raises RecipeError for a pattern that is not valid, and for a flag that does not name one
    file for each frame."""
    for stream in globs(frames):
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", stream):
            raise RecipeError(
                f"simulation.frames: {stream!r} must be letters, digits, '_' or '-', as it "
                "names files"
            )
    patterns = frame_patterns(frames)
    for stream, flag in flag_patterns(frames, ready).items():
        place = f"simulation.ready.{stream}"
        if stream not in patterns:
            near = did_you_mean(stream, patterns)
            raise RecipeError(f"simulation.ready: frames names no stream {stream!r}{near}")
        _check_flag(place, flag, patterns[stream])
        name = flag.filled(dict.fromkeys(flag.names, "000"))
        if any(pattern.match(name) for pattern in patterns.values()):
            raise RecipeError(f"{place}: {flag.path!r} would be taken for a frame")


def _check_flag(place: str, flag: NamePattern, frames: NamePattern) -> None:
    if flag.is_wild:
        raise RecipeError(
            f"{place}: {flag.path!r} must name one file for each frame: what differs is a {{name}} "
            "that stands in frames too, not a wildcard"
        )
    for name in sorted(flag.names - frames.names):
        raise RecipeError(f"{place}: {{{name}}} of {flag.path!r} is not in frames, {frames.path!r}")
    if not flag.names and (frames.names or frames.is_wild):
        raise RecipeError(
            f"{place}: {flag.path!r} names one file for all frames: put a {{name}} for what "
            f"differs into it and into frames, {frames.path!r}"
        )


@lru_cache(maxsize=64)
def compiled(place: str, text: str) -> NamePattern:
    """The pattern that the recipe has at that place. Raises RecipeError."""
    try:
        return NamePattern(text)
    except PatternError as error:
        raise RecipeError(f"{place}: {error}") from None
