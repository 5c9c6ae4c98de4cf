"""A frame whose variables are taken at one point of each further dimension.

``t2m[expver=5]`` names the point, by its coordinate or, without one, by its number from 0. A
picture that names none shows the first one with values; ERA5's versions are joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError, RecipeError
from burstlens.core.expression import parse_selection
from burstlens.core.model import KnownPoints
from burstlens.core.units import printed
from burstlens.viz.frames.further import JOINED, find_point, is_further, is_upwards, point_texts
from burstlens.viz.frames.outline import UnknownYet
from burstlens.viz.seams import FrameWrapper, OpenFrame, Stored, Variable, Window

Array = NDArray[Any]
_TRIED = 64
"""Points that are looked at for values."""
_LISTED = 8
_GROUND = 2
_PLAIN = ("unitless", "none", "count", "number")
"""Units that say nothing."""
_VOLUME = 3
"""Dimensions that a picture needs, and that it can have."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The variable ``base`` at one index along each dimension of ``at``, several that are joined.

    ``described`` is what is left of it."""

    base: str
    at: Mapping[str, tuple[int, ...]]
    described: Variable


class ChosenFrame(FrameWrapper):
    """An :class:`.OpenFrame` over another one, with variables at one point of further dimensions.

    ``chooses``: also those that are named without one. ``index`` is what a crop says of it,
    ``known`` are the points by variable that earlier pictures of a series show: these are tried
    first. ``points`` are those that were chosen here, where no point was named.
    """

    def __init__(
        self, frame: OpenFrame, *, chooses: bool = False, index: Mapping[str, Any] | None = None,
        known: KnownPoints | None = None,
    ) -> None:  # fmt: skip
        super().__init__(frame)
        self.points: dict[str, Mapping[str, int]] = {}
        self._chooses = chooses
        self._index = dict(index or {})
        self._known = dict(known or {})
        self._choices: dict[str, Choice] = {}
        self._whole: dict[str, Variable] = {}
        """What is known of variables, as it takes time to read their attributes."""
        self._further: dict[str, bool] = {}

    def __contains__(self, name: object) -> bool:
        if name in self.frame:
            return True
        if not isinstance(name, str) or not name.endswith("]"):
            return False
        base, wanted = _parsed(name)
        return bool(wanted) and base in self.frame

    def shares(self, known: KnownPoints) -> bool:
        """Whether a picture with these known points shows what this frame has; it then tries these
        as well. Not where no point is known to one of both: it takes the first with values."""
        if bool(known) != bool(self._known):
            return False
        for name, points in known.items():
            is_chosen = name in self._choices or name in self._whole
            own = self.points.get(name, {}) if is_chosen else points
            if self._known.get(name, own) != points:
                return False
        self._known |= known
        return True

    def is_further(self, dimension: str) -> bool:
        """Whether a dimension is a further one, as all but levels are whose points have names."""
        if dimension not in self._further:
            about = self._about(dimension)
            attributes = about.attributes if about else {}
            has_names = about is not None and about.is_text and about.dimensions[:1] == (dimension,)
            has_names = has_names and not is_upwards(dimension, attributes)
            self._further[dimension] = has_names or is_further(dimension, attributes)
        return self._further[dimension]

    def _about(self, dimension: str) -> Variable | None:
        """The variable of a dimension's name, where there is one and it is known yet."""
        with suppress(UnknownYet):
            return self.frame.variable(dimension) if dimension in self.frame else None
        return None

    def variable(self, name: str) -> Variable:
        """As :meth:`.OpenFrame.variable`. FrameError if there is no such point."""
        choice = self._choice(name)
        return self._whole[name] if choice is None else choice.described

    def read(self, name: str, window: Window | None = None) -> Array:
        choice = self._choice(name)
        return self._joined(choice, window) if choice else self.frame.read(name, window)

    def stored(self, name: str, window: Window | None = None) -> Stored:
        choice = self._choice(name)
        if choice is None:
            return self.frame.stored(name, window)
        if any(len(at) > 1 for at in choice.at.values()):
            return Stored(self._joined(choice, window), (float("nan"),))
        found = self.frame.stored(choice.base, _at(choice, _first(choice), window))
        return Stored(self._squeezed(choice, found.values), found.fills)

    def hold(self, name: str, window: Window | None, values: Array) -> None:
        """As :meth:`.OpenFrame.hold`; nothing of a choice."""
        if self._choice(name) is None:
            self.frame.hold(name, window, values)

    def _choice(self, name: str) -> Choice | None:
        if name not in self._whole and name not in self._choices:
            choice = self._made(name)
            if choice is None:
                self._whole[name] = self.frame.variable(name)
            else:
                self._choices[name] = choice
        return self._choices.get(name)

    def _made(self, name: str) -> Choice | None:
        base, wanted = (name, {}) if name in self.frame else _parsed(name)
        if not wanted and not self._chooses:
            return None
        about = self.frame.variable(base)
        for dimension in wanted.keys() - set(about.dimensions):
            have = ", ".join(about.dimensions) or "none"
            raise FrameError(f"{base} has no dimension {dimension}: it has {have}")
        at: dict[str, tuple[int, ...]] = {
            d: (self._index_of(about, d, text),) for d, text in wanted.items()
        }
        further = self._further_of(about, at) if self._chooses else []
        if not at and not further:
            return None
        words = [self._words(d, at[d], about) for d in at]
        default = self._default(name, about, further, at)
        at |= default
        several = [d for d in further if _size(about, d) > 1]
        words += [self._words(d, at[d], about) for d in several]
        kept = [n for n, d in enumerate(about.dimensions) if d not in at]
        if chosen := [d for d in several if not JOINED.fullmatch(d) and d not in self._index]:
            self.points[name] = {d: default[d][0] for d in chosen}
        described = replace(
            about, name=name, dimensions=tuple(about.dimensions[n] for n in kept),
            shape=tuple(about.shape[n] for n in kept),
            chunks=tuple(about.chunks[n] for n in kept) if about.chunks else (),
            choice=", ".join(filter(None, words)), further=tuple(several),
        )  # fmt: skip
        return Choice(base, at, described)

    def _further_of(self, about: Variable, at: Mapping[str, Any]) -> list[str]:
        """The dimensions beside those of a volume; none where too few would be left."""
        others = [d for d in about.dimensions if d not in at]
        found = [d for d in others if self.is_further(d)]
        others = [d for d in others if d not in found]
        if len(others) < _GROUND:
            return []
        named = {d: self._about(d) for d in others[:-_GROUND]}
        unknown = [d for d, at in named.items() if not is_upwards(d, at.attributes if at else {})]
        found += unknown[: max(0, len(others) - _VOLUME)]
        return [d for d in about.dimensions if d in found]

    def _default(
        self, name: str, about: Variable, further: list[str], at: Mapping[str, tuple[int, ...]]
    ) -> dict[str, tuple[int, ...]]:
        """The points that are shown where none is named."""
        found = {d: tuple(range(max(1, _size(about, d)))) for d in further if JOINED.fullmatch(d)}
        found |= {d: (self._cropped(d, _size(about, d)),) for d in further if d in self._index}
        rest = [d for d in further if d not in found]
        found |= dict.fromkeys(rest, (0,))
        sizes = [max(1, _size(about, d)) for d in rest]
        if not any(size > 1 for size in sizes):
            return found
        with suppress(UnknownYet):
            points = chain(self._before(name, rest, sizes), np.ndindex(*sizes))
            for numbers in islice(points, _TRIED):
                tried = {**found, **{d: (n,) for d, n in zip(rest, numbers, strict=True)}}
                if self._has_values(about, {**at, **tried}):
                    return tried
        return found

    def _before(self, name: str, rest: list[str], sizes: list[int]) -> list[tuple[int, ...]]:
        """The point that earlier pictures show, where there is such a one."""
        known = self._known.get(name, {})
        point = tuple(known.get(d, 0) for d in rest)
        fits = all(0 <= n < size for n, size in zip(point, sizes, strict=True))
        return [point] if known and fits else []

    def _cropped(self, dimension: str, size: int) -> int:
        wanted = self._index[dimension]
        first, stop = (wanted, wanted + 1) if isinstance(wanted, int) else wanted
        if stop - first != 1 or not -size <= first < max(size, 1):
            raise FrameError(f"crop: index {dimension} = {wanted} is not one of its {size} points")
        return int(first % max(size, 1))

    def _has_values(self, about: Variable, at: Mapping[str, tuple[int, ...]]) -> bool:
        """Whether a variable has any there, on the middle one of its levels."""
        choice = Choice(about.name, at, about)
        others = [d for d in about.dimensions if d not in at][:-_GROUND]
        middle = {d: slice(_size(about, d) // 2, _size(about, d) // 2 + 1) for d in others}
        part = _at(choice, _first(choice), middle)
        values = self.frame.read(about.name, part)
        has = values.dtype.kind != "f" or bool(np.isfinite(values).any())
        if has:
            self.frame.hold(about.name, part, values)  # a picture reads it next
        return has

    def _joined(self, choice: Choice, window: Window | None) -> Array:
        """The values of the first point, those of the next ones where it has none."""
        parts = (
            self._squeezed(choice, self.frame.read(choice.base, _at(choice, at, window)))
            for at in _points(choice)
        )
        whole = next(parts)
        while whole.dtype.kind == "f" and np.isnan(whole).any():
            if (part := next(parts, None)) is None:
                break
            whole = np.where(np.isnan(whole), part, whole)
        return whole

    def _squeezed(self, choice: Choice, values: Array) -> Array:
        dimensions = self.frame.variable(choice.base).dimensions
        return values.squeeze(tuple(n for n, d in enumerate(dimensions) if d in choice.at))

    def _index_of(self, about: Variable, dimension: str, text: str) -> int:
        """The point that a text names. FrameError with what there is."""
        try:
            values = self._coordinate(dimension)
        except UnknownYet:
            return 0
        size = _size(about, dimension)
        if values is None:
            if text.lstrip("-").isdigit() and (not size or -size <= int(text) < size):
                return int(text) % size if size else 0
            raise FrameError(f"{about.name}: {dimension} is 0 to {size - 1}, not {text}")
        shown = point_texts(values)
        if (number := find_point(values, text)) is not None:
            return number
        listed = ", ".join(shown[:_LISTED])
        more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
        raise FrameError(f"{about.name}: {dimension} has {listed}{more}, not {text}")

    def _coordinate(self, dimension: str) -> list[Any] | None:
        """The values of a dimension's coordinate, numbers or texts; None if it has none."""
        own = self.frame.variable(dimension).dimensions if dimension in self.frame else ()
        if own[:1] != (dimension,):
            return None
        values = self.frame.read(dimension)
        if values.dtype.kind == "S" and values.ndim == 2:  # characters
            return [row.tobytes().rstrip(b"\0 ").decode("utf-8", "replace") for row in values]
        if values.ndim != 1:
            return None
        if values.dtype.kind in "fiu":
            return [float(value) for value in values]
        return [value.decode() if isinstance(value, bytes) else str(value) for value in values]

    def _words(self, dimension: str, at: tuple[int, ...], about: Variable) -> str:
        """As in a title: ``number 3 (4 of 10)``; "" if nothing is known yet."""
        try:
            values = self._coordinate(dimension)
        except UnknownYet:
            return ""
        size = _size(about, dimension)
        texts = point_texts(values) if values is not None else range(size)
        shown = [str(texts[n]) for n in at]
        if len(at) > 1:
            return f"{dimension} {', '.join(shown[:-1])} and {shown[-1]} joined"
        units = self.frame.variable(dimension).units if values is not None else ""
        is_plain = units.lower() in _PLAIN or units.rstrip("s") in dimension
        what = f"{shown[0]} {'' if is_plain else printed(units)}".rstrip()
        return f"{dimension} {what} ({at[0] + 1} of {size})"


def _parsed(name: str) -> tuple[str, dict[str, str]]:
    try:
        return parse_selection(name)
    except RecipeError as error:
        raise FrameError(str(error)) from None


def _points(choice: Choice) -> Iterator[dict[str, int]]:
    for numbers in np.ndindex(*(len(at) for at in choice.at.values())):
        pairs = zip(choice.at.items(), numbers, strict=True)
        yield {dimension: at[number] for (dimension, at), number in pairs}


def _first(choice: Choice) -> dict[str, int]:
    return next(_points(choice))


def _at(choice: Choice, at: Mapping[str, int], window: Window | None) -> dict[str, slice]:
    kept = {d: part for d, part in (window or {}).items() if d not in choice.at}
    return kept | {d: slice(number, number + 1, 1) for d, number in at.items()}


def _size(about: Variable, dimension: str) -> int:
    return about.shape[about.dimensions.index(dimension)]
