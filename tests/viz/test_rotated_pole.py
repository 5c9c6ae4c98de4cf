"""Products of a grid on a rotated pole are the same on any turn of its longitudes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.storms.track import Guess
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.place import End, Place
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.profile.kind import ProfileKind
from burstlens.viz.kinds.profile.options import ProfileOptions
from burstlens.viz.kinds.section.kind import SectionKind
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.kinds.track.options import TrackOptions
from burstlens.viz.kinds.track.read import find_storm
from burstlens.viz.product import Context

COLUMNS, ROWS = np.linspace(-5, 3, 33), np.linspace(-4, 4, 25)
EUROPE, NEW_ZEALAND = (37.5, 177.5), (49.55, 171.77)
CENTRE = {EUROPE: (52.5, -3.0), NEW_ZEALAND: (-40.5, 172.0)}


def write(path: Path, pole: tuple[float, float], columns: Any) -> Path:
    """A volume with a minimum in the middle, and its surface; the pole at ``pole``."""
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createVariable("pole", "i4", ()).setncatts({
            "grid_mapping_name": "rotated_latitude_longitude", "earth_radius": 6371229.0,
            "grid_north_pole_latitude": pole[0], "grid_north_pole_longitude": pole[1],
        })  # fmt: skip
        for name, values, units in (
            ("height", np.linspace(0, 8000, 5), "m"), ("grid_latitude", ROWS, "degrees"),
            ("grid_longitude", columns, "degrees"),
        ):  # fmt: skip
            data.createDimension(name, len(values))
            variable = data.createVariable(name, "f8", (name,))
            variable.units, variable.standard_name = units, name
            variable[:] = values
        away = np.hypot(*np.meshgrid(COLUMNS - 1, ROWS))
        for name, dimensions in (("p", ()), ("q", ("height",))):
            field = data.createVariable(
                name, "f4", (*dimensions, "grid_latitude", "grid_longitude")
            )
            field.units, field.grid_mapping = "1", "pole"
            field[:] = away + (np.arange(5)[:, None, None] if dimensions else 0)
    return path


@pytest.fixture(params=[(EUROPE, 0, 360), (EUROPE, 0, -360), (NEW_ZEALAND, 181, -360)])
def twice(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[tuple[float, float], list[Path]]:
    """The pole, and a file beside the same one with longitudes on another turn."""
    pole, first, turn = request.param
    names = ("usual.nc", "turned.nc")
    columns = (COLUMNS + first, COLUMNS + first + turn)
    return pole, [write(tmp_path / n, pole, c) for n, c in zip(names, columns, strict=True)]


@pytest.mark.slow
def test_pictures_are_the_same(twice: Any, context: Context, tmp_path: Path) -> None:
    pole, paths = twice
    lat, lon = CENTRE[pole]
    kinds = (
        (MapKind(), MapOptions("p", width_px=400, cities=(Place("A", lat, lon),))),
        (SectionKind(), SectionOptions("q", start=End(lat=lat - 1, lon=lon - 2),
                                       end=End(lat=lat + 2, lon=lon + 1))),
        (ProfileKind(), ProfileOptions(("q",), at=End(lat=lat, lon=lon))),
    )  # fmt: skip
    for kind, options in kinds:
        pictures = []
        for path in paths:
            out = tmp_path / "out.png"
            with open_frame([path]) as frame:
                kind.make(options, frame, out, context)
            with Image.open(out) as image:
                pictures.append(np.asarray(image.convert("RGB")).astype(int))
        assert np.abs(pictures[0] - pictures[1]).max() <= 8, kind


def test_storms_are_at_the_same_place(twice: Any) -> None:
    pole, paths = twice
    lat, lon = CENTRE[pole]
    found = []
    for path in paths:
        with open_frame([path]) as frame:
            for guess in (None, Guess(lon, lat)):
                point = find_storm(frame, TrackOptions("p", search_km=600), guess)
                found.append((point.x, point.y))
    assert np.ptp(found, axis=0) == pytest.approx([0, 0], abs=1e-3)


def test_crops_hold_the_same_points(twice: Any) -> None:
    pole, paths = twice
    lat, lon = CENTRE[pole]
    crops = (
        Crop(follow="min:p", half_width_km=150.0),
        Crop(range={"lon": (lon - 1, lon + 1), "lat": (lat - 1, lat + 0.5)}),
    )
    for crop in crops:
        kept = []
        for path in paths:
            with open_frame([path]) as frame:
                kept.append(resolve(crop, frame, "p"))
        assert kept[0] == kept[1]
        assert 2 < len(range(COLUMNS.size)[kept[0]["grid_longitude"]]) < COLUMNS.size
        assert 2 < len(range(ROWS.size)[kept[0]["grid_latitude"]]) < ROWS.size
    with open_frame([paths[1]]) as frame:
        columns = resolve(crops[0], frame, "p")["grid_longitude"]
    assert (columns.start + columns.stop - 1) / 2 == 24
    assert columns.stop - columns.start == 2 * round(150 / (0.25 * 111.2)) + 1
