"""Rain since the start, and between two frames."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from burstlens.viz.frame import netCDF4, open_frame
from burstlens.viz.rain import between


def test_cumulus_and_grid_scale_rain_add_up(cyclone: Path):
    with open_frame([cyclone]) as frame:
        total = frame.read("rain")
        assert np.array_equal(total, frame.read("RAINNC") + frame.read("RAINC"))
        assert frame.variable("rain").units == "mm"


def test_full_buckets_count(cyclone: Path, add_variables: Callable[..., Path]):
    buckets = np.zeros((48, 48), "i4")
    buckets[3, 4] = 7
    path = add_variables(cyclone, I_RAINNC=buckets, I_RAINC=2 * buckets)
    with open_frame([path]) as frame:
        without = frame.read("rain")
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        assert data.BUCKET_MM == -1
        data.BUCKET_MM = np.float32(100)
    with open_frame([path]) as frame:
        more = frame.read("rain") - without
    assert more[3, 4] == 2100
    assert np.count_nonzero(more) == 1


def test_rain_between_frames_is_their_difference():
    assert between(np.array([1.0, 2.5]), np.array([1.5, 2.5])).tolist() == [0.5, 0]


def test_a_bucket_that_tips_between_frames_changes_nothing(
    cyclone: Path, add_variables: Callable[..., Path]
):
    totals = []
    for amount, tipped in ((98.0, 0), (3.0, 1)):
        rain = np.full((48, 48), amount, "f4")
        counts = np.full((48, 48), tipped, "i4")
        path = add_variables(cyclone, RAINNC=rain, RAINC=0 * rain, I_RAINNC=counts)
        with netCDF4.Dataset(os.fspath(path), "a") as data:
            data.BUCKET_MM = np.float32(100)
        with open_frame([path]) as frame:
            totals.append(frame.read("rain"))
    assert (between(*totals) == 5).all()


def test_a_total_that_began_anew_gives_what_fell_since():
    assert between(np.array([120.0, 0.5]), np.array([3.0, 0.0])).tolist() == [3, 0]


def test_a_total_that_sank_by_rounding_gives_no_rain_instead_of_all_of_it():
    before = np.array([300.0], "f4")
    assert between(before, np.nextafter(before, np.float32(0))).tolist() == [0]


def test_a_nan_of_either_frame_stays():
    found = between(np.array([np.nan, 1, 1]), np.array([1, np.nan, 2]))
    assert np.array_equal(np.isnan(found), [True, True, False])
