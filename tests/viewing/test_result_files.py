"""When the driver looks for the results of batches that are under way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from burstlens.core.model import Frame
from burstlens.viz.product import Context
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.making.results import Results
from burstlens.workflows.ordering.batches import Batch
from burstlens.workflows.viewing.result_files import PAUSE_S, ResultFiles

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


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def files(tmp_path: Path, clock: Clock) -> ResultFiles:
    return ResultFiles(tmp_path, clock, clock.cpu)


def batch(count: int) -> Batch:
    frame = Frame("storm-1", 1, "d01", "t1", ("1/a.nc",), 0, 1000, 1.0, 1.1, "header")
    context = Context("storm-1", "Storm", product="t2", stream="d01", time="t1", files=Path())
    return Batch((Order("", None, context, frame, "products"),) * count)


@pytest.fixture
def send(files: ResultFiles) -> Callable[[], str]:
    """Opens the file of a batch."""
    return lambda: files.open(batch(3))


def test_without_a_file_of_results_the_driver_waits_for_the_end(files: ResultFiles) -> None:
    assert files.wait_s(LONGEST) == LONGEST
    assert files.open(batch(1)) == ""
    assert files.wait_s(LONGEST) == LONGEST


def test_the_pause_between_two_looks_grows_with_the_time_since_the_latest_result(
    files: ResultFiles, send: Callable[[], str], clock: Clock
) -> None:
    file = send()
    assert files.wait_s(LONGEST) == pytest.approx(PAUSE_S)
    clock.now += 2.0
    assert list(files.look()) == []
    assert files.wait_s(LONGEST) == pytest.approx(0.2)
    clock.now += 100.0
    assert files.wait_s(LONGEST) == LONGEST
    Results(file).write({0: OrderResult()})
    assert len(list(files.look())) == 1
    assert files.wait_s(LONGEST) == pytest.approx(PAUSE_S)


def test_turns_of_the_loop_that_follow_at_once_do_not_look_again(
    files: ResultFiles, send: Callable[[], str], clock: Clock
) -> None:
    file = send()
    assert list(files.look()) == []
    Results(file).write({0: OrderResult()})
    assert list(files.look()) == []
    clock.now += 1.01 * PAUSE_S
    assert len(list(files.look())) == 1


@pytest.mark.parametrize(("wall_s", "cpu_s", "pause_s"), [(0.001, 0.001, 3.23), (0.02, 0.001, 6.0)])
def test_looks_in_vain_take_3_percent_of_a_core_and_a_quarter_of_the_drivers_time(
    files: ResultFiles, send: Callable[[], str], clock: Clock,
    wall_s: float, cpu_s: float, pause_s: float,
) -> None:  # fmt: skip
    paths = [send() for _ in range(100)]
    clock.now += PAUSE_S
    clock.wall_s, clock.cpu_s = wall_s, cpu_s
    assert list(files.look()) == []
    assert files.wait_s(10.0) == pytest.approx(pause_s, rel=0.02)
    Results(paths[7]).write({0: OrderResult()})
    clock.now += pause_s / 2
    assert list(files.look()) == []
    clock.now += pause_s / 2 + 0.1
    assert len(list(files.look())) == 1


def test_results_that_are_found_do_not_delay_the_next_look(
    files: ResultFiles, send: Callable[[], str], clock: Clock
) -> None:
    for file in [send() for _ in range(100)]:
        Results(file).write({0: OrderResult()})
    clock.now += PAUSE_S
    clock.wall_s = clock.cpu_s = 0.001
    assert len(list(files.look())) == 100
    assert files.wait_s(10.0) <= PAUSE_S


def test_the_last_results_come_with_the_batch_s_end_and_its_file_goes(
    files: ResultFiles, clock: Clock
) -> None:
    one = batch(3)
    path = files.open(one)
    Results(path).write({0: OrderResult()})
    clock.now += 1.0
    [event] = files.look()
    assert (event.batch, list(event.results)) == (one, [0])
    Results(path).write({2: OrderResult()})
    assert list(files.close(one)) == [2]
    assert not Path(path).exists()
    assert files.close(one) == {}
