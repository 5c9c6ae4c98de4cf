"""CAPE and CIN: against MetPy, analytically, and for incomplete columns."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import metpy.calc as mpcalc
import numpy as np
import pytest
from metpy.units import units

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.parcel import cape_cin

Q = units.Quantity
LOWEST, MOST_UNSTABLE = 0, 1


def lifted(p: Any, t: Any, r: Any, which: int = LOWEST) -> tuple[float, float]:
    """CAPE and CIN of one column."""
    columns = (np.asarray(values, "f4")[:, None, None] for values in (p, t, r))
    cape, cin = cape_cin(*columns, which)
    return float(cape[0, 0]), float(cin[0, 0])


def by_metpy(p: Any, t: Any, r: Any, which: int = LOWEST) -> tuple[float, float]:
    dew_point = mpcalc.dewpoint(mpcalc.vapor_pressure(Q(p, "Pa"), Q(np.maximum(r, 1e-9), "")))
    function = (mpcalc.surface_based_cape_cin, mpcalc.most_unstable_cape_cin)[which]
    cape, cin = function(Q(p, "Pa"), Q(t, "K"), dew_point)
    return cape.m_as("J/kg"), cin.m_as("J/kg")


def agree(found: tuple[float, float], expected: tuple[float, float]) -> bool:
    """Each within 5 % or 20 J kg-1."""
    pairs = zip(found, expected, strict=True)
    return all(abs(one - other) <= max(20, 0.05 * abs(other)) for one, other in pairs)


def mixing_ratio(humidity: Any, t: Any, p: Any) -> np.ndarray:
    e = Q(np.asarray(humidity), "") * mpcalc.saturation_vapor_pressure(Q(t, "K"))
    return np.asarray(mpcalc.mixing_ratio(e, Q(p, "Pa")).m_as(""))


@pytest.fixture
def state(supercell: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pressure, temperature and mixing ratio of the supercell."""
    with open_frame([supercell]) as frame:
        p, t, r = (frame.read(name) for name in ("pressure", "temperature", "QVAPOR"))
    return p, t, r


@pytest.mark.parametrize("which", [LOWEST, MOST_UNSTABLE])
@pytest.mark.parametrize("place", [(20, 20), (19, 20), (22, 25), (2, 3), (33, 18)])
def test_columns_of_a_storm_are_metpy_s(state: Any, which: int, place: tuple[int, int]):
    column = [values[:, *place].astype("f8") for values in state]
    expected = by_metpy(*column, which)
    assert expected[0] > 1500
    assert agree(lifted(*column, which), expected)


def test_a_cyclone_s_columns_have_the_area_above_metpy_s_condensation_level(cyclone: Path):
    # In MetPy 1.7 cape_cin finds the level of free convection with virtual temperatures, which
    # puts the condensation level it starts from some 30 hPa too high where the air is unstable
    # from the ground on. So here MetPy gives the parcel's path and virtual temperatures only, and
    # the area is summed from the parcel's condensation level.
    with open_frame([cyclone]) as frame:
        state = [frame.read(name).astype("f8") for name in ("pressure", "temperature", "QVAPOR")]
        found = frame.read("cape")
        assert (frame.read("cin") <= 0).all()
    for place in ((30, 26), (12, 19), (41, 20), (4, 1), (24, 24)):
        p, t, r = (values[:, *place] for values in state)
        dew_point = mpcalc.dewpoint(mpcalc.vapor_pressure(Q(p, "Pa"), Q(r, "")))
        p, t, dew_point, parcel = mpcalc.parcel_profile_with_lcl(Q(p, "Pa"), Q(t, "K"), dew_point)
        base, _ = mpcalc.lcl(p[0], t[0], dew_point[0])
        around = mpcalc.virtual_temperature_from_dewpoint(p, t, dew_point)
        moist = mpcalc.saturation_mixing_ratio(p, parcel)
        warmer = (mpcalc.virtual_temperature(parcel, moist) - around).m_as("delta_degC")
        above = p <= base * 1.000001
        area = -287.05 * np.trapezoid(warmer[above], np.log(p[above].m_as("Pa")))
        assert (warmer[above][1:] > 0).all()
        assert agree((float(found[place]), 0), (area, 0)), place


LEVELS = np.linspace(1e5, 1.5e4, 60)
STANDARD = 288 * (LEVELS / 1e5) ** (287 * 0.0065 / 9.81)


def test_a_warm_moist_layer_below_a_lid_is_metpy_s():
    # A capped sounding: well mixed to 900 hPa, a warm layer on it, 7 K km-1 above.
    z = 8000 * np.log(1e5 / LEVELS)
    t = np.where(z < 900, 303 - 0.0098 * z, 303 - 8.82 + 3 - 0.007 * (z - 900))
    r = np.where(z < 900, 0.016, 0.004 * np.exp(-(z - 900) / 3000))
    expected = by_metpy(LEVELS, t, r)
    assert expected[0] > 500
    assert expected[1] < -20
    assert agree(lifted(LEVELS, t, r), expected)


def test_the_most_unstable_parcel_may_start_above_an_inversion():
    t = STANDARD.copy()
    t[:8] = np.linspace(275, 287, 8)
    t[8:] += 6
    r = mixing_ratio(np.where(np.arange(60) < 12, 0.9, 0.3), t, LEVELS)
    assert lifted(LEVELS, t, r)[0] < 20
    expected = by_metpy(LEVELS, t, r, MOST_UNSTABLE)
    assert agree(lifted(LEVELS, t, r, MOST_UNSTABLE), expected)


@pytest.mark.parametrize("which", [LOWEST, MOST_UNSTABLE])
def test_dry_air_has_neither(which: int):
    assert lifted(LEVELS, STANDARD, np.zeros(60), which) == (0, 0)


def test_stable_air_without_a_level_of_free_convection_has_neither():
    r = mixing_ratio(np.full(60, 0.3), STANDARD, LEVELS)
    assert by_metpy(LEVELS, STANDARD, r) == (0, 0)
    assert lifted(LEVELS, STANDARD, r) == (0, 0)


def test_saturated_air_on_its_own_pseudoadiabat_has_almost_none():
    t = mpcalc.moist_lapse(Q(LEVELS, "Pa"), Q(295, "K")).m_as("K")
    r = mixing_ratio(np.ones(60), t, LEVELS)
    cape, cin = lifted(LEVELS, t, r)
    assert abs(cape) < 20
    assert abs(cin) < 20


def test_saturated_unstable_air_is_free_from_the_start():
    t = 300 * (LEVELS / 1e5) ** (287 * 0.008 / 9.81)
    r = mixing_ratio(np.ones(60), t, LEVELS)
    expected = by_metpy(LEVELS, t, r)
    cape, cin = lifted(LEVELS, t, r)
    assert cin == pytest.approx(0, abs=0.01)
    assert agree((cape, 0), (expected[0], 0))


def test_cape_that_reaches_the_model_s_top_ends_there(state: Any):
    column = [values[:15, 20, 20].astype("f8") for values in state]
    assert agree(lifted(*column), by_metpy(*column))
    assert 0 < lifted(*column)[0] < lifted(*(values[:, 20, 20] for values in state))[0]


def test_missing_levels_are_left_out_and_missing_columns_are_nan(state: Any):
    p, t, r = (values[:, :3, :3].copy() for values in state)
    cape, _ = cape_cin(p, t, r, LOWEST)
    t[25, 0, 0] = np.nan
    r[:, 0, 1] = np.nan
    p[0, 0, 2] = np.nan
    t[:, 1, 0] = 0
    p[12, 1, 1] = p[11, 1, 1]
    p[1:, 1, 2] = np.nan
    t[20, 2, 0] = np.inf
    found, inhibition = cape_cin(p, t, r, LOWEST)
    missing = [[False, True, True], [True, False, True], [False, False, False]]
    assert np.array_equal(np.isnan(found), missing)
    assert np.array_equal(np.isnan(inhibition), missing)
    for place in ((0, 0), (1, 1), (2, 0)):
        assert found[place] == pytest.approx(cape[place], rel=0.02)
    assert np.array_equal(found[2, 1:], cape[2, 1:])


def test_the_ascent_ends_for_any_values_of_a_blown_up_model():
    generator = np.random.default_rng(11)
    strange = np.array([np.nan, np.inf, -np.inf, 0, -1, 1e30, -1e30, 1e-30, 499, 0.99], "f4")
    state = [
        np.where(
            generator.random((30, 20, 20)) < 0.3,
            generator.choice(strange, (30, 20, 20)),
            generator.uniform(low, high, (30, 20, 20)),
        ).astype("f4")
        for low, high in ((1e3, 1e5), (100, 500), (-0.1, 1))
    ]
    for which in (LOWEST, MOST_UNSTABLE):
        cape, cin = cape_cin(*state, which)
        assert cape.shape == cin.shape == (20, 20)
        assert np.isnan(cape).any()


def test_one_level_is_too_few_and_the_error_says_so(supercell: Path, tmp_path: Path):
    from burstlens.core.errors import FrameError
    from burstlens.viz.frames.reader import netCDF4

    path = tmp_path / "one.nc"
    with netCDF4.Dataset(os.fspath(supercell)) as old, netCDF4.Dataset(str(path), "w") as data:
        for name, dimension in old.dimensions.items():
            data.createDimension(name, 1 if name == "bottom_top" else len(dimension))
        for name in ("T", "P", "PB", "QVAPOR"):
            data.createVariable(name, "f4", old[name].dimensions)[:] = old[name][:, :1]
    with open_frame([path]) as frame:
        assert frame.read("temperature").shape == (1, 41, 41)
        with pytest.raises(FrameError, match="cape needs 2 levels, the frame has 1"):
            frame.read("cape")


def test_names_of_a_frame_give_the_lowest_and_the_most_unstable_parcel(supercell: Path):
    part = {"south_north": slice(18, 22), "west_east": slice(10, 30, 4)}
    with open_frame([supercell]) as frame:
        state = [frame.read(name) for name in ("pressure", "temperature", "QVAPOR")]
        found = {name: frame.read(name, part) for name in ("cape", "cin", "mu_cape", "mu_cin")}
    crop = [np.ascontiguousarray(values[:, 18:22, 10:30:4]) for values in state]
    assert np.array_equal([found["cape"], found["cin"]], cape_cin(*crop, LOWEST))
    assert np.array_equal([found["mu_cape"], found["mu_cin"]], cape_cin(*crop, MOST_UNSTABLE))
    assert (found["mu_cape"] >= found["cape"] - 1).all()


UNCACHED = """
import sys
sys.path.insert(0, {source!r})
from pathlib import Path
from burstlens.viz.diagnostics.derived import open_frame
with open_frame([Path({path!r})]) as frame:
    part = dict(south_north=slice(0, 2), west_east=slice(0, 2))
    print(float(frame.read("cape", part).max()))
"""


@pytest.mark.slow
def test_cape_is_computed_without_a_folder_for_the_cache(
    supercell: Path, tmp_path: Path, ordinary: list[str], copied_package: Callable[..., Path]
):
    source = copied_package()
    program = UNCACHED.format(source=str(source), path=str(supercell.resolve()))
    environment = {**os.environ, "HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [*ordinary, sys.executable, "-B", "-c", program],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 1500 < float(done.stdout) < 2500
    assert not list(source.rglob("*.nbi"))
