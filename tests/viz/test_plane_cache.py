"""What is made of planes is made once for equal points, and dropped where there is no room."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from burstlens.core.allowance import MEMORY_VARIABLE
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.plane_cache import PlaneCache
from burstlens.viz.geometry.projection import longitude_latitude

PLANE = Plane(np.arange(6.0).reshape(2, 3), np.ones((2, 3)), "degrees")


def test_equal_points_of_another_frame_count_as_the_same() -> None:
    kept, number = PlaneCache[int](lambda _: 0), count()
    again = replace(PLANE, x=PLANE.x.copy(), y=PLANE.y.copy())
    assert [kept.get(one, number.__next__) for one in (PLANE, again, PLANE)] == [0, 0, 0]


@pytest.mark.parametrize(
    "other",
    [
        replace(PLANE, x=PLANE.x + 1), replace(PLANE, y=PLANE.y + 1), replace(PLANE, units="m"),
        replace(PLANE, x=PLANE.x.reshape(3, 2), y=PLANE.y.reshape(3, 2)),
        replace(PLANE, goes_around=True), replace(PLANE, projection=longitude_latitude(3.0)),
        replace(PLANE, x=PLANE.y, y=PLANE.x), replace(PLANE, geographic=True),
    ],
)  # fmt: skip
def test_other_planes_are_others(other: Plane) -> None:
    kept, number = PlaneCache[int](lambda _: 0), count()
    assert [kept.get(one, number.__next__) for one in (PLANE, other)] == [0, 1]
    assert kept.get(PLANE, number.__next__, of="a sheet") == 2


def test_the_ones_used_last_are_kept_as_far_as_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(MEMORY_VARIABLE, "1000")
    kept, number = PlaneCache[int](lambda _: 25), count()
    planes = [replace(PLANE, x=PLANE.x + n) for n in range(3)]
    made = [kept.get(planes[n], number.__next__) for n in (0, 1, 0, 2, 0, 1)]
    assert made == [0, 1, 0, 2, 0, 3]
