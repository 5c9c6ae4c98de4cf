"""A place as people give it, and what it is on the plane of one frame."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from burstlens.core.errors import ValuesError
from burstlens.core.lengths import metres
from burstlens.viz.values.lookup import Grid, Place

Number = str | float
Given = Number | None
_LENGTH = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?\d+)?)\s*([a-z]*)\s*")


class PlaneError(ValuesError):
    """A place that means nothing on a plane, as degrees off the earth."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Degrees, x and y of a plane, or both. ``units`` of x and of y are lengths, or empty: then
    the numbers are in the plane's own units. With ``plane`` (:attr:`.Grid.plane`) x and y lie
    on such planes only."""

    lat: float | None = None
    lon: float | None = None
    x: float | None = None
    y: float | None = None
    units: tuple[str, str] = ("", "")
    plane: str = ""

    @classmethod
    def of(
        cls, lat: Given = None, lon: Given = None, x: Given = None, y: Given = None, plane: str = ""
    ) -> Spot:
        """The place of ``lat`` and ``lon``, of ``x`` and ``y``, which may be texts such as
        ``4.5km``, or of both: then x and y serve where a plane has no longitudes, as in a section.

        Raises ValuesError.
        """
        if all(one is None for one in (lat, lon, x, y)):
            raise ValuesError("a place is lat and lon, or x and y")
        if (lat is None) != (lon is None):
            raise ValuesError("a place on the earth needs both lat and lon")
        if (x is None) != (y is None):
            raise ValuesError("a place on a plane needs both x and y")
        north = east = across = up = None
        units = ("", "")
        if lat is not None and lon is not None:
            north, east = _number("lat", lat), _number("lon", lon)
            if abs(north) > 90 or abs(east) > 540:
                raise ValuesError(f"there is no place at latitude {north:g}, longitude {east:g}")
        if x is not None and y is not None:
            (across, across_units), (up, up_units) = _length("x", x), _length("y", y)
            units = (across_units, up_units)
        return cls(north, east, across, up, units, plane)

    @classmethod
    def parse(cls, at: str | None, xy: str | None) -> Spot:
        """The place of ``LAT,LON``, of ``X,Y``, or of both. Raises ValuesError."""
        if at is None and xy is None:
            raise ValuesError("say where: --at LAT,LON or --xy X,Y")
        lat, lon = _pair(at, "LAT,LON such as 25.3,-91.9")
        x, y = _pair(xy, "X,Y such as 12km,4500")
        return cls.of(lat, lon, x, y)

    def facts(self) -> dict[str, float | str]:
        """The place as JSON values: what was given, with units of x and y that have any."""
        given = {"lat": self.lat, "lon": self.lon, "x": self.x, "y": self.y}
        units = {"x_units": self.units[0], "y_units": self.units[1]}
        numbers = {name: value for name, value in given.items() if value is not None}
        return numbers | {name: text for name, text in units.items() if text}

    def on(self, grid: Grid) -> Place:
        """The place in the units of a grid's plane. Raises PlaneError where it has no meaning."""
        if grid.on_earth and self.lat is not None:
            return Place(lat=self.lat, lon=self.lon)
        if self.x is None or self.y is None:
            raise PlaneError("its plane has no longitudes and latitudes: give x and y")
        plane = grid.facts.get("units", "")
        return Place(
            x=_turned(self.x, self.units[0], str(grid.x.get("units", plane))),
            y=_turned(self.y, self.units[1], str(grid.y.get("units", plane))),
            plane=self.plane,
        )

    def __str__(self) -> str:
        if self.lat is not None or self.x is None or self.y is None:
            return f"{self.lat:g}, {self.lon:g}"
        return f"x {self.x:g} {self.units[0]}".strip() + f", y {self.y:g} {self.units[1]}".rstrip()


def _pair(given: str | None, what: str) -> Sequence[str | None]:
    parts = (None, None) if given is None else given.split(",")
    if len(parts) != 2:
        raise ValuesError(f"expected {what}, got {given!r}")
    return parts


def _number(name: str, given: Number) -> float:
    try:
        found = float(given)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ValuesError(f"{name} must be a number, not {str(given)[:40]!r}")
    return found


def _length(name: str, given: Number) -> tuple[float, str]:
    if not isinstance(given, str):
        return _number(name, given), ""
    found = _LENGTH.fullmatch(given)
    if found is None or (found[2] and metres(found[2]) is None):
        raise ValuesError(f"{name} must be a number, such as 4500 or 4.5km, not {given[:40]!r}")
    return _number(name, found[1]), found[2]


def _turned(at: float, units: str, wanted: str) -> float:
    if not units or units == wanted:
        return at
    of_given, of_plane = metres(units), metres(wanted)
    if of_given is None or of_plane is None:
        raise PlaneError(f"its plane is in {wanted or 'grid points'}, not in {units}")
    return at * of_given / of_plane
