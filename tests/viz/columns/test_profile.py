"""Vertical profiles: the values of a column, means of an area, and how they are drawn."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.place import End
from burstlens.viz.kinds.profile.kind import ProfileKind
from burstlens.viz.kinds.profile.options import ProfileOptions
from burstlens.viz.kinds.profile.read import Profiles, read_profiles
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind


def read(path: Path, *variables: str, **options: Any) -> Profiles:
    with open_frame([path]) as frame:
        return read_profiles(ProfileOptions(variables, **options), frame)


def make(path: Path, context: Context, *variables: str, **options: Any) -> dict[str, Any]:
    out = context.files.parent / "profile.png"
    with open_frame([path]) as frame:
        made = ProfileKind().make(ProfileOptions(variables, **options), frame, out, context)
    return dict(made.facts)


def test_of_a_grid_point_it_is_that_column_at_its_heights(supercell: Path):
    found = read(supercell, "W", "QCLOUD", at=End(i=20, j=18), units={"QCLOUD": "g kg-1"})
    with netCDF4.Dataset(os.fspath(supercell)) as data:
        faces = np.asarray(data["PH"][0, :, 18, 20] + data["PHB"][0, :, 18, 20], "f8")
        w = np.asarray(data["W"][0, :, 18, 20], "f8")
        cloud = np.asarray(data["QCLOUD"][0, :, 18, 20], "f8")
    heights = faces / grid.GRAVITY / 1000
    vertical_wind, cloud_water = found.profiles
    assert vertical_wind.levels == pytest.approx(0.5 * (heights[1:] + heights[:-1]), rel=1e-5)
    assert vertical_wind.values == pytest.approx(0.5 * (w[1:] + w[:-1]), abs=1e-5)
    assert cloud_water.values == pytest.approx(1000 * cloud, abs=1e-6)
    assert (cloud_water.units, cloud_water.spread) == ("g kg-1", None)
    assert (found.vertical.units, found.where) == ("km", "at i 20, j 18")


def test_between_points_it_is_interpolated_and_its_place_is_reported(cyclone: Path):
    found = read(cyclone, "QVAPOR", at=End(lat=25.0, lon=-90.0))
    assert found.where == "25°N 90°W"
    with netCDF4.Dataset(os.fspath(cyclone)) as data:
        lat, lon = np.asarray(data["XLAT"][0]), np.asarray(data["XLONG"][0])
        row, column = np.unravel_index(int(np.hypot(lat - 25, lon + 90).argmin()), lat.shape)
        near = np.asarray(data["QVAPOR"][0, :, row - 1 : row + 2, column - 1 : column + 2])
    (one,) = found.profiles
    assert (one.values >= near.min(axis=(1, 2))).all()
    assert (one.values <= near.max(axis=(1, 2))).all()


def test_of_an_area_it_is_the_mean_with_nine_tenths_of_the_values(cyclone: Path):
    crop = Crop(index={"west_east": (5, 30), "south_north": (10, 22)})
    found = read(cyclone, "QVAPOR", crop=crop, vertical="pressure")
    with netCDF4.Dataset(os.fspath(cyclone)) as data:
        part = np.s_[0, :, 10:22, 5:30]
        q = np.asarray(data["QVAPOR"][part], "f8").reshape(14, -1)
        p = np.asarray(data["P"][part] + data["PB"][part], "f8").reshape(14, -1) / 100
    (one,) = found.profiles
    assert found.where == "mean of 25 × 12 columns"
    assert one.values == pytest.approx(q.mean(axis=1), rel=1e-5)
    assert one.levels == pytest.approx(p.mean(axis=1), rel=1e-5)
    assert one.spread is not None
    assert one.spread[0] == pytest.approx(np.percentile(q, 5, axis=1), rel=1e-4)
    assert one.spread[1] == pytest.approx(np.percentile(q, 95, axis=1), rel=1e-4)


def test_a_level_without_values_is_a_gap(supercell: Path, add_variables: Callable[..., Path]):
    with netCDF4.Dataset(os.fspath(supercell)) as data:
        cloud = np.asarray(data["QCLOUD"][0], "f4")
    cloud[3] = np.nan
    cloud[4, 2, 2] = np.nan
    (one,) = read(add_variables(supercell, QCLOUD=cloud), "QCLOUD").profiles
    assert np.flatnonzero(np.isnan(one.values)).tolist() == [3]


def test_depths_grow_downwards(cf_volume: Callable[..., Path]):
    path = cf_volume(depth=True)
    found = read(path, "vx")
    with netCDF4.Dataset(os.fspath(path)) as data:
        means = np.asarray(data["vx"][0]).mean(axis=(1, 2))
    (one,) = found.profiles
    assert found.vertical.down
    assert one.levels == pytest.approx([-0.1, -0.075, -0.05, -0.025, 0.0], abs=1e-6)
    assert one.values == pytest.approx(means[::-1], abs=1e-6)


def test_the_picture_has_one_panel_per_variable(cyclone: Path, context: Context):
    facts = make(cyclone, context, "theta_e", "wind", "rh", units={"wind": "kn"})
    assert facts["size"] == [900, 560]
    assert list(facts["ranges"]) == ["theta_e", "wind", "rh"]
    assert facts["units"]["wind"] == "kn"
    with Image.open(context.files.parent / "profile.png") as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert pixels.shape == (560, 900, 3)
    blue = (pixels[..., 2] > pixels[..., 0] + 60).any(axis=0)  # a line in each third
    assert all(part.any() for part in np.array_split(blue[80:], 3))


def test_limits_and_top_are_the_ends_of_the_axes(supercell: Path, context: Context):
    whole = make(supercell, context, "W")
    other = context.files.parent / "profile.png"
    first = other.read_bytes()
    assert make(supercell, context, "W", limits={"W": (-5, 5)}, top=10)["ranges"] == whole["ranges"]
    assert other.read_bytes() != first
    with pytest.raises(FrameError, match=r"top = 0\.01 leaves nothing of the column"):
        make(supercell, context, "W", top=0.01)


@pytest.mark.parametrize(
    ("variables", "options", "message"),
    [
        (("PSFC",), {}, "profile: PSFC is not a 3-D field"),
        (("w",), {}, "no variable 'w'"),
        (("W",), {"at": End(i=90, j=1)}, r"profile: the point \(i 90, j 1\) is outside"),
        (("W",), {"units": {"W": "K"}}, "K"),
    ],
)
def test_invalid_variables_and_options_are_reported(
    supercell: Path, context: Context, variables: tuple[str], options: dict[str, Any], message: str
):
    from burstlens.core.errors import BurstlensError

    with pytest.raises(BurstlensError, match=message):
        make(supercell, context, *variables, **options)
    assert not (context.files.parent / "profile.png").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variables": []}, "one to 4"),
        ({"variables": ["U", "V", "W", "T", "QVAPOR"]}, "one to 4"),
        ({"variables": ["W", "W"]}, "names one twice"),
        ({"variables": ["wind@850hPa"]}, "is of one level"),
        ({"units": {"T": "K"}}, "units names T"),
        ({"limits": {"W": [2, 1]}}, "the first number must be below"),
        ({"at": {"i": 1, "j": 1}, "crop": {"stride": 2}}, "at and crop do not go together"),
        ({"width_px": 10}, "width_px must be 300"),
    ],
)
def test_recipes_are_checked(options: dict[str, Any], message: str):
    kind = product_kind("profile")
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(kind.options).validate_python({"variables": ["W"]} | options)
