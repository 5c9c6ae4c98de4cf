"""Pressure, its reduction to sea level, and heights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import metpy.calc as mpcalc
import numpy as np
import pytest
from metpy.units import units

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.pressure import sea_level_pressure

Q = units.Quantity


def test_slp_is_wrf_python_s_over_the_sea(cyclone: Path, wrf_python: dict[str, Any]):
    with open_frame([cyclone]) as frame:
        assert frame.read("HGT").max() == 0
        found = frame.read("slp")
        assert frame.variable("slp").units == "Pa"
    assert np.abs(found / 100 - wrf_python["slp"]).max() < 0.1
    assert found.min() / 100 == pytest.approx(938.4, abs=0.1)


def test_the_reduced_surface_pressure_of_the_sea_is_itself(cyclone: Path):
    # PSFC at height 0 is the sea-level pressure; WRF extrapolates it from the lowest two levels,
    # which in the eyewall, where pressure falls by 3 hPa per grid point, is 0.54 hPa off.
    with open_frame([cyclone]) as frame:
        difference = np.abs(frame.read("slp") - frame.read("PSFC"))
    assert (difference < 50).mean() > 0.99
    assert difference.max() < 60


@pytest.mark.parametrize("ground", [0.0, 500.0, 1500.0, 3000.0])
@pytest.mark.parametrize("sea", [255.0, 275.0, 288.15])
def test_slp_of_the_standard_lapse_rate_is_the_barometric_formula_s(ground: float, sea: float):
    # Dry air with 6.5 K km-1 all the way down: p = p0 (T / T0)^(g / (Rd lapse)), analytically.
    z = ground + np.arange(30.0, 6000.0, 300.0)[:, None, None]
    t = sea - 0.0065 * z
    p = 101325 * (t / sea) ** (9.81 / (287.0 * 0.0065))
    found = sea_level_pressure(p, t, np.zeros_like(p), z)
    assert found[0, 0] == pytest.approx(101325, abs=50)


def test_hot_ground_is_cooled_on_the_way_to_the_sea():
    # 295 K at 1500 m would be 305 K at the sea; MM5 takes 290.66 K - 0.005 (ts - 290.66)^2.
    z = 1500 + np.arange(30.0, 6000.0, 300.0)[:, None, None]
    t = 305 - 0.0065 * z
    p = 85000 * (t / t[0]) ** (9.81 / (287.0 * 0.0065))
    cooled = 290.66 - 0.005 * (t[0, 0, 0] - 290.66) ** 2
    mean = 0.5 * (cooled + t[0, 0, 0])
    thick = mpcalc.thickness_hydrostatic(
        Q([101325, 85000], "Pa"), Q([mean, mean], "K")
    ).m  # of an isothermal layer, which gives MetPy's own scale height
    scale = thick / np.log(101325 / 85000)
    found = sea_level_pressure(p, t, np.zeros_like(p), z)
    assert found[0, 0] == pytest.approx(85000 * np.exp(z[0, 0, 0] / scale), abs=50)


def test_a_column_that_does_not_reach_100_hpa_up_or_has_a_nan_is_nan():
    z = np.arange(30.0, 6000.0, 300.0)[:, None, None] * np.ones((1, 1, 3))
    t = 288 - 0.0065 * z
    p = 101325 * (t / 288) ** 5.26
    p[:, 0, 1] = 101325 - np.arange(p.shape[0])
    t[:, 0, 2] = np.nan
    found = sea_level_pressure(p, t, np.zeros_like(p), z)
    assert np.array_equal(np.isnan(found[0]), [False, True, True])


def test_columns_that_need_more_than_the_lowest_levels_get_them(
    supercell: Path, tmp_path: Path, copy_with: Callable[..., None]
):
    # Levels so thin that 14 of them hold less than 100 hPa.
    with open_frame([supercell]) as frame:
        p, z = frame.read("pressure"), frame.read("height")
    thin = (p[0] - (p[0] - p) * np.linspace(0.1, 0.3, 40)[:, None, None]).astype("f4")
    path = tmp_path / "thin.nc"
    names = ["T", "P", "PB", "QVAPOR", "PH", "PHB"]
    copy_with(supercell, path, names, P=thin[None], PB=0 * thin[None])
    with open_frame([path]) as frame:
        assert (thin[13] > thin[0] - 1e4).all()
        t, r = frame.read("temperature"), frame.read("QVAPOR")
        expected = sea_level_pressure(thin, t, r, z)
        assert np.isfinite(expected).all()
        assert np.array_equal(frame.read("slp"), expected)


def test_heights_are_those_of_the_faces_averaged(supercell: Path, cyclone: Path):
    for path in (supercell, cyclone):
        with open_frame([path]) as frame:
            faces = (frame.read("PH").astype("f8") + frame.read("PHB")) / 9.81
            z, agl = frame.read("height"), frame.read("height_agl")
        assert np.abs(z - 0.5 * (faces[1:] + faces[:-1])).max() < 0.01
        assert np.abs(agl - (z - faces[0])).max() < 0.01


def test_heights_above_ground_of_a_crop_of_levels_are_those_of_the_whole(supercell: Path):
    part = {"bottom_top": slice(10, 20, 3), "west_east": slice(5, 9)}
    with open_frame([supercell]) as frame:
        whole = frame.read("height_agl")
        assert np.array_equal(frame.read("height_agl", part), whole[10:20:3, :, 5:9])
