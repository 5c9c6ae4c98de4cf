"""When the driver looks for the results of batches that are under way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burstlens.core.model import Frame
from burstlens.viz.product import Context
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.production.graph import Graph
from burstlens.workflows.production.order import Order, Viewed
from burstlens.workflows.production.results import Results
from burstlens.workflows.production.sending import PAUSE_S, Sending
from burstlens.workflows.production.work import Work

LONGEST = 0.5


class Clock:
    """A clock that is moved on; each time that it is read takes ``step`` seconds."""

    def __init__(self) -> None:
        self.now = 100.0
        self.step = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


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
    return Sending(Unheard(), BufferRef("posix", "", str(tmp_path), "f"), tmp_path, clock)


def works(count: int) -> list[Work]:
    frame = Frame("storm-1", 1, "d01", "t1", ("1/a.nc",), 0, 1000, 1.0, 1.1, "header")
    context = Context("storm-1", "Storm", product="t2", stream="d01", time="t1", files=Path())
    return [Work("inspect", Order("", None, context, frame, "products")) for _ in range(count)]


@pytest.fixture
def send(sending: Sending) -> Callable[[], Path]:
    """Sends a batch; returns the file of its results."""

    def one() -> Path:
        sending.send(works(3), 1)
        file = sending._batches[-1].file
        assert file is not None
        return file

    return one


def test_without_a_file_of_results_the_driver_waits_for_the_end(sending: Sending) -> None:
    assert sending.wait_s(LONGEST) == LONGEST
    sending.send(works(1), 1)
    assert sending.wait_s(LONGEST) == LONGEST


def test_a_batch_is_looked_at_after_a_pause_and_the_later_the_longer_it_is_silent(
    sending: Sending, send: Callable[[], Path], clock: Clock
) -> None:
    send()
    assert sending.wait_s(LONGEST) == pytest.approx(PAUSE_S)
    clock.now += PAUSE_S
    assert sending.news() == []
    assert sending.wait_s(LONGEST) == pytest.approx(PAUSE_S)
    clock.now += 2.0
    assert sending.news() == []
    assert sending.wait_s(LONGEST) == pytest.approx(0.2, abs=0.01)
    clock.now += 100.0
    assert sending.news() == []
    assert sending.wait_s(LONGEST) == LONGEST


def test_a_batch_without_news_is_not_read_because_another_has_some(
    sending: Sending, send: Callable[[], Path], clock: Clock
) -> None:
    silent = send()
    clock.now += 10.0
    assert sending.news() == []  # due again after a second
    quick = send()
    for file in (silent, quick):
        Results(str(file)).write({0: Viewed(None)})
    clock.now += PAUSE_S
    assert len(sending.news()) == 1
    clock.now += 1.0
    assert len(sending.news()) == 1


def test_looks_in_vain_take_at_most_a_twentieth_of_the_drivers_time(
    sending: Sending, send: Callable[[], Path], clock: Clock
) -> None:
    files = [send() for _ in range(100)]
    clock.now += PAUSE_S
    clock.step = 0.001  # to read a file of results takes 1 ms, as on a busy file system
    assert sending.news() == []
    clock.step = 0.0
    assert sending.wait_s(10.0) == pytest.approx(19 * 0.1)
    Results(str(files[7])).write({0: Viewed(None)})
    clock.now += 1.0
    assert sending.news() == []
    clock.now += 0.95
    assert len(sending.news()) == 1


def test_results_that_are_found_do_not_delay_the_next_look(
    sending: Sending, send: Callable[[], Path], clock: Clock
) -> None:
    for file in [send() for _ in range(100)]:
        Results(str(file)).write({0: Viewed(None)})
    clock.now += PAUSE_S
    clock.step = 0.001
    assert len(sending.news()) == 100
    clock.step = 0.0
    assert sending.wait_s(10.0) <= PAUSE_S
