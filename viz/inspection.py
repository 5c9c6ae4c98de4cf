"""Finds what in a product does not fit the frames of its stream, before there are frames.

Each kind of product states by calls to :class:`Inspection` what it will read. The rules are those
of the code that reads, applied here to an :class:`.Outline` instead of a frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.core.allowance import DEFAULT_MEMORY
from burstlens.core.errors import BurstlensError, FrameError, RecipeError
from burstlens.core.quantity import show_bytes
from burstlens.core.units import conversion
from burstlens.viz.diagnostics.derived import DerivedFrame
from burstlens.viz.diagnostics.domain import (
    beside_height,
    beside_levels,
    beside_top,
    beyond,
    outside_of,
)
from burstlens.viz.diagnostics.level import LEVEL, parse_level
from burstlens.viz.frames.outline import Column, Outline, UnknownYet
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.grid import axes
from burstlens.viz.geometry.place import End, Place, Source, read_places
from burstlens.viz.seams import Variable

if TYPE_CHECKING:
    from burstlens.viz.drawing.maps.layers import Contours

_AT = re.compile(rf"@\s*({LEVEL})", re.IGNORECASE)
_HELD = 8
"""Bytes for each point of a field that is held: itself, and what is written of it."""
_GROUND = frozenset({"x", "y", "lon", "lat", "west_east", "south_north"})
_SHOWN = 3
"""Names of places in one message."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """``text`` says what does not fit at the key ``path`` of a product; ``sure``: it is certain."""

    path: str
    text: str
    sure: bool = True


class Inspection:
    """Collects misfits of one product with the frames of its stream.

    Each method takes the path of the key that it is about. ``folder`` is that of the recipe.
    ``lenient``: a variable that the model could be set to write is a misfit that is not sure.
    ``memory``: bytes that a worker may use.
    """

    def __init__(
        self, outline: Outline, folder: Path, *, lenient: bool = False, memory: int = DEFAULT_MEMORY
    ) -> None:
        self.outline = outline
        self._memory = memory
        self.promised = DerivedFrame(outline)
        self.frame = DerivedFrame(outline.wider(widest=lenient))
        """The same with what may be written by settings that are not known."""
        self.folder = folder
        self.found: list[Misfit] = []
        self._column: list[Column | None] = []

    def add(self, path: str, text: str, *, sure: bool = True) -> None:
        """Note a misfit, once."""
        misfit = Misfit(path, text, sure)
        if misfit not in self.found:
            self.found.append(misfit)

    def choose(self, crop: Crop) -> None:
        """A picture shows each variable at one point of its further dimensions."""
        self.promised = self.promised.choosing(crop.index)
        self.frame = self.frame.choosing(crop.index)

    def variable(self, name: str, path: str) -> Variable | None:
        """What a variable, a diagnostic or an expression will be; None where it is not one."""
        try:
            found = self.promised.variable(name)
            self._levels(name, path)
            return found
        except UnknownYet:
            return None
        except (FrameError, RecipeError) as error:
            known, text = self.outline.known, str(error)
            if name in known.doubtful or name in known.unwritten:
                text = f"{name} is not in the stream {self.outline.stream}"
            try:
                found = self.frame.variable(name)
            except UnknownYet:
                return None
            except (FrameError, RecipeError):
                why = known.doubt if name in known.unwritten else known.remedy
                self.add(path, f"{text} ({why})" if why else text, sure=known.is_complete)
                return None
            self.add(path, f"{text}: {known.doubt}", sure=False)
            return found

    def _levels(self, name: str, path: str) -> None:
        """Whether the levels that a name holds (``T@850hPa``) are in the domain."""
        for text in _AT.findall(name):
            if (column := self.column()) and (why := beside_levels(column, parse_level(text))):
                self.add(path, why)

    def column(self) -> Column | None:
        """How far the domain reaches upwards, where that is known; read once."""
        if not self._column:
            read = self.outline.known.column
            self._column.append(read() if read else None)
        return self._column[0]

    def top(self, top: float | None, vertical: str, path: str = "top") -> None:
        """The upper end of a picture of columns, in hPa or km."""
        if top is not None and (column := self.column()):
            text, sure = beside_top(column, top, vertical)
            if text:
                self.add(path, text, sure=sure)

    def heights(self, heights: Sequence[float], path: str) -> None:
        """Whether level planes, in km, meet the domain."""
        for height in heights:
            if (column := self.column()) and (text := beside_height(column, height)):
                self.add(path, text)

    def needs(self, names: Iterable[str], path: str) -> bool:
        """Whether all of these will be there."""
        found = [self.variable(name, path) for name in names]  # every one of them, for its misfit
        return None not in found

    def quiet(self, name: str) -> Variable | None:
        """The same for a name that was looked up already."""
        try:
            return self.frame.variable(name)
        except BurstlensError:
            return None

    def is_deep(self, name: str) -> bool:
        """Whether a variable has levels."""
        return self._has(name) and "z" in axes(self.frame, name)

    def noted(self, path: str, rule: Callable[[], object]) -> None:
        """Note what a rule of the product's own raises (FrameError, RecipeError)."""
        with self._noting(path):
            rule()

    def source(self, source: Source, path: str) -> None:
        """Whether the recipe or the frames say where an earthquake begins."""
        from burstlens.viz.diagnostics.seismology.focus import located

        self.noted(path, lambda: located(source, self.frame))

    def units(self, found: Variable | None, wanted: str | None, path: str) -> None:
        """Whether a variable can be shown in those units."""
        if found is not None and wanted:
            with self._noting(path):
                conversion(found.units, wanted)

    def plane(
        self, name: str, crop: Crop, *, level: int | None = None, units: str | None = None,
        path: str = "variable", at: str = "",
    ) -> None:  # fmt: skip
        """A 2-D field, or one level of a 3-D one; ``at`` is the path of the table that says so."""
        found = self.variable(name, f"{at}{path}")
        self.units(found, units, f"{at}units")
        if found is None:
            return
        key = f"{at}level" if level is not None else f"{at}{path}"
        with self._noting(key):
            from burstlens.viz.geometry.field import one_level_of

            inner = replace(crop, range={k: v for k, v in crop.range.items() if k not in _GROUND})
            try:
                window = resolve(_still(inner), self.frame, name)
            except FrameError:  # the misfit is the crop's
                window = resolve(Crop(), self.frame, name)
            one_level_of(self.frame, name, level, window)

    def columns(self, name: str, path: str, units: str | None = None, units_path: str = "") -> None:
        """A field of levels at all of them."""
        found = self.variable(name, path)
        self.units(found, units, units_path)
        if found is not None:
            from burstlens.viz.geometry.columns import check_levels

            self.noted(path, lambda: check_levels(self.frame, name))

    def volume(self, names: Sequence[str], path: str) -> None:
        """Variables on one grid."""
        known = [name for name in names if self.variable(name, path) is not None]
        for name in known[1:]:
            with self._noting(path):
                from burstlens.viz.geometry.columns import check_grid, order_of

                check_grid(self.frame, name, order_of(self.frame, known[0]), known[0])

    def whole(self, names: Iterable[str], crop: Crop, path: str = "variables") -> None:
        """Whether fields that are held whole, not computed by slabs, fit a worker's memory."""
        points = 0
        for name in dict.fromkeys(names):
            stored = self.quiet(name)
            if stored is None:
                continue
            with self._noting(path, sure=False):
                window = resolve(_still(crop), self.frame, name)
                sizes = zip(stored.dimensions, stored.shape, strict=True)
                points += prod(len(range(*window.get(d, slice(None)).indices(n))) for d, n in sizes)
        taken = _HELD * points
        if taken > self._memory:
            self.add(
                path,
                f"takes about {show_bytes(taken)}, and a worker may use {show_bytes(self._memory)}:"
                " these fields are held whole; a crop or a stride needs less, or allow more by "
                "memory in [viewing]",
                sure=False,
            )

    def isolines(self, lines: Contours | Sequence[Contours], crop: Crop) -> None:
        """The lines of equal value of a map."""
        for at, one in numbered("contours", lines):
            self.plane(one.variable, crop, level=one.level, units=one.units, at=f"{at}.")

    def crop(self, crop: Crop, names: Iterable[str], path: str = "crop") -> None:
        """Whether a crop keeps anything of the domain, of each variable that there is."""
        extreme, _, followed = (crop.follow or "").partition(":")
        if extreme in ("min", "max"):
            self.variable(followed, f"{path}.follow")
        known = [name for name in names if self._has(name)] or self._any()
        for part in (replace(crop, range={}), replace(crop, index={}, stride=1)):
            key = f"{path}.range" if part.range else f"{path}.index" if part.index else path
            sure = not part.range or self.outline.known.is_placed
            for name in known:
                with self._noting(key, sure=sure):
                    resolve(_still(part), self.frame, name)

    def ends(self, ends: Mapping[str, End], name: str) -> None:
        """Whether points, by the path of their key, lie in the domain of a variable.

        All of them outside is a misfit for certain; with one inside, the domain and the line meet.
        """
        known = [name] if self._has(name) else self._any()
        outside = {
            path: outside_of(self.frame, known[0], end, path) for path, end in ends.items() if known
        }
        all_out = all(outside.values())
        for path, text in outside.items():
            if text:
                self.add(path, text, sure=all_out and self.outline.known.is_placed)

    def cuts(self, cuts: Mapping[str, Sequence[float]], path: str) -> None:
        """Whether planes at these x or y (km) or lon or lat (degrees) meet the domain."""
        for name in self._any():
            for direction, values in cuts.items():
                for value in values:
                    if text := beyond(self.frame, name, direction, value):
                        self.add(f"{path}.{direction}", text, sure=self.outline.known.is_placed)

    def places(self, places: Sequence[Place] | str, path: str, *, each: bool = False) -> None:
        """Whether named points lie in the domain; with ``each``, one outside is noted too.

        Places on a map that lie outside are left out of it, so only all of them are a misfit.
        """
        if isinstance(places, str):
            if not (self.folder / places).is_file():  # shipped files are checked elsewhere
                return
            try:
                places = read_places(places, self.folder)
            except RecipeError as error:
                self.add(path, str(error))
                return
        known = self._any()
        if not places or not known:
            return
        ends = [End(lat=one.lat, lon=one.lon, x=one.x, y=one.y) for one in places]
        outside = [outside_of(self.frame, known[0], end, "a place") for end in ends]
        out = [one.name or str(end) for one, end, text in zip(places, ends, outside, strict=True)
               if text]  # fmt: skip
        if len(out) == len(places):
            text = next(text for text in outside if text)
            self.add(path, f"none of its places is in the domain: {text}",
                     sure=each and self.outline.known.is_placed)  # fmt: skip
        elif out and each:
            shown = ", ".join([*out[:_SHOWN], *(["..."] if len(out) > _SHOWN else [])])
            self.add(path, f"outside of the domain: {shown}", sure=False)

    def _has(self, name: str) -> bool:
        return self.quiet(name) is not None

    def _any(self) -> list[str]:
        """A field of the stream with the most dimensions, for checks that name no variable."""
        known, there = self.outline.known.variables, self.outline.dimensions
        found = {
            name: ("_stag" in str(about[0]), -len(about[0])) for name, about in known.items()
            if about and len(about[0]) >= 2 and all(one in there for one in about[0])
        }  # fmt: skip
        return sorted(found, key=lambda name: found[name])[:1]

    @contextmanager
    def _noting(self, path: str, *, sure: bool = True) -> Iterator[None]:
        """Note what is raised; skip what is not known yet."""
        try:
            yield
        except (UnknownYet, KeyError):  # a dimension whose size is not known
            return
        except (FrameError, RecipeError) as error:
            self.add(path, str(error).removeprefix("crop: ").removeprefix("units: "), sure=sure)


def numbered(key: str, given: Any) -> Iterator[tuple[str, Any]]:
    """Each table of a key that takes one or a list of them, with its path."""
    if isinstance(given, tuple):
        yield from ((f"{key}.{number}", one) for number, one in enumerate(given))
    else:
        yield key, given


def _still(crop: Crop) -> Crop:
    """The crop without what moves with a frame's values."""
    return replace(crop, follow=None, half_width_km=None, half_width=None)
