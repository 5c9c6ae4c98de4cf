"""Restart files of recorded runs of the real WRF, and what the logs that a kill has left prove."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from checkpoint_case import CLASSIC, NETCDF4, Scans, begin, key, patch, write

from burstlens.workflows.models.wrf import Wrf

RUNS = Path(__file__).parents[1] / "data" / "wrf" / "restart"
DATE = "wrfrst_d01_0001-01-01_00:0{}:00"
BUFFER = 4096
"""The log comes in pieces of so many bytes where it is not unbuffered."""


@pytest.fixture
def recorded(tmp_path, prober):
    """Scans of a folder with the namelist of a recorded run."""

    def make(run: str) -> Scans:
        (tmp_path / "namelist.input").write_text((RUNS / run / "namelist.input").read_text())
        return Scans(tmp_path, Wrf().configured(tmp_path), prober)

    return make


def log(run: str) -> str:
    return (RUNS / run / "rsl.error.0000").read_text()


def pnetcdf(run: Scans, minute: int) -> Path:
    """A restart file as PnetCDF leaves it: CDF-2, with ``_`` for ``:`` in its name."""
    path = run.folder / DATE.format(minute).replace(":", "_")
    write(path, minute, CLASSIC)
    return path


def test_a_netcdf4_file_that_a_kill_cut_is_marked_as_open(recorded):
    """``P``: the beginning of the file is the recorded one, and its size; WRF refuses it."""
    run = recorded("A1")
    run.log(log("A1"))
    head = (RUNS / "P2" / "wrfrst_head").read_bytes()
    run.path(2).write_bytes(head)
    os.truncate(run.path(2), 3_994_881)
    assert head[11] == 1
    assert int.from_bytes(head[28:36], "little") < 3_994_881
    report = run.settle()
    assert run.whole == []
    (text,) = report.unproven_checkpoints
    assert text.endswith(f"{run.path(2).name}: it is marked as open for writing")


def test_pnetcdf_files_are_whole_by_the_log_of_the_run_alone(recorded):
    """``E``: io_form_restart 11. Both files have all their bytes; the log names no file."""
    run = recorded("E1")
    for minute in (1, 2):
        pnetcdf(run, minute)
    for _ in range(3):
        run.scan(60.0)
    assert run.whole == []
    text = log("E1")
    first = text.index("Timing for Writing restart")
    run.log(text[: text.index("\n", first) + 1])
    run.scan()
    assert run.whole == [key(1)]
    run.log(text[text.index("\n", first) + 1 :])
    report = run.scan()
    assert run.whole == [key(1), key(2)]
    assert [whole.signal for whole in report.checkpoints] == ["log"]


def test_a_pnetcdf_file_whose_line_a_kill_has_lost_continues_no_run(recorded):
    """``P3``: WRF computed on zeros and ended with SUCCESS COMPLETE WRF. The line of 00:02 was in
    the last piece of the log."""
    run = recorded("P3")
    pnetcdf(run, 1)
    path = pnetcdf(run, 2)
    text = log("E1")
    run.log(text[: text.rindex("Timing for Writing restart")])
    report = run.settle()
    assert run.whole == [key(1)]
    (text,) = report.unproven_checkpoints
    assert text.endswith(f"{path.name}: the model's log does not call it written")


@pytest.mark.parametrize("form", [NETCDF4, CLASSIC])
@pytest.mark.parametrize("size", [BUFFER, 60, 0])
def test_whole_files_of_one_writer_are_whole_without_the_end_of_the_log(recorded, size, form):
    """After a kill all but the first line may be missing."""
    run = recorded("A1")
    for minute in (1, 2):
        write(run.path(minute), minute, form)
    run.log(log("A1")[:size])
    assert run.settle().unproven_checkpoints == ()
    assert run.whole == [key(1), key(2)]


def test_the_line_of_a_file_comes_before_its_last_change(recorded):
    """WRF prints it, and closes the file 0.02 to 0.18 s later."""
    run = recorded("A1")
    file = begin(run.path(1), 1)
    file["V"][0] = 1.0
    file.sync()
    text = log("A1")
    run.log(text[: text.index("\n", text.index("Timing for Writing restart")) + 1])
    for _ in range(3):
        run.scan(60.0)
    assert run.whole == []
    file.close()
    [whole] = run.scan().checkpoints
    assert (whole.signal, whole.took_s) == ("closed", 5.26935)


@pytest.mark.parametrize("has_nest", [True, False])
def test_the_domains_of_a_nested_run_make_one_checkpoint(recorded, has_nest):
    """``Q``: without the file of d02 WRF ends with "error opening wrfrst_d02 ... for reading"."""
    run = recorded("Q3")
    write(run.path(3), 3)
    if has_nest:
        write(run.path(3, "d02"), 3)
    run.log(log("Q3"))
    lacks = [text.partition("whole: ")[2] for text in run.settle().unproven_checkpoints]
    assert (run.whole, lacks) == (([key(3)], []) if has_nest else ([], ["there is no file of d02"]))


def test_tiles_of_all_ranks_make_one_checkpoint(recorded):
    """``F``: io_form_restart 102, two ranks."""
    run = recorded("F1")
    for minute, tiles in ((1, 2), (2, 2), (3, 1)):
        for tile, rows in ((0, (1, 5)), (1, (6, 10)))[:tiles]:
            write(run.path(minute, tile=tile), minute, **patch(rows))
    run.log(log("A1"))
    (text,) = run.settle().unproven_checkpoints
    assert run.whole == [key(1), key(2)]
    assert text.endswith("its tiles do not cover the domain: ranks after 0 missing")
