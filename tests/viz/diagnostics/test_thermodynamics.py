"""Moist air against MetPy, published values and wrf-python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import metpy.calc as mpcalc
import numpy as np
import pytest
from metpy.units import units

from burstlens.viz.diagnostics import thermodynamics as air
from burstlens.viz.diagnostics.derived import open_frame

FRAMES = ["supercell", "cyclone"]
Q = units.Quantity


@pytest.fixture(params=FRAMES)
def levels(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Pressure, potential temperature and mixing ratio of a real frame, in float64."""
    path: Path = request.getfixturevalue(request.param)
    with open_frame([path]) as frame:
        read = {name: frame.read(name).astype("f8") for name in ("P", "PB", "T", "QVAPOR")}
    return {"p": read["P"] + read["PB"], "theta": read["T"] + 300, "r": read["QVAPOR"]}


def test_temperature_is_metpy_s(levels: dict[str, Any]):
    expected = mpcalc.temperature_from_potential_temperature(
        Q(levels["p"], "Pa"), Q(levels["theta"], "K")
    )
    assert np.abs(air.temperature(levels["theta"], levels["p"]) - expected.m).max() < 0.05


def test_humidity_and_dew_point_are_metpy_s(levels: dict[str, Any]):
    p, r = levels["p"], levels["r"]
    t = air.temperature(levels["theta"], p)
    humidity = mpcalc.relative_humidity_from_mixing_ratio(Q(p, "Pa"), Q(t, "K"), Q(r, ""))
    assert np.abs(air.relative_humidity(t, r, p) - humidity.m_as("percent")).max() < 0.5
    dew_point = mpcalc.dewpoint(mpcalc.vapor_pressure(Q(p, "Pa"), Q(r, "")))
    assert np.abs(air.dew_point(r, p) - dew_point.m_as("K")).max() < 0.05


@pytest.mark.parametrize(
    ("celsius", "tolerance"),
    [(40, 0.5), (20, 0.5), (-10, 0.5), (-35, 0.5), (-45, 0.5), (-80, 5.5)],
)
def test_humidity_of_cold_air_is_bolton_s(celsius: float, tolerance: float):
    # Bolton fitted his formula from -35 to 35 degC; MetPy 1.7 has Ambaum's (2020), whose vapour
    # saturates at a higher pressure where it is colder than -45 degC: a twelfth more at -80.
    t, p = Q(celsius, "degC"), Q(300, "hPa")
    vapour = 0.6 * mpcalc.saturation_vapor_pressure(t)
    r = mpcalc.mixing_ratio(vapour, p).m_as("")
    found = air.relative_humidity(np.array(t.m_as("K")), np.array(r), np.array(p.m_as("Pa")))
    assert abs(found - 60) < tolerance


def test_theta_e_is_metpy_s_within_the_errors_that_bolton_states(levels: dict[str, Any]):
    # MetPy has Bolton's eq. 39 with TL of eq. 15, we eq. 43 with eq. 21, as WRF's tools do. Bolton
    # (1980, section 6) gives eq. 43 an error below 0.3 K on the way to 0.02 K of eq. 39, TL apart:
    # that is why 0.05 K does not hold between the two.
    p, r = levels["p"], levels["r"]
    t = air.temperature(levels["theta"], p)
    dew_point = mpcalc.dewpoint(mpcalc.vapor_pressure(Q(p, "Pa"), Q(r, "")))
    expected = mpcalc.equivalent_potential_temperature(Q(p, "Pa"), Q(t, "K"), dew_point)
    assert np.abs(air.equivalent_potential_temperature(t, r, p) - expected.m).max() < 0.5


def test_theta_e_is_wrf_python_s(cyclone: Path, wrf_python: dict[str, Any]):
    # Its exponent is Rd / cp (1 - 0.279 r) with Rd / cp = 0.2857 for Bolton's 0.2854: 0.07 K.
    with open_frame([cyclone]) as frame:
        found = frame.read("theta_e")[wrf_python["levels"]]
    assert np.abs(found - wrf_python["theta_e"]).max() < 0.1


@pytest.mark.parametrize(
    ("celsius", "hectopascal"),
    # Smithsonian Meteorological Tables (List 1949), table 94, over water.
    [(-20, 1.2540), (-10, 2.8627), (0, 6.1078), (10, 12.272), (20, 23.373), (30, 42.430)],
)
def test_saturation_vapour_pressure_is_that_of_the_smithsonian_tables(
    celsius: float, hectopascal: float
):
    # Bolton fitted another table (Wexler 1976): the two differ by 0.25 % at -20 degC.
    found = air.saturation_vapour_pressure(np.array([celsius + 273.15]))
    assert found[0] == pytest.approx(100 * hectopascal, rel=3e-3)


def test_saturated_air_has_100_percent_and_its_own_dew_point():
    t, p = np.array([253.15, 283.15, 303.15]), np.array([5e4, 8e4, 1e5])
    es = air.saturation_vapour_pressure(t)
    r = air.EPSILON * es / (p - es)
    assert air.relative_humidity(t, r, p) == pytest.approx([100, 100, 100], abs=1e-6)
    assert air.dew_point(r, p) == pytest.approx(t, abs=0.01)
    assert air.condensation_temperature(t, r, p) == pytest.approx(t, abs=0.15)


def test_dry_and_slightly_negative_air_has_values():
    t, p = np.full(3, 280.0), np.full(3, 9e4)
    r = np.array([0.0, -1e-6, 1e-12])
    assert air.relative_humidity(t, r, p) == pytest.approx([0, 0, 0], abs=1e-3)
    assert np.isfinite(air.dew_point(r, p)).all()
    assert (air.dew_point(r, p) < 200).all()
    dry = t * (1e5 / p) ** 0.2854
    assert air.equivalent_potential_temperature(t, r, p) == pytest.approx(dry, abs=0.01)


def test_a_nan_stays_where_it_is():
    t, r, p = np.array([280, np.nan]), np.array([0.005, 0.005]), np.array([9e4, 9e4])
    for found in (air.relative_humidity(t, r, p), air.equivalent_potential_temperature(t, r, p)):
        assert np.array_equal(np.isnan(found), [False, True])


def test_float32_stays_float32():
    t, r, p = (np.full(2, value, "f4") for value in (280, 0.005, 9e4))
    for found in (
        air.temperature(t, p), air.relative_humidity(t, r, p), air.dew_point(r, p),
        air.equivalent_potential_temperature(t, r, p), air.virtual_temperature(t, r),
    ):  # fmt: skip
        assert found.dtype == np.float32
