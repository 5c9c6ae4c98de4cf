"""Maps of CF files: grids of degrees in every order, across 180 degrees, at the poles."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.layers import Contours, Wind
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import read_field
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context


@pytest.fixture
def world(tmp_path: Path) -> Callable[..., Path]:
    """Writes a CF file whose field is its own latitude plus a hundredth of the longitude east."""

    def write(lon: Any, lat: Any, levels: int = 0, two_dimensional: bool = False) -> Path:
        path = tmp_path / "world.nc"
        lon, lat = np.asarray(lon, "f8"), np.asarray(lat, "f8")
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            for name, values, units in (
                ("lat", lat, "degrees_north"), ("lon", lon, "degrees_east"),
            ):  # fmt: skip
                data.createDimension(name if not two_dimensional else f"n{name}", values.size)
                if two_dimensional:
                    continue
                variable = data.createVariable(name, "f8", (name,))
                variable.units = units
                variable[:] = values
            dimensions: tuple[str, ...] = ("lat", "lon")
            if two_dimensional:
                dimensions = ("nlat", "nlon")
                whole = np.meshgrid(lon, lat)
                for name, values, units in (
                    ("lon", whole[0], "degrees_east"), ("lat", whole[1], "degrees_north"),
                ):  # fmt: skip
                    variable = data.createVariable(name, "f8", dimensions)
                    variable.units = units
                    variable[:] = values
            if levels:
                data.createDimension("plev", levels)
                dimensions = ("plev", *dimensions)
            values = lat[:, None] + (lon % 360) / 100
            for name in ("tas", "ua", "va"):
                field = data.createVariable(name, "f4", dimensions)
                field.units = "K" if name == "tas" else "m s-1"
                if two_dimensional:
                    field.coordinates = "lon lat"
                field[:] = values
        return path

    return write


def draw(path: Path, context: Context, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
    out = context.files.parent / "map.png"
    with open_frame([path]) as frame:
        options = {"width_px": 500, "coast": False, "limits": (-90.0, 94.0)} | options
        made = MapKind().make(MapOptions("tas", **options), frame, out, context)
    with Image.open(out) as image:
        return np.asarray(image.convert("RGB")).astype(int), dict(made.facts)


def at(pixels: np.ndarray, facts: dict[str, Any], lon: float, lat: float) -> np.ndarray:
    left, top, right, bottom = facts["box"]
    west, east, south, north = facts["extent"]
    x = left + (lon - west) / (east - west) * (right - left)
    y = bottom - (lat - south) / (north - south) * (bottom - top)
    return pixels[int(y), int(x)]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("flat", [False, True])
def test_rows_may_run_either_way(world: Any, context: Context, turned: bool, flat: bool):
    lat = np.arange(-30.0, 31, 2)
    path = world(np.arange(10.0, 60, 2), lat[::-1] if turned else lat, two_dimensional=flat)
    pixels, facts = draw(path, context, colormap="matplotlib.gray", limits=(-31.0, 31.0))
    assert at(pixels, facts, 40, 28)[0] > 200
    assert at(pixels, facts, 40, -28)[0] < 40


def test_a_domain_across_180_degrees_is_one(world: Any, context: Context):
    for lon in (np.arange(170.0, 191), np.r_[np.arange(170.0, 181), np.arange(-179.0, -169)]):
        pixels, facts = draw(world(lon, np.arange(-20.0, -9)), context, limits=(-30.0, 0.0))
        assert facts["extent"][1] - facts["extent"][0] == pytest.approx(21)
        # The field hardly changes from one side of the line to the other.
        sides = [at(pixels, facts, facts["extent"][0] + 10.5 + off, -15) for off in (-0.6, 0.6)]
        assert np.abs(sides[0] - sides[1]).max() < 8


def test_the_whole_globe_with_its_poles_is_drawn(world: Any, context: Context):
    path = world(np.arange(0.0, 360, 5), np.arange(-90.0, 91, 5))
    pixels, facts = draw(path, context, coast=True, contours=Contours("tas", interval=30))
    assert facts["nan"] == 0
    assert facts["extent"][2] <= -90
    assert facts["extent"][3] >= 90
    top, bottom = (at(pixels, facts, 100, lat) for lat in (88, -88))
    assert np.abs(top - bottom).max() > 100


def test_one_level_needs_no_level_and_several_do(world: Any, context: Context):
    lon, lat = np.arange(10.0, 20), np.arange(0.0, 9)
    _, facts = draw(world(lon, lat, levels=1), context)
    assert facts["shape"] == [9, 10]
    with pytest.raises(FrameError, match="has 3 levels along plev: say which `level`"):
        draw(world(lon, lat, levels=3), context)
    _, facts = draw(world(lon, lat, levels=3), context, level=2)
    assert facts["level"] == "level 2"


def test_a_row_a_column_and_a_single_point_are_drawn(world: Any, context: Context):
    for lon, lat in (([10.0], range(5)), (range(5), [10.0]), ([10.0], [50.0])):
        _, facts = draw(world(lon, lat), context, barbs=Wind("ua", "va"))
        assert facts["shape"] == [len(list(lat)), len(list(lon))]


def test_a_crop_by_degrees_across_180_holds_both_sides(world: Any, context: Context):
    path = world(np.arange(0.0, 360, 2), np.arange(-30.0, 31, 2))
    _, facts = draw(path, context, crop=Crop(range={"lon": (170.0, 200.0), "lat": (-10.0, 10.0)}))
    assert facts["shape"] == [11, 16]


def curved(path: Path, title: str) -> Path:
    """A turned grid of degrees with one value everywhere, on the level of a class by name."""
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        for name, size in (("region", 2), ("y", 40), ("x", 60)):
            data.createDimension(name, size)
        j, i = np.mgrid[0:40, 0:60] * 0.25
        for name, values, units in (
            ("lon", -30 + 0.94 * i - 0.34 * j, "degrees_east"),
            ("lat", 45 + 0.34 * i + 0.94 * j, "degrees_north"),
        ):  # fmt: skip
            made = data.createVariable(name, "f8", ("y", "x"))
            made.units, made[:] = units, values
        data.createVariable("region", str, ("region",))[:] = np.array(
            ["north", "so\x1buth"], object
        )
        made = data.createVariable("sst", "f4", ("region", "y", "x"))
        made.setncatts({"units": "degC", "coordinates": "lon lat", "long_name": title})
        made[:] = 7.0
    return path


@pytest.mark.integration
def test_no_background_shows_between_the_cells_of_a_curved_grid(tmp_path: Path, context: Context):
    options = MapOptions("sst", limits=(0, 10), colormap="viridis", coast=False)
    with open_frame([curved(tmp_path / "sst.nc", "sst")]) as frame:
        MapKind().make(options, frame, tmp_path / "map.png", context)
    with Image.open(tmp_path / "map.png") as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    middle = pixels[pixels.shape[0] // 2, pixels.shape[1] // 2]
    inside = pixels[pixels.shape[0] // 2 - 15 :, :][:30, pixels.shape[1] // 2 - 60 :][:, :60]
    near = np.abs(inside - middle).max(axis=2) <= 12
    assert near.mean() > 0.9  # all but the lines of the graticule


def test_a_level_whose_coordinate_is_text_is_named_by_it(tmp_path: Path):
    with open_frame([curved(tmp_path / "sst.nc", "first\nsecond  line")]) as frame:
        assert read_field(frame, "sst", level=1, crop=Crop(), units=None).level == "region = south"
        assert frame.variable("sst").long_name == "first second line"
