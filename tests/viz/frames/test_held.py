from __future__ import annotations

import numpy as np
import pytest

from burstlens.core.allowance import MEMORY_VARIABLE
from burstlens.viz.frames.held import HELD_PART, Held
from burstlens.viz.seams import Variable

SHAPE = (100, 100)
PLANE = np.arange(10_000, dtype=np.float32).reshape(SHAPE)


def variable(name: str, **attributes: object) -> Variable:
    return Variable(name, ("y", "x"), SHAPE, attributes)


@pytest.fixture
def room_for_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_VARIABLE, str(round(2.5 * PLANE.nbytes / HELD_PART)))


def test_a_part_of_what_is_held_whole_is_given_as_a_copy():
    held = Held()
    held.add(variable("T2"), None, PLANE)
    window = {"y": slice(3, 9, 2), "x": slice(0, 5)}
    found = held.get(variable("T2"), window)
    assert found is not None
    assert found.tobytes() == PLANE[3:9:2, :5].tobytes()
    found[:] = 0
    again = held.get(variable("T2"), None)
    assert again is not None
    assert again.tobytes() == PLANE.tobytes()


def test_another_part_than_the_one_that_is_held_is_not_there():
    held = Held()
    held.add(variable("T2"), {"y": slice(0, 10)}, PLANE[:10])
    assert held.get(variable("T2"), {"y": slice(0, 9)}) is None


@pytest.mark.usefixtures("room_for_two")
def test_no_more_is_held_than_a_part_of_the_workers_memory():
    held = Held()
    for name in ("T2", "Q2", "PSFC"):
        held.add(variable(name), None, PLANE)
    there = [held.get(variable(name), None) is not None for name in ("T2", "Q2", "PSFC")]
    assert there == [True, True, False]


def test_values_with_a_valid_range_are_read_anew_since_reading_masks_them():
    held = Held()
    held.add(variable("T2", valid_min=0.0), None, PLANE)
    assert held.get(variable("T2"), None) is None
