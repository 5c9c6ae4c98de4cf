"""Coastlines and borders lie where the coasts and borders of the earth are."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz.drawing.coast.lines import KINDS, Extent, Kind, lines
from burstlens.viz.geometry.projection import Projection, longitude_latitude

GULF = (
    Projection("+proj=lcc +lat_1=25 +lat_2=45 +lat_0=27 +lon_0=-88 +R=6370000"),
    (-1.1e6, 1.1e6, -9e5, 9e5),
)
FIJI = (
    Projection("+proj=merc +lat_ts=0 +lon_0=178 +R=6370000"),
    (-1e6, 1e6, -2.6e6, -1.2e6),
)
ARCTIC = (
    Projection("+proj=stere +lat_0=90 +lat_ts=60 +lon_0=-10 +R=6370000"),
    (-4e6, 4e6, -4e6, 4e6),
)
ANTARCTIC = (
    Projection("+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=0 +R=6370000"),
    (-4e6, 4e6, -4e6, 4e6),
)
LAKES = (
    Projection("+proj=lcc +lat_1=40 +lat_2=50 +lat_0=45 +lon_0=-86 +R=6370000"),
    (-7e5, 7e5, -6e5, 6e5),
)
WEST = (
    Projection("+proj=lcc +lat_1=30 +lat_2=45 +lat_0=37 +lon_0=-109 +R=6370000"),
    (-7e5, 7e5, -6e5, 6e5),
)
AFRICA = (Projection("+proj=merc +lon_0=33 +R=6370000"), (-7e5, 7e5, -6e5, 6e5))
AUSTRALIA = (
    Projection("+proj=lcc +lat_1=-20 +lat_2=-35 +lat_0=-28 +lon_0=145 +R=6370000"),
    (-1e6, 1e6, -9e5, 9e5),
)
WORLD = longitude_latitude(0), (-180.0, 180.0, -90.0, 90.0)
PACIFIC = longitude_latitude(180), (0.0, 360.0, -60.0, 60.0)
PLACES: dict[str, tuple[tuple[Projection, Extent], Kind, float, float, float]] = {
    "Havana": (GULF, "coast", 23.15, -82.36, 6),
    "Key West": (GULF, "coast", 24.56, -81.80, 12),
    "mouth of the Mississippi": (GULF, "coast", 29.0, -89.25, 20),
    "Brownsville on the Rio Grande": (GULF, "borders", 25.90, -97.50, 12),
    "Taveuni, east of 180": (FIJI, "coast", -16.85, -179.97, 15),
    "Suva": (FIJI, "coast", -18.14, 178.44, 8),
    "Cape Morris Jesup": (ARCTIC, "coast", 83.63, -32.6, 20),
    "Cape Chelyuskin": (ARCTIC, "coast", 77.72, 104.25, 20),
    "Hope Bay": (ANTARCTIC, "coast", -63.4, -57.0, 25),
    "Texarkana, on the border of Texas": (GULF, "states", 33.44, -94.04, 4),
    "Chicago on Lake Michigan": (LAKES, "lakes", 41.88, -87.61, 5),
    "Duluth on Lake Superior": (LAKES, "lakes", 46.78, -92.09, 8),
    "Four Corners": (WEST, "states", 37.0, -109.05, 3),
    "Bukoba on Lake Victoria": (AFRICA, "lakes", -1.33, 31.83, 12),
    "Tweed Heads, south of Queensland": (AUSTRALIA, "states", -28.17, 153.5, 8),
}


def segments(points: np.ndarray) -> np.ndarray:
    lengths = np.hypot(*np.diff(points, axis=0).T)
    return lengths[np.isfinite(lengths)]


def distance(points: np.ndarray, x: float, y: float) -> float:
    """From a point to the nearest of the lines, also between their points."""
    start, leg = points[:-1], np.diff(points, axis=0)
    off = np.array([x, y]) - start
    part = np.clip((off * leg).sum(axis=1) / np.maximum((leg**2).sum(axis=1), 1e-9), 0, 1)
    return float(np.nanmin(np.hypot(*(off - part[:, None] * leg).T)))


@pytest.mark.parametrize("name", PLACES)
def test_a_known_place_lies_on_the_line(name: str):
    (projection, extent), kind, lat, lon, within_km = PLACES[name]
    points = lines(projection, extent, kind)
    x, y = projection.forward([lon], [lat])
    assert extent[0] < x[0] < extent[1]
    assert distance(points, x[0], y[0]) < within_km * 1000


def test_the_open_sea_has_no_coast():
    projection, extent = GULF
    x, y = projection.forward([-90.0], [25.5])
    assert np.nanmin(np.hypot(*(lines(projection, extent, "coast") - [x[0], y[0]]).T)) > 2e5


@pytest.mark.parametrize(
    ("projection", "extent", "longest"),
    [(*GULF, 8e4), (*FIJI, 8e4), (*ARCTIC, 8e4), (*ANTARCTIC, 8e4), (*WORLD, 1.0), (*PACIFIC, 1.0)],
)
def test_no_line_runs_across_a_seam_of_the_map(
    projection: Projection, extent: Extent, longest: float
):
    for kind in KINDS:
        lengths = segments(lines(projection, extent, kind))
        assert lengths.max(initial=0) < longest


def test_states_are_left_out_where_a_map_shows_a_hemisphere():
    assert lines(*LAKES, "states").size
    assert not lines(*WORLD, "states").size


def test_the_caspian_sea_is_drawn_once():
    projection, extent = longitude_latitude(51), (46.0, 56.0, 36.0, 48.0)
    shore = lines(projection, extent, "lakes")
    # Baku lies on its coast, far from any lake.
    assert np.nanmin(np.hypot(*(shore - [50.0, 40.35]).T)) > 0.5
    assert np.nanmin(np.hypot(*(lines(projection, extent, "coast") - [49.9, 40.35]).T)) < 0.1


def test_the_pole_is_not_a_coast():
    projection, extent = ANTARCTIC
    assert np.nanmin(np.hypot(*lines(projection, extent, "coast").T)) > 5e5


def test_a_border_along_a_parallel_bends_with_it_in_a_small_domain():
    projection = Projection("+proj=lcc +lat_1=30 +lat_2=60 +lat_0=49 +lon_0=-95 +R=6370000")
    x, y = (float(v[0]) for v in projection.forward([-103.0], [49.0]))
    extent = (x - 1e4, x + 1e4, y - 1e4, y + 1e4)
    points = lines(projection, extent, "borders")
    left, right = points[points[:, 0] < x], points[points[:, 0] > x]
    assert left.size
    assert right.size
    near = points[np.nanargmin(np.hypot(*(points - [x, y]).T))]
    assert abs(projection.inverse([near[0]], [near[1]])[1][0] - 49) < 0.01


def test_the_pack_is_small():
    path = files("burstlens.viz.drawing.coast").joinpath("natural_earth.npz")
    assert len(path.read_bytes()) < 1_500_000


def test_a_line_of_two_countries_is_a_border_and_one_of_a_single_country_a_coast(tmp_path: Path):
    pytest.importorskip("shapely")
    from burstlens.viz.drawing.coast.lines import UNIT_DEGREES
    from burstlens.viz.drawing.coast.make import pack

    # Two squares side by side, the second one closed at 180 degrees by a seam.
    topology: dict[str, Any] = {
        "transform": {"scale": [1, 1], "translate": [0, 0]},
        "arcs": [
            [[175, 0], [0, 10]],
            [[175, 10], [-5, 0], [0, -10], [5, 0]],
            [[175, 10], [5, 0], [0, -10], [-5, 0]],
        ],
        "objects": {
            "countries": {
                "geometries": [
                    {"type": "Polygon", "arcs": [[0, 1]]},
                    {"type": "MultiPolygon", "arcs": [[[-1, 2]]]},
                    {"type": None},
                ]
            }
        },
    }
    path = tmp_path / "countries-50m.json"
    path.write_text(json.dumps(topology))
    packed = pack([path])
    border = packed["50m_borders_first"] * UNIT_DEGREES
    assert border.tolist() == [[175.0, 0.0]]
    assert packed["50m_borders_count"].tolist() == [1]
    # The seam is left out: two lines of the second square remain, and one of the first.
    assert packed["50m_coast_count"].tolist() == [3, 1, 1]


def test_a_lake_is_taken_once_and_a_state_s_border_is_not_a_coast(tmp_path: Path):
    pytest.importorskip("shapely")
    from burstlens.viz.drawing.coast.lines import UNIT_DEGREES
    from burstlens.viz.drawing.coast.make import pack

    # Two states side by side with a lake in one; a coarser file has the same again, and another.
    files = []
    for name, lakes in (("continent_50m", [3]), ("world_50m", [3, 4])):
        topology: dict[str, Any] = {
            "transform": {"scale": [1, 1], "translate": [0, 0]},
            "arcs": [
                [[20, 0], [0, 10]],
                [[20, 10], [-10, 0], [0, -10], [10, 0]],
                [[20, 10], [10, 0], [0, -10], [-10, 0]],
                [[12, 2], [5, 0], [0, 5], [-5, 0], [0, -5]],
                [[42, 2], [5, 0], [0, 5], [-5, 0], [0, -5]],
            ],
            "objects": {
                "lakes": {"geometries": [{"arcs": [[n]]} for n in lakes] + [{"type": None}]},
                "subunits": {
                    "geometries": [
                        {"arcs": [[0, 1]], "properties": {"gu": "USA"}},
                        {"arcs": [[-1, 2]], "properties": {"gu": "USA"}},
                    ]
                },
            },
        }
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(topology))
        files.append(path)
    packed = pack(files)
    assert (packed["50m_states_first"] * UNIT_DEGREES).tolist() == [[20.0, 0.0]]
    assert (packed["50m_lakes_first"] * UNIT_DEGREES).tolist() == [[12.0, 2.0], [42.0, 2.0]]
