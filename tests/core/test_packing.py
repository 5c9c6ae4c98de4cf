"""Numbers of attributes, also of text."""

from __future__ import annotations

import numpy as np
import pytest

from burstlens.core.packing import read_numbers


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        (1, [1]), (0.5, [0.5]), ([1, 2.5], [1, 2.5]), ((), []), (None, []), ("", []), (True, []),
        (np.float32(0.5), [0.5]), (np.array([1, 2], "i2"), [1, 2]), (np.bytes_(b"-1."), [-1.0]),
        ("-9999.f", [-9999.0]), ("1e20f", [1e20]), ("-32767s", [-32767]), ("255ub", [255]),
        ("1.0D20", [1e20]), ("1d3", [1000.0]), (".5", [0.5]), ("inf", [float("inf")]),
        ("0, 100", [0, 100]), ("0 100\0", [0, 100]), (["1.f", "2"], [1.0, 2]),
        ("-9223372036854775806", [-9223372036854775806]),
        ("2 K", []), ("none", []), ("1-2", []), ("f", []), ("0x1f", []), ("1_0", []),
    ],
)  # fmt: skip
def test_numbers_are_read_as_programs_write_them(given, numbers):
    assert read_numbers(given) == numbers


def test_text_that_says_not_a_number_is_one():
    assert [str(one) for one in read_numbers("NaNf")] == ["nan"]
