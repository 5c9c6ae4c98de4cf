"""Which minimum of a field is found, and where between the grid points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from burstlens.viz.diagnostics.storms.extreme import nearest_minimum, smoothed

ROWS, COLUMNS = np.mgrid[0:60, 0:80].astype(float)


def low(row: float, column: float, depth: float = 10.0, width: float = 6.0) -> np.ndarray:
    return -depth * np.exp(-((ROWS - row) ** 2 + (COLUMNS - column) ** 2) / (2 * width**2))


def away_from(row: float, column: float) -> np.ndarray:
    return np.hypot(ROWS - row, COLUMNS - column)


def test_smoothing_is_scipys_gaussian_away_from_the_edge():
    noise = np.random.default_rng(3).normal(size=(60, 80))
    mine = smoothed(noise, (2.5, 1.5))
    theirs = gaussian_filter(noise, (2.5, 1.5), truncate=3.2)
    assert np.abs(mine - theirs)[8:-8, 5:-5].max() < 1e-12


def test_smoothing_keeps_a_slope_up_to_the_edge():
    slope = 3.0 * ROWS - 2.0 * COLUMNS
    assert smoothed(slope, (4.0, 4.0)) == pytest.approx(slope, abs=1e-9)


def test_what_is_missing_has_no_weight_and_stays_missing():
    field = np.full((60, 80), 7.0)
    field[10:20, 30:40] = np.nan
    smooth = smoothed(field, (3.0, 3.0))
    assert np.array_equal(np.isnan(smooth), np.isnan(field))
    assert np.nanmax(np.abs(smooth - 7.0)) < 1e-12


def test_smoothing_of_one_row_or_none_at_all():
    row = np.random.default_rng(1).normal(size=(1, 30))
    assert smoothed(row, (2.0, 2.0)).shape == (1, 30)
    assert np.array_equal(smoothed(row, (0.0, 0.0)), row)


def test_the_centre_is_found_between_the_grid_points():
    found = nearest_minimum(low(30.3, 41.8), None, 0)
    assert found is not None
    assert (found.row, found.column) == pytest.approx((30.3, 41.8), abs=0.02)
    assert found.point == (30, 42)
    assert not found.at_edge


def test_of_two_lows_the_nearer_is_kept_however_deep_the_other_is():
    field = low(30, 25, depth=10) + low(30, 55, depth=40)
    found = nearest_minimum(field, away_from(28, 27), 45)
    assert found is not None
    assert found.point == (30, 25)
    deepest = nearest_minimum(field, None, 0)
    assert deepest is not None
    assert deepest.point == (30, 55)


def test_a_dent_in_the_slope_of_a_low_is_not_a_low():
    field = low(30, 40, depth=20, width=9) + low(30, 28, depth=4, width=1.2)
    dent = nearest_minimum(field, away_from(30, 29), 30)
    assert dent is not None
    assert dent.point == (30, 29)
    # From a little farther the slope beside the dent is lower before the dent is reached.
    found = nearest_minimum(field, away_from(26, 34), 30)
    assert found is not None
    assert found.point == (30, 40)


def test_a_low_beyond_the_reach_is_not_found():
    field = low(30, 60)
    assert nearest_minimum(field, away_from(30, 30), 20) is None
    assert nearest_minimum(field, away_from(30, 30), 35) is not None


def test_a_slope_has_no_low_within_reach_and_flat_ground_neither():
    assert nearest_minimum(ROWS + COLUMNS, away_from(30, 40), 15) is None
    assert nearest_minimum(np.zeros((60, 80)), away_from(30, 40), 15) is None
    assert nearest_minimum(np.full((60, 80), np.nan), None, 0) is None


def test_a_low_at_the_edge_is_reported():
    found = nearest_minimum(low(62, 33.4), away_from(57, 33), 15)
    assert found is not None
    assert found.at_edge
    assert found.point == (59, 33)
    assert found.row == 59
    assert found.column == pytest.approx(33.4, abs=0.05)


def test_the_edge_of_what_has_values_is_an_edge_too():
    field = low(30, 40)
    field[31:] = np.nan
    found = nearest_minimum(field, away_from(30, 40), 10)
    assert found is not None
    assert found.at_edge
    assert (found.row, found.column) == pytest.approx((30, 40), abs=1e-9)


def test_a_single_row_has_no_edge_across():
    found = nearest_minimum(low(30, 40.2)[30:31], None, 0)
    assert found is not None
    assert not found.at_edge
    assert found.column == pytest.approx(40.2, abs=0.02)
