"""The names of frames and of their flags that a recipe gives for the ``command`` model."""

from __future__ import annotations

import re
from collections.abc import Mapping

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean
from burstlens.workflows.models.name_patterns import NamePattern, PatternError, compiled

DEFAULT_STREAM = "output"
Patterns = Mapping[str, str] | str
"""One pattern, or one per stream."""


def globs(frames: Patterns) -> list[tuple[str, str]]:
    """Each stream and the pattern of its files, in the recipe's order."""
    return [(DEFAULT_STREAM, frames)] if isinstance(frames, str) else list(frames.items())


def frame_patterns(frames: Patterns) -> list[tuple[str, NamePattern]]:
    """The same, compiled. Raises RecipeError."""
    return [
        (stream, _compiled(f"simulation.frames.{stream}", glob)) for stream, glob in globs(frames)
    ]


def flag_patterns(frames: Patterns, ready: Patterns) -> dict[str, NamePattern]:
    """The pattern of the flags of each stream that has them. Raises RecipeError."""
    if isinstance(ready, str):
        flag = _compiled("simulation.ready", ready)
        return dict.fromkeys((stream for stream, _ in globs(frames)), flag)
    return {stream: _compiled(f"simulation.ready.{stream}", flag) for stream, flag in ready.items()}


def all_patterns(frames: Patterns, ready: Patterns) -> list[NamePattern]:
    """Those of frames, then those of flags. Raises RecipeError."""
    flags = flag_patterns(frames, ready).values()
    return [*(pattern for _, pattern in frame_patterns(frames)), *flags]


def check(frames: Patterns, ready: Patterns) -> None:
    """Raises RecipeError for a pattern that is not valid, and for a flag that does not name one
    file for each frame."""
    for stream, _ in globs(frames):
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", stream):
            raise RecipeError(
                f"simulation.frames: {stream!r} must be letters, digits, '_' or '-', as it "
                "names files"
            )
    patterns = dict(frame_patterns(frames))
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


def _compiled(place: str, text: str) -> NamePattern:
    try:
        return compiled(text)
    except PatternError as error:
        raise RecipeError(f"{place}: {error}") from None
