"""Places, tracks and nests on a map: where their pixels are, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from map_picture import LIGHT, Picture

from burstlens.core.errors import RecipeError
from burstlens.viz.geometry.place import Place
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context


def test_places_are_marked_and_named_where_they_are(gulf: Path, context: Context):
    bare = Picture(gulf, context, **LIGHT, coast=False)
    cities = [
        {"name": "New Orleans", "lat": 29.95, "lon": -90.07},
        {"name": "Oslo", "lat": 59.9, "lon": 10.8},
    ]
    picture = Picture(gulf, context, **LIGHT, coast=False, cities=cities)
    changed = (bare.pixels != picture.pixels).any(axis=2)
    rows, columns = np.nonzero(changed)
    row, column = picture.place(29.95, -90.07)
    assert picture.darkest(row, column, 1) < 60
    assert abs(rows - row).max() < 14
    assert column - 6 < columns.min()
    assert columns.max() < column + 110
    assert columns.max() > column + 40


def test_a_place_is_marked_above_the_wind_and_isolines(gulf: Path, context: Context):
    station = [{"name": "", "lat": 27.0, "lon": -88.0}]
    lines = {"variable": "PSFC", "units": "hPa", "interval": 0.25, "colour": "red", "labels": False}
    crowd = {"barbs": {"spacing_px": 10, "colour": "red"}, "contours": [lines], "coast": False}
    picture = Picture(gulf, context, **LIGHT, **crowd, stations=station)
    row, column = picture.place(27.0, -88.0)
    reds = picture.pixels[row - 1 : row + 2, column - 1 : column + 2].astype(int)
    # The mark's dark ink; a red line over it would leave its colour.
    assert (reds[..., 0] - reds[..., 2]).max() < 60
    assert reds[1, 1].max() < 120


def test_names_near_the_edge_stay_inside_the_map(gulf: Path, context: Context):
    low_x, high_x, _, high_y = Picture(gulf, context, **LIGHT).facts["extent"]
    edge = [
        {"name": "Rightmost of all places", "x": high_x - 1e4, "y": 0.0},
        {"name": "Leftmost of all places", "x": low_x + 1e4, "y": 0.0},
        {"name": "Uppermost", "x": 0.0, "y": high_y - 1e4},
    ]
    bare = Picture(gulf, context, **LIGHT, coast=False)
    picture = Picture(gulf, context, **LIGHT, coast=False, stations=edge)
    left, top, right, _ = picture.facts["box"]
    changed = (bare.pixels != picture.pixels).any(axis=2)
    rows, columns = np.nonzero(changed)
    assert rows.min() >= top - 4
    assert columns.min() >= left - 4
    assert columns.max() <= right + 4
    assert (columns > right - 100).sum() > 300


def test_places_and_tracks_come_from_a_file_of_the_recipe(gulf: Path, context: Context):
    (context.files / "track.csv").write_text(
        "time, Lat, Lon, note\n2005-08-28, 24.0, -92.0, x\n2005-08-29, 27.0, -89.0,\n"
    )
    picture = Picture(gulf, context, **LIGHT, coast=False, track="track.csv")
    start, end = np.array(picture.place(24.0, -92.0)), np.array(picture.place(27.0, -89.0))
    for part in (0.25, 0.5, 0.8):
        row, column = start + part * (end - start)
        assert picture.darkest(round(row), round(column), 2) < 120
    options = MapOptions("T2", track="track.csv", cities=(Place("a", 1, 2),), stations="s.csv")
    assert set(MapKind().ships(options)) == {"track.csv", "s.csv"}


def test_a_file_of_places_travels_whatever_its_name_is():
    options = MapOptions("T2", cities="towns", stations="stations", track="storm")
    assert MapKind().ships(options) == ("towns", "stations")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,latitude\nA,1\n", "cities: places.csv needs columns lat and lon, or x and y; it "
         "has: name, latitude"),
        ("name,lat,lon\nA,1,2\nB,north,2\n", "places.csv, line 3: lat is 'north', which is no"),
        ("name,lat,lon\nA,95,2\n", "places.csv, line 2: the place 'A': lat must be -90 to 90"),
        ("name,lat,lon\nA,5\n", "places.csv, line 2: the place 'A' needs lat and lon"),
        ("", "it has: none"),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_places_is_reported(
    text: str, message: str, gulf: Path, context: Context
):
    (context.files / "places.csv").write_text(text)
    with pytest.raises(RecipeError, match=message):
        Picture(gulf, context, **LIGHT, cities="places.csv")


def test_a_nest_is_outlined_where_its_cells_are(gulf: Path, context: Context):
    nest = {
        "i_parent_start": 31, "j_parent_start": 21, "parent_grid_ratio": 3, "e_we": 61, "e_sn": 91,
    }  # fmt: skip
    picture = Picture(gulf, context, **LIGHT, coast=False, nests=[nest])
    low_x, _, low_y, _ = picture.facts["extent"]
    left, bottom = low_x + 30 * 20000, low_y + 20 * 20000
    right, top = left + 20 * 20000, bottom + 30 * 20000
    for x, y in (
        (left, bottom + 1e5),
        (right, top - 1e5),
        (left + 3e5, top),
        (right - 9e4, bottom),
    ):
        assert picture.darkest(*picture.at(x, y), 2) < 80
    assert picture.darkest(*picture.at((left + right) / 2, (bottom + top) / 2), 10) > 120
    # The same nest in a crop of its parent.
    crop = {"index": {"west_east": [20, 80], "south_north": [10, 70]}}
    cropped = Picture(gulf, context, **LIGHT, coast=False, nests=[nest], crop=crop)
    assert cropped.darkest(*cropped.at(left, bottom + 1e5), 2) < 80
