"""The structure of files in all states."""

from __future__ import annotations

import os
import signal
import threading
import tracemalloc
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
from watcher_case import launched_watcher

from burstlens.core import cdf
from burstlens.core.errors import FrameError
from burstlens.workflows.frames import hdf5
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.frames.structure import probe
from burstlens.workflows.frames.writers import has_writer
from burstlens.workflows.models.wrf import Wrf

BROKEN = {
    "classic_half_wrfout_d01_0001-01-01_00:03:00": "bytes of an unfinished record",
    "classic_whole_wrfout_d01_0001-01-01_00:03:00": "",
    "empty_wrfout_d01": "0 bytes",
    "hdf5_48_bytes_wrfout_d01": "no HDF5 superblock",
    "hdf5_truncated_wrfout_d01": "its superblock ends it at 1983749 bytes, it has 900000",
    "pnetcdf_killed_wrfout_d01_0001-01-01_00_02_00": "2900040 of 4531316 bytes",
    "pnetcdf_whole_wrfout_d01_0001-01-01_00_02_00": "",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_distinguished(broken, prober, tmp_path, kind):
    minute = "02" if kind.startswith("pnetcdf") else "03"
    broken(kind, f"wrfout_d01_0001-01-01_00:{minute}:00")
    form = 11 if kind.startswith("pnetcdf") else 2
    (tmp_path / "namelist.input").write_text(f"&time_control io_form_history = {form} /\n")
    (tmp_path / "rsl.error.0000").write_text("d01 0001-01-01_00:03:00 wrf: SUCCESS COMPLETE WRF\n")
    watcher = launched_watcher(tmp_path, ".", Wrf(), "run", 1, Cursor(), prober=prober)
    reports = [watcher.scan(elapsed_s=1.5, now=0.0, ended=True) for _ in range(3)]
    frames = [frame for report in reports for frame in report.frames]
    damaged = [entry for report in reports for entry in report.damaged]
    assert reports[-1].ended
    if BROKEN[kind]:
        assert not frames
        assert BROKEN[kind] in damaged[0].reason
    else:
        assert [frame.time for frame in frames] == [f"00010101T00{minute}00"]
        assert not damaged


@pytest.mark.parametrize(
    "form", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"]
)
@pytest.mark.parametrize(
    ("units", "keys"),
    [
        ("s", ["t00000000.000", "t00000000.500", "t00000001.000"]),
        (
            "hours since 0001-01-01 00:00:00",
            ["00010101T000000", "00010101T003000", "00010101T010000"],
        ),
        ("days since 2005-08-28", ["20050828T000000", "20050828T120000", "20050829T000000"]),
    ],
)
def test_numeric_times_of_every_format_are_read(tmp_path, prober, form, units, keys):
    path = tmp_path / "out.nc"
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("time", None)
        file.createDimension("x", 5)
        variable = file.createVariable("time", "f8", ("time",))
        variable.units = units
        file.createVariable("x", "i2", ("x",))[:] = np.arange(5)
        file.createVariable("v", "i2", ("time", "x"))[:] = np.arange(15).reshape(3, 5)
        variable[:] = [0.0, 0.5, 1.0]
    whole = probe(str(path), 0, "time", prober)
    assert list(whole.times) == keys
    assert whole.reason == ""
    assert list(probe(str(path), 2, "time", prober).times) == keys[2:]


def test_the_noleap_and_360_day_calendars_have_their_own_dates(tmp_path, prober):
    for calendar, key in (("noleap", "20040301T000000"), ("360_day", "20040230T000000")):
        path = tmp_path / f"{calendar}.nc"
        with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            variable = file.createVariable("time", "f8", ("time",))
            variable.units, variable.calendar = "days since 2004-01-01", calendar
            variable[0] = 59
        assert probe(str(path), 0, "time", prober).times == (key,)


def test_a_classic_file_without_a_record_dimension_is_not_conclusive(tmp_path, prober):
    path = tmp_path / "out.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", 1)
        file.createDimension("x", 100)
        file.createVariable("v", "f4", ("time", "x"))[:] = 1.0
        variable = file.createVariable("time", "f8", ("time",))
        variable.units = "s"
        variable[:] = 2.5
    whole = probe(str(path), 0, "time", prober, thorough=True)
    assert whole.times == ("t00000002.500",)
    assert not whole.conclusive


def test_a_missing_time_variable_is_named_with_near_names(tmp_path, prober):
    for form in ("NETCDF3_CLASSIC", "NETCDF4"):
        path = tmp_path / form
        with netCDF4.Dataset(path, "w", format=form) as file:
            file.createDimension("Time", None)
            file.createVariable("Times", "f8", ("Time",))[0] = 1.0
        reason = probe(str(path), 0, "time", prober).reason
        assert reason.startswith("it has no variable 'time' (near: ")
        assert "Times" in reason


@pytest.mark.parametrize("libver", ["earliest", "v108", "v110"])
@pytest.mark.parametrize("user_block", [0, 512, 2048])
def test_the_end_in_every_superblock_version_is_the_size(tmp_path, prober, libver, user_block):
    path = tmp_path / "out.h5"
    with h5py.File(path, "w", libver=libver, userblock_size=user_block) as file:
        file["time"] = np.array([1.5])
        file["v"] = np.arange(1000.0)
    descriptor = os.open(path, os.O_RDONLY)
    block = hdf5.superblock(descriptor)
    os.close(descriptor)
    version = path.read_bytes()[user_block + 8]
    assert version == {"earliest": 0, "v108": 2, "v110": 3}[libver]
    assert block == hdf5.Superblock(path.stat().st_size, False)
    assert probe(str(path), 0, "time", prober).times == ("t00000001.500",)
    os.truncate(path, path.stat().st_size - 1)
    assert probe(str(path), 0, "time", prober).times == ()


def test_a_file_that_is_open_for_writing_says_so_until_it_is_closed(tmp_path):
    path = tmp_path / "out.nc"
    file = netCDF4.Dataset(path, "w")
    file.createDimension("time", None)
    file.createVariable("time", "f8", ("time",))[0] = 1.0
    file.sync()
    assert has_writer(str(path))
    file.close()
    assert not has_writer(str(path))


def test_corrupt_and_truncated_headers_are_never_ready_and_never_raise(broken, prober, dice):
    kinds = ["classic_whole_wrfout_d01_0001-01-01_00:03:00"]
    path = broken(kinds[0], "file")
    good = path.read_bytes()[:80_000]
    tracemalloc.start()
    for attempt in range(150):
        bad = bytearray(good)
        for _ in range(dice.choice((1, 4, 40))):
            at = dice.randrange(4, 44_000)
            bad[at : at + 4] = dice.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", dice.randbytes(4)))
        cut = dice.randrange(4, len(bad)) if attempt % 3 == 0 else len(bad)
        bad[4:8] = b"\0\0\0\1"
        path.write_bytes(bad[:cut])
        assert probe(str(path), 0, "Times", prober, thorough=True).times == ()
    assert tracemalloc.get_traced_memory()[1] < 24 << 20
    tracemalloc.stop()


def test_a_count_that_the_file_cannot_hold_is_refused_at_once(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"CDF\5" + b"\0" * 8 + b"\0\0\0\x0a" + b"\x7f" + b"\xff" * 7 + b"\0" * 64)
    descriptor = os.open(path, os.O_RDONLY)
    with pytest.raises(FrameError):
        cdf.read_header(descriptor)
    os.close(descriptor)


def test_corrupt_hdf5_files_never_end_the_worker(load, prober, dice, tmp_path):
    _, final = load("netcdf4_one")
    good = (final / "wrfout_d01_0001-01-01_00:00:00").read_bytes()
    path = tmp_path / "file"
    for _ in range(60):
        bad = bytearray(good)
        for _ in range(20):
            at = dice.randrange(64, len(bad) - 8)
            bad[at : at + 8] = dice.randbytes(8)
        path.write_bytes(bad)
        probe(str(path), 0, "Times", prober)
    path.write_bytes(good)
    assert probe(str(path), 0, "Times", prober).times == ("00010101T000000",)


@pytest.mark.integration
def test_a_killed_child_is_replaced_and_the_file_is_still_read(tmp_path):
    good = tmp_path / "good.nc"
    with h5py.File(good, "w") as file:
        file["time"] = np.array([1.0])
    prober = Prober()
    try:
        prober.ask(str(good), 0, "time")
        (child,) = _children()
        os.kill(child, signal.SIGSTOP)  # it gets the request, and does not answer
        threading.Timer(0.3, os.kill, (child, signal.SIGKILL)).start()
        assert prober.ask(str(good), 0, "time").times == ("t00000001.000",)
        assert _children() != [child]
    finally:
        prober.close()


def _children():
    found = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    return [
        int(pid)
        for pid in found.split()
        if b"burstlens.workflows.frames.hdf5" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ][-1:]


@pytest.mark.integration
def test_a_probe_that_hangs_is_ended_and_the_next_one_works(tmp_path):
    hanging = tmp_path / "fifo"
    os.mkfifo(hanging)
    good = tmp_path / "good.nc"
    with h5py.File(good, "w") as file:
        file["time"] = np.array([1.0])
    prober = Prober(limit_s=2.0)
    try:
        with pytest.raises(FrameError, match="took too long"):
            prober.ask(str(hanging), 0, "time")
        with pytest.raises(FrameError, match="not read for a while"):
            prober.ask(str(hanging), 0, "time")
        assert prober.ask(str(good), 0, "time").times == ("t00000001.000",)
    finally:
        prober.close()
