"""Instrumental intensity: values that USGS published, and what lies around them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from burstlens.viz.diagnostics.seismology.intensity import intensity

STANDARD_GRAVITY = 9.81  # as ShakeMap takes it


def test_acceleration_gives_shakemap_s_values():
    """usgs/shakemap, tests of gmice/wgrw12.py: PGA in g, neither magnitude nor distance."""
    peak = np.array([0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5]) * STANDARD_GRAVITY
    expected = [3.31708696, 4.05662491, 5.76917533, 6.88298631, 7.53452397, 7.9967973, 8.35536434]
    # ShakeMap's g has more digits: 980.665 against 981 cm/s2 is 0.0005 of an intensity.
    assert intensity(peak, "pga") == pytest.approx(expected, abs=6e-4)


def test_velocity_gives_shakemap_s_values():
    """usgs/shakemap, tests of gmice/wgrw12.py: PGV in cm/s, neither magnitude nor distance."""
    peak = np.array([1.0, 3.0, 10.0, 20.0, 30.0, 40.0, 50.0]) / 100
    expected = [3.78, 4.48136824, 6.05, 7.00125479, 7.55770316, 7.95250957, 8.25874521]
    assert intensity(peak, "pgv") == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("motion", "peaks"),
    [
        ("pgv", [0.0006153407, 0.0029470517, 0.0141143169, 0.0465287643, 0.4453835548]),
        ("pga", [0.0014134045, 0.006243495, 0.0275796695, 0.0619604804, 0.4265329774]),
    ],
)
def test_the_inverse_table_of_shakemap_comes_back(motion: str, peaks: list[float]):
    """usgs/shakemap, tests of gmice/wgrw12.py: the motion of MMI 2, 3, 4, 5 and 8.1."""
    unit = 1.0 if motion == "pgv" else STANDARD_GRAVITY
    found = intensity(np.array(peaks) * unit, motion)
    # The published lines do not quite meet where they change: up to 0.06 between II and III.
    assert found == pytest.approx([2, 3, 4, 5, 8.1], abs=0.07)


def test_nothing_is_below_i_or_above_x_and_no_value_stays_none():
    found = intensity(np.array([0.0, 1e-9, 50.0, np.nan, np.inf]), "pgv")
    assert found[:3].tolist() == [1.0, 1.0, 10.0]
    assert np.isnan(found[3])
    assert found[4] == 10.0


def test_magnitude_and_distance_count_only_together():
    peak = np.array([0.1, 0.1])
    plain = intensity(peak, "pga")
    assert intensity(peak, "pga", magnitude=6.0).tolist() == plain.tolist()
    assert intensity(peak, "pga", distance_km=np.array([20.0, 40.0])).tolist() == plain.tolist()
    both = intensity(peak, "pga", magnitude=6.0, distance_km=np.array([10.0, 100.0]))
    # Table 2: -0.91 + 1.02 log10(R) - 0.17 M
    assert both - plain == pytest.approx([-0.91 + 1.02 - 1.02, -0.91 + 2.04 - 1.02])


def test_magnitude_and_distance_are_bounded_to_those_of_the_data():
    peak = np.full(2, 0.1)
    inside = intensity(peak, "pgv", magnitude=7.3, distance_km=np.array([10.0, 300.0]))
    outside = intensity(peak, "pgv", magnitude=9.0, distance_km=np.array([0.0, 2000.0]))
    assert outside.tolist() == inside.tolist()


@pytest.mark.slow
def test_intensity_takes_less_memory_than_two_of_its_result() -> None:
    peak = np.random.default_rng(4).random((2500, 2000)).astype(np.float32)
    tracemalloc.start()
    found = intensity(peak, "pgv", magnitude=6.0, distance_km=np.full(peak.shape, 30.0))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 3 * found.nbytes  # with the distances
    rows = slice(1234, 1236)
    alone = intensity(peak[rows], "pgv", magnitude=6.0, distance_km=np.full((2, 2000), 30.0))
    np.testing.assert_array_equal(found[rows], alone)
