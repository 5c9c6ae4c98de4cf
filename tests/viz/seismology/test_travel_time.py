"""First arrivals: against straight rays, Fermat's principle and textbook head waves."""

from __future__ import annotations

import numpy as np
import pytest

from burstlens.viz.diagnostics.seismology.travel_time import first_arrival

CRUST = [0.0, 3000.0, 8000.0], [4300.0, 5300.0, 6000.0]


def test_in_one_layer_rays_are_straight():
    distance = np.array([0.0, 4000.0, -4000.0, 40000.0])
    found = first_arrival([0.0], [5000.0], 3000.0, distance)
    assert found == pytest.approx(np.hypot(distance, 3000.0) / 5000.0, rel=1e-12)


def test_layers_of_one_speed_are_one_layer():
    distance = np.linspace(0, 50e3, 21)
    one = first_arrival([0.0], [5000.0], 7000.0, distance)
    three = first_arrival([0.0, 2000.0, 7000.0], [5000.0] * 3, 7000.0, distance)
    assert three == pytest.approx(one, rel=1e-12)


@pytest.mark.parametrize("distance", [0.0, 500.0, 7000.0, 25_000.0])
@pytest.mark.parametrize(("upper", "lower"), [(3000.0, 6000.0), (6000.0, 3000.0)])
def test_a_direct_ray_takes_the_least_time(distance: float, upper: float, lower: float):
    """Fermat's principle over all places at which the ray may cross the interface."""
    cross = np.linspace(0.0, distance, 400_001)
    path = np.hypot(cross, 4000.0) / upper + np.hypot(distance - cross, 6000.0) / lower
    found = first_arrival([0.0, 4000.0], [upper, lower], 10_000.0, distance)
    assert found == pytest.approx(path.min(), rel=1e-9)


def test_far_away_the_head_wave_comes_first():
    """Lay & Wallace (1995), equation 3.24: x / v2 + 2 h sqrt(1 / v1**2 - 1 / v2**2)."""
    thick, slow, fast = 30e3, 6000.0, 8000.0
    crossover = 2 * thick * np.sqrt((fast + slow) / (fast - slow))
    near, far = 0.99 * crossover, 1.01 * crossover
    found = first_arrival([0.0, thick], [slow, fast], 0.0, [near, far])
    delay = 2 * thick * np.sqrt(1 / slow**2 - 1 / fast**2)
    assert found == pytest.approx([near / slow, far / fast + delay], rel=1e-12)


def test_a_buried_source_saves_the_way_down():
    found = first_arrival([0.0, 30e3], [6000.0, 8000.0], 10e3, 400e3)
    one_way = np.sqrt(1 / 6000.0**2 - 1 / 8000.0**2)
    assert found == pytest.approx(400e3 / 8000.0 + (30e3 + 20e3) * one_way, rel=1e-12)


def test_no_head_wave_runs_along_a_slower_layer_or_one_above_which_something_is_faster():
    hidden = first_arrival([0.0, 2000.0, 5000.0], [4000.0, 7000.0, 6000.0], 3000.0, 200e3)
    without = first_arrival([0.0, 2000.0], [4000.0, 7000.0], 3000.0, 200e3)
    assert hidden == pytest.approx(without, rel=1e-12)


def test_a_source_on_an_interface_has_the_ray_along_it():
    """The limit of sources that come up to the interface from below."""
    at = first_arrival([0.0, 4000.0], [3000.0, 6000.0], 4000.0, 30e3)
    below = first_arrival([0.0, 4000.0], [3000.0, 6000.0], 4000.001, 30e3)
    assert at == pytest.approx(30e3 / 6000 + 4000 * np.sqrt(1 / 3000**2 - 1 / 6000**2), rel=1e-12)
    assert below == pytest.approx(at, rel=1e-6)


def test_times_grow_with_distance_and_their_slope_is_a_slowness_of_the_rock():
    distance = np.linspace(0.0, 150e3, 3001)
    times = first_arrival(*CRUST, 5000.0, distance)
    slope = np.diff(times) / np.diff(distance)
    assert (slope >= 0).all()
    assert slope.max() <= 1 / 4300.0
    assert slope[-1] == pytest.approx(1 / 6000.0, rel=1e-9)


def test_scalars_and_shapes_are_kept():
    assert first_arrival([0.0], [5000.0], 1000.0, 3000.0).shape == ()
    assert first_arrival([0.0], [5000.0], 1000.0, np.ones((2, 3))).shape == (2, 3)
