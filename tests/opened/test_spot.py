"""Places as people give them."""

from __future__ import annotations

import pytest
from values_case import LAMBERT, degrees_grid, plane_grid

from burstlens.clients.opened.spot import Spot
from burstlens.core.errors import ValuesError
from burstlens.viz.values.lookup import Grid, Place


@pytest.fixture
def read(tmp_path):
    def read(script):
        path = tmp_path / "grid.js"
        path.write_bytes(script.text)
        return Grid.read(path)

    return read


@pytest.mark.parametrize(
    ("at", "xy", "expected"),
    [
        ("25.3,-91.9", None, Spot(lat=25.3, lon=-91.9)),
        (" -25.3 , 268.1", None, Spot(lat=-25.3, lon=268.1)),
        (None, "4500,9200", Spot(x=4500, y=9200)),
        (None, "4.5km,9200 m", Spot(x=4.5, y=9200, units=("km", "m"))),
        (None, "-1e3,0", Spot(x=-1000, y=0)),
    ],
)
def test_a_place_is_two_numbers(at, xy, expected):
    assert Spot.parse(at, xy) == expected


def test_a_place_may_be_given_in_degrees_and_in_lengths_that_keep_their_units():
    both = Spot.parse("25.3,-91.9", "12km,4500")
    assert both == Spot.of(25.3, -91.9, "12km", 4500)
    assert both.facts() == {"lat": 25.3, "lon": -91.9, "x": 12.0, "y": 4500.0, "x_units": "km"}


@pytest.mark.parametrize(
    ("at", "xy", "words"),
    [
        (None, None, "--at LAT,LON or --xy X,Y"),
        ("1,2", "1", "expected X,Y"),
        ("25.3", None, "expected LAT,LON"),
        ("25.3,-91.9,0", None, "expected LAT,LON"),
        ("north,-91.9", None, "lat must be a number"),
        ("nan,1", None, "lat must be a number"),
        ("91,1", None, "no place at latitude 91"),
        (None, "4.5furlongs,2", "x must be a number, such as 4500 or 4.5km"),
        (None, "1.2.3,2", "x must be a number"),
    ],
)
def test_anything_else_is_refused_with_what_to_write(at, xy, words):
    with pytest.raises(ValuesError, match=words):
        Spot.parse(at, xy)


def test_half_a_place_is_refused():
    with pytest.raises(ValuesError, match="both lat and lon"):
        Spot.of(lat=1.0)
    with pytest.raises(ValuesError, match="both x and y"):
        Spot.of(y="1km")
    with pytest.raises(ValuesError, match="lat and lon, or x and y"):
        Spot.of()


def test_of_a_place_given_both_ways_the_degrees_count_on_the_earth_and_x_and_y_elsewhere(read):
    spot = Spot.of(25.0, -90.0, "4km", 900)  # as a pin in a section has it
    assert spot.on(read(plane_grid(LAMBERT))) == Place(lat=25.0, lon=-90.0)
    assert spot.on(read(plane_grid())) == Place(x=4000.0, y=900.0)


def test_a_place_of_a_page_keeps_to_planes_of_its_kind(read):
    grid = read(plane_grid())
    for plane, found in (("", True), ("x;m;y;m", True), ("distance;m;height;m", False)):
        assert (grid.point(Spot.of(x=4500.0, y=900.0, plane=plane).on(grid)) is not None) == found


def test_kilometres_become_the_units_of_the_plane(read):
    spot = Spot.of(x="4.5km", y="-900m")
    assert spot.on(read(plane_grid())) == Place(x=4500.0, y=-900.0)


def test_lengths_have_no_meaning_on_a_plane_of_degrees(read):
    with pytest.raises(ValuesError, match="in degrees, not in km"):
        Spot.of(x="4.5km", y=1.0).on(read(degrees_grid()))


def test_longitude_and_latitude_need_a_plane_on_the_earth(read):
    spot = Spot.of(25.0, -90.0)
    assert spot.on(read(plane_grid(LAMBERT))) == Place(lat=25.0, lon=-90.0)
    with pytest.raises(ValuesError, match="give x and y"):
        spot.on(read(plane_grid()))
