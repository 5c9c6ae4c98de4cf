"""The codes of ends that several things describe."""

from __future__ import annotations

import itertools

import pytest

from burstlens.core.exit_codes import PRECEDENCE, leading


def test_the_documented_order_decides_between_two_codes():
    assert PRECEDENCE == (1, 6, 5, 4, 3, 7, 8, 0)
    for first, second in itertools.combinations(PRECEDENCE, 2):
        assert leading(first, second) == leading(second, first) == first


def test_a_code_that_no_run_ends_with_is_refused():
    with pytest.raises(ValueError, match="not in"):
        leading(0, 2)
