"""Products that follow a storm: crops, volumes, netCDF, its track on a map."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from map_picture import LIGHT
from PIL import Image
from pydantic import TypeAdapter
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLStructuredGridReader

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.storms.track import Point, Track, centred, read_track
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.projection import Projection
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.kinds.peak.options import PeakOptions
from burstlens.viz.kinds.scene.options import Isosurface, SceneOptions
from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.product import Context, Made
from burstlens.viz.registry import product_kind

Follow = Callable[..., list[tuple[dict[str, Any], Path]]]
TIMES = [f"20050828T{hour}0000" for hour in (12, 15, 18, 21)]
AROUND = {"follow": "track:storm", "half_width": 8}


@pytest.fixture
def storm(katrina: Path, follow_storm: Follow) -> list[Path]:
    """The states of Katrina's track, one per record."""
    frames = [(katrina, n) for n in range(4)]
    made = follow_storm(*frames, times=TIMES, variable="PSFC", units="hPa", smoothing_km=10)
    return [state for _, state in made]


@pytest.fixture
def make(katrina: Path, context: Context) -> Callable[..., tuple[Made, Path]]:
    """Makes a product of one record of Katrina, with the states that it follows."""

    def make(kind: str, record: int, states: dict[str, Path], **options: Any) -> tuple[Made, Path]:
        about = product_kind(kind)
        asked = TypeAdapter(about.options).validate_python(options)
        out = context.files.parent / f"{kind}.{record}"
        now = dataclasses.replace(context, time=TIMES[record], product=kind)
        with open_frame([katrina], record, time=TIMES[record], followed=states) as frame:
            return about.make(asked, frame, out, now), out

    return make


def test_the_crop_goes_with_the_storm(katrina: Path, storm: list[Path]):
    crop = Crop(follow="track:storm", half_width=5)
    assert crop.tracks == ("storm",)
    for record, state in enumerate(storm):
        row, column = read_track(state).points[-1].index
        with open_frame([katrina], record, followed={"storm": state}) as frame:
            kept = resolve(centred(crop, frame), frame, "U")
        # The storm stands at the northern edge: the window is moved inside, and keeps its size.
        assert row == 47
        assert kept["south_north"] == slice(37, 48, 1)
        first = min(max(column - 5, 0), 48 - 11)
        assert kept["west_east"] == slice(first, first + 11, 1)
        assert kept["west_east_stag"] == slice(first, first + 12, 1)


def test_the_crop_is_found_by_the_position_not_by_the_index(
    cyclone: Path, storm: list[Path], katrina: Path
):
    # The nest of 12 UTC was elsewhere: the first position of the track is now outside of it.
    with open_frame([katrina]) as frame:
        then = float(frame.read("XLONG")[47, 20])
        lat = float(frame.read("XLAT")[30, 20])
    track = read_track(storm[0])
    here = dataclasses.replace(track.points[0], x=then, y=lat, index=(0, 0))
    dataclasses.replace(track, points=(here,)).write(storm[0])
    with open_frame([cyclone], followed={"storm": storm[0]}) as frame:
        crop = centred(Crop(follow="track:storm", half_width=1), frame)
        kept = resolve(crop, frame, "T")
        lon, lats = frame.read("XLONG", kept), frame.read("XLAT", kept)
    assert float(lon[1, 1]) == pytest.approx(then, abs=0.05)
    assert float(lats[1, 1]) == pytest.approx(lat, abs=0.05)


def test_a_moving_volume_is_at_the_right_place_and_height(
    make: Callable[..., tuple[Made, Path]], storm: list[Path], katrina: Path
):
    middles = []
    for record, state in enumerate(storm):
        _, out = make(
            "vtk",
            record,
            {"storm": state},
            variables=["W", "QVAPOR"],
            crop=AROUND,
            coordinates="lonlat",
        )
        reader = vtkXMLStructuredGridReader()
        reader.SetFileName(str(out))
        reader.Update()
        volume = reader.GetOutput()
        _, east, _, north, _, top = volume.GetExtent()
        nx, ny, nz = east + 1, north + 1, top + 1
        points = vtk_to_numpy(volume.GetPoints().GetData()).reshape(nz, ny, nx, 3)
        moisture = vtk_to_numpy(volume.GetPointData().GetArray("QVAPOR")).reshape(nz, ny, nx)
        row, column = read_track(state).points[-1].index
        left = min(max(column - 8, 0), 48 - 17)
        assert (nx, ny, nz) == (17, 17, 14)
        part = np.s_[record, :, 31:48, left : left + 17]
        with netCDF4.Dataset(str(katrina)) as data:
            faces = (data["PH"][part] + data["PHB"][part]) / 9.81
            lon, lat = data["XLONG"][part[:1] + part[2:]], data["XLAT"][part[:1] + part[2:]]
            stored = np.asarray(data["QVAPOR"][part])
        assert points[..., 2] == pytest.approx(np.asarray(faces[1:] + faces[:-1]) / 2, abs=0.5)
        assert points[0, ..., 0] == pytest.approx(np.asarray(lon), abs=1e-4)
        assert points[0, ..., 1] == pytest.approx(np.asarray(lat), abs=1e-4)
        assert np.array_equal(moisture, stored)
        assert row == 47
        middles.append(points[0, 8, 8, :2])
    # North-westwards with the storm.
    assert all(a[0] > b[0] and a[1] < b[1] for a, b in pairwise(middles))


def test_netcdf_goes_with_the_storm(
    make: Callable[..., tuple[Made, Path]], storm: list[Path], katrina: Path
):
    _, out = make("netcdf", 2, {"storm": storm[2]}, variables=["T2"], crop=AROUND)
    column = read_track(storm[2]).points[-1].index[1]
    left = min(column - 8, 48 - 17)
    with netCDF4.Dataset(str(out)) as written, netCDF4.Dataset(str(katrina)) as data:
        kept = np.asarray(written["T2"][:]).squeeze()
        assert np.array_equal(kept, np.asarray(data["T2"][2, 31:48, left : left + 17]))


def test_the_track_so_far_is_drawn_on_the_map(
    make: Callable[..., tuple[Made, Path]], storm: list[Path]
):
    options = LIGHT | {"margin_km": 300, "coast": False}
    bare, out = make("map", 3, {}, **options)
    before = pixels(out)
    made, out = make("map", 3, {"storm": storm[3]}, **options, track="storm")
    after = pixels(out)
    drawn = (before != after).any(axis=2)
    points = read_track(storm[3]).points
    for one, other in pairwise(points):
        row, column = at(made.facts, (one.x + other.x) / 2, (one.y + other.y) / 2)
        assert after[row - 2 : row + 3, column - 2 : column + 3].max(axis=2).min() < 80
    left, top, right, bottom = (round(edge) for edge in made.facts["box"])
    drawn[:top], drawn[bottom:], drawn[:, :left], drawn[:, right:] = (False,) * 4  # the legend
    reached = np.argwhere(drawn)
    spots = np.array([at(made.facts, point.x, point.y) for point in points])
    assert (reached.min(axis=0) >= spots.min(axis=0) - 14).all()
    assert (reached.max(axis=0) <= spots.max(axis=0) + 14).all()
    # The sheet keeps nothing of it.
    _, out = make("map", 3, {}, **options)
    assert np.array_equal(pixels(out), before)
    assert bare.facts["extent"] == made.facts["extent"]


def test_deeper_is_larger(make: Callable[..., tuple[Made, Path]], storm: list[Path]):
    track = read_track(storm[3])
    places = [(-91.0, 25.0, 990.0), (-90.5, 25.0, 970.0), (-90.0, 25.0, 950.0), (-89.5, 25.0, None)]
    points = tuple(
        Point(time, x, y, "found" if value else "lost", (0, 0), value)
        for time, (x, y, value) in zip(TIMES, places, strict=True)
    )
    dataclasses.replace(track, points=points).write(storm[3])
    made, out = make("map", 3, {"storm": storm[3]}, **LIGHT, track="storm", coast=False)
    picture, ink = pixels(out), []
    for x, y, _ in places[:3]:
        row, column = at(made.facts, x, y)
        dark = picture[row - 12 : row + 13, column].max(axis=1) < 150
        ink.append(np.ptp(np.flatnonzero(dark)))
    assert ink[0] < ink[1] < ink[2]


def test_the_graph_knows_what_a_product_follows():
    around = Crop(follow="track:a", half_width=3)
    cases: list[tuple[str, Any, tuple[str, ...]]] = [
        ("map", MapOptions("T2", crop=around, track="b"), ("a", "b")),
        ("map", MapOptions("T2", crop=around, track="a"), ("a",)),
        ("map", MapOptions("T2", track="best/track"), ()),
        ("map", MapOptions("T2", track="best.csv"), ()),
        ("map", MapOptions("T2"), ()),
        ("vtk", VtkOptions(("T",), crop=around), ("a",)),
        ("netcdf", NetcdfOptions(("T",), crop=Crop(follow="min:T2", half_width=1)), ()),
        ("peak", PeakOptions(crop=around), ("a",)),
        ("scene", SceneOptions(isosurfaces=(Isosurface("T", 1.0),), crop=around), ("a",)),
    ]
    for kind, options, follows in cases:
        assert product_kind(kind).wants(options).follows == follows
    assert product_kind("map").ships(MapOptions("T2", track="best.csv", cities="c.csv")) == (
        "c.csv",
        "best.csv",
    )
    assert product_kind("map").ships(MapOptions("T2", track="storm")) == ()


@pytest.mark.parametrize("kind", ["map", "vtk", "netcdf"])
def test_a_track_without_a_position_yet_is_reported(
    kind: str, make: Callable[..., tuple[Made, Path]], storm: list[Path]
):
    what: dict[str, Any] = {"variable": "T2"} if kind == "map" else {"variables": ["T2"]}
    with pytest.raises(FrameError, match="the track 'storm' has no position yet"):
        make(kind, 0, {}, **what, crop=AROUND)
    if kind == "map":
        with pytest.raises(FrameError, match="track: the track 'storm' has no position yet"):
            make(kind, 0, {}, **what, track="storm")
        storm[0].write_bytes(b"{}")
        with pytest.raises(FrameError, match=r"track: .* is not the state of a track"):
            make(kind, 0, {"storm": storm[0]}, **what, track="storm")


def test_a_track_of_another_plane_is_reported(
    make: Callable[..., tuple[Made, Path]], storm: list[Path]
):
    track = Track("W", "vertical wind", "max", "m s-1", "kn", "m")
    dataclasses.replace(track, points=(Point(TIMES[0], 1.0, 2.0, "found", (0, 0), 3.0),)).write(
        storm[0]
    )
    with pytest.raises(FrameError, match="the track 'storm' is in m, T2 in degrees"):
        make("map", 0, {"storm": storm[0]}, variable="T2", crop=AROUND)
    with pytest.raises(FrameError, match="track: the track has x and y in m, which the map"):
        make("map", 0, {"storm": storm[0]}, variable="T2", track="storm")


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def at(facts: Any, lon: float, lat: float) -> tuple[int, int]:
    """Row and column of a place on a map."""
    (x,), (y,) = Projection(facts["projection"]).forward([lon], [lat])
    left, top, right, bottom = facts["box"]
    low_x, high_x, low_y, high_y = facts["extent"]
    column = left + (x - low_x) / (high_x - low_x) * (right - left)
    return round(bottom - (y - low_y) / (high_y - low_y) * (bottom - top)), round(column)
