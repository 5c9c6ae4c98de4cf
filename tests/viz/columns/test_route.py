"""The route of a section: through several points, along the track of a storm, through the storm."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import TypeAdapter, ValidationError
from pyproj import Geod

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.storms.track import Point, Track
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.transect import Transect
from burstlens.viz.kinds.section.kind import SectionKind
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.kinds.section.route import route
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

SPHERE = Geod("+a=6370000 +b=6370000")
# In the domain, which has lat 22.80 to 26.64, lon -93.00 to -88.78; the first is not.
PLACES = ((-80.0, 20.0), (-92.0, 23.5), (-91.2, 24.8), (-90.0, 25.2))


@pytest.fixture
def storm(tmp_path: Path) -> Path:
    """The state of a track through these places."""
    points = tuple(
        Point(f"20050828T{hour}0000", x, y, "found", (0, 0), 950.0)
        for hour, (x, y) in zip((12, 15, 18, 21), PLACES, strict=True)
    )
    state = tmp_path / "track.state"
    Track("slp", "", "min", "hPa", "kn", "degrees", points).write(state)
    return state


def line(file: Path, state: Path | None = None, variable: str = "W", **options: Any) -> Transect:
    followed = {} if state is None else {"eye": state}
    with open_frame([file], followed=followed) as frame:
        return route(SectionOptions(variable, **options), frame)


def place(found: Transect, n: int) -> tuple[float, float]:
    assert found.lon is not None
    assert found.lat is not None
    return float(found.lon[n]), float(found.lat[n])


def test_it_goes_straight_from_point_to_point_and_marks_the_bends(cyclone: Path):
    corners = [(-92.5, 23.5), (-91.0, 26.0), (-89.2, 24.0), (-89.2, 23.2)]
    found = line(cyclone, path=tuple(End(lat=lat, lon=lon) for lon, lat in corners))
    numbers = [0, *found.bends, found.distance.size - 1]
    for n, corner in zip(numbers, corners, strict=True):
        assert place(found, n) == pytest.approx(corner, abs=1e-3)
    legs = [SPHERE.inv(*a, *b)[2] / 1000 for a, b in itertools.pairwise(corners)]
    assert np.diff(found.distance[numbers]) == pytest.approx(legs, rel=2e-3)
    for first, last in itertools.pairwise(numbers):
        x, y = (of[first : last + 1] for of in (found.columns, found.rows))
        away = (x - x[0]) * (y[-1] - y[0]) - (y - y[0]) * (x[-1] - x[0])
        assert np.abs(away).max() < 1e-6
    # The wind along it is that towards the next point: on the last leg straight to the south.
    assert found.ahead[:, -1] == pytest.approx((0.0, -1.0), abs=0.02)
    assert found.ahead[:, found.bends[-1]] == pytest.approx((0.0, -1.0), abs=0.02)
    assert np.hypot(*found.ahead) == pytest.approx(np.ones(found.rows.size))


@pytest.mark.parametrize("azimuth", [0.0, 45.0, 90.0, 240.0])
def test_it_goes_through_the_storm_in_the_direction_asked_for(
    cyclone: Path, storm: Path, azimuth: float
):
    found = line(cyclone, storm, follow="track:eye", half_width_km=100.0, azimuth=azimuth)
    (centre,) = found.bends
    assert found.distance[centre] == 0
    assert place(found, centre) == pytest.approx(PLACES[-1], abs=1e-3)
    assert found.origin == "the storm"
    for n, towards, km in ((-1, azimuth, 100.0), (0, azimuth + 180, -100.0)):
        heading, _, _ = SPHERE.inv(*PLACES[-1], *place(found, n))
        assert (heading - towards + 180) % 360 - 180 == pytest.approx(0, abs=0.1)
        assert found.distance[n] == pytest.approx(km, rel=1e-3)


def test_where_the_domain_ends_the_section_ends(cyclone: Path, storm: Path):
    found = line(cyclone, storm, follow="track:eye", half_width_km=300.0)
    assert found.distance[0] == pytest.approx(-300, rel=1e-3)
    _, _, metres = SPHERE.inv(*PLACES[-1], -88.7751, PLACES[-1][1])
    assert found.distance[-1] == pytest.approx(metres / 1000, abs=5)
    assert place(found, -1)[0] == pytest.approx(-88.78, abs=0.01)


def test_a_storm_on_the_edge_has_one_side(cyclone: Path, storm: Path, tmp_path: Path):
    with open_frame([cyclone]) as frame:
        north = float(frame.read("XLAT")[-1, 20])
        east = float(frame.read("XLONG")[-1, 20])
    point = Point("20050828T210000", east, north, "edge", (0, 0), 950.0)
    Track("slp", "", "min", "hPa", "kn", "degrees", (point,)).write(storm)
    found = line(cyclone, storm, follow="track:eye", half_width_km=200.0, azimuth=0.0)
    assert found.distance[0] == pytest.approx(-200, rel=1e-3)
    assert 0 <= found.distance[-1] < 10  # half a cell lies beyond the outermost points
    assert place(found, found.bends[0]) == pytest.approx((east, north), abs=0.03)


def test_along_a_track_it_begins_where_the_track_enters_the_domain(cyclone: Path, storm: Path):
    found = line(cyclone, storm, path="track:eye")
    assert place(found, 0) == pytest.approx(PLACES[1], abs=1e-3)
    assert place(found, -1) == pytest.approx(PLACES[-1], abs=1e-3)
    assert found.lon is not None
    assert found.lat is not None
    assert np.hypot(found.lon - PLACES[2][0], found.lat - PLACES[2][1]).min() < 1e-3
    assert found.distance[0] == 0


def test_off_the_earth_directions_count_from_y(supercell: Path, tmp_path: Path):
    with open_frame([supercell]) as frame:
        from burstlens.viz.geometry import grid

        plane = grid.map_plane(frame, "W", {})
    x, y = (float(v[v.size // 2]) for v in (plane.x, plane.y))
    point = Point("00010101T000800", x, y, "found", (0, 0), 1.0)
    Track("W", "", "max", "m s-1", "kn", plane.units, (point,)).write(tmp_path / "state")
    found = line(supercell, tmp_path / "state", follow="track:eye", half_width_km=5.0, azimuth=0.0)
    assert np.ptp(found.columns) < 1e-9
    assert found.rows[-1] > found.rows[0]
    assert found.distance[[0, -1]] == pytest.approx((-5, 5))


def test_a_track_that_does_not_fit_is_reported(
    cyclone: Path, supercell: Path, storm: Path, tmp_path: Path
):
    through: dict[str, Any] = {"follow": "track:eye", "half_width_km": 100.0}
    with pytest.raises(FrameError, match="track 'eye' has no position yet"):
        line(cyclone, **through)
    with pytest.raises(FrameError, match="is in degrees, W in "):
        line(supercell, storm, **through)
    first = Point("20050828T120000", *PLACES[1], "found", (0, 0), 950.0)
    alone = Track("slp", "", "min", "hPa", "kn", "degrees", (first,))
    alone.write(storm)
    with pytest.raises(FrameError, match="has fewer than two positions in this domain"):
        line(cyclone, storm, path="track:eye")
    away = dataclasses.replace(first, x=-80.0)
    dataclasses.replace(alone, points=(away,)).write(storm)
    with pytest.raises(FrameError, match=r"the storm .* is outside of the domain"):
        line(cyclone, storm, **through)


def test_the_picture_counts_from_the_storm_and_waits_for_its_track(
    cyclone: Path, storm: Path, context: Context
):
    asked = {"variable": "wind", "follow": "track:eye", "half_width_km": 100, "wind": "along"}
    options = TypeAdapter(SectionOptions).validate_python(asked)
    assert SectionKind().wants(options).follows == ("eye",)
    out = context.files.parent / "section.png"
    with open_frame([cyclone], followed={"eye": storm}) as frame:
        facts = SectionKind().make(options, frame, out, context).facts
    assert facts["extent"][:2] == pytest.approx([-100, 100], rel=1e-3)
    assert facts["length"] == pytest.approx(200, rel=1e-3)
    left, top, right, bottom = facts["box"]
    with Image.open(out) as image:
        grey = np.asarray(image.convert("L"))[top:bottom, left:right].astype(int)
    middle = (right - left) // 2
    dark = (grey[:, middle - 2 : middle + 3].min(axis=1) < 70).mean()
    beside = (grey[:, middle + 30 : middle + 35].min(axis=1) < 70).mean()
    assert dark > beside + 0.2  # the dashes where the storm is


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs start and end, or path, or follow"),
        ({"start": {"i": 1, "j": 1}}, "start and end go together"),
        ({"start": {"i": 1, "j": 1}, "end": {"i": 5, "j": 1}, "path": "track:a"}, "or path, or"),
        ({"path": [{"i": 1, "j": 1}]}, "two points and more"),
        ({"path": "katrina"}, "path: 'track:NAME'"),
        ({"follow": "max:W", "half_width_km": 3}, "follow: 'track:NAME'"),
        ({"follow": "track:a"}, "follow and half_width_km go together"),
        ({"follow": "track:a", "half_width_km": 0}, "half_width_km must be above 0"),
    ],
)
def test_recipes_are_checked(options: dict[str, Any], message: str):
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(product_kind("section").options).validate_python({"variable": "W", **options})
