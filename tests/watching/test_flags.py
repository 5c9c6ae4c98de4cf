"""Flag files that the recipe expects (`ready`): without its flag no quiet makes a frame ready."""

from __future__ import annotations

import netCDF4
import pytest
from watcher_case import look

from burstlens.core.errors import RecipeError
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.wrf import Wrf

UFS = Command(
    argv=["./ufs"], frames={"atm": "atmf{hour}.nc", "sfc": "sfcf{hour}.nc"},
    ready="log.atm.f{hour}",
)  # fmt: skip


def write(path, hour, form="NETCDF4", size=1):
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("time", size)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "hours since 2024-01-01"
        time[:] = hour


def drawn(report):
    return [(frame.stream, frame.time[6:11], frame.signal) for frame in report.frames]


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
def test_a_frame_waits_for_its_flag_however_long_it_is_quiet(tmp_path, watcher, form):
    one = watcher(model=UFS)
    write(tmp_path / "atmf000.nc", 0, form)
    write(tmp_path / "sfcf000.nc", 0, form)
    assert [look(one, elapsed).frames for elapsed in (0.1, 1.0, 60.0, 600.0)] == [()] * 4
    (tmp_path / "log.atm.f003").touch()  # of another hour
    assert look(one, 1.0).frames == ()
    (tmp_path / "log.atm.f000").write_text("completed: fcst\n")
    assert drawn(look(one, 0.1)) == [("atm", "01T00", "flag"), ("sfc", "01T00", "flag")]


def test_a_flag_counts_only_while_the_file_is_quiet(tmp_path, watcher):
    one = watcher(model=UFS)
    write(tmp_path / "atmf000.nc", 0)
    (tmp_path / "log.atm.f000").touch()
    assert look(one, 0.1).frames == ()
    write(tmp_path / "atmf000.nc", 0, size=1)
    assert look(one, 0.4).frames == ()
    assert drawn(look(one, 0.6)) == [("atm", "01T00", "flag")]


def test_a_later_frame_counts_without_a_flag_and_the_end_does_too(tmp_path, watcher):
    one = watcher(model=UFS)
    write(tmp_path / "atmf000.nc", 0)
    write(tmp_path / "atmf003.nc", 3)
    assert drawn(look(one, 0.1)) == [("atm", "01T00", "later")]
    assert look(one, 100.0).frames == ()
    assert drawn(look(one, 0.1, ended=True)) == [("atm", "01T03", "ended")]


def test_a_flag_of_an_earlier_run_counts_from_the_moment_it_changes(tmp_path, watcher):
    flag = tmp_path / "log.atm.f000"
    flag.write_text("old")
    one = watcher(model=UFS, baseline={flag.name: (3, flag.stat().st_mtime_ns)})
    write(tmp_path / "atmf000.nc", 0)
    assert [look(one, 1.0).frames for _ in range(3)] == [()] * 3
    flag.write_text("completed")
    assert drawn(look(one, 1.0)) == [("atm", "01T00", "flag")]


def test_flags_may_lie_in_a_folder_of_their_own(tmp_path, watcher):
    model = Command(argv=["x"], frames="out/{date}_{time}.nc", ready="done/{date}.{time}")
    assert model.flag_of("out/20240101_06.nc") == "done/20240101.06"
    (tmp_path / "out").mkdir()
    one = watcher(model=model)
    write(tmp_path / "out" / "20240101_06.nc", 6)
    assert look(one, 1.0).frames == ()
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "20240101.06").touch()
    assert [frame.signal for frame in look(one, 1.0).frames] == ["flag"]


def test_only_streams_with_a_flag_wait_for_one(tmp_path, watcher):
    frames = {"atm": "atmf{hour}.nc", "sfc": "sfc_*.nc"}
    model = Command(argv=["x"], frames=frames, ready={"atm": "log.f{hour}"})
    assert (model.flag_of("sfc_1.nc"), model.flag_of("notes.txt")) == (None, None)
    one = watcher(model=model)
    write(tmp_path / "atmf000.nc", 0)
    write(tmp_path / "sfc_1.nc", 0)
    look(one, 0.1)
    assert drawn(look(one, 1.0)) == [("sfc", "01T00", "quiet")]


def test_wrfs_flags_are_not_awaited():
    assert Wrf().flag_of("wrfout_d01_2005-08-28_12:00:00") is None


def test_flags_among_the_inputs_are_left_behind_and_written_names_include_them(tmp_path):
    assert UFS.is_leftover("log.atm.f006")
    assert not UFS.is_leftover("log.atm.f006.txt/x")
    assert UFS.output_names(tmp_path).written == (
        "atmf*.nc", "sfcf*.nc", "log.atm.f*", "log.atm.f*"
    )  # fmt: skip


def test_the_text_in_braces_is_of_letters_digits_and_a_few_signs():
    identified = [UFS.identify(f"atmf{text}.nc") for text in ("006", "00-30.5_b", "", "a b", "é")]
    assert [output is not None for output in identified] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("frames", "ready", "message"),
    [
        ("atmf{hour}.nc", "log.f*", "simulation.ready.output: 'log.f*' must name one file for"),
        ("atmf{hour}.nc", "log.f{hor}", "{hor} of 'log.f{hor}' is not in frames, 'atmf{hour}.nc'"),
        ("atmf*.nc", "done", "'done' names one file for all frames"),
        ("atmf{hour}.nc", "atmf{hour}.nc", "'atmf{hour}.nc' would be taken for a frame"),
        ("atmf{hour}.nc", "log.{ho ur}", "simulation.ready: 'log.{ho ur}': braces must hold a"),
        ("atmf{hour}.nc", "/log.{hour}", "simulation.ready: '/log.{hour}' must be relative"),
        ({"atm": "a{h}.nc"}, {"amt": "l{h}"}, "frames names no stream 'amt'; did you mean atm?"),
        ({"atm": "a{h}.nc"}, {"atm": "{x"}, "simulation.ready.atm: '{x': braces must hold"),
        ({"atm": "{h}/a.nc"}, {}, "simulation.frames.atm: '{h}/a.nc' must be relative, with its"),
    ],
)
def test_an_invalid_pattern_gives_one_clear_message(frames, ready, message):
    with pytest.raises(RecipeError) as caught:
        Command(argv=["x"], frames=frames, ready=ready)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_flag_of_a_single_file_needs_no_braces():
    assert Command(argv=["x"], frames="out.nc", ready="done").flag_of("out.nc") == "done"
