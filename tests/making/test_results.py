from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from burstlens.core.errors import StagingError
from burstlens.core.model import Failure, Receipt, State
from burstlens.workflows.guards.finding import Breach, Reading
from burstlens.workflows.making.order import OrderResult
from burstlens.workflows.making.results import Results, read_results

STATE = State(".incoming/a.state", ".states/a", 3, 7)
RECEIPT = Receipt(
    "t2", "d01", "20050828T120000", 1, "uuid", ".incoming/a", "t2/a.png", 10, 11,
    {"started": 1.5}, {"min": 1.0, "size": [800, 600], "units": "K"}, STATE,
    (270.0, 310.0), (STATE,),
)  # fmt: skip
PLACE = {"index": {"west_east": 3}, "lon": 1.5}
READING = Reading(
    "fields", "d01", "20050828T120000", 1, least=-1.0, points=9, bad=1,
    breach=Breach("finite", "NaN at", "T2", math.nan, place=PLACE),
)  # fmt: skip


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "batch.results"
    found.touch()
    return found


def test_what_was_given_is_read_as_it_was_written(path):
    failure = Failure("t2", "d01", "20050828T120000", 1, "no such variable", RECEIPT)
    given = {
        0: OrderResult(RECEIPT, readings=(READING,)),
        1: OrderResult(failure=failure),
        2: OrderResult(pieces=3),
        3: OrderResult(),
    }
    assert Results(str(path)).write(given) == {}
    found, offset = read_results(path, 0)
    assert repr(found) == repr(given)  # a NaN equals none
    assert offset == path.stat().st_size
    assert read_results(path, offset) == ({}, offset)


def test_what_the_target_refused_is_written_so_that_a_dead_worker_is_not_blamed_for_it(path):
    refused = StagingError("the product cannot be written", path="/x", number=28)
    given = {0: OrderResult(error=refused), 1: OrderResult(RECEIPT)}
    assert Results(str(path)).write(given) == {}
    error = read_results(path, 0)[0][0].error
    assert isinstance(error, StagingError)
    assert (str(error), error.errno) == (str(refused), 28)


def test_errors_are_left_for_the_end_of_the_task(path):
    error = OrderResult(error=OSError("no"))
    assert Results(str(path)).write({0: OrderResult(RECEIPT), 1: error}) == {1: error}


def test_each_result_is_written_at_once_since_the_next_task_may_take_long(path):
    results = Results(str(path))
    for number in range(3):
        assert results.write({number: OrderResult(RECEIPT)}) == {}
        assert list(read_results(path, 0)[0]) == list(range(number + 1))


def test_a_second_try_continues_after_a_torn_line(path):
    Results(str(path)).write({0: OrderResult(RECEIPT), 1: OrderResult(RECEIPT)})
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 5)
    again = Results(str(path))
    assert again.known == {0}
    again.write({1: OrderResult(RECEIPT)})
    again.write({2: OrderResult(RECEIPT)})
    assert read_results(path, 0)[0] == {n: OrderResult(RECEIPT) for n in range(3)}


def test_the_file_of_a_task_that_was_given_up_is_not_made_again(path):
    results = Results(str(path))
    path.unlink()
    given = {0: OrderResult(RECEIPT)}
    assert results.write(given) == given
    assert not path.exists()


def test_a_result_that_is_no_json_is_returned_by_the_task(path):
    odd = OrderResult(replace(RECEIPT, facts={"mean": np.float64(1.5)}))
    assert Results(str(path)).write({0: odd, 1: OrderResult(RECEIPT)}) == {0: odd}
    assert list(read_results(path, 0)[0]) == [1]


def test_without_a_file_the_task_returns_everything():
    given = {0: OrderResult(RECEIPT)}
    assert Results("").write(given) == given


@pytest.mark.parametrize("line", [b"{}\n", b'{"number": "0"}\n', b"[1]\n", b"x\n"])
def test_a_line_that_does_not_fit_is_a_task_without_result(path, line):
    path.write_bytes(line)
    assert read_results(path, 0)[0] == {}
