"""Maps: what the pixels show, and what the picture says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from burstlens.core.errors import FrameError, RecipeError
from burstlens.core.units import conversion, printed
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing import style
from burstlens.viz.drawing.colour_bar import tick_labels
from burstlens.viz.drawing.maps.graticule import latitude, longitude
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.map.placeholder import draw_placeholder
from burstlens.viz.product import Context

pytestmark = pytest.mark.integration


def make(
    options: MapOptions, path: Path | list[Path], context: Context, record: int = 0
) -> tuple[np.ndarray, dict[str, Any]]:
    """The pixels as (height, width, 3), and the facts."""
    out = context.files.parent / "map.png"
    paths = path if isinstance(path, list) else [path]
    with open_frame(paths, record) as frame:
        made = MapKind().make(options, frame, out, context)
    with Image.open(out) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB")), dict(made.facts)


def map_box(pixels: np.ndarray, shown: int) -> tuple[slice, slice]:
    """Where the map lies: between its frame's lines, on a sheet of ``shown`` columns and rows."""
    ink = np.array([0x8B, 0x94, 0x9E])
    is_line = np.abs(pixels.astype(int) - ink).sum(axis=2) < 40
    rows = np.flatnonzero(is_line[:, : pixels.shape[1] * 8 // 10].sum(axis=1) > 300)
    columns = np.flatnonzero(is_line.sum(axis=0) > 200)
    left, right = columns[0], columns[columns < pixels.shape[1] * 0.9].max()
    inner = columns[(columns > left + 200) & (columns < pixels.shape[1] - 110)]
    return slice(rows[0], rows[-1]), slice(left, inner[-1] if inner.size else right)


def test_the_pixels_have_the_colours_of_the_values(supercell: Path, context: Context):
    options = MapOptions("W", level=10, limits=(-1, 1), colormap="matplotlib.viridis")
    pixels, facts = make(options, supercell, context)
    with open_frame([supercell]) as frame:
        w = frame.read("W")[10]
    rows, columns = map_box(pixels, 41)
    height, width = rows.stop - rows.start, columns.stop - columns.start
    assert abs(height - width) <= 2
    colours = style.colormap("matplotlib.viridis")
    for j, i in ((20, 20), (5, 30), (19, 18), (22, 25)):
        # Row 0 of the field is the southernmost, at the picture's bottom.
        y = rows.stop - round((j + 0.5) / 41 * height)
        x = columns.start + round((i + 0.5) / 41 * width)
        expected = np.array(colours((w[j, i] + 1) / 2, bytes=True)[:3], dtype=int)
        assert np.abs(pixels[y, x].astype(int) - expected).max() <= 3, (j, i)
    assert facts["limits"] == [-1, 1]


def test_facts_hold_range_mean_and_place_in_the_file_s_own_indices(
    supercell: Path, context: Context
):
    crop = Crop(index={"west_east": (10, 30), "south_north": (12, 33)}, stride=2)
    _, facts = make(MapOptions("W", level=10, crop=crop), supercell, context)
    with open_frame([supercell]) as frame:
        w = frame.read("W")[10]
    part = w[12:33:2, 10:30:2]
    assert (facts["min"], facts["max"]) == (part.min(), part.max())
    assert facts["mean"] == pytest.approx(part.mean(dtype="f8"))
    place = facts["max_at"]
    assert w[place["south_north"], place["west_east"]] == part.max()
    assert facts["shape"] == [11, 10]


def test_units_are_converted_in_facts_and_limits(katrina: Path, context: Context):
    with open_frame([katrina]) as frame:
        kelvin = frame.read("T2")
    _, facts = make(MapOptions("T2", units="degC"), katrina, context)
    low, high = facts["min"], facts["max"]
    assert facts["limits"] == [27.0, 31.0]
    assert (low, high) == pytest.approx((kelvin.min() - 273.15, kelvin.max() - 273.15), abs=1e-4)


def test_the_series_limits_are_used_and_what_is_outside_is_counted(
    supercell: Path, context: Context
):
    series = dataclasses.replace(context, limits=(-0.9, 0.8))
    _, facts = make(MapOptions("W", level=10, centred=False), supercell, series)
    assert facts["limits"] == [-0.9, 0.8]
    with open_frame([supercell]) as frame:
        w = frame.read("W")[10]
    assert facts["outside"] == [int((w < -0.9).sum()), int((w > 0.8).sum())]
    assert sum(facts["outside"]) > 0


def test_a_velocity_gets_colours_that_diverge_from_zero(supercell: Path, context: Context):
    _, facts = make(MapOptions("W", level=10), supercell, context)
    assert facts["limits"][0] == -facts["limits"][1]
    assert facts["colormap"] == "cmocean.balance"


def test_a_constant_frame_gives_its_series_no_limits_but_has_a_picture(
    supercell: Path, context: Context
):
    options = MapOptions("T2")
    with open_frame([supercell]) as frame:
        assert frame.read("T2").min() == frame.read("T2").max()
    pixels, _ = make(options, supercell, context)
    assert pixels.std() > 5


def test_points_without_a_value_are_grey_and_counted(
    supercell: Path, tmp_path: Path, copy_with: Callable[..., None], context: Context
):
    with open_frame([supercell]) as frame:
        w = frame.read("W")[None].copy()
    w[0, 10, :20, :20] = np.nan
    path = tmp_path / "holes.nc"
    copy_with(supercell, path, ["Times", "W"], W=w)
    pixels, facts = make(MapOptions("W", level=10), path, context)
    assert facts["nan"] == 400
    grey = np.all(pixels == np.array([0xC9, 0xCC, 0xD0]), axis=2)
    rows, columns = map_box(pixels, 41)
    area = (rows.stop - rows.start) * (columns.stop - columns.start)
    assert grey.sum() == pytest.approx(area * 400 / 1681, rel=0.03)


def test_the_second_frame_of_a_series_is_drawn_as_if_it_were_the_first(
    katrina: Path, context: Context
):
    from burstlens.viz.drawing.maps.sheet import sheet

    options = MapOptions("PSFC", limits=(94000, 101000), mark="min", crop=Crop(stride=1))
    series = [dataclasses.replace(context, time=f"20050828T{hour}0000") for hour in (12, 21)]
    sheet.cache_clear()
    alone, _ = make(options, katrina, series[1], record=3)
    sheet.cache_clear()
    make(options, katrina, series[0], record=0)
    after, _ = make(options, katrina, series[1], record=3)
    assert np.array_equal(alone, after)


@pytest.mark.parametrize(("varied", "same"), [(1e-6, True), (1.0, False)])
def test_a_field_whose_values_read_the_same_has_no_marks(
    varied: float, same: bool, tmp_path: Path, context: Context
):
    path = tmp_path / "calm.nc"
    with netCDF4.Dataset(str(path), "w") as data:
        data.createDimension("y", 20)
        data.createDimension("x", 20)
        data.createVariable("w", "f4", ("y", "x"))[:] = 10 + varied * np.eye(20)
    options = MapOptions("w", limits=(0, 20))
    shown = []
    for mark in (None, "both"):
        pixels, facts = make(dataclasses.replace(options, mark=mark), path, context)
        left, top, right, bottom = facts["box"]
        shown.append(pixels[top:bottom, left:right])
    assert np.array_equal(*shown) == same


def test_tiles_are_shown_as_one_domain(tiles: list[Path], context: Context):
    _, facts = make(MapOptions("W", level=10), tiles, context)
    assert facts["shape"] == [41, 41]


def test_a_curvilinear_grid_is_drawn_where_its_points_are(tmp_path: Path, context: Context):
    path = tmp_path / "curved.nc"
    j, i = np.mgrid[0:30, 0:40]
    turn = np.radians(30)
    lon = 10 + 0.1 * (i * np.cos(turn) - j * np.sin(turn))
    lat = 45 + 0.1 * (i * np.sin(turn) + j * np.cos(turn))
    with netCDF4.Dataset(str(path), "w") as data:
        data.createDimension("y", 30)
        data.createDimension("x", 40)
        for name, values, units in (
            ("lon", lon, "degrees_east"),
            ("lat", lat, "degrees_north"),
            ("t", i.astype("f4"), "K"),
        ):
            variable = data.createVariable(name, "f4", ("y", "x"))
            variable.units = units
            variable[:] = values
        data["t"].coordinates = "lon lat"
    pixels, facts = make(MapOptions("t", limits=(0, 39)), path, context)
    grey = np.all(pixels == np.array([0xC9, 0xCC, 0xD0]), axis=2)
    # A grid turned by 30 degrees leaves the corners of its box without values.
    assert 0.25 < grey.sum() / (facts["size"][0] * facts["size"][1]) < 0.6


def test_a_nest_lies_where_it_is_in_its_parent(nest: Path, context: Context):
    with open_frame([nest]) as frame:
        here = grid.plane(frame, "T", {})
        faces = grid.plane(frame, "W", {"west_east": slice(0, 3)})
    # It starts at cell 15 of a parent of 2 km, and has cells of a third of that.
    assert here.x[0] == pytest.approx(14 * 2000 + 1000 / 3)
    assert np.diff(here.y) == pytest.approx(2000 / 3, abs=1e-3)
    assert faces.x.size == 3
    make(MapOptions("T", level=0), nest, context)


def test_zero_has_a_colour_on_a_logarithmic_scale(katrina: Path, context: Context):
    pixels, facts = make(MapOptions("RAINNC", log=True, limits=(0.1, 100)), katrina, context)
    with open_frame([katrina]) as frame:
        assert (frame.read("RAINNC") == 0).any()
    grey = np.all(pixels == np.array([0xC9, 0xCC, 0xD0]), axis=2)
    assert grey.sum() < 50  # edges of letters; a cell has 200 pixels
    assert facts["nan"] == 0


def test_an_expression_is_its_own_title_and_names_begin_with_a_capital():
    assert style.words("theta_e@1km - theta_e@3km [K]", "theta_e@1km - theta_e@3km") == (
        "theta_e@1km - theta_e@3km"
    )
    assert style.words("vx", "ground velocity") == "Ground velocity"
    assert style.words("temperature", "temperature") == "Temperature"


def test_the_coast_lies_on_the_map_whatever_the_size_in_inches(katrina: Path, context: Context):
    # 900 / 95 * 95 is less than 900: a layer of 899 columns would lie askew over the picture.
    options = MapOptions("T2", margin_km=300, width_px=900, dpi=95)
    with_coast, facts = make(options, katrina, context)
    without, _ = make(dataclasses.replace(options, coast=False), katrina, context)
    rows, columns = np.nonzero((with_coast != without).any(axis=2))
    left, top, right, bottom = facts["box"]
    assert rows.size > 500
    assert left <= columns.min() <= columns.max() <= right
    assert top <= rows.min() <= rows.max() <= bottom
    # The Gulf ends with Yucatan in the south, and the reefs before it.
    assert rows.min() > top + 0.6 * (bottom - top)


def test_the_picture_has_the_size_that_was_asked_for(supercell: Path, context: Context):
    options = MapOptions("W", level=3, width_px=640, height_px=480)
    pixels, facts = make(options, supercell, context)
    assert pixels.shape == (480, 640, 3)
    assert facts["size"] == [640, 480]


def test_the_png_states_its_provenance(supercell: Path, context: Context):
    make(MapOptions("W", level=3), supercell, context)
    with Image.open(context.files.parent / "map.png") as image:
        assert image.info["Software"] == f"Burstlens {context.version}"
        assert "run 20261121-supercell-7f3a" in image.info["Source"]
        assert image.info["Title"] == "W level 3"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (MapOptions("W"), "W has 41 levels along bottom_top_stag: say which `level`"),
        (MapOptions("W", level=41), "level 41 is outside of bottom_top_stag, which has 0 to 40"),
        (MapOptions("T2", level=1), "T2 has no levels"),
        (MapOptions("ZNU"), "ZNU has no two horizontal dimensions"),
        (MapOptions("Times"), "Times has no two horizontal dimensions"),
    ],
)
def test_a_variable_without_a_map_is_reported(
    supercell: Path, context: Context, options: MapOptions, message: str
):
    with pytest.raises(FrameError, match=message):
        make(options, supercell, context)


def test_an_unknown_colour_map_is_reported_with_near_names(supercell: Path, context: Context):
    with pytest.raises(RecipeError, match="no colour map 'batlov'; did you mean batlow"):
        make(MapOptions("W", level=3, colormap="batlov"), supercell, context)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limits": (2, 1)}, "the first number must be below"),
        ({"log": True, "centred": True}, "log and centred"),
        ({"log": True, "limits": (0, 1)}, "above zero"),
        ({"width_px": 10}, "width_px must be 200 to 8000"),
        ({"dpi": 1}, "dpi must be 40 to 600"),
    ],
)
def test_options_that_do_not_go_together_are_refused(changes: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        MapOptions("W", **changes)


def test_limits_widen_unless_the_recipe_gives_them():
    assert MapKind().widens(MapOptions("W"))
    assert not MapKind().widens(MapOptions("W", limits=(0, 1)))


def test_a_placeholder_has_the_size_of_the_series(context: Context, tmp_path: Path):
    sized = dataclasses.replace(context, size=(700, 512))
    made = draw_placeholder(MapOptions("W"), tmp_path / "p.png", sized, "the file is short")
    with Image.open(tmp_path / "p.png") as image:
        assert image.size == (700, 512)
        assert image.info["Description"] == "the file is short"
    assert made.facts == {"placeholder": True, "reason": "the file is short", "size": [700, 512]}
    draw_placeholder(object(), tmp_path / "q.png", context, "word " * 300)
    assert (tmp_path / "q.png").stat().st_size > 2000


def test_longitudes_and_latitudes_are_written_as_on_maps():
    assert [longitude(v) for v in (-85, 190, 0, 12.5)] == ["85°W", "170°W", "0°", "12.5°E"]
    assert [latitude(v) for v in (-20, 0, 45)] == ["20°S", "0°", "45°N"]
    assert tick_labels([-1e-17, 0.5, 1.0]) == ["0", "0.5", "1"]


def test_units_are_set_as_in_print_and_converted():
    assert printed("kg m-2 s-1") == "kg m⁻² s⁻¹"
    assert printed("m/s") == "m s⁻¹"
    assert printed("degC") == "°C"
    assert conversion("m/s", "m s-1") == (1.0, 0.0)
    with pytest.raises(RecipeError, match=r"K cannot be shown as 'decC'; did you mean degC"):
        conversion("K", "decC")


@pytest.mark.parametrize("limits", [(2.0, 8.0), (3.0, 4.0), (0.02, 300.0), (1e-9, 1e-2)])
def test_a_logarithmic_bar_has_numbers(limits: tuple[float, float]):
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    from burstlens.viz.drawing.colour_bar import ColourBar

    figure = Figure(figsize=(6, 5))
    axes = figure.add_axes((0.1, 0.1, 0.7, 0.7))
    ColourBar(figure, axes, style.colormap("batlow"), LogNorm(*limits), "mm")
    labels = [text.get_text() for text in figure.axes[-1].get_yticklabels()]
    assert len(labels) > 1
    assert all(limits[0] <= float(label.replace("−", "-")) <= limits[1] for label in labels)
