"""A child process gives values or errors, and holds its owner up for a given time at most."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
from many_files import many_files  # noqa: F401

from burstlens.core.child_process import ChildProcess

pytestmark = pytest.mark.integration


@pytest.fixture
def child() -> Iterator[ChildProcess]:
    with ChildProcess() as made:
        yield made


def test_it_gives_what_the_function_returns_or_raises(child: ChildProcess) -> None:
    assert child.call(sorted, [3, 1, 2]) == [1, 2, 3]
    with pytest.raises(ValueError, match="invalid literal"):
        child.call(int, "x")
    assert child.call(os.getpid, wait_s=60) == child.pid


@pytest.mark.usefixtures("many_files")
def test_its_answer_comes_also_to_a_process_with_many_open_files() -> None:
    with ChildProcess() as child:
        assert child.call(sorted, [2, 1], wait_s=60) == [1, 2]


def test_what_does_not_answer_in_time_is_not_waited_for(child: ChildProcess) -> None:
    with pytest.raises(TimeoutError):
        child.call(time.sleep, 600, wait_s=0.2)
    with pytest.raises(ChildProcessError, match="ended"):
        child.call(os.getpid)


def test_a_child_that_was_killed_is_one_error(child: ChildProcess) -> None:
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(ChildProcessError, match="ended"):
        child.call(os.getpid)
