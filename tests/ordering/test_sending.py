"""When the driver looks for the results of batches that are under way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burstlens.core.model import Frame
from burstlens.viz.product import Context
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.making.results import Results
from burstlens.workflows.ordering.graph import Graph
from burstlens.workflows.ordering.sending import PAUSE_S, Sending
from burstlens.workflows.placement.buffer import BufferRef

LONGEST = 0.5


class Clock:
    """A clock that is moved on: each file takes ``wall_s`` to be read, and ``cpu_s`` of CPU."""

    def __init__(self) -> None:
        self.now = 100.0
        self.wall_s = self.cpu_s = self.used = 0.0

    def __call__(self) -> float:
        return self.now

    def cpu(self) -> float:
        """Is asked before and after a file is read."""
        self.now += self.wall_s
        self.used += self.cpu_s
        return self.used


class Unheard(Graph):
    """A graph whose viewing block is never heard of again."""

    def __init__(self) -> None:
        pass

    def view(self, *args: Any, **named: Any) -> None:
        """Submit nothing."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sending(tmp_path: Path, clock: Clock) -> Sending:
    return Sending(
        Unheard(), BufferRef("posix", "", str(tmp_path), "f"), tmp_path, clock, clock.cpu
    )


def orders(count: int) -> list[Order]:
    frame = Frame("storm-1", 1, "d01", "t1", ("1/a.nc",), 0, 1000, 1.0, 1.1, "header")
    context = Context("storm-1", "Storm", product="t2", stream="d01", time="t1", files=Path())
    return [Order("", None, context, frame, "products") for _ in range(count)]


@pytest.fixture
def send(sending: Sending) -> Callable[[], Path]:
    """Sends a batch; returns the file of its results."""

    def one() -> Path:
        sending.send(orders(3), 1)
        file = sending._batches[-1].file
        assert file is not None
        return file

    return one


def test_without_a_file_of_results_the_driver_waits_for_the_end(sending: Sending) -> None:
    assert sending.wait_s(LONGEST) == LONGEST
    sending.send(orders(1), 1)
    assert sending.wait_s(LONGEST) == LONGEST


def test_the_pause_between_two_looks_grows_with_the_time_since_the_latest_result(
    sending: Sending, send: Callable[[], Path], clock: Clock
) -> None:
    file = send()
    assert sending.wait_s(LONGEST) == pytest.approx(PAUSE_S)
    clock.now += 2.0
    assert sending.news() == []
    assert sending.wait_s(LONGEST) == pytest.approx(0.2)
    clock.now += 100.0
    assert sending.wait_s(LONGEST) == LONGEST
    Results(str(file)).write({0: OrderResult()})
    assert len(sending.news()) == 1
    assert sending.wait_s(LONGEST) == pytest.approx(PAUSE_S)


def test_turns_of_the_loop_that_follow_at_once_do_not_look_again(
    sending: Sending, send: Callable[[], Path], clock: Clock
) -> None:
    file = send()
    assert sending.news() == []
    Results(str(file)).write({0: OrderResult()})
    assert sending.news() == []
    clock.now += 1.01 * PAUSE_S
    assert len(sending.news()) == 1


@pytest.mark.parametrize(("wall_s", "cpu_s", "pause_s"), [(0.001, 0.001, 3.23), (0.02, 0.001, 6.0)])
def test_looks_in_vain_take_3_percent_of_a_core_and_a_quarter_of_the_drivers_time(
    sending: Sending, send: Callable[[], Path], clock: Clock,
    wall_s: float, cpu_s: float, pause_s: float,
) -> None:  # fmt: skip
    files = [send() for _ in range(100)]
    clock.now += PAUSE_S
    clock.wall_s, clock.cpu_s = wall_s, cpu_s
    assert sending.news() == []
    assert sending.wait_s(10.0) == pytest.approx(pause_s, rel=0.02)
    Results(str(files[7])).write({0: OrderResult()})
    clock.now += pause_s / 2
    assert sending.news() == []
    clock.now += pause_s / 2 + 0.1
    assert len(sending.news()) == 1


def test_results_that_are_found_do_not_delay_the_next_look(
    sending: Sending, send: Callable[[], Path], clock: Clock
) -> None:
    for file in [send() for _ in range(100)]:
        Results(str(file)).write({0: OrderResult()})
    clock.now += PAUSE_S
    clock.wall_s = clock.cpu_s = 0.001
    assert len(sending.news()) == 100
    assert sending.wait_s(10.0) <= PAUSE_S
