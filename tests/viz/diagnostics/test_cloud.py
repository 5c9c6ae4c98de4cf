"""Cloud tops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz.diagnostics.cloud import cloud_top_temperature
from burstlens.viz.diagnostics.derived import open_frame


def test_cloud_top_temperature_is_wrf_python_s(cyclone: Path, wrf_python: dict[str, Any]):
    # wrf-python leaves out the topmost level: there is cloud in it where the file ends at 5.6 km.
    with open_frame([cyclone]) as frame:
        found = frame.read("cloud_top_temperature") - 273.15
        clear_top = frame.read("QCLOUD")[-1] == 0
    difference = np.abs(found - wrf_python["cloud_top_temperature"])[clear_top]
    assert difference.max() < 0.05
    assert clear_top.mean() > 0.9
    assert np.ptp(found[clear_top]) > 20


def column(cloud: dict[int, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p = np.linspace(1e5, 1e4, 46)[:, None, None]
    t = 300 - 1.5 * np.arange(46.0)[:, None, None]
    water = np.zeros_like(p)
    for level, amount in cloud.items():
        water[level] = amount
    return p, t, water


def test_the_top_is_where_the_optical_depth_is_one():
    # A layer of 2000 Pa with q has depth 272 q 2000 / 9.81: 4 here, so 1 is a quarter into it.
    p, t, ice = column({30: 4 / (272 * 2000 / 9.81)})
    found = cloud_top_temperature(p, t, np.zeros_like(p), ice)[0, 0]
    # The layer's faces lie half way to its neighbours; 1.5 K from level to level.
    assert found == pytest.approx(t[30, 0, 0] - 0.25 * 1.5, abs=0.01)


def test_thin_clouds_add_up_downwards():
    thin = 0.5 / (145 * 2000 / 9.81)
    p, t, water = column({10: thin, 20: 1.2 * thin})
    found = cloud_top_temperature(p, t, water, np.zeros_like(p))[0, 0]
    assert abs(found - t[10, 0, 0]) < 0.75
    p, t, water = column({20: 1.2 * thin})
    assert cloud_top_temperature(p, t, water, np.zeros_like(p))[0, 0] == t[0, 0, 0]


def test_without_ice_in_the_microphysics_cold_cloud_counts_as_ice():
    enough_as_ice = 1.5 / (272 * 2000 / 9.81)
    p, t, water = column({30: enough_as_ice})
    assert t[30, 0, 0] < 273.15
    assert cloud_top_temperature(p, t, water, None)[0, 0] < 260
    assert cloud_top_temperature(p, t, water, np.zeros_like(p))[0, 0] == t[0, 0, 0]


def test_clear_sky_shows_the_lowest_level_and_a_nan_column_none():
    p, t, water = column({})
    assert cloud_top_temperature(p, t, water, None)[0, 0] == 300
    water[20] = np.nan
    assert np.isnan(cloud_top_temperature(p, t, water, None)[0, 0])


def test_cloud_in_the_topmost_or_lowest_level_alone_has_a_temperature_of_the_column():
    for level in (0, 45):
        p, t, water = column({level: 0.01})
        found = cloud_top_temperature(p, t, water, None)[0, 0]
        # Within the level's own layer, half way to the next at most.
        assert abs(found - t[level, 0, 0]) <= 0.75
