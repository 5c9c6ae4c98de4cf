"""Statistics of a field: of its finite values alone, where they are, the same however it lies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from burstlens.viz.geometry.field import Field, finite_range
from burstlens.viz.geometry.grid import Plane


def field(values: NDArray[Any]) -> Field:
    plane = Plane(np.arange(values.shape[1]), np.arange(values.shape[0]), "m")
    return Field("t", "", "K", values, plane, "", ("y", "x"), (10, 20), (2, 3))


@pytest.mark.parametrize("kind", ["f4", "f8", ">f4"])
def test_the_range_is_that_of_the_finite_values(kind: str) -> None:
    values = np.array([[3.0, np.nan, -1.5], [np.inf, 7.25, -np.inf]], kind)
    assert finite_range(values) == (-1.5, 7.25)
    assert finite_range(values[:, :1][:1]) == (3.0, 3.0)
    assert finite_range(values[::-1, ::2]) == (-1.5, 3.0)


def test_a_range_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError):
        finite_range(np.array([[np.nan, np.inf]]))


def test_extremes_are_at_their_first_place_in_the_file() -> None:
    values = np.array([[3.0, np.nan, 7.0], [np.inf, 7.0, 3.0]], "f4")
    assert field(values).position("max") == (0, 2)
    assert field(values).place("max") == {"y": 10, "x": 26}
    assert field(values).place("min") == {"y": 10, "x": 20}


@pytest.mark.parametrize("hole", [None, np.nan, np.inf])
def test_facts_count_what_is_missing_and_leave_it_out_of_the_mean(hole: float | None) -> None:
    values = np.random.default_rng(0).normal(280, 5, (300, 200)).astype("f4")
    if hole is not None:
        values[7:9, ::3] = hole
    facts = field(values[::-1]).facts()
    finite = values[::-1][np.isfinite(values[::-1])]
    assert facts["mean"] == float(finite.mean(dtype=np.float64))
    assert (facts["min"], facts["max"]) == (float(finite.min()), float(finite.max()))
    assert facts["nan"] == values.size - finite.size
