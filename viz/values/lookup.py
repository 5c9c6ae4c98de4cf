"""A grid file read back: the point of values at a place, and the place of a point."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from burstlens.core.durable import open_regular
from burstlens.core.errors import ValuesError
from burstlens.viz.geometry.sphere import bilinear, degrees, middles, steps_to, vectors
from burstlens.viz.geometry.sphere_cells import SphereCells
from burstlens.viz.values import blocks
from burstlens.viz.values.cells import Array, read_cells

FORMAT = 1
NO_POINT = 0xFFFF
"""Row and column of a pixel that shows no point."""
_BEFORE, _AFTER = "burstlensFeed(", ");\n"
_MOST_BYTES = 64 * 2**20
_MOST_POINTS = 1 << 20
_MOST_PIXELS = 1 << 23
"""Bounds on what a file may ask for: who reads a run's grids may not be the one who wrote them."""
_ROUNDING = 1e-6
"""A place so little beyond the edge, in parts of a mesh's cell, lies on it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place on a plane: degrees on the earth, else the plane's own coordinates.

    Of a section ``x`` is the distance and ``y`` the height (or pressure). ``plane`` is that of the
    :class:`Grid` on which x and y lie; empty: that of the grid that is asked.
    """

    lat: float | None = None
    lon: float | None = None
    x: float | None = None
    y: float | None = None
    plane: str = ""


class Grid:
    """Where the points of values lie. Raises ValuesError for a file that is not a grid."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        try:
            if facts["format"] != FORMAT:
                raise ValuesError("the grid was written by another version of Burstlens")
            self.facts = facts
            self.x, self.y = facts["x"], facts["y"]
            self.columns, self.rows = int(self.x["n"]), int(self.y["n"])
            if not (0 < self.columns <= _MOST_POINTS and 0 < self.rows <= _MOST_POINTS):
                raise ValueError(f"{self.rows} x {self.columns} points")
            self._pixels: tuple[Array, Array] | None = None
            self._nodes: Array | None = None
            self._at: tuple[Array, Array] | None = None
            if facts["kind"] != "pixels":
                self._along_x, self._along_y = _points(self.x), _points(self.y)
            else:
                self._read_pixels()
                if "cells" in facts:
                    lon, lat, ends = read_cells(facts["cells"], self.rows, self.columns)
                    self._at, self._cells = (lon, lat), SphereCells(lon, lat, ends)
            if mesh := facts.get("mesh"):
                lon, lat = (
                    np.array(mesh[name], np.float64).reshape(mesh["n"], mesh["n"])
                    for name in ("lon", "lat")
                )
                self._nodes = vectors(lon, lat)
                self._middles = middles(self._nodes)
        except (KeyError, TypeError, ValueError, binascii.Error) as error:
            raise ValuesError(f"the grid is damaged: {error!r}") from error

    @classmethod
    def read(cls, path: Path) -> Grid:
        """The grid of a file. Raises ValuesError."""
        try:
            with open_regular(path) as file:
                text = file.read(_MOST_BYTES).decode()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not text"
            raise ValuesError(f"{path} cannot be read: {reason}") from error
        if not (text.startswith(_BEFORE) and text.endswith(_AFTER)):
            raise ValuesError(f"{path} is not a grid, or cut short")
        try:
            facts = json.loads(text.removeprefix(_BEFORE).removesuffix(_AFTER))
        except (ValueError, RecursionError) as error:
            raise ValuesError(f"{path} is damaged") from error
        return cls(facts)

    @property
    def on_earth(self) -> bool:
        """Whether places are longitude and latitude."""
        return bool(self.facts.get("geographic")) or self._nodes is not None

    @property
    def plane(self) -> str:
        """The names and units of its axes, as a page names it (planeOf in place.js); empty on the
        earth."""
        if self.on_earth:
            return ""
        units = self.facts.get("units", "")
        words = [
            word
            for name, axis in (("x", self.x), ("y", self.y))
            for word in (axis.get("name", name), axis.get("units", units))
        ]
        return ";".join(re.sub("[;,_]", " ", str(word)) for word in words)

    def point(self, place: Place) -> tuple[int, int] | None:
        """Row and column of the point in whose cell a place lies; None outside of the grid."""
        if self._at is not None and place.lat is not None and place.lon is not None:
            cell = int(self._cells.find(place.lon, place.lat))
            return None if cell < 0 else divmod(cell, self.columns)
        found = self._coordinates(place)
        if found is None:
            return None
        x, y = found
        if self._pixels is not None:
            return self._pixel(x, y)
        row, column = _nearest(self.y, self._along_y, y), _nearest(self.x, self._along_x, x)
        return None if row is None or column is None else (row, column)

    def place(self, row: int, column: int) -> Place:
        """The place of a point, empty where it has none; off the earth, on a plane without straight
        rows, its middle on the picture."""
        if self._at is not None:
            lon, lat = (float(at[row, column]) for at in self._at)
            return Place() if math.isnan(lat) else Place(lat=lat, lon=_turned(lon))
        if self._pixels is not None:
            rows, columns = np.nonzero((self._pixels[0] == row) & (self._pixels[1] == column))
            if not rows.size:
                return Place()
            lon, lat = self._on_picture(float(columns.mean()) + 0.5, float(rows.mean()) + 0.5)
            return Place(lat=lat, lon=_turned(lon))
        x, y = float(self._along_x[column]), float(self._along_y[row])
        if self.facts.get("geographic"):
            return Place(lat=y, lon=_turned(x))
        along = self.facts.get("along")
        if along:
            return Place(along["lat"][column], along["lon"][column], x, y)
        if self._nodes is None:
            return Place(x=x, y=y)
        last = self._nodes.shape[0] - 1
        shares = _share(self.y, y) * last, _share(self.x, x) * last
        lon_at, lat_at = degrees(bilinear(self._nodes, *shares))
        return Place(float(lat_at), float(lon_at), x, y)

    def axes(self) -> tuple[Array, Array] | None:
        """x of each column and y of each row; None for a plane without straight rows."""
        return None if self._pixels is not None else (self._along_x, self._along_y)

    def middles(self) -> tuple[Array, Array] | None:
        """x and y of each point (row, column) of a plane without straight rows. Off the earth they
        are those of its middle on the picture, NaN for points that no pixel shows. None for other
        planes."""
        if self._pixels is None:
            return None
        if self._at is not None:
            return _turned(self._at[0]), self._at[1]
        number = self._pixels[0].astype(np.int64) * self.columns + self._pixels[1]
        shown = (self._pixels[0] < self.rows) & (self._pixels[1] < self.columns)
        rows, columns = np.nonzero(shown)
        size = self.rows * self.columns
        with np.errstate(invalid="ignore"):
            count = np.bincount(number[shown], minlength=size)
            x, y = (
                (np.bincount(number[shown], at + 0.5, size) / count).reshape(self.rows, -1)
                for at in (columns, rows)
            )
        x, y = self._on_picture(x, y)
        return (_turned(x) if self.on_earth else x), y

    def lonlat(self) -> tuple[Array, Array] | None:
        """Longitude and latitude of each point (row, column) of a projected plane, else None."""
        if self._nodes is None or self._pixels is not None:
            return None
        last = self._nodes.shape[0] - 1
        shares = _share(self.y, self._along_y) * last, _share(self.x, self._along_x) * last
        return degrees(bilinear(self._nodes, *np.meshgrid(*shares, indexing="ij")))

    def index(self, row: int, column: int) -> dict[str, int]:
        """The file's index of a point, by dimension; empty where there is none (sections)."""
        return {
            axis["dimension"]: axis["index"][0] + axis["index"][1] * at
            for axis, at in ((self.y, row), (self.x, column))
            if axis.get("dimension")
        }

    def _coordinates(self, place: Place) -> tuple[float, float] | None:
        """x and y of a place on the plane; None where it cannot lie there."""
        if not self.on_earth or place.lat is None or place.lon is None:
            if place.x is None or place.y is None or place.plane not in ("", self.plane):
                return None
            return place.x, place.y
        if self._nodes is not None:
            return self._from_mesh(place.lon, place.lat)
        ends = self.x["edges"] if self._pixels is None else self.facts["extent"][:2]
        left, right = sorted(ends)
        lon = left + (place.lon - left) % 360
        return (lon if lon <= right else place.lon, place.lat)

    def _from_mesh(self, lon: float, lat: float) -> tuple[float, float] | None:
        """By Newton's steps from the middle of the nearest cell."""
        assert self._nodes is not None
        wanted = vectors(lon, lat)
        near = np.where(np.isfinite(self._middles[..., 0]), self._middles @ wanted, -2.0)
        row, column = divmod(int(near.argmax()), near.shape[1])
        part = steps_to(self._nodes, wanted.tolist(), row + 0.5, column + 0.5)
        if part is None:
            return None
        last = self._nodes.shape[0] - 1
        shares = [
            min(max(share, 0.0), float(last)) if -_ROUNDING <= share <= last + _ROUNDING else share
            for share in part
        ]
        x, y = (
            axis["edges"][0] + share / last * (axis["edges"][1] - axis["edges"][0])
            for axis, share in ((self.x, shares[1]), (self.y, shares[0]))
        )
        return float(x), float(y)

    def _on_picture(self, column: Any, row: Any) -> tuple[Any, Any]:
        """x and y on the plane of fractional numbers of a pixel's column and row."""
        assert self._pixels is not None
        left, right, bottom, top = self.facts["extent"]
        height, width = self._pixels[0].shape
        return left + column / width * (right - left), top - row / height * (top - bottom)

    def _pixel(self, x: float, y: float) -> tuple[int, int] | None:
        assert self._pixels is not None
        left, right, bottom, top = self.facts["extent"]
        height, width = self._pixels[0].shape
        column = int(np.floor((x - left) / (right - left) * width))
        row = int(np.floor((top - y) / (top - bottom) * height))
        if not (0 <= row < height and 0 <= column < width):
            return None
        found = int(self._pixels[0][row, column]), int(self._pixels[1][row, column])
        return None if NO_POINT in found else found

    def _read_pixels(self) -> None:
        stream = base64.b64decode(self.facts["stream"], validate=True)
        height, width = int(self.facts["height"]), int(self.facts["width"])
        if not (height > 0 and width > 0 and height * width <= _MOST_PIXELS):
            raise ValueError(f"{height} x {width} pixels")
        first = blocks.count(height, width)
        rows, columns = (blocks.decode(stream, height, width, at) for at in (0, first))
        self._pixels = rows, columns


def _points(axis: Mapping[str, Any]) -> Array:
    if "points" in axis:
        return np.array(axis["points"], np.float64)
    numbers = np.arange(int(axis["n"]), dtype=np.float64)
    return np.asarray(axis["start"] + axis["step"] * numbers)


def _share(axis: Mapping[str, Any], at: Any) -> Any:
    """How far along an axis something lies, from 0 at its first edge to 1 at its last."""
    return (at - axis["edges"][0]) / (axis["edges"][1] - axis["edges"][0])


def _nearest(axis: Mapping[str, Any], points: Array, at: float) -> int | None:
    low, high = sorted(axis["edges"])
    if not low <= at <= high:
        return None
    if axis.get("log"):
        points, at = np.log(points), float(np.log(at))
    return int(np.abs(points - at).argmin())


def _turned(lon: Any) -> Any:
    return (lon + 180) % 360 - 180
