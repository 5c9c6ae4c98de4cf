"""Threads that execute the parts of a step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.solver import Solver


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("levels", [1, 7, 33, 400])
def test_each_level_is_computed_once(count: int, levels: int) -> None:
    found: list[int] = []
    Threads(count).run(lambda first, end: found.extend(range(first, end)), 2, 2 + levels)
    assert sorted(found) == list(range(2, 2 + levels))


def test_all_threads_take_part() -> None:
    names, both = set[str](), threading.Barrier(2, timeout=120.0)

    def part(first: int, end: int) -> None:
        if threading.current_thread().name not in names:
            names.add(threading.current_thread().name)
            both.wait()

    Threads(2).run(part, 0, 64)
    assert len(names) == 2


def test_an_error_of_a_part_comes_out_after_all_threads_have_ended() -> None:
    ended: list[float] = []

    def part(first: int, end: int) -> None:
        if threading.current_thread() is threading.main_thread():
            raise ValueError("a part failed")
        time.sleep(0.2)
        ended.append(time.monotonic())

    threads = Threads(2)
    with pytest.raises(ValueError, match="a part failed"):
        threads.run(part, 0, 2)
    before = time.monotonic()
    assert all(moment <= before for moment in ended)


def test_the_fields_do_not_depend_on_the_number_of_threads(
    parameters: Callable[..., Parameters],
) -> None:
    fields = []
    for count in (1, 2, 3):
        solver = Solver(parameters(source={"mxx_n_m": 1e15}), Path(), Threads(count))
        for _ in range(20):
            solver.advance()
        fields.append(solver.wavefield)
    for other in fields[1:]:
        for name in ("vx", "vy", "vz", "sxx", "sxy", "syz"):
            assert np.array_equal(getattr(fields[0], name), getattr(other, name))
    assert np.abs(fields[0].vx).max() > 0
