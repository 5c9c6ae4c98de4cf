"""Values as TOML text: what is written is read back the same."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from burstlens.core.toml.written import lines, written


@pytest.mark.parametrize(
    "value",
    [
        "plain", 'quotes " and \\ back', "new\nline\ttab", "\x7f\x01", "ü🌍", "", True, False, 0,
        -7, 1.5, 1e300, 1e-7, float("inf"), [], [1, "a", [True]], {}, {"a b": {"c": [1.0]}, "": 2},
    ],
)  # fmt: skip
def test_a_value_is_read_back_the_same(value: Any):
    assert tomllib.loads(f"value = {written(value)}")["value"] == value


def test_long_arrays_have_one_entry_per_line():
    table = {"stations": [{"name": f"station {n}", "x": n} for n in range(9)], "odd key": 1}
    text = "\n".join(lines(table))
    assert tomllib.loads(text) == table
    assert max(map(len, text.splitlines())) < 60


def test_what_toml_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="NoneType"):
        written([None])
