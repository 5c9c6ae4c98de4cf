"""Opening and reading finished frames, and reporting damaged ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.frames.times import valid


def test_reading_leaves_out_time_and_keeps_float32(katrina: Path):
    with open_frame([katrina], 3, time="20050828T210000") as frame:
        values = frame.read("U")
        assert frame.variable("U").dimensions == ("bottom_top", "south_north", "west_east_stag")
    with netCDF4.Dataset(os.fspath(katrina)) as data:
        assert values.dtype == np.float32
        assert np.array_equal(values, data["U"][3])


def test_a_window_reads_only_that_part(supercell: Path):
    window = {"bottom_top_stag": slice(3, 20, 4), "west_east": slice(7, 9)}
    with open_frame([supercell]) as frame:
        assert np.array_equal(frame.read("W", window), frame.read("W")[3:20:4, :, 7:9])


def test_missing_values_are_nan_also_of_integers(tmp_path: Path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("x", 3)
        for name, kind in (("depth", "f4"), ("count", "i4"), ("whole", "i4")):
            variable = data.createVariable(name, kind, ("x",), fill_value=-1)
            variable[:] = [1, 2, 3] if name == "whole" else [1, -1, 3]
    with open_frame([path]) as frame:
        assert np.array_equal(frame.read("depth"), np.array([1, np.nan, 3], "f4"), equal_nan=True)
        assert np.array_equal(frame.read("count"), [1, np.nan, 3], equal_nan=True)
        assert frame.read("whole").dtype == np.int32


@pytest.mark.parametrize(
    "window",
    [
        {},
        {"south_north": slice(5, 15)},
        {"south_north": slice(22, 41, 3), "south_north_stag": slice(22, 42, 3)},
        {"south_north": slice(1, 41, 7), "south_north_stag": slice(20, 23)},
        {"south_north": slice(20, 21), "south_north_stag": slice(21, 22)},
    ],
)
@pytest.mark.parametrize("name", ["V", "W", "T2"])
def test_any_window_of_tiles_is_that_of_the_joined_field(
    tiles: list[Path], name: str, window: dict[str, slice]
):
    parts = []
    for path in tiles:
        with open_frame([path]) as tile:
            parts.append(tile.read(name))
            axis = [d.startswith("south_north") for d in tile.variable(name).dimensions].index(True)
    whole = np.concatenate(parts, axis=axis)
    with open_frame(tiles, time="00010101T000400") as frame:
        wanted = tuple(window.get(d, slice(None)) for d in frame.variable(name).dimensions)
        assert frame.dimensions["south_north"] == 41
        assert np.array_equal(frame.read(name, window), whole[wanted])


def test_a_missing_tile_is_an_error(tiles: list[Path]):
    with (
        open_frame([tiles[1], tiles[1]]) as frame,
        pytest.raises(FrameError, match="tiles do not cover T2"),
    ):
        frame.read("T2")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "wrfout_d01 is empty"),
        (b"not a netCDF file at all", "wrfout_d01 is not a netCDF file"),
        (b"\x89HDF\r\n\x1a\n" + bytes(40), "wrfout_d01 cannot be read"),
        (b"CDF\x02", "wrfout_d01 cannot be read"),
    ],
)
def test_an_invalid_file_is_an_error(tmp_path: Path, content: bytes, message: str):
    path = tmp_path / "wrfout_d01"
    path.write_bytes(content)
    with pytest.raises(FrameError, match=message), open_frame([path]):
        pass


def test_a_missing_file_is_an_error(tmp_path: Path):
    with pytest.raises(FrameError, match="No such file"), open_frame([tmp_path / "wrfout"]):
        pass


def test_a_short_classic_file_is_an_error_and_not_read_as_zeros(
    supercell: Path, tmp_path: Path, copy_with: Callable[..., None]
):
    path = tmp_path / "wrfout_short"
    copy_with(supercell, path, ["Times", "T2", "W"], form="NETCDF3_64BIT_OFFSET")
    with open_frame([path]) as frame:
        frame.read("W")
    os.truncate(path, path.stat().st_size - 400)
    with pytest.raises(FrameError, match=r"wrfout_short is short: \d+ bytes of "):
        open_frame([path]).__enter__()


def test_a_missing_record_is_an_error(katrina: Path):
    with pytest.raises(FrameError, match="holds 4 frames, not frame 4"), open_frame([katrina], 4):
        pass


def test_another_time_than_the_expected_one_is_an_error(katrina: Path):
    with (
        pytest.raises(FrameError, match=r"holds 2005-08-28 15:00:00 UTC where 2005-08-28 12"),
        open_frame([katrina], 1, time="20050828T120000"),
    ):
        pass


def test_reading_continues_when_the_library_fails_once(
    supercell: Path, monkeypatch: pytest.MonkeyPatch
):
    real, failures = netCDF4.Dataset, [RuntimeError("NetCDF: HDF error"), OSError(5, "I/O error")]

    def flaky(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return real(*arguments)

    monkeypatch.setattr(netCDF4, "Dataset", flaky)
    with open_frame([supercell]) as frame:
        assert frame.read("W").shape == (41, 41, 41)
    assert not failures


READER = """
import os, sys
from pathlib import Path
from burstlens.viz.diagnostics.derived import open_frame
path = Path(sys.argv[1])
with open_frame([path]) as frame:
    frame.read("T2")
    for fd in os.listdir("/proc/self/fd"):
        if os.path.realpath(f"/proc/self/fd/{fd}") == str(path):
            flags = Path(f"/proc/self/fdinfo/{fd}").read_text().split("flags:")[1].split()[0]
            print("mode", int(flags, 8) & os.O_ACCMODE)
    mine, file = f" {os.getpid()} ", f":{path.stat().st_ino} "
    if any(mine in line and file in line for line in open("/proc/locks")):
        print("locked")
"""


@pytest.mark.integration
def test_no_lock_is_asked_for_and_the_file_is_never_opened_for_writing(supercell: Path):
    # In a process of its own: HDF5 reads the variable once, when it is loaded.
    environment = {k: v for k, v in os.environ.items() if k != "HDF5_USE_FILE_LOCKING"}
    words = [sys.executable, "-c", READER, str(supercell.resolve())]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == [f"mode {os.O_RDONLY}"]


def test_the_start_of_the_model_is_known_from_a_wrf_file(katrina: Path, cf_volume: Any):
    with open_frame([katrina]) as frame:
        assert frame.start == "20050828T000000"
    with open_frame([cf_volume()]) as frame:
        assert frame.start is None


def test_the_error_for_an_unknown_name_suggests_fields_of_the_file_and_possible_diagnostics(
    supercell: Path, tmp_path: Path
):
    path = tmp_path / "surface_000049.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("x", 3)
        for name in ("x", "vx", "vy", "vz", "pgv"):
            data.createVariable(name, "f4", ("x",))[:] = 1.0
    for opened, name, hint in (
        (path, "vq", "; there are pgv, vx, vy, vz"),
        (path, "slpp", "; there are pgv, vx, vy, vz"),
        (path, "pgvv", "; did you mean pgv?"),
        (supercell, "slpp", "; did you mean slp or ISLTYP?"),
        (supercell, "T22", "; did you mean T2 or TH2?"),
        (supercell, "mdbz", "; did you mean reflectivity_max?"),
        (path, "mdbz", "; there are pgv, vx, vy, vz"),
    ):
        with open_frame([opened]) as frame, pytest.raises(FrameError) as wrong:
            frame.variable(name)
        assert str(wrong.value) == f"{opened.name} has no variable {name!r}{hint}"


@pytest.mark.parametrize("kind", ["characters, encoded", "characters, padded", "strings"])
def test_times_are_read_as_other_tools_write_them(kind: str, cyclone: Path, tmp_path: Path):
    # xarray adds an attribute to text, or writes it as netCDF-4 strings.
    path = tmp_path / "rewritten.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("Time", 1)
        data.createDimension("string", 24 if "padded" in kind else 19)
        text = "2005-08-28_21:00:00"
        if kind == "strings":
            data.createVariable("Times", str, ("Time",))[0] = text
        else:
            variable = data.createVariable("Times", "S1", ("Time", "string"))
            variable[0, :19] = list(text)
            if "encoded" in kind:
                variable.setncattr("_Encoding", "utf-8")
        data.createDimension("x", 2)
        data.createVariable("T2", "f4", ("Time", "x"))[:] = 300
    with open_frame([path], time="20050828T210000") as frame:
        assert frame.read("T2").tolist() == [300, 300]
    with open_frame([path]) as frame:
        assert valid(frame) == "20050828T210000"
    with pytest.raises(FrameError, match="holds 2005-08-28 21:00:00 UTC where"):
        open_frame([path], time="20050828T220000").__enter__()


def test_what_wrf_writes_underground_on_levels_of_pressure_is_missing(tmp_path: Path):
    path = tmp_path / "wrfpress_d01"
    stored = np.array([[-999, 285], [270, 271]], "f4")
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        for name, size in (("Time", None), ("num_press_levels_stag", 2), ("west_east", 2)):
            data.createDimension(name, size)
        for name in ("T_PL", "GHT_PL"):
            variable = data.createVariable(
                name, "f4", ("Time", "num_press_levels_stag", "west_east")
            )
            variable[0] = stored
        data.createVariable("T2", "f4", ("Time", "west_east"))[0] = stored[0]
    with open_frame([path]) as frame:
        assert np.isnan(frame.read("T_PL")).tolist() == [[True, False], [False, False]]
        assert frame.read("T2").tolist() == [-999, 285]
        assert frame.stored("T_PL").values.tolist() == stored.tolist()
        assert -999 in frame.stored("T_PL").fills
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data.P_LEV_MISSING = np.float32(270)
    with open_frame([path]) as frame:
        assert np.isnan(frame.read("GHT_PL")).tolist() == [[False, False], [True, False]]


@pytest.mark.parametrize("records", ["XTIME", "time"])
def test_records_lie_along_the_dimension_that_is_called_so(records: str, tmp_path: Path):
    # CDO and NCO write such files of WRF's: no dimension is unlimited, or another one is.
    path = tmp_path / "rewritten.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("west_east", None if records == "time" else 3)
        data.createDimension(records, 2)
        data.createVariable("T2", "f4", (records, "west_east"))[:] = [[1, 2, 3], [4, 5, 6]]
    with open_frame([path], 1) as frame:
        assert frame.variable("T2").dimensions == ("west_east",)
        assert frame.read("T2").tolist() == [4, 5, 6]
    with pytest.raises(FrameError, match="holds 2 frames, not frame 2"):
        open_frame([path], 2).__enter__()
