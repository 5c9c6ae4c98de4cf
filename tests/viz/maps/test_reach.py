"""The corners of cells, and how far a map reaches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from burstlens.viz.drawing.maps.reach import corner_bands, corners, extent
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.projection import longitude_latitude


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


def test_the_box_of_the_frame_before_is_used_again_where_the_points_are_the_same() -> None:
    across, up = np.meshgrid(np.linspace(-1, 1, 12), np.linspace(-1, 1, 12))
    lon, lat = np.degrees(np.arctan2(across, -up)), 90 - 40 * np.hypot(across, up)
    projection = longitude_latitude(0.0)

    def box(lat: Any) -> Any:
        plane = Plane(lon.copy(), lat, "degrees", True, projection, goes_around=True)
        return extent(plane, 0.0)[0]

    first, again, other = box(lat), box(lat.copy()), box(lat - 3)
    assert all(one is kept for one, kept in zip(first, again, strict=True))
    assert first[3] == other[3] == 90
    assert other[2] == pytest.approx(first[2] - 3)
