"""Vertical sections: where their points lie, what they show, what is refused."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import TypeAdapter, ValidationError
from pyproj import Geod

from burstlens.core.errors import BurstlensError, FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.layers import Contours
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.columns import Vertical
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.transect import transect
from burstlens.viz.kinds.section.axes import of_cells
from burstlens.viz.kinds.section.kind import SectionKind
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.kinds.section.read import Sections, read_sections
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind
from burstlens.viz.values.names import VALUES

pytestmark = pytest.mark.integration

SLANTED = {"start": End(lat=23.5, lon=-92.5), "end": End(lat=26.3, lon=-89.2)}


def read(path: Path, **options: Any) -> Sections:
    with open_frame([path]) as frame:
        return read_sections(SectionOptions(**options), frame)


def make(path: Path, context: Context, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
    out = context.files.parent / "section.png"
    with open_frame([path]) as frame:
        facts = SectionKind().make(SectionOptions(**options), frame, out, context).facts
    with Image.open(out) as image:
        return np.asarray(image.convert("RGB")).astype(int), dict(facts)


@pytest.fixture
def turned(cyclone: Path, add_variables: Callable[..., Path]) -> Path:
    """The cyclone on a grid turned by 30 degrees, which the attributes do not state."""
    with netCDF4.Dataset(os.fspath(cyclone)) as data:
        lat, lon = (np.asarray(data[name][0], "f8") for name in ("XLAT", "XLONG"))
    y, x = lat - lat.mean(), lon - lon.mean()
    cos, sin = np.cos(np.radians(30)), np.sin(np.radians(30))
    return add_variables(
        cyclone,
        XLAT=(lat.mean() + sin * x + cos * y).astype("f4"),
        XLONG=(lon.mean() + cos * x - sin * y).astype("f4"),
    )


def test_points_lie_straight_on_the_models_plane_and_the_distance_is_that_on_the_ground(
    cyclone: Path,
):
    with open_frame([cyclone]) as frame:
        line = transect(frame, "W", *SLANTED.values())
    assert line.lon is not None
    assert line.lat is not None
    assert [line.lat[0], line.lon[0]] == pytest.approx([23.5, -92.5], abs=1e-4)
    assert [line.lat[-1], line.lon[-1]] == pytest.approx([26.3, -89.2], abs=1e-4)
    # On a Mercator chart a straight line is a rhumb line: longer than the great circle.
    _, _, shortest = Geod("+a=6370000 +b=6370000").inv(-92.5, 23.5, -89.2, 26.3)
    assert 0 < line.distance[-1] - shortest / 1000 < 0.2
    assert np.ptp(np.diff(line.rows)) < 1e-9
    # From here on the window says where they are in the file.
    rows, columns = line.window["south_north"], line.window["west_east"]
    with netCDF4.Dataset(os.fspath(cyclone)) as data:
        lat = line.sample(np.asarray(data["XLAT"][0, rows, columns], "f8"))
        lon = line.sample(np.asarray(data["XLONG"][0, rows, columns], "f8"))
    assert np.abs(lat - line.lat).max() < 2e-3
    assert np.abs(lon - line.lon).max() < 1e-3


def test_values_are_bilinear_between_columns(cyclone: Path):
    from scipy.interpolate import RegularGridInterpolator

    found = read(cyclone, variable="QVAPOR", **SLANTED)
    with netCDF4.Dataset(os.fspath(cyclone)) as data:
        whole = np.asarray(data["QVAPOR"][0], "f8")
    line = found.line
    at = np.column_stack(
        [
            line.rows + line.window["south_north"].start,
            line.columns + line.window["west_east"].start,
        ]
    )
    for level in (0, 7, 13):
        axes = (np.arange(whole.shape[1]), np.arange(whole.shape[2]))
        expected = RegularGridInterpolator(axes, whole[level])(at)
        assert np.allclose(found.field.values[level], expected, rtol=1e-6, atol=1e-9)


def test_only_the_window_that_holds_the_line_is_read(cyclone: Path):
    found = read(cyclone, variable="W", start=End(i=3, j=5), end=End(i=9.5, j=7))
    assert found.line.window == {"south_north": slice(5, 9, 1), "west_east": slice(3, 11, 1)}


def test_staggered_winds_are_those_along_the_section(supercell: Path):
    options = {"variable": "theta", "wind": "along"}
    with netCDF4.Dataset(os.fspath(supercell)) as data:
        u, v = (np.asarray(data[name][0], "f8") for name in ("U", "V"))
    u, v = 0.5 * (u[..., 1:] + u[..., :-1]), 0.5 * (v[:, 1:] + v[:, :-1])
    east = read(supercell, start=End(i=5, j=20), end=End(i=30, j=20), **options)
    north = read(supercell, start=End(i=20, j=5), end=End(i=20, j=30), **options)
    west = read(supercell, start=End(i=30, j=20), end=End(i=5, j=20), **options)
    assert east.wind
    assert north.wind
    assert west.wind
    assert np.allclose(east.wind.across[:, 0], u[:, 20, 5], atol=1e-4)
    assert np.allclose(north.wind.across[:, -1], v[:, 30, 20], atol=1e-4)
    assert np.allclose(west.wind.across, -east.wind.across[:, ::-1], atol=1e-5)


def test_heights_are_true_and_the_ground_is_the_lowest_face(
    supercell: Path, add_variables: Callable[..., Path]
):
    with netCDF4.Dataset(os.fspath(supercell)) as data:
        faces = np.asarray(data["PH"][0] + data["PHB"][0], "f8")
    hill = 9.81 * 800 * np.exp(-(((np.arange(faces.shape[2]) - 20) / 4.0) ** 2))
    with netCDF4.Dataset(os.fspath(supercell)) as data:
        raised = np.asarray(data["PHB"][0]) + hill
    path = add_variables(supercell, PHB=raised.astype("f4"))
    found = read(path, variable="W", start=End(i=20, j=20), end=End(i=30, j=20))
    ground = found.vertical.ground
    assert ground is not None
    assert ground[0] == pytest.approx(0.8, abs=1e-3)
    expected = (0.5 * (faces[1:, 20, 20] + faces[:-1, 20, 20]) + hill[20]) / 9.81 / 1000
    assert np.allclose(found.vertical.levels[:, 0], expected, atol=2e-3)


def pixel(facts: dict[str, Any], distance: float, at: float) -> tuple[int, int]:
    left, top, right, bottom = facts["box"]
    x0, x1, low, high = facts["extent"]
    x = left + (distance - x0) / (x1 - x0) * (right - left)
    y = bottom - (at - low) / (high - low) * (bottom - top)
    return round(y), round(x)


def test_a_pixel_has_the_colour_of_the_value_there(
    supercell: Path, add_variables: Callable[..., Path], context: Context
):
    # W is the height in km where x is beyond the middle, else zero.
    with netCDF4.Dataset(os.fspath(supercell)) as data:
        faces = (np.asarray(data["PH"][0] + data["PHB"][0]) / 9810).astype("f4")
    faces[..., : faces.shape[2] // 2] = 0
    path = add_variables(supercell, W=faces)
    options: dict[str, Any] = {
        "variable": "W", "start": End(i=0, j=20), "end": End(i=40, j=20), "limits": (0.0, 16.0),
        "colormap": "matplotlib.gray", "top": 15.0,
    }  # fmt: skip
    pixels, facts = make(path, context, **options)
    assert facts["extent"][3] == 15
    for height in (2.0, 6.0, 11.0, 14.0):
        grey = pixels[pixel(facts, 0.9 * facts["length"], height)]
        assert grey.tolist() == pytest.approx([255 * height / 16] * 3, abs=5)
        assert pixels[pixel(facts, 0.1 * facts["length"], height)].max() < 3


def test_the_ground_is_filled(cyclone: Path, context: Context):
    pixels, facts = make(cyclone, context, variable="W", vertical="pressure", **SLANTED)
    left, _, right, bottom = facts["box"]
    assert pixels[bottom - 3, (left + right) // 2].tolist() == [125, 116, 107]
    assert facts["extent"][2] > 1000 > facts["extent"][3]


@pytest.mark.slow
@pytest.mark.parametrize("levels", ["interpolated", "mass"])
@pytest.mark.parametrize("wind", ["along", "barbs", None])
def test_every_choice_is_drawn(supercell: Path, context: Context, levels: str, wind: str | None):
    ends = {"start": End(x=5000.0, y=20000.0), "end": End(x=70000.0, y=60000.0)}
    options: dict[str, Any] = {"variable": "W", "levels": levels, "wind": wind, "top": 14.0, **ends}
    bare, facts = make(supercell, context, variable="W", top=14.0, **ends)
    lines = Contours("theta", levels=(320.0, 335.0))
    pixels, _ = make(supercell, context, contours=lines, **options)
    left, top, right, bottom = facts["box"]
    changed = (pixels != bare)[top:bottom, left:right].any(axis=2).mean()
    assert changed > (0.02 if wind or levels == "mass" else 0.005)
    assert facts["length"] == pytest.approx(np.hypot(65, 40), abs=1e-6)


def test_the_key_of_the_arrows_stands_clear_of_a_long_unit(cyclone: Path, context: Context):
    unit = "W*1 [molecules per kg of dry air]"
    bare, facts = make(cyclone, context, variable=unit, **SLANTED, width_px=600)
    keyed, _ = make(cyclone, context, variable=unit, **SLANTED, width_px=600, wind="along")
    row = slice(facts["box"][1] - 34, facts["box"][1] - 1)  # between the words and the section
    key = np.flatnonzero((bare[row] != keyed[row]).any(axis=(0, 2)))
    words = np.flatnonzero((bare[row].min(axis=2) < 250).any(axis=0))
    assert key.size > 100
    assert words.size > 100
    assert key.max() < words.min()


def test_the_same_frame_gives_the_same_bytes(cyclone: Path, context: Context):
    out = context.files.parent / "section.png"
    found = []
    for _ in range(2):
        make(cyclone, context, variable="W", **SLANTED)
        found.append(out.read_bytes())
    assert found[0] == found[1]


def test_a_section_across_tiles_joins_them(tiles: list[Path]):
    with open_frame(tiles) as frame:
        size = frame.dimensions["west_east"]
        ends = End(i=0, j=12), End(i=size - 1, j=12)
        found = read_sections(SectionOptions("W", *ends), frame)
        assert found.field.values.shape[1] == 100
        w = frame.read("W")[:, 12].astype("f8")
    centred = 0.5 * (w[1:] + w[:-1])
    columns = found.line.columns
    expected = [np.interp(columns, np.arange(size), level) for level in centred]
    assert np.allclose(found.field.values, expected, atol=1e-6)


def test_a_depth_grows_downwards(cf_volume: Any, context: Context):
    path = cf_volume(depth=True)
    ends = {"start": End(x=0.0, y=100.0), "end": End(x=300.0, y=200.0)}
    found = read(path, variable="vx", **ends)
    assert found.vertical.down
    assert found.vertical.levels[:, 0].tolist() == pytest.approx([-0.1, -0.075, -0.05, -0.025, 0])
    with netCDF4.Dataset(os.fspath(path)) as data:
        assert found.field.values[-1, 0] == pytest.approx(float(data["vx"][0, 0, 2, 0]))
    _, facts = make(path, context, variable="vx", **ends)
    assert facts["ends"] is None
    assert facts["length"] == pytest.approx(np.hypot(0.3, 0.1))


def test_a_grid_of_longitudes_and_latitudes_across_180_degrees(cf_volume: Any, tmp_path: Path):
    path = cf_volume(x=np.r_[177, 178, 179, 180, -179, -178, -177], y=np.arange(-20.0, -14.0))
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["x"].units, data["y"].units = "degrees_east", "degrees_north"
    found = read(path, variable="vx", start=End(lat=-18, lon=178), end=End(lat=-18, lon=-178))
    assert found.line.lon is not None
    assert found.line.lon[-1] - found.line.lon[0] == pytest.approx(4)
    assert found.line.distance[-1] == pytest.approx(4 * 111.178 * np.cos(np.radians(18)), abs=0.1)
    with netCDF4.Dataset(os.fspath(path)) as data:
        assert found.field.values[:, -1] == pytest.approx(data["vx"][0, :, 2, 5])


def test_a_column_with_a_nan_spoils_only_what_touches_it(
    supercell: Path, add_variables: Callable[..., Path], context: Context
):
    with netCDF4.Dataset(os.fspath(supercell)) as data:
        state = np.asarray(data["T"][0])
    state[:, 20, 15] = np.nan
    path = add_variables(supercell, T=state)
    ends = {"start": End(i=5, j=20), "end": End(i=35, j=20)}
    found = read(path, variable="theta", **ends)
    holes = np.flatnonzero(np.isnan(found.field.values).any(axis=0))
    near = np.abs(found.line.columns[holes] + 5 - 15)
    assert 0 < near.max() < 1
    make(path, context, variable="theta", contours=Contours("temperature"), **ends)


def test_one_level_is_not_enough_for_a_section(supercell: Path, context: Context, tmp_path: Path):
    from burstlens.viz.geometry.crop import Crop
    from burstlens.viz.kinds.netcdf.kind import NetcdfKind
    from burstlens.viz.kinds.netcdf.options import NetcdfOptions

    one = tmp_path / "one_level.nc"
    with open_frame([supercell]) as frame:
        options = NetcdfOptions(("QVAPOR",), crop=Crop(index={"bottom_top": (0, 1)}))
        NetcdfKind().make(options, frame, one, context)
    with pytest.raises(FrameError, match="has one level, and a section needs two"):
        make(one, context, variable="QVAPOR", start=End(i=0, j=0), end=End(i=30, j=30))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": End(lat=50, lon=-92)}, r"start \(lat 50, lon -92\) is outside .* lat 22"),
        ({"start": End(x=1.0, y=2.0)}, "give lat and lon, or i and j"),
        ({"start": End(i=48, j=0)}, r"start \(i 48, j 0\) is outside"),
        ({"start": End(i=47.4, j=47.4), "end": End(i=47.3, j=47.3)}, "the same point"),
        ({"variable": "T2"}, "T2 is not a 3-D field"),
        ({"variable": "WW"}, "has no variable 'WW'"),
        ({"contours": Contours("PSFC")}, "contours: PSFC is not a 3-D field"),
        ({"top": 1013.0, "vertical": "pressure"}, "top = 1013 leaves nothing"),
        ({"units": "hPa"}, "cannot be shown as 'hPa'"),
    ],
)
def test_invalid_options_are_reported(
    cyclone: Path, context: Context, options: dict[str, Any], message: str
):
    with pytest.raises(BurstlensError, match=message):
        make(cyclone, context, **({"variable": "W"} | SLANTED | options))


def test_on_a_curvilinear_grid_ends_lie_where_they_are_and_within_the_domain(turned: Path):
    with netCDF4.Dataset(os.fspath(turned)) as data:
        lat, lon = (np.asarray(data[name][0], "f8") for name in ("XLAT", "XLONG"))
    within = lat[9:11, 19:21].mean(), lon[9:11, 19:21].mean()
    # The middle of an edge, and from there so many cells out of the domain.
    step = np.array([lat[24, -1] - lat[24, -2], lon[24, -1] - lon[24, -2]])
    with open_frame([turned]) as frame:
        for place in (within, [lat[24, -1], lon[24, -1]] + 0.3 * step):
            line = transect(frame, "W", End(lat=place[0], lon=place[1]), End(i=3, j=40))
            assert line.lat is not None
            assert line.lon is not None
            assert line.lat[0] == pytest.approx(min(place[0], lat.max()), abs=0.05)
        line = transect(frame, "W", End(lat=within[0], lon=within[1]), End(i=3, j=40))
        assert [line.lat[0], line.lon[0]] == pytest.approx(within, abs=2e-3)
        for place in ([lat[24, -1], lon[24, -1]] + 0.8 * step, (50.0, 0.0), (-25.0, 90.0)):
            with pytest.raises(FrameError, match=r"start \(lat .* is outside of the domain"):
                transect(frame, "W", End(lat=place[0], lon=place[1]), End(i=3, j=40))


@pytest.mark.parametrize("lat", [10.0, 88.0])
def test_on_a_curvilinear_grid_every_place_between_points_is_inside(turned: Path, lat: float):
    """Also around the pole and across the date line."""
    around = Geod("+a=6370000 +b=6370000")
    across, along = np.meshgrid(np.arange(48.0) - 20, np.arange(48.0) - 20)
    azimuth = np.degrees(np.arctan2(across, along)) + 25
    lon, lats, _ = around.fwd(
        np.full_like(azimuth, 179.0), np.full_like(azimuth, lat), azimuth,
        12e3 * np.hypot(across, along),
    )  # fmt: skip
    with netCDF4.Dataset(os.fspath(turned), "a") as data:
        data["XLONG"][0], data["XLAT"][0] = lon, lats
    with open_frame([turned]) as frame:
        for row, column in ((0.5, 0.5), (20.5, 19.5), (20, 20), (46.5, 46.5), (3.3, 40.1)):
            x, y = column - 20, row - 20
            at = around.fwd(179.0, lat, np.degrees(np.arctan2(x, y)) + 25, 12e3 * np.hypot(x, y))
            line = transect(frame, "W", End(lat=at[1], lon=at[0]), End(i=10, j=30))
            found = (
                line.rows[0] + line.window["south_north"].start,
                line.columns[0] + line.window["west_east"].start,
            )
            assert found == pytest.approx((row, column), abs=0.05)


def test_a_section_off_the_earth_takes_no_degrees(supercell: Path, context: Context):
    with pytest.raises(FrameError, match="give x and y, or i and j"):
        make(supercell, context, variable="W", **SLANTED)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variable": "wind@850hPa"}, "is of one level"),
        ({"start": {"lat": 3}}, "needs lat and lon, or x and y, or i and j"),
        ({"start": {"lat": 3, "lon": 4, "i": 1, "j": 2}}, "needs lat and lon"),
        ({"start": {"lat": 93, "lon": 4}}, "lat must be -90 to 90"),
        ({"contours": {"variable": "W", "level": 3}}, "level means nothing"),
        ({"limits": [2, 1]}, "must be below"),
        ({"wind": "across"}, "'along' or 'barbs'"),
        ({"top": 0}, "top must be above zero"),
        ({"start": {"i": 5, "j": 1}}, "the same point"),
        ({"start": {"i": -1, "j": 1}}, "count from 0"),
    ],
)
def test_recipes_are_checked(options: dict[str, Any], message: str):
    kind = product_kind("section")
    whole = {"variable": "W", "start": {"i": 1, "j": 1}, "end": {"i": 5, "j": 1}}
    assert TypeAdapter(kind.options).validate_python(whole).end == End(i=5, j=1)
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(kind.options).validate_python(whole | options)


def test_the_row_that_the_ground_cuts_has_the_lowest_cell():
    levels = np.array([[1.2, 0.3], [2.0, 1.0], [3.0, 2.0]])
    vertical = Vertical(levels, np.array([0.95, 0.05]), "km", "height")
    rows = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    found = of_cells(np.arange(6.0).reshape(3, 2), vertical, rows)
    assert found[:, 0] == pytest.approx([np.nan, 0, 0, 0, 2], nan_ok=True)
    assert found[:, 1] == pytest.approx([1, 1, 3, 5, 5], nan_ok=True)


@pytest.mark.parametrize("levels", ["mass", "interpolated"])
def test_values_say_where_the_picture_has_finer_rows(
    supercell: Path, context: Context, levels: str, tmp_path: Path
):
    beside = replace(context, values=tmp_path / "values")
    ends = {"start": End(i=2, j=20), "end": End(i=30, j=20)}
    make(supercell, beside, variable="W", levels=levels, **ends)
    text = (tmp_path / "values" / VALUES).read_text()
    payload = base64.b64decode(re.findall(r'"([A-Za-z0-9+/=]+)"', text)[0])
    assert (b'"resampled":true' in payload) == (levels == "mass")
