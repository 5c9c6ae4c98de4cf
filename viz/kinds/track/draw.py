"""A storm's track as a file for other programs: a table (CSV) or GeoJSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burstlens.core import valid_time
from burstlens.core.errors import RecipeError
from burstlens.core.units import conversion
from burstlens.viz.diagnostics.storms.track import Point, Track
from burstlens.viz.product import Context, whole_file


def write_track(track: Track, out: Path, form: str, context: Context) -> None:
    """Write all points as ``csv`` or ``geojson``; StagingError when the file cannot be written,
    RecipeError when GeoJSON is asked for a track that is not on the earth."""
    text = _geojson(track, context) if form == "geojson" else _table(track)
    with whole_file(out):
        out.write_text(text, encoding="utf-8", newline="")


def rows(track: Track) -> Iterator[dict[str, Any]]:
    """Each point by the table's columns; None where there is no value.

    Named as in IBTrACS (NOAA NCEI, version 04 column documentation: ISO_TIME, LAT, LON,
    STORM_SPEED, STORM_DIR), with the unit where it is not the usual one: ``iso_time`` (without a
    calendar ``elapsed_s``), ``lat``, ``lon`` in degrees (without an earth ``x``, ``y``), the value,
    the strongest wind, speed and direction of motion, ``status``, and the grid point ``j``, ``i``.
    """
    factor, _ = conversion("km h-1", track.wind_units)
    for point, motion in zip(track.points, track.motion(), strict=True):
        speed, heading = (None, None) if motion is None else (motion[0] * factor, motion[1])
        yield {
            **_time(point.time),
            **_place(track, point),
            f"{track.variable} [{track.units}]": _rounded(point.value, ".7g"),
            f"max_wind [{track.wind_units}]": _rounded(point.max_wind, ".1f"),
            f"storm_speed [{track.wind_units}]": _rounded(speed, ".1f"),
            "storm_dir [degrees]": _rounded(heading, ".0f"),
            "status": point.status,
            "j": point.index[0],
            "i": point.index[1],
        }


def _table(track: Track) -> str:
    text = io.StringIO()
    lines = list(rows(track))
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _geojson(track: Track, context: Context) -> str:
    """A line through the points at which the storm was there, and all points (RFC 7946)."""
    if not track.on_earth:
        raise RecipeError("format: GeoJSON needs longitude and latitude; use csv for this frame")
    about = {"run": context.run, "title": context.title, "variable": track.variable}
    about |= {"long_name": track.long_name, "extreme": track.extreme, "units": track.units}
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [row["lon"], row["lat"]]},
            "properties": {k: v for k, v in row.items() if k not in ("lon", "lat")},
        }
        for row in rows(track)
    ]
    lines = [line for line in _cut(track.seen) if len(line) > 1]
    if lines:
        geometry = {"type": "MultiLineString", "coordinates": lines}
        features.insert(0, {"type": "Feature", "geometry": geometry, "properties": about})
    return json.dumps({"type": "FeatureCollection", "features": features}, indent=1) + "\n"


def _cut(points: tuple[Point, ...]) -> list[list[list[float]]]:
    """The line through the points, cut where it crosses 180 degrees (RFC 7946, section 3.1.9)."""
    lines: list[list[list[float]]] = [[]]
    for n, point in enumerate(points):
        before = points[n - 1] if n else point
        if abs(point.x - before.x) > 180:
            side = 180.0 if before.x > 0 else -180.0
            step = (point.x - before.x + 180) % 360 - 180
            lat = before.y + (point.y - before.y) * (side - before.x) / step
            lines[-1].append([side, round(lat, 4)])
            lines.append([[-side, round(lat, 4)]])
        lines[-1].append([round(point.x, 4), round(point.y, 4)])
    return lines


def _time(key: str) -> dict[str, Any]:
    if valid_time.is_calendar(key):
        return {"iso_time": valid_time.label(key).removesuffix(" UTC")}
    return {"elapsed_s": valid_time.seconds(key)}


def _place(track: Track, point: Point) -> dict[str, float]:
    if track.on_earth:
        return {"lat": round(point.y, 4), "lon": round(point.x, 4)}
    return {"x": round(point.x, 1), "y": round(point.y, 1)}


def _rounded(value: float | None, form: str) -> float | None:
    return None if value is None else float(format(value, form))
