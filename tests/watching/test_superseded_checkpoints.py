"""Checkpoints that are never whole: given up when later ones have superseded them."""

from __future__ import annotations

import os

import pytest
from checkpoint_case import RestartingWrf, Scans, key, write

from burstlens.workflows.frames.checkpoints import MOST_OPEN

NESTED = RestartingWrf(domains=("d01", "d02"))


@pytest.fixture
def scans(tmp_path, prober):
    return lambda model=RestartingWrf(): Scans(tmp_path, model, prober)  # noqa: B008


def lacks(report):
    return [text.partition(" is not whole: ")[2] for text in report.unproven_checkpoints]


def test_one_that_lacks_a_part_is_given_up_when_a_later_one_is_whole_and_it_is_quiet(scans):
    run = scans(NESTED)
    write(run.path(1), 1)
    run.scan()
    for part in NESTED.domains:
        write(run.path(2, part), 2)
    run.scan(60.0)
    assert lacks(run.scan(0.5)) == []
    assert run.whole == [key(2)]
    os.utime(run.path(1), ns=(0, 10**18))
    assert lacks(run.scan(29.0)) == []
    assert lacks(run.scan(29.0)) == []
    assert lacks(run.scan(1.0)) == ["there is no file of d02"]
    assert run.cursor.checkpoints.open == ()
    assert run.settle().unproven_checkpoints == ()


def test_the_newest_one_is_not_given_up_before_the_end(scans):
    run = scans(NESTED)
    for part in NESTED.domains:
        write(run.path(1, part), 1)
    write(run.path(2), 2)
    for _ in range(3):
        assert lacks(run.scan(1000.0)) == []
    assert run.whole == [key(1)]
    write(run.path(2, "d02"), 2)
    run.scan()
    run.scan(0.5)
    assert run.whole == [key(1), key(2)]


@pytest.mark.parametrize("elapsed_s", [0.0, 60.0])
def test_of_checkpoints_of_which_none_is_whole_the_newest_stay_open(scans, elapsed_s):
    run, count, given_up = scans(NESTED), 3 * MOST_OPEN, []
    for minute in range(1, count + 1):
        write(run.path(minute), minute)
        given_up += lacks(run.scan(elapsed_s))
    run.scan(60.0)
    times = [part.time for part in run.cursor.checkpoints.open]
    assert times == [key(minute) for minute in range(count - MOST_OPEN + 1, count + 1)]
    if elapsed_s:
        assert given_up == ["there is no file of d02"] * (count - MOST_OPEN)


def test_many_that_are_found_at_once_are_not_given_up(scans):
    run, minutes = scans(), range(1, 3 * MOST_OPEN)
    for minute in minutes:
        write(run.path(minute), minute)
    run.scan(60.0)
    run.scan(60.0)
    assert run.whole == [key(minute) for minute in minutes]
