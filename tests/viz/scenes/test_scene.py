"""Scenes: what is read of a frame, and the picture drawn from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.picture import blank, letters_dpi
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.scene.axes import label_box
from burstlens.viz.kinds.scene.kind import SceneKind
from burstlens.viz.kinds.scene.options import Camera, Isosurface, SceneOptions, Slices
from burstlens.viz.kinds.scene.read import read_scene
from burstlens.viz.kinds.scene.stage import View
from burstlens.viz.product import Context, Made

pytestmark = pytest.mark.slow


def make(options: SceneOptions, path: Path, context: Context) -> tuple[np.ndarray, Made]:
    out = context.files.parent / "scene"
    small = dataclasses.replace(options, width_px=450, height_px=360)
    with open_frame([path], stream=context.stream) as frame:
        made = SceneKind().make(small, frame, out, context)
    return np.asarray(Image.open(out).convert("RGB")).astype(int), made


def reddish(pixels: np.ndarray) -> np.ndarray:
    return (pixels[..., 0] > pixels[..., 1] + 60) & (pixels[..., 0] > pixels[..., 2] + 60)


UPDRAFT = SceneOptions((Isosurface("W", 2, colour="#c80000"),))


def test_an_updraft_stands_at_its_place_in_the_picture(supercell: Path, context: Context):
    pixels, made = make(UPDRAFT, supercell, context)
    assert pixels.shape == (360, 450, 3)
    with open_frame([supercell]) as frame:
        scene = read_scene(UPDRAFT, frame)
    _, points, values, units, _ = scene.shells[0]
    view = View(scene.low, scene.high, 205.0, 25.0, 1.0, 1.0)
    inside = points[values > 2]
    assert units == "m s-1"
    assert 36 < inside[:, 0].mean() < 46
    assert np.ptp(view.project(inside)[:, 0]) < 0.2
    found = reddish(pixels[90:330]).sum()
    assert 20 < found < 3000
    assert made.facts["exaggeration"] == 1.0
    higher, _ = make(
        dataclasses.replace(UPDRAFT, isosurfaces=(Isosurface("W", 50, colour="#c80000"),)),
        supercell,
        context,
    )
    assert reddish(higher[90:330]).sum() == 0


def test_numbers_of_edges_that_are_zoomed_out_of_the_picture_are_left_out(cyclone: Path):
    with open_frame([cyclone]) as frame:
        scene = read_scene(SceneOptions((Isosurface("W", 0.5),)), frame)
    tall = scene.exaggeration(None)
    low, high = ((*end[:2], end[2] * tall) for end in (scene.low, scene.high))
    written = {}
    for zoom in (1.0, 2.5):
        axes = blank(900, 700, 100).add_axes((0.1, 0.1, 0.8, 0.8), xlim=(0, 1), ylim=(0, 1))
        label_box(axes, scene, View(low, high, 20.0, 60.0, zoom, 9 / 7), tall)
        written[zoom] = [text.get_position() for text in axes.texts]
    assert len(written[1.0]) > len(written[2.5])
    # What begins within the picture may end a number's width beyond.
    assert all(-0.06 < at < 1.06 for place in written[2.5] for at in place)


@pytest.mark.parametrize(("width", "height"), [(300, 300), (600, 400), (900, 600)])
def test_the_height_axis_has_its_unit_in_a_picture_of_any_size(
    supercell: Path, width: int, height: int
):
    with open_frame([supercell]) as frame:
        scene = read_scene(UPDRAFT, frame)
    figure = blank(width, height, letters_dpi(width, height, 100))
    axes = figure.add_axes((0.03, 0.1, 0.75, 0.7), xlim=(0, 1), ylim=(0, 1))
    view = View(scene.low, scene.high, 205.0, 25.0, 1.0, axes.bbox.width / axes.bbox.height)
    label_box(axes, scene, view, 1.0)
    name = next(text for text in axes.texts if text.get_text() == "height (km)")
    box = name.get_window_extent()
    assert box.x0 >= 0
    assert not any(
        box.overlaps(text.get_window_extent()) for text in axes.texts if text is not name
    )


@pytest.mark.parametrize("azimuth", [181.0, 195.0, 205.0, 270.0, 340.0])
def test_names_of_axes_read_from_the_left_or_from_below(supercell: Path, azimuth: float):
    with open_frame([supercell]) as frame:
        scene = read_scene(UPDRAFT, frame)
    axes = blank(900, 600, 100).add_axes((0.1, 0.1, 0.8, 0.8), xlim=(0, 1), ylim=(0, 1))
    label_box(axes, scene, View(scene.low, scene.high, azimuth, 30.0, 1.0, 1.5), 1.0)
    names = [text for text in axes.texts if text.get_text().endswith("(km)")]
    assert len(names) >= 2
    assert all(-75 <= (text.get_rotation() + 180) % 360 - 180 <= 105 for text in names)


def test_the_legend_stands_above_the_box(supercell: Path, context: Context):
    # No surface: a colour that is in the legend only.
    shells = tuple(Isosurface("W", 1000 + n, colour="#c800c8") for n in range(4))
    camera = Camera(elevation=85)
    pixels, _ = make(SceneOptions(shells, camera=camera), supercell, context)
    legend = (pixels[..., 0] > pixels[..., 1] + 100) & (pixels[..., 2] > pixels[..., 1] + 100)
    ground = np.abs(pixels - (0xDE, 0xD9, 0xCD)).max(axis=-1) < 3
    assert np.nonzero(legend.any(axis=1))[0].max() < np.nonzero(ground.any(axis=1))[0].min()


def test_the_same_frame_gives_the_same_bytes(supercell: Path, context: Context):
    options = dataclasses.replace(
        UPDRAFT, isosurfaces=(Isosurface("W", 2), Isosurface("QCLOUD", 1e-4, opacity=0.4))
    )
    first, _ = make(options, supercell, context)
    held = (context.files.parent / "scene").read_bytes()
    make(options, supercell, context)
    assert (context.files.parent / "scene").read_bytes() == held
    assert first.std() > 5


def test_slices_hold_the_values_of_the_nearest_columns_and_of_their_height(
    supercell: Path, context: Context
):
    options = SceneOptions(variable="theta", slices=Slices(x=(21,), y=(11,), height=(3,)))
    with open_frame([supercell]) as frame:
        coloured = read_scene(options, frame).coloured
        theta = frame.read("T").astype("f8") + 300
        z = (frame.read("PH").astype("f8") + frame.read("PHB")) / 9.81 / 1000
    assert coloured is not None
    (at_x, x_values), (at_y, y_values), (at_z, z_values) = coloured.parts
    # Columns are 2 km apart, the first one at 1 km.
    assert np.allclose(at_x[..., 0], 21)
    assert np.allclose(x_values, theta[:, :, 10], atol=1e-3)
    assert np.allclose(at_y[..., 1], 11)
    assert np.allclose(y_values, theta[:, 5], atol=1e-3)
    assert np.allclose(at_z[..., 2], 3)
    centre = (z[1:] + z[:-1])[:, 7, 9] / 2
    assert z_values[7, 9] == pytest.approx(np.interp(3, centre, theta[:, 7, 9]), abs=0.01)


def test_slices_of_a_real_case_follow_degrees(cyclone: Path, context: Context):
    options = SceneOptions(variable="theta", slices=Slices(lon=(-91.3,), lat=(24.6,)))
    with open_frame([cyclone]) as frame:
        coloured = read_scene(options, frame).coloured
        lon, lat = frame.read("XLONG"), frame.read("XLAT")
        theta = frame.read("theta")
    assert coloured is not None
    (_, along_lon), (_, along_lat) = coloured.parts
    column = int(np.argmin(np.abs(lon[0] + 91.3)))
    row = int(np.argmin(np.abs(lat[:, 0] - 24.6)))
    assert np.array_equal(along_lon, theta[:, :, column])
    assert np.array_equal(along_lat, theta[:, row])
    assert coloured.where == "91.3°W, 24.6°N"
    with open_frame([cyclone]) as frame, pytest.raises(FrameError, match="take lon and lat"):
        read_scene(SceneOptions(variable="theta", slices=Slices(x=(5,))), frame)


def test_a_plane_ends_at_a_hole_without_a_dark_edge(
    cyclone: Path, add_variables: Callable[..., Path], context: Context
):
    with open_frame([cyclone]) as frame:
        holed = frame.read("W")
    holed[:, :, 10:20] = np.nan
    options = SceneOptions(variable="W", slices=Slices(lat=(24,)), limits=(-0.2, 0.2))
    whole, _ = make(options, cyclone, context)
    torn, _ = make(options, add_variables(cyclone, W=holed), context)
    assert (whole != torn).any(axis=2).sum() > 500
    # Greys darker than the ground: the lines and letters that both pictures have.
    grey = [(np.ptp(p, axis=2) < 40) & (p.max(axis=2) < 170) for p in (whole, torn)]
    assert (grey[1] & ~grey[0])[100:330].sum() < 20


def test_limits_hold_what_is_shown_and_those_of_the_series_are_used(
    supercell: Path, context: Context
):
    options = SceneOptions(variable="theta", slices=Slices(height=(3,)))
    _, made = make(options, supercell, context)
    low, high = made.limits or (0, 0)
    assert 300 <= low <= made.facts["min"] < made.facts["max"] <= high <= 330
    _, made = make(options, supercell, dataclasses.replace(context, limits=(300.0, 320.0)))
    assert (made.limits, made.facts["limits"]) == ((300.0, 320.0), [300.0, 320.0])
    assert SceneKind().widens(options)
    assert not SceneKind().widens(UPDRAFT)


def test_a_2d_field_is_shown_on_the_ground_of_a_real_case(cyclone: Path, context: Context):
    options = SceneOptions((Isosurface("W", 0.5),), variable="wind10", units="kn")
    pixels, made = make(options, cyclone, context)
    assert made.facts["units"] == "kn"
    assert 80 < made.facts["max"] < 90
    # A third as high as it is wide: 475 km, and 5.6 km of air.
    assert made.facts["exaggeration"] == 20
    assert pixels.std() > 20
    _, made = make(SceneOptions(variable="wind10"), cyclone, context)
    assert made.facts["units"] == "m s-1"


def test_the_box_stands_still_while_the_air_moves(supercell: Path, context: Context):
    import h5py

    moved = context.files.parent / "moved.nc"
    moved.write_bytes(supercell.read_bytes())
    with h5py.File(moved, "a", locking=False) as file:
        file["PH"][:] = file["PH"][:] + 2000.0
    boxes = []
    for path in (supercell, moved):
        with open_frame([path]) as frame:
            scene = read_scene(UPDRAFT, frame)
        boxes.append((scene.low[:2], scene.high))
    assert boxes[0] == boxes[1]


def test_terrain_is_the_floor_of_the_box(
    cyclone: Path, context: Context, add_variables: Callable[..., Path]
):
    with open_frame([cyclone]) as frame:
        ny, nx = frame.read("PSFC").shape
    hills = (np.linspace(0, 1500, ny)[:, None] * np.ones((1, nx))).astype("f4")
    path = add_variables(cyclone, HGT=hills)
    with open_frame([path]) as frame:
        scene = read_scene(SceneOptions((Isosurface("W", 0.2),)), frame)
    assert np.allclose(scene.ground[..., 2], hills / 1000)
    assert scene.low[2] <= 0
    pixels, _ = make(SceneOptions((Isosurface("W", 0.2),)), path, context)
    assert pixels.std() > 10


@pytest.mark.parametrize(
    ("lon", "lat", "wide_km", "deep_km"),
    [
        (np.linspace(5, 12, 21), np.linspace(46, 40, 17), 596, 667),
        (np.linspace(175.5, 184.5, 21), np.linspace(-20, -14, 17), 971, 667),
        (np.linspace(-180, 180, 61), np.linspace(70, 90, 17), 4447, 4447),
    ],
    ids=["southward", "date line", "pole"],
)
def test_degrees_are_laid_out_in_km(
    lon: np.ndarray, lat: np.ndarray, wide_km: float, deep_km: float, context: Context
):
    path = context.files.parent / "degrees.nc"
    z = np.arange(6) * 500.0
    zz, yy, xx = np.meshgrid(z, np.arange(17), np.arange(lon.size), indexing="ij")
    bump = 10 * np.exp(-((xx - 10) ** 2 + (yy - 8) ** 2) / 20) + 0 * zz
    bump[:, :3, :3] = np.nan
    with netCDF4.Dataset(str(path), "w") as data:
        wrapped = (lon + 180) % 360 - 180 if lon.size == 21 else lon
        for name, values, units in (
            ("lon", wrapped, "degrees_east"), ("lat", lat, "degrees_north"), ("z", z, "m"),
        ):  # fmt: skip
            data.createDimension(name, values.size)
            data.createVariable(name, "f8", (name,)).units = units
            data[name][:] = values
        data["z"].axis = "Z"
        data.createVariable("q", "f4", ("z", "lat", "lon"))[:] = bump
    options = SceneOptions((Isosurface("q", 3, colour="#c80000"),), "q", Slices(height=(1,)))
    with open_frame([path]) as frame:
        scene = read_scene(options, frame)
    # Along the widest parallel and the meridians, on a sphere of 6370 km; a plane bends them.
    assert scene.high[0] - scene.low[0] == pytest.approx(wide_km, rel=0.03)
    assert scene.high[1] - scene.low[1] == pytest.approx(deep_km, rel=0.03)
    pixels, made = make(options, path, context)
    assert reddish(pixels[90:330]).sum() > 200
    assert made.facts["max"] == pytest.approx(10, abs=0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (SceneOptions((Isosurface("PSFC", 1e5),)), "PSFC has no levels"),
        (SceneOptions((Isosurface("w", 1),)), "no variable 'w'"),
        (SceneOptions(variable="theta"), "say by slices where it is shown"),
        (SceneOptions(variable="PSFC", slices=Slices(x=(1,))), "it is shown on the ground"),
        (SceneOptions(variable="theta", slices=Slices(x=(500,))), "outside of the crop: 1 to 81"),
        (SceneOptions(variable="theta", slices=Slices(lat=(5,))), "no lat to be cut at: take x"),
        (SceneOptions(variable="theta", slices=Slices(height=(90,))), "outside of the domain"),
        (SceneOptions((Isosurface("W", 1),), crop=Crop(index={"west_east": 3})), "two points"),
    ],
)
def test_what_cannot_be_shown_is_reported_in_one_sentence(
    options: SceneOptions, words: str, supercell: Path, context: Context
):
    with pytest.raises(FrameError, match=words):
        make(options, supercell, context)
    assert not (context.files.parent / "scene").exists()


def test_an_unknown_colour_is_a_fault_of_the_recipe(supercell: Path, context: Context):
    with pytest.raises(RecipeError, match="'redish' is not a colour"):
        make(SceneOptions((Isosurface("W", 2, colour="redish"),)), supercell, context)


def test_options_are_checked_with_the_recipe():
    for wrong, words in (
        (lambda: SceneOptions(), "isosurfaces, haze or a variable"),
        (lambda: SceneOptions(isosurfaces=(Isosurface("W", 1),), slices=Slices(x=(1,))), "need a"),
        (lambda: Slices(), "slices need"),
        (lambda: Slices(x=(1,), lat=(2,)), "or lon and lat"),
        (lambda: Isosurface("W", 1, opacity=0), "opacity"),
        (lambda: Isosurface("W", float("nan")), "finite"),
        (lambda: Camera(elevation=90), "elevation"),
        (lambda: Camera(zoom=0), "zoom"),
    ):
        with pytest.raises(ValueError, match=words):
            wrong()


def test_levels_without_heights_are_counted_and_never_called_km(supercell: Path):
    # The soil's levels: their depths stand in no coordinate of the file.
    soil = SceneOptions(variable="TSLB", slices=Slices(height=(1.0,)))
    with open_frame([supercell]) as frame:
        scene = read_scene(soil, frame)
        assert scene.coloured is not None
        assert scene.coloured.where == "level 1"
        assert not scene.height_in_km
        beyond = dataclasses.replace(soil, slices=Slices(height=(9.0,)))
        with pytest.raises(FrameError, match=r"outside of the domain: level 0 to level 4"):
            read_scene(beyond, frame)
