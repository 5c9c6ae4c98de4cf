"""Points that a recipe names: ends of sections, places, epicentres; and places in a CSV file.

Importable on a login node.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.core.errors import FrameError, RecipeError

if TYPE_CHECKING:
    from burstlens.viz.geometry.grid import Plane

_CONFIG = {"extra": "forbid", "use_attribute_docstrings": True}
_COLUMNS = ("name", "lat", "lon", "x", "y")


@dataclass(frozen=True, slots=True)
class End:
    """An end of a section: by latitude and longitude, by x and y, or by grid point."""

    __pydantic_config__ = _CONFIG

    lat: float | None = None
    """Degrees north."""

    lon: float | None = None
    """Degrees east."""

    x: float | None = None
    """For planes that are not on the earth, in the file's units (WRF: metres)."""

    y: float | None = None
    """For planes that are not on the earth."""

    i: float | None = None
    """The number of the grid point along x (`west_east`), from 0."""

    j: float | None = None
    """The same along y (`south_north`)."""

    def __post_init__(self) -> None:
        pairs = (self.lat, self.lon), (self.x, self.y), (self.i, self.j)
        given = [pair for pair in pairs if pair != (None, None)]
        if len(given) != 1 or None in given[0]:
            raise ValueError("an end of a section needs lat and lon, or x and y, or i and j")
        if self.lat is not None and not -90 <= self.lat <= 90:
            raise ValueError(f"lat must be -90 to 90, not {self.lat:g}")
        if min(self.i or 0, self.j or 0) < 0:
            raise ValueError("i and j count from 0")

    def __str__(self) -> str:
        pairs = (("lat", "lon"), ("x", "y"), ("i", "j"))
        given = next(pair for pair in pairs if getattr(self, pair[0]) is not None)
        return ", ".join(f"{name} {getattr(self, name):g}" for name in given)


@dataclass(frozen=True, slots=True)
class Place:
    """A named point: by latitude and longitude, or by x and y in the plane's units."""

    __pydantic_config__ = _CONFIG

    name: str = ""
    """The text beside it."""

    lat: float | None = None
    """Degrees north."""

    lon: float | None = None
    """Degrees east."""

    x: float | None = None
    """For planes that are not on the earth, in the file's units (WRF: metres)."""

    y: float | None = None
    """For planes that are not on the earth."""

    def __post_init__(self) -> None:
        given = [value is not None for value in (self.lat, self.lon, self.x, self.y)]
        if given not in ([True, True, False, False], [False, False, True, True]):
            raise ValueError(f"{self._subject} needs lat and lon, or x and y")
        if self.lat is not None and not -90 <= self.lat <= 90:
            raise ValueError(f"{self._subject}: lat must be -90 to 90, not {self.lat:g}")

    @property
    def _subject(self) -> str:
        return f"the place {self.name!r}" if self.name else "a place"


@dataclass(frozen=True, slots=True)
class Source:
    """Where an earthquake begins: the epicentre by latitude and longitude, or by x and y. `{}` is
    what the file says: its attributes `source_x_m`, `source_y_m` and `source_depth_m`."""

    __pydantic_config__ = _CONFIG

    name: str = ""
    """The text beside its star."""

    lat: float | None = None
    """Degrees north."""

    lon: float | None = None
    """Degrees east."""

    x: float | None = None
    """For planes that are not on the earth, in the file's units."""

    y: float | None = None
    """For planes that are not on the earth."""

    depth_m: float | None = None
    """Depth of the focus below the surface."""

    def __post_init__(self) -> None:
        if any(value is not None for value in (self.lat, self.lon, self.x, self.y)):
            Place(self.name, self.lat, self.lon, self.x, self.y)
        if self.depth_m is not None and not self.depth_m >= 0:
            raise ValueError("the source's depth_m must not be negative")


def read_places(asked: Sequence[Place] | str, files: Path) -> tuple[Place, ...]:
    """The places as given, or those of a CSV file with a header of name, lat, lon (or x, y).

    Other columns are ignored. RecipeError names the file and line of an invalid place.
    """
    if not isinstance(asked, str):
        return tuple(asked)
    path, places = files / asked, []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file, skipinitialspace=True)
            columns = {(name or "").strip().lower(): name for name in rows.fieldnames or ()}
            if not ({"lat", "lon"} <= set(columns) or {"x", "y"} <= set(columns)):
                there = ", ".join(columns) or "none"
                raise RecipeError(f"{asked} needs columns lat and lon, or x and y; it has: {there}")
            known = [name for name in _COLUMNS if name in columns]
            for row in rows:
                cells = {name: (row[columns[name]] or "").strip() for name in known}
                places.append(_place(cells, f"{asked}, line {rows.line_num}"))
    except OSError as error:
        raise RecipeError(f"{asked} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecipeError(f"{asked} is not UTF-8 text") from error
    return tuple(places)


def located_on(plane: Plane, place: Place) -> tuple[float, float]:
    """The position of a place on a plane. FrameError if only one of them is on the earth."""
    if place.x is not None and place.y is not None:
        return place.x, place.y
    if plane.projection is None:
        raise FrameError(
            f"the place {place.name!r} has lat and lon, but the frame has none: give x and y"
        )
    x, y = plane.projection.forward([place.lon or 0.0], [place.lat or 0.0])
    return float(x[0]), float(y[0])


def _place(cells: dict[str, str], where: str) -> Place:
    label = cells.pop("name", "")
    numbers: dict[str, float | None] = {}
    for name, text in cells.items():
        try:
            numbers[name] = float(text) if text else None
        except ValueError:
            raise RecipeError(f"{where}: {name} is {text!r}, which is not a number") from None
    try:
        return Place(label, **numbers)
    except ValueError as error:
        raise RecipeError(f"{where}: {error}") from None
