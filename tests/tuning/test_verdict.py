"""What may be claimed from measurements with noise."""

from __future__ import annotations

import math
import random

import pytest

from burstlens.workflows.tuning.verdict import PAIRS, is_refuted, judge, noise_of

TIMES = 20_000


def claimed(gain: float, variation: float, seed: int = 7) -> float:
    """How often a gain is claimed, with lognormal noise of that coefficient of variation."""
    source = random.Random(seed)
    sigma = math.sqrt(math.log(1 + variation**2))
    count = 0
    for _ in range(TIMES):
        default = [gain * source.lognormvariate(0, sigma) for _ in range(PAIRS)]
        leader = [source.lognormvariate(0, sigma) for _ in range(PAIRS)]
        count += judge(default, leader).gain
    return count / TIMES


@pytest.mark.parametrize("variation", [0.05, 0.15, 0.35, 1.0])
def test_of_equal_configurations_one_in_twenty_is_claimed_whatever_the_noise(variation):
    error = math.sqrt(0.05 * 0.95 / TIMES)
    assert claimed(1.0, variation) == pytest.approx(0.05, abs=4 * error)


def test_a_gain_of_two_is_claimed_mostly():
    assert claimed(2.0, 0.35) > 0.60
    assert claimed(2.0, 0.15) > 0.95


def test_a_slower_leader_is_hardly_ever_claimed():
    assert claimed(0.5, 0.35) < 0.001


def test_every_default_run_must_be_slower_than_every_leader_run():
    found = judge([3.0, 2.1, 5.0], [1.0, 2.0, 1.5])
    assert found.gain
    assert (found.default_s, found.leader_s, found.factor) == (3.0, 1.5, 2.0)
    assert (found.least, found.most) == (1.05, 5.0)
    assert not judge([3.0, 2.0, 5.0], [1.0, 2.0, 1.5]).gain


def test_a_gain_that_cannot_be_claimed_any_more_is_seen_at_once():
    assert is_refuted([2.0], [2.5])
    assert not is_refuted([2.0, 2.2], [1.5])
    assert not is_refuted([2.0], [])
    assert not judge([2.0], [2.5]).gain


def test_a_leader_that_failed_gains_nothing():
    found = judge([2.0], [None])
    assert not found.gain
    assert "failed" in found.reason


def test_pairs_that_are_not_complete_prove_nothing():
    with pytest.raises(ValueError, match="3 pairs"):
        judge([2.0, 2.0], [1.0, 1.0])


def test_noise_is_the_coefficient_of_variation():
    assert noise_of([1.0, 1.0, 1.0]).variation == 0.0
    assert noise_of([8.0, 10.0, 12.0]).variation == pytest.approx(0.2)
    assert noise_of([0.0, 0.0]).variation == 0.0
    with pytest.raises(ValueError, match="two runs"):
        noise_of([1.0])
