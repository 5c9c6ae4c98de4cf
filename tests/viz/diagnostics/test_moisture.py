"""Moisture of levels, at 2 m and of the column; lapse rates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import metpy.calc as mpcalc
import numpy as np
import pytest
from metpy.units import units

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.moisture import precipitable_water

Q = units.Quantity


def test_humidity_differs_from_wrf_python_s_by_its_specific_humidity_of_saturation(cyclone: Path):
    with open_frame([cyclone]) as frame:
        t, p, r, found = (
            frame.read(name).astype(float) for name in ("temperature", "pressure", "QVAPOR", "rh")
        )
    # Routine DCOMPUTERH of its wrf_user.f90.
    es = 611.2 * np.exp(17.67 * (t - 273.15) / (t - 29.65))
    theirs = 100 * np.clip(r / (0.622 * es / (p - (1 - 0.622) * es)), 0, 1)
    assert 2.2 < np.abs(theirs - found).max() < 2.4
    saturated = 0.622 * es / (p - es)
    converted = found * (1 + saturated) * (0.622 + r) / (0.622 + saturated)
    below = theirs < 100
    assert np.abs(converted - theirs)[below].max() < 0.01


def test_dew_point_is_wrf_python_s(cyclone: Path, wrf_python: dict[str, Any]):
    with open_frame([cyclone]) as frame:
        found = frame.read("dew_point")[wrf_python["levels"]] - 273.15
    assert np.abs(found - wrf_python["dew_point"]).max() < 0.05


def test_2_m_values_are_metpy_s(cyclone: Path):
    with open_frame([cyclone]) as frame:
        t, r, p = (frame.read(name).astype("f8") for name in ("T2", "Q2", "PSFC"))
        humidity, dew_point = frame.read("rh_2m"), frame.read("dew_point_2m")
    expected = mpcalc.relative_humidity_from_mixing_ratio(Q(p, "Pa"), Q(t, "K"), Q(r, ""))
    assert np.abs(humidity - expected.m_as("percent")).max() < 0.5
    expected = mpcalc.dewpoint(mpcalc.vapor_pressure(Q(p, "Pa"), Q(r, "")))
    assert np.abs(dew_point - expected.m_as("K")).max() < 0.05


def test_2_m_values_are_nan_where_surface_pressure_is_not_set(supercell: Path):
    with open_frame([supercell]) as frame:
        assert frame.read("PSFC").max() == 0
        assert np.isnan(frame.read("rh_2m")).all()


@pytest.mark.parametrize("path", ["supercell", "cyclone"])
def test_precipitable_water_is_metpy_s_of_the_same_vapour(
    path: str, request: pytest.FixtureRequest
):
    # MetPy integrates the mixing ratio over dp by trapezoids from the lowest level up. Given the
    # specific humidity instead (what a kilogram of moist air holds), and the half layer below the
    # lowest level added, the two integrals are the same up to the rule: 0.5 %.
    with open_frame([request.getfixturevalue(path)]) as frame:
        found = frame.read("precipitable_water")
        p, r = frame.read("pressure").astype("f8"), frame.read("QVAPOR").astype("f8")
        t = frame.read("temperature").astype("f8")
        faces = (frame.read("PH").astype("f8") + frame.read("PHB")) / 9.81
    z = 0.5 * (faces[1:] + faces[:-1])
    for j, i in ((3, 4), (20, 20), (35, 11)):
        q = r[:, j, i] / (1 + r[:, j, i])
        density = p[:, j, i] / (287 * t[:, j, i] * (1 + 0.608 * q))
        dew_point = mpcalc.dewpoint(mpcalc.vapor_pressure(Q(p[:, j, i], "Pa"), Q(q, "")))
        between = mpcalc.precipitable_water(Q(p[:, j, i], "Pa"), dew_point).m_as("mm")
        below = q[0] * density[0] * (z[0, j, i] - faces[0, j, i])
        above = q[-1] * density[-1] * (faces[-1, j, i] - z[-1, j, i])
        assert found[j, i] == pytest.approx(between + below + above, rel=5e-3)


def test_dry_columns_hold_no_water_and_a_nan_spoils_its_column_alone():
    p = np.linspace(1e5, 2e4, 10)[:, None, None] * np.ones((1, 1, 3))
    t, r = np.full_like(p, 250), np.full_like(p, 0.004)
    r[:, 0, 0], r[4, 0, 1] = -1e-9, np.nan
    faces = np.linspace(0, 11000, 11)[:, None, None] * np.ones((1, 1, 3))
    found = precipitable_water(p, t, r, faces)[0]
    assert found[0] == 0
    assert np.isnan(found[1])
    assert found[2] > 0


def test_the_lapse_rate_of_a_constant_one_is_it_whatever_the_layer(
    supercell: Path, tmp_path: Path, copy_with: Callable[..., None]
):
    with open_frame([supercell]) as frame:
        p, z = frame.read("pressure").astype("f8"), frame.read("height").astype("f8")
    theta = (300 - 0.0073 * z) * (1e5 / p) ** (2 / 7)
    path = tmp_path / "lapse.nc"
    copy_with(supercell, path, ["T", "P", "PB", "PH", "PHB"], T=theta[None] - 300)
    with open_frame([path]) as frame:
        for name in ("lapse_rate", "lapse_rate@850-500hPa", "lapse_rate@0-3km agl"):
            # Interpolation is linear in ln p, which this profile is not: 0.03 K km-1.
            assert frame.read(name) == pytest.approx(7.3, abs=0.03)
        assert frame.variable("lapse_rate").long_name == "lapse rate from 700 to 500 hPa"


def test_an_inversion_has_a_negative_lapse_rate(
    supercell: Path, tmp_path: Path, copy_with: Callable[..., None]
):
    with open_frame([supercell]) as frame:
        p, z = frame.read("pressure").astype("f8"), frame.read("height").astype("f8")
    theta = (270 + 0.002 * z) * (1e5 / p) ** (2 / 7)
    path = tmp_path / "inversion.nc"
    copy_with(supercell, path, ["T", "P", "PB", "PH", "PHB"], T=theta[None] - 300)
    with open_frame([path]) as frame:
        assert frame.read("lapse_rate@0-1km agl") == pytest.approx(-2, abs=0.01)
