"""Soundings: the column's values, the parcel's path, and where they stand on the diagram."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.parcel import lifted_path
from burstlens.viz.drawing.picture import blank
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.place import End
from burstlens.viz.kinds.sounding.draw import Chart
from burstlens.viz.kinds.sounding.kind import SoundingKind
from burstlens.viz.kinds.sounding.options import SoundingOptions
from burstlens.viz.kinds.sounding.read import Column, read_column
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

pytestmark = pytest.mark.integration


def read(path: Path, at: End, *, most_unstable: bool = False) -> Column:
    with open_frame([path]) as frame:
        return read_column(frame, at, most_unstable=most_unstable)


def test_a_column_has_the_values_of_its_grid_point(supercell: Path):
    found = read(supercell, End(i=7, j=31))
    with open_frame([supercell]) as frame:
        for name, values in (
            ("pressure", found.pressure), ("temperature", found.temperature),
            ("dew_point", found.dew_point), ("u_earth", found.eastward),
            ("v_earth", found.northward),
        ):  # fmt: skip
            assert np.allclose(values, frame.read(name)[:, 31, 7], rtol=1e-6, atol=1e-5), name
        assert found.cape == pytest.approx(frame.read("cape")[31, 7], rel=1e-4)
        assert found.cin == pytest.approx(frame.read("cin")[31, 7], rel=1e-3)
        assert found.water == pytest.approx(frame.read("precipitable_water")[31, 7], rel=1e-5)


def test_between_points_it_is_bilinear_and_only_four_columns_are_read(cyclone: Path):
    found = read(cyclone, End(i=20.25, j=30.5), most_unstable=True)
    with open_frame([cyclone]) as frame:
        near = frame.read("temperature")[:, 30:32, 20:22].astype("f8")
    expected = near.mean(axis=1) @ [0.75, 0.25]
    assert np.allclose(found.temperature, expected, atol=1e-3)


def test_the_path_is_metpys(supercell: Path):
    """Within 0.6 K up to 200 hPa: MetPy's slope has another heat of vaporization."""
    mpcalc = pytest.importorskip("metpy.calc")
    units = pytest.importorskip("metpy.units").units
    found = read(supercell, End(i=5, j=5))
    p = units.Quantity(found.pressure, "Pa")
    kelvin = units.Quantity(found.temperature[0], "K")
    dew = units.Quantity(found.dew_point[0], "K")
    expected = mpcalc.parcel_profile(p, kelvin, dew).m_as("K")
    low = found.pressure > 2e4
    assert np.abs(found.path - expected)[low].max() < 0.6
    base, cold = mpcalc.lcl(p[0], kelvin, dew)
    assert found.condensation[0] == pytest.approx(base.m_as("Pa"), abs=150)
    assert found.condensation[1] == pytest.approx(cold.m_as("K"), abs=0.15)


def test_the_most_unstable_parcel_starts_where_theta_e_is_highest():
    # Warm and moist air at 900 hPa over a cold layer at the ground.
    p = np.array([1000.0, 950, 900, 850, 700, 500, 300]) * 100
    t = np.array([280.0, 282, 292, 289, 279, 258, 228])
    q = np.array([5.0, 6, 13, 10, 5, 2, 0.2]) / 1000
    path, base, _ = lifted_path(p, t, q, 1)
    assert np.isnan(path[:2]).all()
    assert path[2] == t[2]
    assert 7e4 < base < 9e4
    surface, _, _ = lifted_path(p, t, q, 0)
    assert surface[0] == t[0]
    assert np.isfinite(surface).all()


def test_saturated_air_condenses_where_it_stands():
    p = np.array([1000.0, 900, 800]) * 100
    path, base, cold = lifted_path(p, np.array([290.0, 285, 280]), np.full(3, 0.02), 0)
    assert base == pytest.approx(p[0])
    assert cold == 290
    assert (np.diff(path) < 0).all()


def test_an_isotherm_rises_by_45_degrees_and_a_thousand_hectopascal_is_unskewed():
    options = SoundingOptions(End(i=0, j=0))
    figure = Figure(figsize=(7.2, 7.6), dpi=100)
    chart = Chart(figure, options)
    points = chart.place(np.array([1000.0, 700.0]), np.array([12.0, 12.0]))
    assert points[0].tolist() == pytest.approx([12.0, -np.log(1000)])
    (x0, y0), (x1, y1) = chart.axes.transData.transform(points)
    assert (y1 - y0) / (x1 - x0) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("size", "top"), [((720, 760), 500), ((720, 760), 250), ((400, 2000), 100)]
)
def test_a_tall_chart_or_one_of_low_levels_leans_less_so_that_its_curves_stay_on_it(
    supercell: Path, size: tuple[int, int], top: float
):
    chart = Chart(blank(*size, 60), SoundingOptions(End(i=5, j=5), top=top))
    found = read(supercell, End(i=5, j=5))
    low = found.pressure > 100 * max(top, 200)
    across = chart.place(found.pressure[low] / 100, found.temperature[low] - 273.15)[:, 0]
    assert low.sum() > 5
    assert (across > chart.low).all()
    assert (across < chart.high).all()


@pytest.mark.parametrize("size", [(720, 760), (1600, 700), (500, 900)])
def test_barbs_stand_beside_the_chart_and_on_the_picture(supercell: Path, size: tuple[int, int]):
    chart = Chart(blank(*size, 60), SoundingOptions(End(i=5, j=5)))
    chart.winds(read(supercell, End(i=5, j=5)))
    (barbs,) = chart.axes.collections
    x = chart.axes.transData.transform(barbs.get_offsets())[:, 0]
    feather = 25 * 60 / 72
    assert (x - feather > chart.axes.bbox.x1).all()
    assert (x + feather < size[0]).all()


def test_the_curve_of_the_temperature_is_where_the_temperature_is(
    supercell: Path, context: Context, tmp_path: Path
):
    options, out = SoundingOptions(End(i=5, j=5)), tmp_path / "sounding.png"
    with open_frame([supercell]) as frame:
        facts = SoundingKind().make(options, frame, out, context).facts
    with Image.open(out) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert pixels.shape[:2] == (760, 720)
    found = read(supercell, options.at)
    chart = Chart(Figure(figsize=(7.2, 7.6), dpi=100), options)
    for n in (3, 12, 20):
        celsius = found.temperature[n : n + 1] - 273.15
        x, y = chart.axes.transData.transform(
            chart.place(found.pressure[n : n + 1] / 100, celsius)
        )[0]
        assert np.abs(pixels[760 - round(y), round(x)] - [193, 39, 45]).max() < 60
    assert facts["cape"] == pytest.approx(found.cape, abs=0.1)
    assert facts["place"] is None


def test_levels_without_values_are_left_out(
    supercell: Path, add_variables: Callable[..., Path], context: Context, tmp_path: Path
):
    with netCDF4.Dataset(os.fspath(supercell)) as data:
        theta = np.asarray(data["T"][0])
        whole = theta.shape[0]
    theta[4:6] = np.nan
    found = read(add_variables(supercell, T=theta), End(i=5, j=5))
    assert found.pressure.size == whole - 2
    assert np.isfinite(found.path).all()
    theta[1:] = np.nan
    with pytest.raises(FrameError, match="fewer than two levels"):
        read(add_variables(supercell, T=theta), End(i=5, j=5))


def test_a_point_beside_a_curvilinear_grid_has_no_column(
    cyclone: Path, add_variables: Callable[..., Path]
):
    with netCDF4.Dataset(os.fspath(cyclone)) as data:
        lat, lon = (np.asarray(data[name][0]) for name in ("XLAT", "XLONG"))
    slanted = add_variables(cyclone, XLONG=(lon + 0.3 * (lat - lat.mean())).astype("f4"))
    with pytest.raises(FrameError, match=r"point \(lat 24, lon -60\) is outside of the domain"):
        read(slanted, End(lat=24, lon=-60))


def test_a_point_outside_and_missing_variables_are_reported(cyclone: Path, cf_volume: Any):
    with pytest.raises(FrameError, match=r"point \(lat 50, lon 0\) is outside .* lat 22"):
        read(cyclone, End(lat=50, lon=0))
    with pytest.raises(FrameError, match="a sounding needs T, P, PB"):
        read(cf_volume(), End(i=1, j=1))


def test_recipes_are_checked():
    options = product_kind("sounding").options
    for wrong, message in (
        ({}, "at"), ({"at": {"lat": 3}}, "needs lat and lon"),
        ({"at": {"i": 1, "j": 1}, "top": 1000}, "top must be 1 to 900 hPa"),
        ({"at": {"i": 1, "j": 1}, "temperatures": [30, -30]}, "must be below the second"),
    ):  # fmt: skip
        with pytest.raises(ValidationError, match=message):
            TypeAdapter(options).validate_python(wrong)
