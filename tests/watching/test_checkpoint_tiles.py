"""Checkpoints in tiles: one file for each rank and part, all of which must be there."""

from __future__ import annotations

import pytest
from checkpoint_case import CLASSIC, NAMED, NETCDF4, RestartingWrf, Scans, key, patch, write

from burstlens.workflows.models.continuation import Proof


@pytest.fixture
def scans(tmp_path, prober):
    return lambda model=RestartingWrf(): Scans(tmp_path, model, prober)  # noqa: B008


def later(run, times=4):
    for _ in range(times):
        run.scan(0.5)
    return run.whole


@pytest.mark.parametrize("form", [CLASSIC, NETCDF4])
def test_tiles_that_say_their_part_of_the_domain_are_whole_when_they_cover_it(scans, form):
    run = scans()
    for tile, rows in ((0, (1, 4)), (2, (8, 10))):
        write(run.path(2, tile=tile), 2, form, **patch(rows))
    run.step(2, "d01")
    assert later(run) == []
    write(run.path(2, tile=1), 2, form, **patch((5, 7)))
    assert later(run) == [key(2)]


def test_tiles_that_do_not_say_their_part_need_a_later_checkpoint_at_first(scans):
    run = scans()
    for tile in (0, 1):
        write(run.path(2, tile=tile), 2)
    assert later(run) == []
    for tile in (0, 1):
        write(run.path(3, tile=tile), 3)
    assert later(run) == [key(2), key(3)]


def test_the_files_of_a_tiled_checkpoint_are_in_order_of_ranks(scans):
    run = scans()
    for tile, rows in ((1, (6, 10)), (0, (1, 5))):
        write(run.path(2, tile=tile), 2, **patch(rows))
    run.scan()
    [whole] = run.scan(0.5).checkpoints
    assert whole.files == (run.path(2, tile=0).name, run.path(2, tile=1).name)
    assert whole.bytes == sum((run.folder / name).stat().st_size for name in whole.files)


def test_a_tile_that_is_open_for_writing_keeps_it_from_being_whole(scans):
    run = scans()
    for tile, rows in ((0, (1, 5)), (1, (6, 10))):
        raw = write(run.path(2, tile=tile), 2, **patch(rows))
    run.path(2, tile=1).write_bytes(raw[:11] + b"\1" + raw[12:])
    assert later(run) == []


def states(run, second, *tiles):
    for tile in tiles:
        (run.folder / f"state_{second:04d}_{tile:04d}.bin").write_bytes(b"state")


def test_of_tiles_that_do_not_say_it_the_number_is_known_by_a_later_checkpoint(scans):
    run = scans(NAMED)
    states(run, 1, 0, 1, 2)
    assert later(run) == []
    states(run, 2, 0, 1)
    assert later(run) == []  # the later one may have fewer, as long as it is being written
    states(run, 2, 2)
    assert later(run) == ["t00000001.000", "t00000002.000"]


def test_then_later_ones_need_as_many_and_some_quiet(scans):
    run = scans(NAMED)
    for second in (1, 2):
        states(run, second, 0, 1, 2)
    assert later(run) == ["t00000001.000", "t00000002.000"]
    states(run, 3, 0, 1)
    assert later(run)[2:] == []
    states(run, 3, 2)
    run.scan(0.5)
    run.scan(0.3)
    assert run.whole[2:] == []
    run.scan(0.2)
    assert run.whole[2:] == ["t00000003.000"]


def test_a_gap_among_the_ranks_is_noticed(scans):
    run = scans(NAMED)
    states(run, 1, 0, 2)
    states(run, 2, 0, 1, 2)
    assert later(run) == []
    assert "rank 1 missing" in run.scan().cursor.checkpoints.open[0].files.reason


def test_tiles_of_frames_show_how_many_there_must_be(scans):
    run = scans(RestartingWrf(proof=Proof.LOG))
    for tile, rows in ((0, (1, 5)), (1, (6, 10))):
        write(run.folder / f"wrfout_d01_0001-01-01_00:02:00_{tile:04d}", 2, **patch(rows))
    write(run.path(2, tile=0), 2, CLASSIC)
    run.step(2, "d01")
    assert later(run) == []
    write(run.path(2, tile=1), 2, CLASSIC)
    assert later(run) == [key(2)]


def test_once_their_number_is_known_they_are_looked_at_again(scans):
    run = scans(RestartingWrf(proof=Proof.LOG))
    for tile in (0, 1):
        write(run.path(2, tile=tile), 2, CLASSIC)
    run.step(2, "d01")
    for _ in range(2):
        run.scan(70.0)
    assert run.whole == []
    for tile, rows in ((0, (1, 5)), (1, (6, 10))):
        write(run.folder / f"wrfout_d01_0001-01-01_00:02:00_{tile:04d}", 2, **patch(rows))
    run.scan()
    assert run.whole == [key(2)]


def test_after_a_good_end_no_tile_is_missing_and_after_a_bad_one_that_is_not_known(scans):
    run = scans(NAMED)
    states(run, 1, 0, 1)
    run.scan()
    report = run.settle()
    assert report.unproven_checkpoints == (
        "the checkpoint of t = 1 s is not whole: state_0001: the number of its tiles is not known",
    )
    assert run.whole == []
    again = scans(NAMED)
    again.log("bye\n", "model.log")
    assert again.settle().unproven_checkpoints == ()
    assert again.whole == ["t00000001.000"]
