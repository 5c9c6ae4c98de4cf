"""Checkpoints in which a full disk left a gap, and those whose zeros a file system shows as one."""

from __future__ import annotations

import pytest
from checkpoint_case import CLASSIC, RestartingWrf, Scans, key, write

from burstlens.workflows.frames.writers import has_gap
from burstlens.workflows.models.continuation import Proof

BLOCK = 4096
HALF = 10 * BLOCK


@pytest.fixture(params=[Proof.FILE, Proof.LOG])
def scans(request, tmp_path, prober):
    return Scans(tmp_path, RestartingWrf(proof=request.param), prober)


def write_with_gap(run: Scans, minute: int) -> None:
    """Write a restart file of which some blocks never reached the disk."""
    raw = write(run.path(minute), minute, CLASSIC, values=20_000)
    run.path(minute).unlink()
    with run.path(minute).open("wb") as file:
        file.write(raw[:HALF])
        file.seek(HALF + BLOCK)
        file.write(raw[HALF + BLOCK :])
    assert run.path(minute).stat().st_size == len(raw)
    assert has_gap(str(run.path(minute)), 0)


def later(run: Scans) -> list[str]:
    for _ in range(4):
        run.scan(0.5)
    return run.whole


def test_one_that_was_not_whole_when_the_log_called_it_written_and_has_a_gap_is_not_whole(scans):
    raw = write(scans.path(2), 2, CLASSIC, values=20_000)
    scans.path(2).write_bytes(raw[:HALF])
    scans.step(2, "d01")
    scans.scan()
    write_with_gap(scans, 2)
    assert later(scans) == []
    [text] = scans.settle().unproven_checkpoints
    assert "has a gap" in text
    assert scans.whole == []


def test_one_that_the_log_calls_written_before_its_bytes_are_seen_is_whole_without_a_gap(scans):
    raw = write(scans.path(2), 2, CLASSIC, values=20_000)
    scans.path(2).write_bytes(raw[:HALF])
    scans.step(2, "d01")
    scans.scan()
    scans.path(2).write_bytes(raw)
    assert later(scans) == [key(2)]


def test_one_with_a_gap_is_not_whole_if_the_one_before_has_none(scans):
    write(scans.path(1), 1, CLASSIC, values=20_000)
    scans.step(1, "d01")
    assert later(scans) == [key(1)]
    write_with_gap(scans, 2)
    scans.step(2, "d01")
    write(scans.path(3), 3, CLASSIC, values=20_000)
    scans.step(3, "d01")
    assert later(scans) == [key(1), key(3)]
    [text] = scans.settle().unproven_checkpoints
    assert "has a gap" in text


def test_zeros_that_a_file_system_shows_as_gaps_are_not_damage(scans):
    for minute in (1, 2, 3):
        write_with_gap(scans, minute)
        scans.step(minute, "d01")
        assert later(scans)[-1:] == [key(minute)]
    assert scans.settle().unproven_checkpoints == ()
