"""The records of one file, or of the tiles of a frame, read from the bytes."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
from msgspec.structs import replace

from burstlens.core.ranks import absent
from burstlens.core.record_axis import no_variable
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.frames.structure import (
    PATCH,
    Structure,
    probe,
    together,
)
from burstlens.workflows.frames.writers import has_gap, has_writer


@pytest.fixture(autouse=True)
def _closes_all(prober):
    """Fails if a test leaves a file open; the prober's pipes may stay open."""

    def files():
        links = (f"/proc/self/fd/{one}" for one in os.listdir("/proc/self/fd"))
        return {os.readlink(link) for link in links if os.path.lexists(link)}

    before = files()
    yield
    assert {name for name in files() - before if not name.startswith("pipe:")} == set()


@pytest.fixture
def classic(tmp_path):
    """A classic file with these times, 256 KiB per record; its path."""

    def make(*times, fixed=False, **attributes):
        path = tmp_path / "out.nc"
        with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", len(times) if fixed else None)
            file.createDimension("x", 32768)
            variable = file.createVariable("time", "f8", ("time",))
            variable.units = "s"
            file.createVariable("v", "f8", ("time", "x"))
            for index, time in enumerate(times):
                variable[index], file["v"][index] = time, float(index + 1)
            file.setncatts(attributes)
        return str(path)

    return make


RECORD_BYTES = 8 * 32769


def test_an_empty_file_is_reported_as_empty(tmp_path, prober):
    (tmp_path / "out.nc").touch()
    found = probe(str(tmp_path / "out.nc"), 0, "time", prober)
    assert (found.reason, found.times) == ("it has 0 bytes", ())


def test_the_records_of_a_classic_file_and_the_size_of_one(classic, prober):
    path = classic(1.0, 2.0)
    found = probe(path, 0, "time", prober)
    expected = Structure(("t00000001.000", "t00000002.000"), 2, RECORD_BYTES, classic=True)
    assert found == expected
    assert probe(path, 1, "time", prober) == replace(expected, times=expected.times[1:])
    assert probe(path, 2, "time", prober) == Structure(begun=2, classic=True)


def test_a_single_record_of_a_classic_file_has_the_size_of_the_file(classic, prober):
    path = classic(1.0)
    assert probe(path, 0, "time", prober).frame_bytes == os.path.getsize(path)


def test_the_size_of_a_record_of_an_hdf5_file(tmp_path, prober):
    path = tmp_path / "out.h5"
    for count in (1, 2):
        with h5py.File(path, "w") as file:
            file["time"] = np.arange(count, dtype=float)
        found = probe(str(path), 0, "time", prober)
        assert (found.begun, found.frame_bytes) == (count, path.stat().st_size // count)


def test_a_classic_file_reports_that_it_has_no_record_until_it_had_one(classic, prober):
    path = classic()
    for thorough in (True, False):
        found = probe(path, 0, "time", prober, thorough=thorough)
        assert (found.times, found.reason) == ((), "it has no record yet")
    path = classic(1.0)
    for thorough in (True, False):
        found = probe(path, 1, "time", prober, thorough=thorough)
        assert (found.times, found.begun, found.reason) == ((), 1, "")


def test_a_record_without_a_time_is_not_whole_nor_are_the_records_after_it(classic, prober):
    found = probe(classic(1.0, 9.969e36, 3.0), 0, "time", prober)
    assert (found.times, found.begun) == (("t00000001.000",), 3)
    assert found.reason == "record 1 has no time yet"


def test_a_classic_file_that_lacks_bytes_of_a_record_has_the_records_before_it(classic, prober):
    path = classic(1.0, 2.0)
    size = os.path.getsize(path)
    os.truncate(path, size - 1)
    found = probe(path, 0, "time", prober, thorough=True)
    assert (found.times, found.reason) == (
        ("t00000001.000",),
        f"it has {size - 1} of {size} bytes",
    )


@pytest.mark.parametrize(("thorough", "reason"), [(False, ""), (True, "it has 5 bytes of an un")])
def test_a_thorough_read_counts_bytes_beyond_the_last_record_as_one_in_progress(
    classic, prober, thorough, reason
):
    path = classic(1.0)
    with open(path, "ab") as file:
        file.write(b"begun")
    found = probe(path, 0, "time", prober, thorough=thorough)
    assert (found.times, found.reason[:23]) == (("t00000001.000",), reason)


def test_a_classic_file_without_a_record_dimension_is_whole_with_all_of_its_bytes(classic, prober):
    path = classic(1.0, 2.0, fixed=True)
    size = os.path.getsize(path)
    times = ("t00000001.000", "t00000002.000")
    expected = Structure(times, 2, size // 2, conclusive=False, is_fixed=True, classic=True)
    assert probe(path, 0, "time", prober, thorough=True) == expected
    assert probe(path, 1, "time", prober, thorough=True).times == times[1:]
    os.truncate(path, size - 1)
    assert (
        probe(path, 0, "time", prober, thorough=True).reason == f"it has {size - 1} of {size} bytes"
    )


def test_a_classic_file_whose_number_of_records_is_left_open_is_not_whole(classic, prober):
    path = classic(1.0)
    with open(path, "r+b") as file:
        file.seek(4)
        file.write(b"\xff" * 4)
    assert probe(path, 0, "time", prober).reason == "its number of records is left open"


def test_the_only_time_of_a_classic_file_without_a_record_dimension_has_all_of_its_bytes(
    classic, prober
):
    path = classic(1.0, fixed=True)
    assert probe(path, 0, "time", prober, thorough=True).frame_bytes == os.path.getsize(path)


def test_times_without_units_are_seconds(tmp_path, prober):
    path = tmp_path / "out.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createVariable("time", "f8", ("time",))[0] = 2.5
    assert probe(str(path), 0, "time", prober).times == ("t00000002.500",)


def test_a_pipe_that_is_named_like_output_does_not_block(tmp_path, prober):
    path = str(tmp_path / "out.nc")
    os.mkfifo(path)
    for look in (lambda: probe(path, 0, "time", prober), lambda: has_writer(path)):
        with pytest.raises(OSError, match="Illegal seek"):
            look()
    assert not has_gap(path, 0)


class Overtaken(Prober):
    """A prober during whose read the model continues to write the file."""

    def ask(self, path, *rest):
        reply = super().ask(path, *rest)
        with open(path, "ab") as file:
            file.write(b"more")
        return reply


def test_an_hdf5_file_that_grows_while_it_is_read_is_not_whole(tmp_path):
    path = tmp_path / "out.h5"
    with h5py.File(path, "w") as file:
        file["time"] = np.array([1.0])
    prober = Overtaken()
    try:
        found = probe(str(path), 0, "time", prober)
    finally:
        prober.close()
    assert (found.times, found.reason) == ((), "it grew while it was read")


def test_a_record_that_was_never_written_is_a_gap(classic, tmp_path):
    path = classic(1.0, 2.0, 3.0)
    data = Path(path).read_bytes()
    begin = len(data) - 2 * RECORD_BYTES
    with open(tmp_path / "gap.nc", "wb") as file:
        file.write(data[: begin + 8192])
        file.seek(begin + RECORD_BYTES)
        file.write(data[begin + RECORD_BYTES :])
    found = [has_gap(str(tmp_path / "gap.nc"), index) for index in range(3)]
    assert found == [False, True, False]
    assert not any(has_gap(path, index) for index in range(3))


def test_a_file_that_is_missing_or_not_classic_has_no_gap_and_no_writer(tmp_path):
    (tmp_path / "text").write_text("no netCDF")
    assert not has_gap(str(tmp_path / "text"), 0)
    assert not has_gap(str(tmp_path / "gone"), 0)
    assert not has_writer(str(tmp_path / "text"))


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        ({0, 1}, "ranks after 1 missing"),
        ({0, 2}, "rank 1 missing"),
        ({3}, "ranks 0, 1, 2 missing"),
    ],
)
def test_missing_tiles_are_named_by_their_ranks(ranks, text):
    assert absent(ranks) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["x", "Times", "y"], "it has no variable 'time' (near: Times)"),
        (list("abcdfgh"), "it has no variable 'time' (near: a, b, c, d, f)"),
        ([], "it has no variable 'time'"),
    ],
)
def test_a_missing_variable_is_named_with_near_names_else_with_the_first(names, text):
    assert no_variable("time", names) == text


def test_a_tile_says_which_of_the_domains_cells_it_holds(classic, prober):
    # 10 x 8 cells, of which it has columns 1 to 4 and rows 3 to 8.
    numbers = dict(zip(PATCH, (11, 1, 4, 9, 3, 8), strict=True))
    path = classic(1.0, **{name: np.int32(number) for name, number in numbers.items()})
    assert probe(path, 0, "time", prober, is_tile=True).cells == (24, 80)
    path = classic(1.0, **{PATCH[0]: np.int32(11)})
    assert probe(path, 0, "time", prober, is_tile=True).cells == (1, 1)


def test_cells_of_an_hdf5_file_are_read_only_if_it_is_a_tile(tmp_path, prober):
    path = tmp_path / "out.h5"
    with h5py.File(path, "w") as file:
        file["time"] = np.array([1.0])
        file.attrs.update(dict(zip(PATCH, (11, 1, 4, 9, 3, 8), strict=True)))
    cells = [probe(str(path), 0, "time", prober, is_tile=tile).cells for tile in (True, False)]
    assert cells == [(24, 80), (1, 1)]


HALF = Structure(("t1", "t2"), 2, 100, cells=(5, 10))


def test_tiles_that_cover_the_domain_are_one_frame():
    found = together([HALF, replace(HALF, frame_bytes=50, classic=True)], 0, "t1", (0, 1))
    assert found == Structure(("t1", "t2"), 2, 150, classic=True, cells=(10, 10))


def test_tiles_have_the_records_that_all_of_them_have():
    short = Structure(("t1",), 1, 100, conclusive=False, cells=(5, 10), reason="cut")
    for tiles in ([HALF, short], [short, HALF]):
        found = together(tiles, 0, None)
        assert found == Structure(("t1",), 1, 200, conclusive=False, reason="cut", cells=(10, 10))


def test_tiles_that_do_not_cover_the_domain_are_not_a_frame():
    found = together([HALF, replace(HALF, cells=(4, 10))], 0, "t1", (0, 2))
    assert (found.times, found.reason) == (
        (),
        "its tiles do not cover the domain: rank 1 missing",
    )


@pytest.mark.parametrize("time", [None, "t1"])
def test_tiles_without_a_whole_record_are_not_a_frame_and_keep_their_reason(time):
    none = Structure(reason="it has no record yet", cells=(5, 10))
    found = together([none, none], 0, time)
    assert (found.times, found.reason) == ((), "it has no record yet")


def test_tiles_with_a_wrong_time_that_do_not_cover_the_domain_are_reported_for_their_time():
    found = together([HALF], 0, "t9")
    assert (found.times, found.reason) == ((), "its first time is t1, its name says t9")


@pytest.mark.parametrize(("first", "time", "whole"), [(0, "t9", False), (1, "t9", True)])
def test_the_first_record_must_have_the_time_that_the_name_says(first, time, whole):
    found = together([replace(HALF, cells=(10, 10))], first, time)
    assert bool(found.times) == whole
    assert found.reason == ("" if whole else "its first time is t1, its name says t9")
