"""Moment tensors and source time functions."""

import numpy as np
import pytest

from burstlens.workflows.awm import interpolation, source

FUNCTIONS = [
    ("gaussian", {"frequency_hz": 2.0, "duration_s": 0.0, "delay_s": 0.6}),
    ("brune", {"frequency_hz": 2.0, "duration_s": 0.0, "delay_s": 0.0}),
    ("triangle", {"frequency_hz": 0.0, "duration_s": 1.3, "delay_s": 0.0}),
    ("bell", {"frequency_hz": 0.0, "duration_s": 1.3, "delay_s": 0.2}),
    ("liu", {"frequency_hz": 0.0, "duration_s": 1.3, "delay_s": 0.0}),
]


@pytest.mark.parametrize(("function", "keys"), FUNCTIONS, ids=[f for f, _ in FUNCTIONS])
def test_a_moment_rate_releases_unit_moment_and_none_before_its_time(function, keys):
    t = np.linspace(-1.0, 9.0, 20001)
    rate = source.moment_rate(t, function, **keys)
    assert rate.sum() * (t[1] - t[0]) == pytest.approx(1.0, abs=2e-4)
    assert np.abs(rate[t <= 0]).max() < 1e-5
    assert rate.min() >= -1e-12


def test_a_ricker_wavelet_brings_no_net_moment():
    t = np.linspace(-3.0, 3.0, 6001)
    rate = source.moment_rate(t, "ricker", frequency_hz=2.0, duration_s=0.0, delay_s=0.0)
    assert rate.sum() * 0.001 == pytest.approx(0.0, abs=1e-9)
    assert t[rate.argmax()] == pytest.approx(0.0, abs=1e-9)


def test_the_highest_frequency_of_a_gaussian_is_where_its_spectrum_falls_to_a_twentieth():
    wanted = 2.0 * np.sqrt(np.log(20.0))
    found = source.highest_frequency("gaussian", frequency_hz=2.0, duration_s=0.0)
    assert found == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize(
    ("angles", "element", "sign"),
    [
        ((0.0, 90.0, 0.0), (0, 1), 1),  # left-lateral on a north-south fault: Mxy
        ((0.0, 45.0, 90.0), (2, 2), 1),  # thrust: T axis up, P axis east
        ((0.0, 45.0, 90.0), (0, 0), -1),
        ((0.0, 90.0, 90.0), (0, 2), 1),  # the east side goes up: Mxz
        ((90.0, 90.0, 90.0), (1, 2), -1),  # the south side goes up: Myz
    ],
)
def test_strike_dip_and_rake_give_the_tensor_known_for_that_fault(angles, element, sign):
    tensor = source.double_couple(*angles, 3e17)
    assert tensor[element] == pytest.approx(sign * 3e17)
    assert np.trace(tensor) == pytest.approx(0.0, abs=1e3)
    assert np.linalg.norm(tensor) == pytest.approx(np.sqrt(2) * 3e17)


@pytest.mark.parametrize("position", [5.0, 5.5, 6.28, 8.9])
def test_cubic_weights_interpolate_cubics_exactly_also_at_the_end(position):
    first, weights = interpolation.cubic(position, 9)
    nodes = np.arange(first, first + 4)
    assert nodes[-1] <= 9
    assert weights @ (nodes**3 - 2.0 * nodes) == pytest.approx(position**3 - 2 * position)


def test_what_is_spread_adds_up_to_what_was_given():
    field = np.zeros((12, 12, 12), dtype=np.float32)
    print_ = interpolation.Footprint.of("sxz", (5.2, 6.7, 5.9), (11, 11, 11))
    print_.add(field, 8.0)
    assert field.sum() == pytest.approx(8.0, rel=1e-5)
    where = np.indices(field.shape) + np.array(interpolation.OFFSETS["sxz"])[:, None, None, None]
    centre = (where * field).sum(axis=(1, 2, 3)) / field.sum()
    np.testing.assert_allclose(centre, (5.2, 6.7, 5.9), rtol=1e-5)
