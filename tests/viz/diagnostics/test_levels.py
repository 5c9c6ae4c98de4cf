"""Values between levels, and over layers."""

from __future__ import annotations

import numpy as np
import pytest
from metpy.interpolate import interpolate_1d

from burstlens.viz.diagnostics.levels import interpolate, layer_mean


def column(*values: float) -> np.ndarray:
    return np.array(values, "f8")[:, None, None]


def test_values_between_levels_are_metpy_s_in_height_and_in_the_logarithm_of_pressure():
    generator = np.random.default_rng(3)
    z = np.cumsum(generator.uniform(50, 900, (20, 6, 5)), axis=0)
    p = 1e5 * np.exp(-z / 8000)
    t = 290 - 0.0065 * z + generator.normal(size=z.shape)
    expected = interpolate_1d(np.array([3000.0]), z, t)[0]
    assert interpolate(t, z, 3000.0) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    expected = interpolate_1d(np.log([7e4]), np.log(p)[::-1], t[::-1])[0]
    assert interpolate(t, np.log(p), np.log(7e4)) == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_the_ends_of_a_column_are_inside_and_what_is_beyond_is_nan():
    t, z = column(10, 20, 40), column(100, 200, 400)
    for level, expected in ((100, 10), (150, 15), (200, 20), (300, 30), (400, 40)):
        assert interpolate(t, z, level)[0, 0] == expected
        assert interpolate(t[::-1], z[::-1], level)[0, 0] == expected
    for level in (99.9, 400.1):
        assert np.isnan(interpolate(t, z, level)[0, 0])


def test_each_column_may_have_a_level_of_its_own():
    z = np.broadcast_to(column(0, 100, 200), (3, 1, 2))
    assert interpolate(2 * z, z, np.array([[50.0, 150.0]])).tolist() == [[100, 300]]


def test_a_column_that_is_not_monotone_or_has_a_nan_in_its_coordinate_is_nan():
    z = np.stack([column(0, 100, 200), column(0, 250, 200), column(0, np.nan, 200)], axis=3)
    z = z[:, 0]
    found = interpolate(z, z, 50.0)
    assert np.array_equal(np.isnan(found[0]), [False, True, True])
    assert np.array_equal(np.isnan(layer_mean(z, z, 0, 150)[0]), [False, True, True])


def test_a_nan_among_the_values_spoils_only_levels_next_to_it():
    z, t = column(0, 100, 200, 300), column(1, 2, np.nan, 4)
    assert interpolate(t, z, 50.0)[0, 0] == 1.5
    assert np.isnan(interpolate(t, z, 250.0)[0, 0])
    assert layer_mean(t, z, 0, 100)[0, 0] == 1.5
    assert np.isnan(layer_mean(t, z, 0, 150)[0, 0])


def test_one_level_gives_its_value_there_and_nan_elsewhere():
    z = column(100)
    assert interpolate(z, z, 100.0)[0, 0] == 100
    assert np.isnan(interpolate(z, z, 90.0)[0, 0])
    assert np.isnan(layer_mean(z, z, 0, 200)[0, 0])


def test_the_mean_of_a_layer_is_the_integral_of_what_lies_between_the_levels():
    generator = np.random.default_rng(5)
    z = np.cumsum(generator.uniform(100, 900, (30, 2, 3)), axis=0)
    t = generator.normal(size=z.shape)
    fine = np.linspace(2000, 5000, 30001)
    for j, i in np.ndindex(2, 3):
        expected = np.interp(fine, z[:, j, i], t[:, j, i]).mean()
        assert layer_mean(t, z, 2000, 5000)[j, i] == pytest.approx(expected, abs=1e-3)
        falling = layer_mean(t[::-1], z[::-1], 2000, 5000)
        assert falling[j, i] == pytest.approx(expected, abs=1e-3)


def test_a_layer_down_to_the_ground_begins_at_the_lowest_level():
    z = column(50, 150, 250)
    assert layer_mean(z, z, 0, 250)[0, 0] == 150
    # The column has less than half of the layer.
    assert np.isnan(layer_mean(z, z, 0, 1000)[0, 0])
