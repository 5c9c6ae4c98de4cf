"""Checkpoints of any program, by the names and the witness that its recipe gives."""

from __future__ import annotations

import os

import h5py
import numpy as np
import pytest
from checkpoint_case import Scans

from burstlens.core.valid_time import elapsed_key
from burstlens.workflows.models.checkpoint_names import CheckpointNames
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.continuation import Proof

FLAG = {"proof": Proof.FLAG, "flag": "state_{time}.ok"}


@pytest.fixture
def scans(tmp_path):
    """Scans of the folder of a program with such files and that witness."""

    def make(*files: str, baseline=None, **about) -> Scans:
        names = CheckpointNames(files or ("state_{time}.bin",), **about)
        command = Command(argv=["./m"], restart_command=["./m", "{checkpoint}"], frames="out_*.nc")
        return Scans(tmp_path, command.with_checkpoints(names), None, baseline=baseline)

    return make


def write(run: Scans, name: str, text: str = "state") -> None:
    path = run.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_a_flag_proves_the_file_that_was_written_before_it(scans):
    run = scans(**FLAG)
    write(run, "state_7.bin")
    for _ in range(3):
        run.scan(60.0)
    assert run.whole == []
    write(run, "state_7.ok", "")
    [whole] = run.scan(1.0).checkpoints
    assert (whole.time, whole.files, whole.signal) == (elapsed_key(7), ("state_7.bin",), "flag")


def test_a_flag_counts_when_the_file_is_not_written_any_more(scans):
    run = scans(**FLAG)
    write(run, "state_7.ok", "")
    write(run, "state_7.bin", "sta")
    run.scan(1.0)
    write(run, "state_7.bin")
    run.scan(0.2)
    assert run.whole == []
    run.scan(0.6)
    assert run.whole == [elapsed_key(7)]


def test_the_end_of_the_program_does_not_stand_for_a_flag(scans):
    run = scans(**FLAG)
    write(run, "state_7.bin")
    report = run.settle()
    assert run.whole == []
    [text] = report.unproven_checkpoints
    assert text == "the checkpoint of t = 7 s is not whole: state_7.bin: its flag is missing"


@pytest.mark.parametrize("first", [0, 1])
def test_the_files_of_all_ranks_are_needed_wherever_the_rank_stands_in_the_name(scans, first):
    run = scans("rst/r{rank}_{time}.bin", tiles=3, proof=Proof.NAME)
    names = [f"rst/r{rank:03d}_7.bin" for rank in range(first, first + 3)]
    for name in names[:2]:
        write(run, name)
    run.scan(60.0)
    run.scan(60.0)
    assert run.whole == []
    write(run, names[2])
    run.scan(60.0)
    [whole] = run.scan(60.0).checkpoints
    assert (whole.time, whole.files) == (elapsed_key(7), tuple(names))


def test_a_checkpoint_that_lacks_the_file_of_a_rank_is_reported(scans):
    run = scans("{time}.{rank}", tiles=3, proof=Proof.NAME)
    write(run, "7.0")
    write(run, "7.2")
    [text] = run.settle().unproven_checkpoints
    assert text.endswith("t = 7 s is not whole: 7.*: 2 of 3 tiles are there")


def test_each_pattern_is_needed(scans):
    run = scans("sea_{time}.bin", "ice_{time}.bin", proof=Proof.NAME)
    write(run, "sea_7.bin")
    run.scan(60.0)
    assert run.whole == []
    write(run, "ice_7.bin")
    [whole] = run.scan(60.0).checkpoints
    assert whole.files == ("sea_7.bin", "ice_7.bin")


def test_a_line_of_the_log_proves_it(scans):
    run = scans(proof=Proof.LOG, line=r"^saved (?P<time>\S+) in (?P<seconds>\S+) s$")
    write(run, "state_7.bin")
    write(run, "state_8.bin")
    run.scan(60.0)
    assert run.whole == []
    run.log("saved 7 in 0.5 s\n", "model.log")
    [whole] = run.scan(1.0).checkpoints
    assert (whole.time, whole.signal, whole.took_s) == (elapsed_key(7), "log", 0.5)


def test_files_that_are_not_netcdf_have_no_proof_in_their_bytes(scans):
    run = scans()
    write(run, "state_7.bin")
    [text] = run.settle().unproven_checkpoints
    assert "state_7.bin: it has no HDF5 superblock and no netCDF header" in text


def test_the_bytes_of_any_hdf5_file_say_whether_it_is_whole(scans, prober):
    run = scans("state_{time}.h5")
    run.use(prober)
    for time in (7, 8):
        with h5py.File(run.folder / f"state_{time}.h5", "w") as file:
            file["heat"] = np.arange(10000.0)
    os.truncate(run.folder / "state_8.h5", 5000)
    run.scan(60.0)
    run.scan(60.0)
    assert run.whole == [elapsed_key(7)]
    [text] = run.settle().unproven_checkpoints
    assert "state_8.h5: its superblock ends it at" in text


def test_files_of_another_run_are_none_of_this_one_until_they_are_written_anew(scans, tmp_path):
    (tmp_path / "state_7.bin").write_text("other")
    found = os.stat(tmp_path / "state_7.bin")
    run = scans(proof=Proof.NAME, baseline={"state_7.bin": (found.st_size, found.st_mtime_ns)})
    write(run, "state_8.bin")
    run.scan(60.0)
    run.scan(60.0)
    assert run.whole == [elapsed_key(8)]
    write(run, "state_7.bin", "of this run")
    run.scan(60.0)
    assert run.whole == [elapsed_key(8), elapsed_key(7)]
