"""Layers over a map: where their pixels are, which way winds point, what is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from map_picture import LIGHT, Picture
from pydantic import TypeAdapter, ValidationError

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.isolines import contour_levels
from burstlens.viz.drawing.maps.layers import Contours, Wind
from burstlens.viz.drawing.maps.wind_symbols import read_wind
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context

pytestmark = pytest.mark.integration


def test_coast_pixels_are_where_the_coast_is(gulf: Path, context: Context):
    picture = Picture(gulf, context, **LIGHT)
    for lat, lon in ((23.15, -82.36), (29.0, -89.25), (21.6, -87.0), (25.9, -97.2)):
        assert picture.darkest(*picture.place(lat, lon), 6) < 120, (lat, lon)
    assert picture.darkest(*picture.place(27.0, -91.5), 12) > 150
    bare = Picture(gulf, context, **LIGHT, coast=False)
    assert bare.darkest(*bare.place(23.15, -82.36), 6) > 150


def test_borders_of_states_and_shores_of_lakes_can_be_left_out(wrf_file: Any, context: Context):
    # Around the Great Lakes: Lambert's projection, 1,500 km wide.
    path = wrf_file(
        map_proj=1, TRUELAT1=35.0, TRUELAT2=50.0, MOAD_CEN_LAT=44.0, STAND_LON=-88.0,
        size=(75, 60), spacing=20000.0,
    )  # fmt: skip
    # In Chicago, and on the border of Illinois and Indiana 150 km south of it.
    shore, border = (41.88, -87.61), (40.5, -87.53)
    for options, at_shore, at_border in (
        ({}, True, True), ({"states": False}, True, False), ({"lakes": False}, False, True),
        ({"coast": False}, False, False),
    ):  # fmt: skip
        picture = Picture(path, context, **LIGHT, **options)
        for place, drawn in ((shore, at_shore), (border, at_border)):
            assert (picture.darkest(*picture.place(*place), 3) < 190) == drawn, (options, place)


def test_an_idealized_plane_has_no_coast(supercell: Path, context: Context):
    options = {"variable": "W", "level": 10}
    one, other = (Picture(supercell, context, **options, coast=coast) for coast in (True, False))
    assert np.array_equal(one.pixels, other.pixels)
    assert one.facts["projection"] is None


def test_a_contour_runs_where_its_value_is(gulf: Path, context: Context):
    # PSFC is 1000 hPa in the middle of the domain, and 30 hPa more for each 1000 km.
    asked = {"variable": "PSFC", "units": "hPa", "levels": [1012.0], "labels": False}
    bare = Picture(gulf, context, **LIGHT, coast=False)
    picture = Picture(gulf, context, **LIGHT, coast=False, contours=asked)
    low_x, high_x, low_y, high_y = picture.facts["extent"]
    x, y = (low_x + high_x) / 2, (low_y + high_y) / 2
    for angle in np.radians([10, 80, 170, 200, 290, 340]):
        on = picture.at(x + 4e5 * np.cos(angle), y + 4e5 * np.sin(angle))
        off = picture.at(x + 3e5 * np.cos(angle), y + 3e5 * np.sin(angle))
        assert picture.darkest(*on, 2) < 80
        assert picture.darkest(*off, 2) == bare.darkest(*off, 2)


def test_a_field_of_both_signs_has_a_line_at_zero_only_when_it_is_asked_for():
    def found(**asked: Any) -> list[float]:
        return contour_levels(Contours("W", **asked), -2.5, 2.5, signed=True).tolist()

    assert found(interval=1) == [-2, -1, 1, 2]
    assert 0 not in found()
    assert found(levels=(-1.0, 0.0, 1.0)) == [-1, 0, 1]
    # Not of temperatures: their zero is one value of many.
    assert 0 in contour_levels(Contours("T2", interval=1), -2.5, 2.5)


def test_contour_levels_are_the_multiples_of_the_interval():
    levels = contour_levels(Contours("PSFC", interval=4), 985.0, 1001.0)
    assert levels.tolist() == [988, 992, 996, 1000]
    assert contour_levels(Contours("PSFC", levels=(1.0, 5.0, 9.0)), 2.0, 8.0).tolist() == [5]
    with pytest.raises(RecipeError, match=r"interval of 0.01 gives 1601 lines"):
        contour_levels(Contours("PSFC", interval=0.01), 985.0, 1001.0)


def test_barbs_are_in_knots_and_at_the_cell_centres(gulf: Path):
    with open_frame([gulf]) as frame:
        wind = read_wind(frame, "barbs", Wind("U", "V"), Crop())
        surface = read_wind(frame, "vectors", Wind(), Crop(stride=3))
        shape = frame.variable("T2").shape
        with pytest.raises(RecipeError, match="K cannot be shown as 'kn'"):
            read_wind(frame, "barbs", Wind("T2", "T2"), Crop())
    # 3 and 4 m/s; a knot is 1852 m an hour.
    assert wind.u == pytest.approx(np.full(shape, 3 * 3600 / 1852), rel=1e-6)
    assert wind.v == pytest.approx(np.full(shape, 4 * 3600 / 1852), rel=1e-6)
    assert wind.plane.x.size == shape[1]
    assert wind.plane.y.size == shape[0]
    assert surface.u == pytest.approx(np.full(shape, 10.0))
    with open_frame([gulf]) as frame:
        from burstlens.viz.geometry.grid import map_plane

        centres = map_plane(frame, "T2", {})
    assert wind.plane.x == pytest.approx(centres.x)
    assert wind.plane.y == pytest.approx(centres.y)


def test_a_wind_from_the_west_follows_the_parallel_on_the_map(gulf: Path):
    with open_frame([gulf]) as frame:
        wind = read_wind(frame, "vectors", Wind(relative_to="earth"), Crop())
        lon, lat = frame.read("XLONG").astype("f8"), frame.read("XLAT").astype("f8")
    assert wind.plane.projection is not None
    x0, y0 = wind.plane.projection.forward(lon, lat)
    x1, y1 = wind.plane.projection.forward(lon + 1e-3, lat)
    along = np.arctan2(y1 - y0, x1 - x0)
    assert np.arctan2(wind.v, wind.u) == pytest.approx(along, abs=1e-4)
    assert np.hypot(wind.u, wind.v) == pytest.approx(np.full(lon.shape, 10.0), rel=1e-5)
    assert np.abs(along).max() > np.radians(5)


def test_a_grid_wind_is_turned_by_cosalpha_where_the_map_is_of_longitudes(gulf: Path):
    angle = np.radians(30)
    with netCDF4.Dataset(str(gulf), "a") as data:
        data.DX = np.float32(7000)  # not this grid's, so that the file's coordinates are taken
        for name, value in (("COSALPHA", np.cos(angle)), ("SINALPHA", np.sin(angle))):
            variable = data.createVariable(name, "f4", data["T2"].dimensions)
            variable[:] = np.full(data["T2"].shape, value)
    with open_frame([gulf]) as frame:
        wind = read_wind(frame, "vectors", Wind(), Crop())
    assert wind.plane.geographic
    assert wind.u == pytest.approx(np.full(wind.u.shape, 10 * np.cos(angle)), rel=1e-5)
    assert wind.v == pytest.approx(np.full(wind.u.shape, 10 * np.sin(angle)), rel=1e-5)


@pytest.mark.parametrize("how", ["barbs", "vectors", "streamlines"])
def test_winds_are_drawn_and_leave_nothing_behind(how: str, gulf: Path, context: Context):
    before = Picture(gulf, context, **LIGHT)
    with_wind = Picture(gulf, context, **LIGHT, **{how: {}})
    after = Picture(gulf, context, **LIGHT)
    left, top, right, bottom = before.facts["box"]
    changed = (before.pixels != with_wind.pixels).any(axis=2)
    assert changed[top:bottom, left:right].mean() > 0.01
    changed[top:bottom, left:right] = False
    # Below the map the legend says what they are.
    assert changed[bottom + 30 :].any()
    assert not changed[: bottom + 30].any()
    assert np.array_equal(before.pixels, after.pixels)


def test_barbs_are_seen_on_the_darkest_and_on_the_lightest_ground(gulf: Path, context: Context):
    for limits in ((400.0, 600.0), (-1000.0, 0.0)):  # of T2: black, and white
        options = {
            "variable": "T2",
            "limits": limits,
            "colormap": "matplotlib.gray",
            "coast": False,
        }
        with_barbs = Picture(gulf, context, **options, barbs={})
        left, top, right, bottom = with_barbs.facts["box"]
        grey = with_barbs.pixels[top + 3 : bottom - 3, left + 3 : right - 3].mean(axis=2)
        ground = np.median(grey)
        assert (np.abs(grey - ground) > 180).mean() > 0.005


def test_feathers_are_on_the_other_side_south_of_the_equator(
    wrf_file: Callable[..., Path], context: Context
):
    weight = {}
    for side, north in (("north", 1), ("south", -1)):
        path = wrf_file(
            map_proj=3, TRUELAT1=0.0, STAND_LON=0.0, middle=(0.0, north * 2e6), size=(20, 16)
        )
        options = LIGHT | {"coast": False, "barbs": {"spacing_px": 120}}
        bare = Picture(path, context, **LIGHT, coast=False)
        drawn = Picture(path, context, **options)
        dark = (bare.pixels - drawn.pixels).max(axis=2) > 100
        left, top, right, bottom = drawn.facts["box"]
        rows = np.flatnonzero(dark[top:bottom, left + 100 : right - 100].sum(axis=1))
        # The staff is the row with most ink of each barb; feathers are above or below it.
        ink = dark[top:bottom, left + 100 : right - 100].sum(axis=1)
        staffs = np.flatnonzero(ink > 0.6 * ink.max())
        first = rows[: np.argmax(np.diff(rows) > 20) + 1]
        weight[side] = staffs[staffs <= first[-1]].mean() - first.mean()
    # Wind from the west: north of the equator feathers point up, so the staff is below them.
    assert weight["north"] > 2
    assert weight["south"] < -2


def test_missing_values_leave_gaps_in_layers(gulf: Path, context: Context):
    with netCDF4.Dataset(str(gulf), "a") as data:
        for name in ("PSFC", "U10"):
            values = data[name][:]
            values[:, :40, :60] = np.nan
            data[name][:] = values
    for how in ("barbs", "vectors", "streamlines"):
        asked = {"variable": "PSFC", "interval": 500.0}
        picture = Picture(gulf, context, **LIGHT, contours=asked, **{how: {}})
        assert picture.facts["nan"] == 0


@pytest.mark.parametrize(
    ("layer", "error", "message"),
    [
        ({"contours": {"variable": "PSFCC"}}, FrameError,
         "contours: .* has no variable 'PSFCC'; did you mean PSFC"),
        ({"contours": {"variable": "PSFC", "units": "K"}}, RecipeError, "contours: units: Pa"),
        ({"contours": {"variable": "PSFC", "colour": "blak"}}, ValueError,
         "'blak' is not a colour"),
        ({"barbs": {"u": "U11"}}, FrameError, "barbs: .* has no variable 'U11'; did you mean"),
        ({"vectors": {"u": "XLAT_U", "v": "Times"}}, FrameError, "vectors: .*'Times'"),
        ({"track": "none.csv"}, RecipeError, "track: none.csv cannot be read: No such file"),
    ],
)  # fmt: skip
def test_errors_name_the_layer(
    layer: dict[str, Any], error: type[Exception], message: str, gulf: Path, context: Context
):
    with pytest.raises(error, match=message):
        Picture(gulf, context, **LIGHT, **layer)


def test_a_place_on_earth_is_refused_on_a_plane_that_is_not(supercell: Path, context: Context):
    with pytest.raises(FrameError, match="cities: the place 'A' has lat and lon, but the frame"):
        Picture(
            supercell, context, variable="W", level=3, cities=[{"name": "A", "lat": 1, "lon": 2}]
        )
    Picture(supercell, context, variable="W", level=3, cities=[{"name": "A", "x": 2e4, "y": 4e4}])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contours": {"variable": "P", "levels": [1], "interval": 2}}, "levels or interval"),
        ({"contours": {"variable": "P", "levels": [3, 1]}}, "levels must increase"),
        ({"contours": {"variable": "P", "interval": 0}}, "interval must be above zero"),
        ({"colormap": "nws_rain", "limits": [0, 50]}, "nws_rain has its own steps"),
        ({"margin_km": -1}, "margin_km must be 0 to 20000"),
        ({"barbs": {"spacing_px": 1}}, "spacing_px must be 8 to 400"),
        ({"barbs": {"speed": "U"}}, "speed"),
        ({"cities": [{"name": "A", "lat": 3}]}, "'A' needs lat and lon, or x and y"),
        ({"nests": [{"i_parent_start": 0, "j_parent_start": 1, "parent_grid_ratio": 3,
                     "e_we": 4, "e_sn": 4}]}, "1 or more"),
    ],
)  # fmt: skip
def test_layers_that_mean_nothing_are_refused_with_the_recipe(
    options: dict[str, Any], message: str
):
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(MapOptions).validate_python({"variable": "T2"} | options)


def test_rain_and_reflectivity_have_the_weather_service_s_steps(gulf: Path, context: Context):
    with netCDF4.Dataset(str(gulf), "a") as data:
        for name, units, value in (("RAINNC", "mm", 12.0), ("REFL_10CM", "dBZ", 37.0)):
            variable = data.createVariable(name, "f4", data["T2"].dimensions)
            variable.units = units
            values = np.full(data["T2"].shape, value)
            values[0, 0, 0] = 0.0
            variable[:] = values
    frozen = dataclasses.replace(context, limits=(3.0, 4.0))
    # 10 to 25 mm and 35 to 40 dBZ, as in the National Weather Service's legends.
    for name, colour in (("RAINNC", (0x02, 0xFD, 0x02)), ("REFL_10CM", (0xFD, 0xF8, 0x02))):
        picture = Picture(gulf, frozen, variable=name, coast=False)
        row, column = picture.place(26.1, -88.9)
        assert tuple(picture.pixels[row, column]) == colour
        assert picture.facts["outside"][0] == 1
    limited = Picture(gulf, context, variable="RAINNC", limits=(0, 50))
    assert limited.facts["colormap"] == "cmocean.rain"
    with pytest.raises(RecipeError, match="the steps of nws_rain are in mm, T2 is in K"):
        Picture(gulf, context, variable="T2", colormap="nws_rain")


def test_a_margin_shows_where_a_small_domain_lies(katrina: Path, context: Context):
    options = {"variable": "T2", "limits": (-1000.0, 400.0), "colormap": "matplotlib.Greys_r"}
    near = Picture(katrina, context, **options)
    wide = Picture(katrina, context, **options, margin_km=500)
    spans = [np.diff(p.facts["extent"])[[0, 2]] for p in (near, wide)]
    assert spans[1] - spans[0] == pytest.approx([1e6, 1e6])
    # Progreso on the coast of Yucatan, and the delta of the Mississippi.
    for lat, lon in ((21.29, -89.66), (29.0, -89.25)):
        assert wide.darkest(*wide.place(lat, lon), 8) < 120, (lat, lon)
    left, _, bottom, top = near.facts["extent"]
    assert wide.darkest(*wide.at(left, (bottom + top) / 2), 2) < 80
    assert near.facts["min"] == wide.facts["min"]


def test_a_margin_around_numbered_points_is_refused(tmp_path: Path, context: Context):
    path = tmp_path / "bare.nc"
    with netCDF4.Dataset(str(path), "w") as data:
        data.createDimension("y", 6)
        data.createDimension("x", 5)
        data.createVariable("t", "f4", ("y", "x"))[:] = np.arange(30).reshape(6, 5)
    with pytest.raises(FrameError, match="margin_km: the frame's coordinates are neither"):
        Picture(path, context, variable="t", margin_km=10)


@pytest.mark.parametrize(
    "index", [{"south_north": 5}, {"west_east": 7}, {"south_north": 5, "west_east": 7}]
)
def test_a_single_row_column_or_point_is_shown(
    index: dict[str, int], katrina: Path, context: Context
):
    contours = {"variable": "PSFC", "interval": 100.0}
    options = {"variable": "T2", "crop": {"index": index}, "contours": contours}
    winds = {how: {"u": "U10", "v": "U10"} for how in ("barbs", "vectors")}
    picture = Picture(katrina, context, **options, **winds)
    left, top, right, bottom = picture.facts["box"]
    assert min(right - left, bottom - top) > 30
    with pytest.raises(FrameError, match="streamlines need two or more rows"):
        Picture(katrina, context, **options, streamlines=winds["barbs"])


def test_several_variables_have_contours_on_one_map(gulf: Path, context: Context):
    asked = [
        {"variable": "PSFC", "levels": [101200.0], "labels": False},
        {"variable": "XLONG", "levels": [-88.0], "labels": False, "colour": "red"},
    ]
    picture = Picture(gulf, context, **LIGHT, coast=False, contours=asked)
    low_x, high_x, low_y, high_y = picture.facts["extent"]
    x, y = (low_x + high_x) / 2, (low_y + high_y) / 2
    assert picture.darkest(*picture.at(x + 4e5, y + 3e4), 2) < 80
    row, column = picture.place(31.0, -88.0)
    red = picture.pixels[row, column - 2 : column + 3]
    assert (red[:, 0] - red[:, 1]).max() > 100


def test_streamlines_on_degrees_run_as_the_wind_does_on_the_ground():
    from matplotlib.figure import Figure

    from burstlens.viz.drawing.maps.wind_symbols import WindField, draw_wind
    from burstlens.viz.geometry.grid import Plane

    lon, lat = np.linspace(0, 8, 40), np.linspace(62, 58, 40)
    axes = Figure().add_axes((0, 0, 1, 1), xlim=(0, 8), ylim=(58, 62))
    calm = np.full((40, 40), 10.0)
    plane = Plane(lon, lat, "degrees", geographic=True)
    draw_wind(axes, WindField("streamlines", Wind(), calm, calm, plane, "m s-1"))
    steps = np.vstack([np.diff(line, axis=0) for line in axes.collections[0].get_segments()])
    # Towards the north-east on the ground: at 60 N two degrees of longitude for one of latitude.
    assert steps[:, 0].sum() / steps[:, 1].sum() == pytest.approx(2.0, abs=0.05)
