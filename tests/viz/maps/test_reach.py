"""The corners of cells, and how far a map reaches."""

from __future__ import annotations

import numpy as np
import pytest

from burstlens.viz.drawing.maps.reach import corner_bands, corners, extent
from burstlens.viz.geometry.grid import Plane


@pytest.mark.parametrize(("rows", "columns"), [(1, 5), (2, 3), (17, 8), (64, 1)])
@pytest.mark.parametrize("at_once", [1, 9, 40, 10_000])
def test_corners_in_bands_are_those_of_the_whole(rows: int, columns: int, at_once: int) -> None:
    rng = np.random.default_rng(rows)
    plane = Plane(rng.normal(size=(rows, columns)), rng.normal(size=(rows, columns)), "degrees")
    x, y = corners(plane)
    reached = 0
    for begin, part_x, part_y in corner_bands(plane, at_once):
        assert begin == reached
        reached = begin + len(part_x) - 1
        np.testing.assert_array_equal(part_x, x[begin : reached + 1])
        np.testing.assert_array_equal(part_y, y[begin : reached + 1])
    assert reached == rows
    assert extent(plane, 0.0)[0] == (x.min(), x.max(), y.min(), y.max())


def test_straight_rows_have_one_band() -> None:
    plane = Plane(np.array([1.0, 2.0, 4.0]), np.array([0.0, 3.0]), "m")
    ((begin, x, y),) = corner_bands(plane)
    assert (begin, x.tolist(), y.tolist()) == (0, [0.5, 1.5, 3.0, 5.0], [-1.5, 1.5, 4.5])
