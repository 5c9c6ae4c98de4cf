"""Spectra: against oscillators that are solved on paper, and transforms that are known."""

from __future__ import annotations

import numpy as np
import pytest

from burstlens.viz.diagnostics.seismology.response_spectrum import (
    fourier_amplitude,
    pseudo_acceleration,
)

STEP_S = 0.01


def test_resonance_grows_to_one_over_twice_the_damping():
    times = np.arange(0, 60, STEP_S)
    for damping in (0.02, 0.05, 0.2):
        found = pseudo_acceleration(np.sin(2 * np.pi * times), STEP_S, [1.0], damping)
        assert found == pytest.approx(1 / (2 * damping), rel=2e-3)


def test_a_stiff_oscillator_moves_with_the_ground():
    times = np.arange(0, 20, STEP_S)
    found = pseudo_acceleration(3.0 * np.sin(2 * np.pi * 0.5 * times), STEP_S, [0.05])
    assert found == pytest.approx(3.0, rel=5e-3)


def test_a_step_of_acceleration_overshoots_as_on_paper():
    """Chopra (2012), Dynamics of Structures, 4.3: 1 + exp(-pi z / sqrt(1 - z**2))."""
    ground = np.ones(1000)
    found = pseudo_acceleration(ground, STEP_S, [1.0], 0.05)
    assert found == pytest.approx(1 + np.exp(-np.pi * 0.05 / np.sqrt(1 - 0.05**2)), rel=1e-3)


def test_it_is_exact_for_a_record_that_is_straight_between_samples():
    """The same triangle sampled four times as finely has the same response where both look."""
    coarse_t, fine_t = np.arange(0, 8.001, 0.2), np.arange(0, 8.001, 0.05)
    knots, values = [0.0, 1.0, 2.0, 8.0], [0.0, 1.0, 0.0, 0.0]
    coarse, fine = (np.interp(t, knots, values) for t in (coarse_t, fine_t))
    one = pseudo_acceleration(coarse, 0.2, [4.0, 6.0])
    other = pseudo_acceleration(fine, 0.05, [4.0, 6.0])
    assert one == pytest.approx(other, rel=0.02)
    assert (one <= other * (1 + 1e-12)).all()


def test_an_oscillator_stepped_by_a_general_solver_agrees():
    """scipy's adaptive Runge-Kutta of order 8, for noise that is linear between samples."""
    from scipy.integrate import solve_ivp

    ground = np.random.default_rng(11).normal(size=150)
    times = np.arange(150) * 0.02
    for period in (0.4, 1.3):
        omega = 2 * np.pi / period

        def moved(t: float, state: np.ndarray, omega: float = omega) -> list[float]:
            pull = -np.interp(t, times, ground)
            return [state[1], pull - 0.1 * omega * state[1] - omega**2 * state[0]]

        solved = solve_ivp(
            moved, (0, times[-1]), [0, 0], "DOP853", times, rtol=1e-8, atol=1e-12, max_step=0.02
        )
        expected = omega**2 * np.abs(solved.y[0]).max()
        assert pseudo_acceleration(ground, 0.02, [period]) == pytest.approx(expected, rel=1e-5)


def test_components_and_stations_are_treated_alike():
    ground = np.random.default_rng(2).normal(size=(3, 4, 200))
    found = pseudo_acceleration(ground, STEP_S, [0.5, 1.0])
    assert found.shape == (3, 4, 2)
    assert found[1, 2] == pytest.approx(pseudo_acceleration(ground[1, 2], STEP_S, [0.5, 1.0]))


def test_a_nan_in_one_record_leaves_the_others():
    ground = np.ones((2, 100))
    ground[0, 50] = np.nan
    found = pseudo_acceleration(ground, STEP_S, [0.5])
    assert np.isfinite(found[1]).all()


def test_the_amplitude_of_a_gaussian_is_its_transform():
    times = np.arange(-10, 10, STEP_S)
    width = 0.3
    frequencies, found = fourier_amplitude(np.exp(-0.5 * (times / width) ** 2), STEP_S)
    expected = width * np.sqrt(2 * np.pi) * np.exp(-0.5 * (2 * np.pi * frequencies * width) ** 2)
    assert found[:30] == pytest.approx(expected[:30], abs=1e-9)
    assert frequencies[1] == pytest.approx(1 / 20)
