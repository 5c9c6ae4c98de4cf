"""A growing HDF5 file of a model that was killed in the middle of a record."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import h5py
import netCDF4
import numpy as np
import pytest

from burstlens.core.errors import AttachError
from burstlens.workflows.frames.arrival import Selection
from burstlens.workflows.frames.described import flushed_records
from burstlens.workflows.frames.structure import probe
from burstlens.workflows.look.folder.recognition import recognise

EVERYTHING = Selection(newest=None)
TRACE = "netcdf4_growing"


def logged(course) -> int:
    log = course.path / "rsl.error.0000"
    return log.read_text().count("Timing for Writing") if log.exists() else 0


def is_cut(course) -> bool:
    path = course.path / course.trace.outputs()[0]
    if not logged(course):
        return False
    return path.stat().st_size > int.from_bytes(path.read_bytes()[28:36], "little")


def age(course, seconds: float, log_older_s: float = 0.5) -> None:
    """Everything was written that long ago, the log a little before the file."""
    then = time.time() - seconds
    for path in course.path.iterdir():
        at = then - log_older_s if path.name.startswith("rsl") else then
        os.utime(path, (at, at))


def killed_at(course, call: int) -> None:
    while course.player.at < call:
        course.step()
    course.player.close()


def middle(course, record: int, share: float) -> int:
    """A call within the record, so far into it."""
    starts = [*course.trace.frame_starts(), len(course.trace.ops)]
    return int(starts[record] + share * (starts[record + 1] - starts[record]))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.9])
@pytest.mark.parametrize("record", [1, 3])
def test_a_look_that_arrives_later_takes_the_records_that_the_log_named(course, record, share):
    course = course(TRACE, coarse=True, selection=EVERYTHING)
    killed_at(course, middle(course, record, share))
    assert is_cut(course)
    age(course, 3600.0)
    for _ in range(3):
        course.scan(1.0)
    assert len(course.frames) == logged(course) == record
    for _ in range(3):
        course.scan(1.0, ended=True)
    assert len(course.frames) == record
    [damage] = course.damaged  # the record that was not finished
    assert damage.record == record


def test_a_launched_run_takes_them_at_the_end(course):
    course = course(TRACE)
    killed_at(course, middle(course, 2, 0.5))
    course.settle()
    assert len(course.frames) == logged(course) == 2
    assert [damage.record for damage in course.damaged] == [2]


def test_without_a_log_the_last_record_never_counts(course):
    course = course(TRACE, coarse=True, selection=EVERYTHING)
    killed_at(course, middle(course, 3, 0.5))
    (course.path / "rsl.error.0000").unlink()
    age(course, 3600.0)
    for _ in range(40):
        course.scan(30.0)
    assert len(course.frames) == 2


def test_a_log_of_an_earlier_day_does_not_name_the_last_record(course):
    course = course(TRACE, coarse=True, selection=EVERYTHING)
    killed_at(course, middle(course, 3, 0.5))
    age(course, 3600.0, log_older_s=86400.0)
    for _ in range(4):
        course.scan(30.0)
    assert len(course.frames) == 2


def test_a_file_that_grows_is_not_read_before_it_is_quiet(course):
    course = course(TRACE, coarse=True, selection=EVERYTHING)
    killed_at(course, middle(course, 3, 0.5))
    course.scan(0.0)
    course.scan(1.0)
    assert course.frames == []
    course.scan(1.5)
    assert len(course.frames) == 3


@pytest.mark.fault
def test_at_no_call_a_record_counts_that_is_not_final(course, prober):
    course = course(TRACE)
    path = course.path / course.trace.outputs()[0]
    final = course.final_of(path.name)
    checked = 0
    for call in range(len(course.trace.ops)):
        course.step()
        if call % 9 or not is_cut(course):
            continue
        found = probe(str(path), 0, "Times", prober, settled=True)
        assert len(found.times) <= logged(course) + 1, found
        if "cannot be read" in found.reason:  # the kill came in the middle of a flush
            continue
        assert logged(course) <= len(found.times), found
        checked += 1
        if call % 90 == 0:
            mine, last = read(path, len(found.times)), read(final, len(found.times))
            assert mine == last
    assert checked > 100


def read(path, records: int) -> dict[str, bytes]:
    copy = path.parent.parent / "copy.nc"
    shutil.copyfile(path, copy)
    with netCDF4.Dataset(copy) as file:
        file.set_auto_mask(False)
        found = {
            name: variable[:records].tobytes()
            for name, variable in file.variables.items()
            if variable.dimensions[:1] == ("Time",)
        }
    copy.unlink()
    return found


@pytest.fixture
def grown(tmp_path):
    """A file of three records, with bytes of another one behind its end."""

    def make(lost: int | None = None, **options):
        path = tmp_path / "grown.nc"
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 100)
            at = file.createVariable("time", "f8", ("time",), chunksizes=(1,))
            at.units = "s"
            at[:] = [1.0, 2.0, 3.0]
            file.createVariable("never", "f4", ("time", "x"))
            file.createVariable("depth", "f4", ("x",))[:] = 1.0
            field = file.createVariable("a", "f4", ("time", "x"), chunksizes=(1, 50), **options)
            for record in range(3):
                if record != lost:
                    field[record] = np.arange(100) + record
        with path.open("ab") as file:
            file.write(bytes(1000))
        return path

    return make


@pytest.mark.parametrize("options", [{}, {"zlib": True}])
def test_variables_that_were_never_written_do_not_count(grown, prober, options):
    found = probe(str(grown(**options)), 0, "time", prober, settled=True)
    assert (len(found.times), found.cut, found.held) == (3, True, True)
    assert "its superblock ends it at" in found.reason


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_record_of_which_a_variable_has_no_chunk_is_not_whole(grown, prober, lost):
    found = probe(str(grown(lost)), 0, "time", prober, settled=True)
    assert len(found.times) == lost


def test_a_chunk_behind_the_end_of_the_file_is_not_whole(grown):
    path = grown()
    with h5py.File(path, "r") as file:
        ends = sorted(
            info.byte_offset + info.size
            for info in map(file["a"].id.get_chunk_info, range(file["a"].id.get_num_chunks()))
        )
    with h5py.File(path, "r") as file:
        assert flushed_records(file, file["time"], ends[-1]) == 3
        assert flushed_records(file, file["time"], ends[-1] - 1) == 2
        assert flushed_records(file, file["time"], 8) == 0


def test_a_file_that_is_shorter_than_its_end_has_no_record(grown, prober):
    path = grown()
    path.write_bytes(path.read_bytes()[:-1500])
    found = probe(str(path), 0, "time", prober, settled=True)
    assert found.times == ()


KILLED = """
import h5py, os, sys
file = h5py.File(sys.argv[1], "w", libver="latest")
time = file.create_dataset("time", (1,), maxshape=(None,), data=[1.0])
file.flush()
os.kill(os.getpid(), 9)
"""


@pytest.mark.integration
@pytest.mark.slow
def test_a_file_that_hdf5_refuses_says_which_tool_mends_a_copy(tmp_path, prober):
    path = tmp_path / "out_001.nc"
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    found = probe(str(path), 0, "time", prober, settled=True)
    assert "h5clear" in found.reason
    os.utime(path, (1e9, 1e9))
    with pytest.raises(AttachError, match="h5clear"):
        recognise(tmp_path)
