"""Traces of more samples than pixels."""

from __future__ import annotations

import numpy as np

from burstlens.viz.kinds.seismogram.draw import thinned


def test_every_half_pixel_keeps_its_lowest_and_highest_sample():
    times = np.arange(100_003) * 0.01
    values = np.random.default_rng(4).normal(size=times.size)
    shown_times, shown = thinned(times, values, 250.0)
    assert shown.size < 1010
    assert (np.diff(shown_times) >= 0).all()
    for first in range(0, 100_000, 200):
        inside = (shown_times >= times[first]) & (shown_times <= times[first + 199])
        part = values[first : first + 200]
        assert (shown[inside].min(), shown[inside].max()) == (part.min(), part.max())
    assert (shown.min(), shown.max()) == (values.min(), values.max())
    np.testing.assert_array_equal(values[np.searchsorted(times, shown_times)], shown)


def test_few_samples_are_all_shown():
    times = np.arange(500.0)
    assert thinned(times, -times, 250.0)[1].tolist() == (-times).tolist()


def test_a_hole_stays_a_hole():
    values = np.ones(10_000)
    values[4_000:6_000] = np.nan
    times, shown = thinned(np.arange(10_000.0), values, 100.0)
    hole = np.isnan(shown)
    assert hole.any()
    assert times[hole].min() <= 4_050
    assert times[hole].max() >= 5_900
