"""Grid files: the point nearest to a place and the place of a point, on each kind of plane."""

from __future__ import annotations

import numpy as np
import pytest

from burstlens.core.errors import ValuesError
from burstlens.viz.geometry.field import Field
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.projection import Projection, longitude_latitude
from burstlens.viz.values.lookup import Grid, Place
from burstlens.viz.values.options import Values
from burstlens.viz.values.shown import shown_on_map

BOX = (80, 95, 780, 655)
LAMBERT = Projection("+proj=lcc +lat_1=30 +lat_2=60 +lat_0=45 +lon_0=-97 +R=6370000")


def shown(plane, shape, extent, points=500, first=(0, 0), step=(1, 1)):
    values = np.arange(np.prod(shape), dtype="f8").reshape(shape)
    field = Field("T2", "", "K", values, plane, "", ("south_north", "west_east"), first, step)
    return values, shown_on_map(field, plane, extent, BOX, Values(points=points))


def read(one, tmp_path):
    path = tmp_path / f"grid-{one.grid.hash}.js"
    path.write_bytes(one.grid.text)
    return Grid.read(path)


def straight(count=(60, 80), spacing=27e3):
    y, x = (spacing * (np.arange(n) - n / 2) for n in count)
    return Plane(x, y, "m", projection=LAMBERT)


def extent_of(plane):
    half = [(v[1] - v[0]) / 2 for v in (plane.x, plane.y)]
    return (plane.x[0] - half[0], plane.x[-1] + half[0],
            plane.y[0] - half[1], plane.y[-1] + half[1])  # fmt: skip


def test_rows_go_from_the_top_of_the_picture(tmp_path):
    plane = straight()
    values, one = shown(plane, (60, 80), extent_of(plane))
    assert np.array_equal(one.values, values[::-1])
    grid = read(one, tmp_path)
    assert grid.index(0, 0) == {"south_north": 59, "west_east": 0}
    assert grid.index(59, 79) == {"south_north": 0, "west_east": 79}


@pytest.mark.parametrize("points", [500, 13])
def test_the_point_named_by_its_file_index_is_the_one_whose_value_stands(tmp_path, points):
    plane = straight()
    values, one = shown(plane, (60, 80), extent_of(plane), points=points)
    grid = read(one, tmp_path)
    assert max(one.values.shape) <= points
    for row, column in np.ndindex(one.values.shape):
        index = grid.index(row, column)
        assert one.values[row, column] == values[index["south_north"], index["west_east"]]


def test_a_crop_with_strides_names_the_file_s_own_points(tmp_path):
    plane = straight()
    _, one = shown(plane, (60, 80), extent_of(plane), first=(10, 20), step=(3, 2))
    grid = read(one, tmp_path)
    assert grid.index(59, 1) == {"south_north": 10, "west_east": 22}


def test_a_mesh_gives_places_within_its_error(tmp_path):
    plane = straight()
    grid = read(shown(plane, (60, 80), extent_of(plane))[1], tmp_path)
    error = grid.facts["mesh"]["error_km"]
    assert error < 27 * 0.02
    for row, column in ((0, 0), (59, 79), (30, 40), (17, 66)):
        place = grid.place(row, column)
        lon, lat = LAMBERT.inverse(plane.x[column], plane.y[59 - row])
        away = np.hypot((place.lon - lon) * np.cos(np.radians(lat)), place.lat - lat) * 111.2
        assert away <= error * 1.05 + 0.002
        assert grid.point(Place(lat=float(lat), lon=float(lon))) == (row, column)


def test_a_place_outside_of_the_grid_has_no_point(tmp_path):
    plane = straight()
    grid = read(shown(plane, (60, 80), extent_of(plane))[1], tmp_path)
    assert grid.point(Place(lat=-30, lon=83)) is None
    assert grid.point(Place(lat=45, lon=-60)) is None
    assert grid.point(Place()) is None


def test_a_mesh_holds_at_the_pole_and_across_the_seam(tmp_path):
    polar = Projection("+proj=stere +lat_0=90 +lat_ts=60 +lon_0=0 +R=6370000")
    along = 50e3 * (np.arange(81) - 40)
    plane = Plane(along, along, "m", projection=polar)
    grid = read(shown(plane, (81, 81), extent_of(plane))[1], tmp_path)
    for lon, lat in ((179.9, 80.0), (-179.9, 80.0), (10.0, 89.7), (90.0, 75.0)):
        x, y = polar.forward(lon, lat)
        expected = (80 - int(np.abs(along - y).argmin()), int(np.abs(along - x).argmin()))
        assert grid.point(Place(lat=lat, lon=lon)) == expected


@pytest.mark.parametrize("projection", ["merc", "eqc"])
def test_each_place_of_a_whole_turn_has_its_point(tmp_path, projection):
    whole = 2 * np.pi * 6370e3
    around = Projection(f"+proj={projection} +lat_ts=0 +R=6370000", period=whole)
    spacing = whole / 120
    x, y = (
        spacing * (np.arange(n) - (n - 1) / 2) for n in (120, 60 if projection == "eqc" else 20)
    )
    plane = Plane(x, y, "m", projection=around)
    grid = read(shown(plane, (y.size, x.size), extent_of(plane))[1], tmp_path)
    for row, column in np.ndindex(y.size, x.size):
        lon, lat = around.inverse(x[column], y[row])
        expected = (y.size - 1 - row, column)
        assert grid.point(Place(lat=float(lat), lon=float(lon))) == expected


def test_a_place_on_the_seam_of_a_whole_turn_has_a_point(tmp_path):
    whole = 2 * np.pi * 6370e3
    around = Projection("+proj=merc +lat_ts=0 +R=6370000", period=whole)
    x, y = (whole / 90 * (np.arange(n) - (n - 1) / 2) for n in (90, 10))
    plane = Plane(x, y, "m", projection=around)
    grid = read(shown(plane, (10, 90), extent_of(plane))[1], tmp_path)
    for lon in (180.0, -180.0, 179.999999, -179.999999):
        assert grid.point(Place(lat=3.0, lon=lon))[1] in (0, 89)


def test_places_on_a_disc_with_corners_off_the_earth_have_points(tmp_path):
    disc = Projection("+proj=geos +h=35785831 +lon_0=0 +R=6370000")
    along = 55e3 * (np.arange(200) - 99.5)
    plane = Plane(along, along, "m", projection=disc)
    grid = read(shown(plane, (200, 200), extent_of(plane))[1], tmp_path)
    for lon, lat in ((0, 0), (5, 10), (-40, 30), (55, -40), (0, 60)):
        x, y = disc.forward(lon, lat)
        expected = (199 - int(np.abs(along - y).argmin()), int(np.abs(along - x).argmin()))
        found = grid.point(Place(lat=lat, lon=lon))
        assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) <= 1
    assert grid.point(Place(lat=0, lon=120)) is None


@pytest.mark.parametrize("spacing", [0.5, 5.0])
def test_points_of_a_fine_plane_are_distinguished(tmp_path, spacing):
    utm = Projection("+proj=utm +zone=33 +ellps=WGS84")
    x, y = (at + spacing * np.arange(100) for at in (5e5, 5.3e6))
    plane = Plane(x, y, "m", projection=utm)
    grid = read(shown(plane, (100, 100), extent_of(plane))[1], tmp_path)
    for row, column in np.ndindex(100, 100):
        lon, lat = utm.inverse(x[column], y[row])
        assert grid.point(Place(lat=float(lat), lon=float(lon))) == (99 - row, column)


@pytest.mark.parametrize("lon", [-179.5, 180.5, 185.0, -175.0])
def test_longitudes_count_the_same_on_either_side_of_the_seam(tmp_path, lon):
    x, y = np.arange(170.0, 191.0), np.arange(-10.0, 11.0)
    plane = Plane(x, y, "degrees", geographic=True, projection=longitude_latitude(180))
    grid = read(shown(plane, (21, 21), extent_of(plane))[1], tmp_path)
    row, column = grid.point(Place(lat=3.2, lon=lon))
    assert (y[20 - row], x[column]) == (3, round(lon % 360 - 0.01))
    assert -180 <= grid.place(row, column).lon <= 180


def test_a_global_grid_finds_western_longitudes(tmp_path):
    x, y = np.arange(0.0, 360.0, 2.0), np.arange(89.0, -90.0, -2.0)
    plane = Plane(x, y, "degrees", geographic=True, projection=longitude_latitude(179))
    _, one = shown(plane, (90, 180), (-1, 359, -90, 90))
    grid = read(one, tmp_path)
    assert grid.index(0, 0) == {"south_north": 0, "west_east": 0}
    assert grid.index(*grid.point(Place(lat=41.2, lon=-73.9))) == {
        "south_north": 24, "west_east": 143,
    }  # fmt: skip
    assert grid.point(Place(lat=0, lon=-0.4))[1] == 0


def curvilinear(rows=70, columns=90):
    j, i = np.mgrid[0:rows, 0:columns]
    lon = -20 + 0.3 * i + 0.06 * j + 0.002 * i * j / 5
    lat = 40 + 0.2 * j - 0.05 * i
    return Plane(lon, lat, "degrees", geographic=True, projection=longitude_latitude(0))


@pytest.mark.parametrize("points", [500, 23])
def test_pixels_of_a_curvilinear_plane_name_their_point(tmp_path, points):
    plane = curvilinear()
    extent = plane.x.min() - 1, plane.x.max() + 1, plane.y.min() - 1, plane.y.max() + 1
    values, one = shown(plane, (70, 90), extent, points=points)
    grid = read(one, tmp_path)
    stride = one.facts["stride"]
    assert np.array_equal(one.values, values[::stride, ::stride])
    for row in range(0, one.values.shape[0], 5):
        for column in range(0, one.values.shape[1], 7):
            j, i = row * stride, column * stride
            assert grid.index(row, column) == {"south_north": j, "west_east": i}
            place = Place(lat=float(plane.y[j, i]), lon=float(plane.x[j, i]))
            assert grid.point(place) == (row, column)
    assert grid.point(Place(lat=float(extent[3]) - 0.1, lon=float(extent[0]) + 0.1)) is None


def test_the_same_grid_has_the_same_name_and_another_one_another():
    plane = straight()
    first = shown(plane, (60, 80), extent_of(plane))[1].grid
    moved = Plane(plane.x + 27e3, plane.y, "m", projection=LAMBERT)
    assert shown(straight(), (60, 80), extent_of(plane))[1].grid == first
    assert shown(moved, (60, 80), extent_of(moved))[1].grid.hash != first.hash


def test_planes_off_the_earth_have_places_in_their_own_units(tmp_path):
    plane = Plane(np.arange(5) * 50.0, np.arange(4) * 50.0, "m")
    grid = read(shown(plane, (4, 5), extent_of(plane))[1], tmp_path)
    assert grid.point(Place(x=160, y=30)) == (2, 3)
    assert grid.place(2, 3) == Place(x=150, y=50)
    assert grid.point(Place(lat=30, lon=30)) is None


def test_a_place_on_a_plane_of_another_kind_is_outside(tmp_path):
    at = np.arange(5) * 50.0
    metres, degrees = (
        read(shown(Plane(at, at, *kind), (5, 5), (-25, 225, -25, 225))[1], tmp_path)
        for kind in (("m",), ("degrees", True, longitude_latitude(0.0)))
    )
    assert metres.plane == "x;m;y;m"
    assert metres.point(Place(x=150, y=50, plane="x;m;y;m")) == (3, 3)
    for plane in ("distance;m;height;m", "x;km;y;km"):
        assert metres.point(Place(x=150, y=50, plane=plane)) is None
    assert degrees.point(Place(x=150, y=50, plane="x;degrees;y;degrees")) is None


def test_one_point_and_one_row_are_grids_too(tmp_path):
    for shape in ((1, 1), (1, 7), (6, 1)):
        plane = Plane(np.arange(shape[1]) * 10.0, np.arange(shape[0]) * 10.0, "m")
        grid = read(shown(plane, shape, (-5, 65, -5, 65))[1], tmp_path)
        assert (grid.rows, grid.columns) == shape
        assert grid.point(Place(x=0, y=0)) == (shape[0] - 1, 0)


@pytest.mark.parametrize("text", ["", "burstlensFeed({", 'burstlensFeed({"format":9});\n',
                                  'burstlensFeed({"format":1,"kind":"axes"});\n'])  # fmt: skip
def test_a_damaged_grid_is_refused(tmp_path, text):
    path = tmp_path / "grid-x.js"
    path.write_text(text)
    with pytest.raises(ValuesError, match="grid"):
        Grid.read(path)
