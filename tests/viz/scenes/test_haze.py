"""Haze: a variable on heights equally far apart, and how it looks."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from burstlens.core.errors import BurstlensError, FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry import grid
from burstlens.viz.kinds.scene.haze import Density
from burstlens.viz.kinds.scene.kind import SceneKind
from burstlens.viz.kinds.scene.options import Haze, Isosurface, SceneOptions
from burstlens.viz.kinds.scene.read import read_scene
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

pytestmark = pytest.mark.slow

CLOUD = Haze("QCLOUD", (0.1, 1.0), units="g kg-1", colour="#c80000")


def read(path: Path, haze: Haze, **options: Any) -> Density:
    with open_frame([path]) as frame:
        (found,) = read_scene(SceneOptions(haze=(haze,), **options), frame).hazes
    return found


def make(options: SceneOptions, path: Path, context: Context) -> tuple[np.ndarray, dict[str, Any]]:
    out = context.files.parent / "scene"
    small = dataclasses.replace(options, width_px=450, height_px=360)
    with open_frame([path], stream=context.stream) as frame:
        facts = SceneKind().make(small, frame, out, context).facts
    return np.asarray(Image.open(out).convert("RGB")).astype(int), dict(facts)


def test_it_is_linear_between_levels_from_the_low_to_the_high_end_of_its_range(supercell: Path):
    found = read(supercell, CLOUD)
    with netCDF4.Dataset(os.fspath(supercell)) as data:
        cloud = 1000 * np.asarray(data["QCLOUD"][0], "f8")
        faces = np.asarray(data["PH"][0] + data["PHB"][0], "f8") / grid.GRAVITY / 1000
    middles = 0.5 * (faces[1:] + faces[:-1])
    heights = np.linspace(*found.corners[:, 2], found.values.shape[0])
    assert heights[[0, -1]] == pytest.approx([middles.min(), middles.max()], abs=1e-3)
    _, row, column = np.unravel_index(int(cloud.argmax()), cloud.shape)
    part = np.clip((cloud[:, row, column] - 0.1) / 0.9, 0, 1)
    wanted = np.interp(heights, middles[:, row, column], part)
    assert wanted.max() == 1
    assert found.values[:, row, column] / 65535 == pytest.approx(wanted, abs=2e-4)
    assert (found.values[:, cloud.max(axis=0) <= 0.1] == 0).all()
    assert (found.units, found.extent[1]) == ("g kg-1", pytest.approx(cloud.max(), rel=1e-6))


def test_what_is_missing_is_seen_through(supercell: Path, add_variables: Callable[..., Path]):
    with netCDF4.Dataset(os.fspath(supercell)) as data:
        cloud = np.asarray(data["QCLOUD"][0], "f4")
    _, row, column = np.unravel_index(int(cloud.argmax()), cloud.shape)
    cloud[:, row, column] = np.nan
    found = read(add_variables(supercell, QCLOUD=cloud), CLOUD)
    assert not found.values[:, row, column].any()
    assert found.values[:, row, column - 1].any()


def tinted(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of what is redder than the grey around it, below the legend."""
    drawn = pixels[90:330]
    rows, columns = np.nonzero(drawn[..., 0] - drawn[..., 1] > 40)
    return rows, columns


def test_it_stands_where_an_isosurface_of_it_stands_and_is_named(supercell: Path, context: Context):
    hazy, facts = make(SceneOptions(haze=(CLOUD,)), supercell, context)
    assert facts["haze"] == [{"variable": "QCLOUD", "range": [0.1, 1.0], "units": "g kg-1"}]
    surface = Isosurface("QCLOUD", 0.4, units="g kg-1", colour="#c80000")
    solid, _ = make(SceneOptions((surface,)), supercell, context)
    haze, shell = tinted(hazy), tinted(solid)
    assert haze[0].size > 30
    for of_haze, of_shell in zip(haze, shell, strict=True):
        assert of_haze.mean() == pytest.approx(of_shell.mean(), abs=3)
        assert np.ptp(of_haze) == pytest.approx(np.ptp(of_shell), abs=10)


def test_an_isosurface_inside_is_dimmed_by_it(supercell: Path, context: Context):
    surface = Isosurface("QCLOUD", 0.9, units="g kg-1", colour="#00c800")
    haze = dataclasses.replace(CLOUD, range=(0.05, 0.2), opacity=1.0)
    clear, _ = make(SceneOptions((surface,)), supercell, context)
    dim, _ = make(SceneOptions((surface,), haze=(haze,)), supercell, context)

    def green(pixels: np.ndarray) -> int:
        drawn = pixels[90:330]
        return int((drawn[..., 1] > drawn[..., 0] + 60).sum())

    assert green(clear) > 20
    assert green(clear) > 2 * green(dim)


@pytest.mark.parametrize(
    ("haze", "message"),
    [
        (Haze("PSFC", (9e4, 1e5)), "PSFC has no levels"),
        (Haze("cloud", (0, 1)), "no variable 'cloud'"),
        (Haze("QCLOUD", (0, 1), colour="redish"), "haze: 'redish' is not a colour"),
        (Haze("QCLOUD", (0, 1), units="K"), "K"),
    ],
)
def test_what_cannot_be_shown_is_reported(
    haze: Haze, message: str, supercell: Path, context: Context
):
    with pytest.raises((FrameError, RecipeError), match=message):
        make(SceneOptions(haze=(haze,)), supercell, context)


def test_depths_are_turned_upwards(cf_volume: Callable[..., Path]):
    path = cf_volume(depth=True)
    found = read(path, Haze("vx", (-1, 1)))
    with netCDF4.Dataset(os.fspath(path)) as data:
        vx = np.asarray(data["vx"][0], "f8")
    part = np.clip((vx + 1) / 2, 0, 1)
    assert found.values[-1] / 65535 == pytest.approx(part[0], abs=2e-4)
    assert found.values[0] / 65535 == pytest.approx(part[-1], abs=2e-4)
    assert found.corners[:, 2] == pytest.approx([-0.1, 0.0])


def test_columns_that_are_not_equally_far_apart_are_refused(cf_volume: Callable[..., Path]):
    with pytest.raises(BurstlensError, match="not straight and equally far apart"):
        read(cf_volume(x=[0, 50, 100, 180, 200, 260, 300]), Haze("vx", (-1, 1)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs isosurfaces, haze or a variable"),
        ({"haze": [{"variable": "W", "range": [2, 1]}]}, "the first below the second"),
        ({"haze": [{"variable": "W", "range": [0, 1], "opacity": 2}]}, "opacity must be above 0"),
        ({"haze": [{"variable": "W"}]}, "range"),
    ],
)
def test_recipes_are_checked(options: dict[str, Any], message: str):
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(product_kind("scene").options).validate_python(options)
