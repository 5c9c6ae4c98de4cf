"""Which model writes in a folder, and which of its files are frames."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attach_case import (
    CYCLONE,
    FIELD,
    NAMELIST,
    SINCE,
    TIME,
    Write,
    known,
    patterns,
    remarks,
    touch,
    write_netcdf,
)

from burstlens.core.errors import AttachError
from burstlens.workflows.look.folder.recognition import recognise
from burstlens.workflows.look.folder.streams import adapter
from burstlens.workflows.models.base import OutputName


def test_wrf_is_recognised_by_its_names_and_its_other_files_are_not_frames(tmp_path: Path):
    (tmp_path / "namelist.input").write_text(NAMELIST)
    touch(
        tmp_path, "wrfout_d01_2005-08-28_12:00:00", "wrfout_d01_2005-08-28_13:00:00",
        "wrfout_d02_2005-08-28_12:00:00", "rainfall_d01_2005-08-28_12:00:00",
        "wrfrst_d01_2005-08-28_12:00:00", "wrfrst_d01_2005-08-29_12:00:00", "wrfinput_d01",
        "wrfbdy_d01", "wrflowinp_d01", "geo_em.d01.nc", "met_em.d01.2005-08-28_12:00:00.nc",
        "rsl.error.0000", "rsl.out.0000", "extra.nc",
    )  # fmt: skip
    found = known(tmp_path)
    assert (found.model, found.settings) == ("wrf", {})
    assert patterns(found) == {
        "d01": ("wrfout_d01_*", 2),
        "d02": ("wrfout_d02_*", 1),
        "auxhist2_d01": ("rainfall_d01_*", 1),
    }
    assert found.streams[0].newest == "wrfout_d01_2005-08-28_13:00:00"
    assert found.reason == (
        "WRF: namelist.input, 2 files wrfout_d01_*, 1 of wrfout_d02_*, 1 of rainfall_d01_*, "
        "log rsl.error.0000"
    )
    assert "2 restart files (wrfrst_d01_*)" in found.passed_over
    assert {"wrfinput_d01", "wrfbdy_d01"} <= set(found.passed_over)
    assert "1 other netCDF file (such as extra.nc)" in found.passed_over


def test_wrf_that_has_not_written_yet_is_recognised_by_its_namelist(tmp_path: Path):
    (tmp_path / "namelist.input").write_text(NAMELIST)
    found = known(tmp_path)
    assert (found.model, found.streams) == ("wrf", ())


def test_another_models_namelist_is_not_wrf(tmp_path: Path):
    (tmp_path / "namelist.input").write_text("&ocean dt = 3, /\n")
    assert recognise(tmp_path) is None


def test_last_years_wrf_output_alone_is_recognised(tmp_path: Path, wrf_frame: Any):
    touch(tmp_path, "wrfout_d01_2005-08-28_12:00:00_0000", "wrfout_d01_2005-08-28_12:00:00_0001")
    assert patterns(known(tmp_path)) == {"d01": ("wrfout_d01_*", 2)}


@pytest.mark.integration
def test_wrf_files_that_end_with_nc_are_wrfs_if_they_have_its_times(
    tmp_path: Path, wrf_frame: Callable[..., Path], regular: Write
):
    wrf_frame("wrfout_d01_2005-08-28_21_00_00.nc", CYCLONE)
    assert known(tmp_path).model == "wrf"
    regular("wrfout_d01_2005-08-28_22_00_00.nc", {"T2": FIELD})  # made by another tool
    found = known(tmp_path)
    assert (found.model, found.settings["time_variable"]) == ("command", "time")


@pytest.mark.integration
def test_wrf_output_in_a_folder_that_the_namelist_does_not_name_is_found(
    tmp_path: Path, wrf_frame: Callable[..., Path]
):
    (tmp_path / "namelist.input").write_text(NAMELIST)
    wrf_frame("done/wrfout_d01_0001-01-01_00:08:00")
    found = known(tmp_path)
    assert found.model == "command"
    assert found.settings == {
        "frames": {"d01": "done/wrfout_d01_*"}, "time_variable": "Times",
    }  # fmt: skip


MOVED = (
    "&time_control history_outname = '{name}', auxhist2_outname = '/old/rain_d<domain>_<date>' /"
)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("/old/run/wrfout_d<domain>_<date>", "wrfout_d01_2005-08-28_12:00:00"),
        ("../run/wrfout_d<domain>_<date>", "wrfout_d01_2005-08-28_12:00:00"),
        ("out/wrfout_d<domain>_<date>", "wrfout_d01_2005-08-28_12:00:00"),
        ("/old/run/storm_d<domain>_<date>", "storm_d01_2005-08-28_12:00:00"),
        ("/old/run/storm_d<domain>_<date>", "wrfout_d01_2005-08-28_12:00:00"),
        ("/old/run/wrfout_d<domain>_<date>", "wrfout_d01_2005-08-28_12%3A00%3A00"),
        ("/old/run/wrfout_d<domain>_<date>", "wrfout_d01_2005-08-28_12-00-00"),
    ],
)
def test_output_of_wrf_that_was_moved_beside_its_namelist_is_found(
    name: str, file: str, tmp_path: Path
):
    (tmp_path / "namelist.input").write_text(MOVED.format(name=name))
    touch(tmp_path, file, "rain_d01_2005-08-28_12:00:00")
    found = known(tmp_path)
    assert (found.model, found.settings) == ("wrf", {"moved": True})
    assert [stream.name for stream in found.streams] == ["d01", "auxhist2_d01"]
    model = adapter(tmp_path, found)
    assert model.identify(file) == OutputName("d01", "20050828T120000")
    assert model.facts(tmp_path).folders == ("",)


def test_output_of_wrf_where_the_namelist_says_is_not_taken_for_moved(tmp_path: Path):
    (tmp_path / "namelist.input").write_text(MOVED.format(name="out/wrfout_d<domain>_<date>"))
    (tmp_path / "out").mkdir()
    touch(tmp_path, "out/wrfout_d01_2005-08-28_12:00:00", "wrfout_d01_1999-01-01_00:00:00")
    found = known(tmp_path)
    assert found.settings == {}
    assert patterns(found)["d01"] == ("out/wrfout_d01_*", 1)


def test_a_wait_for_wrf_says_for_what_and_what_lies_there(tmp_path: Path):
    text = MOVED.format(name="/old/run/wrfout_d<domain>_<date>")
    (tmp_path / "namelist.input").write_text(f"{text} &domains max_dom = 'one /")
    touch(tmp_path, "a_storm.nc", "b_storm.nc", "wrfinput_d01")
    assert known(tmp_path).reason == (
        "WRF: namelist.input (line 1: a text begins here and has no closing quote), waits for "
        "/old/run/wrfout_d<domain>_<date>, here lies a_storm.nc and 1 other file"
    )


def test_awm_is_recognised_by_its_parameters_and_by_its_output(tmp_path: Path):
    (tmp_path / "awm.toml").write_text("")
    touch(tmp_path, "model.log")
    assert known(tmp_path).reason == "awm: awm.toml, log model.log"
    (tmp_path / "awm.toml").unlink()
    for name, source in (("surface_000012.nc", "awm, 3-D"), ("volume_000003.nc", "awm, 3-D")):
        write_netcdf(
            tmp_path / name, {"time": None, "y": 4, "x": 5},
            {"time": (("time",), {"units": "s"}), "vz": (("time", "y", "x"), {"units": "m s-1"})},
            attributes={"source": source},
        )  # fmt: skip
    found = known(tmp_path)
    assert found.model == "awm"
    assert patterns(found) == {"surface": ("surface_*.nc", 1), "volume": ("volume_*.nc", 1)}


def test_a_surface_file_of_another_model_is_not_awm(tmp_path: Path, regular: Write):
    regular("surface_000012.nc", {"tas": FIELD})
    assert known(tmp_path).model == "command"


def test_roms_streams_are_its_history_and_averages(tmp_path: Path, roms: Callable[..., Path]):
    for name in ("ocean_his_0001.nc", "ocean_his_0002.nc", "ocean_avg_0001.nc", "ocean_rst.nc",
                 "ocean_grd.nc"):  # fmt: skip
        roms(name)
    found = known(tmp_path)
    assert patterns(found) == {
        "ocean_his": ("ocean_his_*.nc", 2),
        "ocean_avg": ("ocean_avg_*.nc", 1),
    }
    assert found.settings["time_variable"] == "ocean_time"
    assert found.streams[0].newest == "ocean_his_0002.nc"
    assert "restart file: ocean_rst.nc" in found.passed_over
    assert "ocean_grd.nc" in remarks(found)
    assert "ROMS/TOMS his file" in found.reason


def test_cesm_tapes_are_streams_and_restarts_are_not(tmp_path: Path, regular: Write):
    for name in ("h0.0001-01", "h0.0001-02", "h1.0001-01-01-00000", "r.0001-02-01-00000",
                 "rh0.0001-02-01-00000", "i.0001-02-01-00000"):  # fmt: skip
        regular(f"b.e21.B1850.cam.{name}.nc", {"TREFHT": FIELD})
    found = known(tmp_path)
    assert [one.pattern for one in found.streams] == [
        "b.e21.B1850.cam.h0.*.nc", "b.e21.B1850.cam.h1.*.nc",
    ]  # fmt: skip
    assert remarks(found).count("restart file") == 2
    assert "input file: b.e21.B1850.cam.i." in remarks(found)


def test_ufs_atmosphere_and_surface_are_two_streams(tmp_path: Path, regular: Write):
    for name in ("atmf000.nc", "atmf003.nc", "sfcf000.nc", "sfcf003.nc"):
        regular(name, {"tmp2m": FIELD})
    touch(tmp_path, "log.atm.f000", "log.atm.f003", content=b"done\n")
    assert patterns(known(tmp_path)) == {"atmf": ("atmf*.nc", 2), "sfcf": ("sfcf*.nc", 2)}


def test_mpas_writes_text_times(tmp_path: Path):
    for name in ("history.2014-09-10_00.00.00.nc", "diag.2014-09-10_00.00.00.nc",
                 "restart.2014-09-10_00.00.00.nc", "init.nc"):  # fmt: skip
        write_netcdf(
            tmp_path / name, {"Time": None, "nCells": 12, "StrLen": 64},
            {"xtime": (("Time", "StrLen"), {"kind": "S1"}),
             "t2m": (("Time", "nCells"), {"units": "K"})},
            attributes={"model_name": "mpas"}, format="NETCDF3_64BIT_DATA",
            values={"xtime": "2014-09-10_00:00:00"},
        )  # fmt: skip
    found = known(tmp_path)
    assert set(patterns(found)) == {"history", "diag"}
    assert found.settings["time_variable"] == "xtime"
    assert found.settings["parallel"] is True  # CDF-5: PnetCDF


def test_nemo_means_are_one_stream_per_grid_and_its_ranks_are_pieces(
    tmp_path: Path, regular: Write
):
    times = {
        "time_counter": (("time_counter",), {"units": SINCE, "axis": "T", "kind": "f8"}),
        "time_centered": (("time_counter",), {"units": SINCE, "kind": "f8"}),
    }
    sizes: dict[str, int | None] = {"time_counter": None, "y": 5, "x": 6}
    tos = {"tos": (("time_counter", "y", "x"), {"units": "degC"})}
    for grid in "TU":
        for month in ("00010101_00010131", "00010201_00010228"):
            path = tmp_path / f"ORCA2_1m_{month}_grid_{grid}.nc"
            write_netcdf(path, sizes, {**times, **tos})
    for rank in range(3):
        path = tmp_path / f"ORCA2_1d_00010101_00010131_grid_T_{rank:04d}.nc"
        write_netcdf(path, sizes, {**times, **tos}, attributes={"DOMAIN_number_total": 3})
    touch(tmp_path, "ORCA2_00000100_restart.nc")
    found = known(tmp_path)
    assert patterns(found) == {
        "ORCA2_1m-grid_T": ("ORCA2_1m_*_*_grid_T.nc", 2),
        "ORCA2_1m-grid_U": ("ORCA2_1m_*_*_grid_U.nc", 2),
    }
    assert found.settings["time_variable"] == "time_counter"
    assert "rebuild_nemo" in remarks(found)


def test_a_folder_of_pieces_only_says_how_to_join_them(tmp_path: Path):
    touch(tmp_path, *(f"state.0000000000.t{tile:03d}.nc" for tile in range(1, 5)))
    with pytest.raises(AttachError, match=r"4 files state\.\*\.t\*\.nc.*gluemncbig"):
        recognise(tmp_path)


@pytest.mark.integration
def test_coards_reanalysis_is_recognised_by_its_coordinates(tmp_path: Path):
    for name, format_ in (("air.2x2.nc", "NETCDF4"), ("slp.2x2.nc", "NETCDF3_CLASSIC")):
        write_netcdf(
            tmp_path / name, {"time": 3, "lat": 4, "lon": 5},  # a time of fixed length
            {"time": (("time",), {"units": "hours since 1800-1-1 00:00:0.0", "kind": "f8"}),
             "lat": (("lat",), {"units": "degrees_north"}),
             "lon": (("lon",), {"units": "degrees_east"}),
             name[:3]: (("time", "lat", "lon"), {"units": "K"})},
            format=format_,
        )  # fmt: skip
    found = known(tmp_path)
    assert patterns(found) == {"air-2x2": ("air.2x2.nc", 1), "slp-2x2": ("slp.2x2.nc", 1)}
    assert found.settings["time_variable"] == "time"


def test_climatologies_are_not_frames(tmp_path: Path, regular: Write):
    regular("out_1.nc", {"tas": FIELD})
    write_netcdf(
        tmp_path / "average.nc", {"time": 12, "lat": 4, "lon": 5},
        {"time": (("time",), {"units": SINCE, "climatology": "climatology_bounds"}),
         "tas": (("time", "lat", "lon"), {"units": "K"})},
    )  # fmt: skip
    regular("clim_sst.nc", {"sst": FIELD})
    found = known(tmp_path)
    assert patterns(found) == {"out": ("out_*.nc", 1)}
    assert remarks(found).count("climatology") == 2


def test_files_without_time_beside_frames_are_passed_over(tmp_path: Path, regular: Write):
    regular("out_1.nc", {"tas": FIELD})
    bare = {"tas": (("lat", "lon"), {"units": "K"})}
    write_netcdf(tmp_path / "orography.nc", {"lat": 4, "lon": 5}, bare)
    found = known(tmp_path)
    assert set(patterns(found)) == {"out"}
    assert "orography.nc: without a time" in found.passed_over
    (tmp_path / "out_1.nc").unlink()
    alone = known(tmp_path)
    assert alone.settings["time_variable"] == ""
    assert "each file is one frame" in alone.reason


def test_the_time_variable_of_most_streams_is_taken_and_the_others_are_named(
    tmp_path: Path, regular: Write
):
    regular("a_1.nc", {"tas": FIELD})
    regular("b_1.nc", {"tas": FIELD})
    write_netcdf(
        tmp_path / "c_1.nc", {"t": None, "lat": 4, "lon": 5},
        {"t": (("t",), {"units": SINCE}), "tas": (("t", "lat", "lon"), {"units": "K"})},
    )  # fmt: skip
    found = known(tmp_path)
    assert set(patterns(found)) == {"a", "b"}
    assert "c_1.nc: its times are in t, not in time" in remarks(found)
    assert set(patterns(known(tmp_path, time_variable="t"))) == {"c"}


def test_a_time_variable_that_no_file_has_is_refused_with_near_names(
    tmp_path: Path, regular: Write
):
    regular("a_1.nc", {"tas": FIELD})
    with pytest.raises(AttachError, match="no file here has a variable 'tme'; did you mean time"):
        recognise(tmp_path, time_variable="tme")


def test_the_newest_file_may_be_in_the_making(tmp_path: Path, regular: Write):
    whole = regular("out_1.nc", {"tas": FIELD})
    (tmp_path / "out_2.nc").write_bytes(whole.read_bytes()[:48])
    found = known(tmp_path)
    assert patterns(found) == {"out": ("out_*.nc", 2)}
    assert found.streams[0].newest == "out_1.nc"  # the newest that can be read


def test_a_run_that_has_only_begun_its_first_file_is_waited_for(tmp_path: Path):
    touch(tmp_path, "out_1.nc", content=b"CDF\2" + bytes(4))
    assert recognise(tmp_path) is None
    os.utime(tmp_path / "out_1.nc", (1e9, 1e9))
    with pytest.raises(AttachError, match=r"no netCDF file in .* can be read: out_1\.nc"):
        recognise(tmp_path)


def test_numbers_that_touch_a_word_are_part_of_it_unless_they_count_up(
    tmp_path: Path, regular: Write
):
    for name in ("z500_2020010100", "z850_2020010100", "z500_2020010106"):
        regular(f"{name}.nc", {"zg": FIELD})
    assert [one.pattern for one in known(tmp_path).streams] == ["z500_*.nc", "z850_*.nc"]


def test_frames_in_folders_of_the_first_level_are_found(tmp_path: Path, regular: Write):
    for name in ("out/his_1.nc", "out/his_2.nc", ".hidden/x_1.nc"):
        regular(name, {"tas": FIELD})
    regular("diag/his_1.nc", {"pr": FIELD})
    (tmp_path / "loop").symlink_to("..")
    (tmp_path / "again").symlink_to("out")
    found = known(tmp_path)
    assert patterns(found) == {
        "out-his": ("out/his_*.nc", 2), "diag-his": ("diag/his_*.nc", 1),
    }  # fmt: skip


def half_written(path: Path, age_s: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    then = time.time() - age_s
    os.utime(path, (then, then))


def three_streams(folder: Path) -> None:
    sizes = {"time": None, "lat": 40, "lon": 50}
    for name in ("a_half_001.nc", "b_whole_001.nc", "c_whole_001.nc"):
        write_netcdf(folder / name, sizes, {"time": TIME, "t2m": FIELD})


def test_the_main_stream_is_one_with_a_frame_that_can_be_read(tmp_path: Path):
    three_streams(tmp_path)
    half_written(tmp_path / "a_half_001.nc", age_s=3600.0)
    assert [one.name for one in known(tmp_path).streams] == ["b_whole", "c_whole", "a_half"]


def test_a_file_in_the_making_does_not_change_the_order_of_streams(tmp_path: Path):
    three_streams(tmp_path)
    half_written(tmp_path / "a_half_001.nc", age_s=5.0)
    assert [one.name for one in known(tmp_path).streams] == ["a_half", "b_whole", "c_whole"]


def test_a_stream_whose_newest_file_alone_is_damaged_stays_the_main_one(tmp_path: Path):
    three_streams(tmp_path)
    write_netcdf(
        tmp_path / "a_half_002.nc", {"time": None, "lat": 40, "lon": 50},
        {"time": TIME, "t2m": FIELD},
    )  # fmt: skip
    half_written(tmp_path / "a_half_002.nc", age_s=3600.0)
    found = known(tmp_path)
    assert found.streams[0].name == "a_half"
    assert found.streams[0].newest == "a_half_001.nc"


def test_a_file_without_any_record_is_not_a_frame_of_the_main_stream(tmp_path: Path):
    three_streams(tmp_path)
    write_netcdf(
        tmp_path / "a_half_001.nc", {"time": None, "lat": 40, "lon": 50},
        {"time": TIME, "t2m": FIELD}, records=0,
    )  # fmt: skip
    os.utime(tmp_path / "a_half_001.nc", (1e9, 1e9))
    assert known(tmp_path).streams[-1].name == "a_half"
