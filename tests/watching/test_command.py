"""The `command` model: any program, tested with real netCDF files."""

from __future__ import annotations

import pickle

import netCDF4
import pytest
from watcher_case import launched_watcher

from burstlens.core.errors import RecipeError
from burstlens.workflows.frames.cursor import Cursor, Done, Unit
from burstlens.workflows.models.base import Model, OutputName
from burstlens.workflows.models.command import Command


def write(path, seconds, form="NETCDF4"):
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("time", None)
        variable = file.createVariable("time", "f8", ("time",))
        variable.units = "s"
        variable[:] = seconds


def test_files_in_a_sub_folder_are_ready_by_later_then_by_the_end(tmp_path, prober):
    model = Command(argv=["./model"], frames={"surface": "out/s_*.nc"})
    assert isinstance(model, Model)
    (tmp_path / "out").mkdir()
    watcher = launched_watcher(tmp_path, ".", model, "run", 1, Cursor(), prober=prober)
    for step in (8, 9, 10, 11):
        write(tmp_path / "out" / f"s_{step}.nc", [float(step)], "NETCDF3_CLASSIC")
    report = watcher.scan(elapsed_s=0.0, now=0.0, ended=False)
    # 8 and 9 have fewer digits than 10 and 11, and come before them.
    assert [(f.time, f.signal) for f in report.frames] == [
        ("t00000008.000", "later"),
        ("t00000009.000", "later"),
        ("t00000010.000", "later"),
    ]
    assert report.frames[0].paths == ("out/s_8.nc",)
    report = watcher.scan(elapsed_s=0.1, now=0.0, ended=True)
    assert [(f.time, f.signal) for f in report.frames] == [("t00000011.000", "ended")]
    assert report.ended


def test_a_growing_file_gives_one_frame_per_record(tmp_path, prober):
    model = Command(argv=["./model"], frames="out.nc")
    watcher = launched_watcher(tmp_path, ".", model, "run", 1, Cursor(), prober=prober)
    seen = []
    for count in (1, 2, 3):
        write(tmp_path / "out.nc", [0.5 * i for i in range(count)])
        for elapsed_s in (0.1, 0.3, 0.3):
            seen += watcher.scan(elapsed_s=elapsed_s, now=0.0, ended=False).frames
    assert [(frame.record, frame.time) for frame in seen] == [
        (0, "t00000000.000"),
        (1, "t00000000.500"),
        (2, "t00000001.000"),
    ]


def test_a_line_of_the_programs_log_makes_a_frame_ready(tmp_path, prober):
    model = Command(
        argv=["./model"],
        frames="s_*.nc",
        written=r"^wrote (?P<file>\S+)",
        done="^bye$",
        progress=r"t=(?P<elapsed>\S+) of (?P<total>\S+)",
        trouble="NaN",
    )
    write(tmp_path / "s_1.nc", [1.0], "NETCDF3_64BIT_DATA")
    watcher = launched_watcher(tmp_path, ".", model, "run", 1, Cursor(), prober=prober)
    assert not watcher.scan(elapsed_s=0.0, now=0.0, ended=False).frames
    (tmp_path / "model.log").write_text("t=1.5 of 3.0\nwrote s_1.nc\nNaN in vx\n")
    report = watcher.scan(elapsed_s=0.1, now=0.0, ended=False)
    assert [frame.signal for frame in report.frames] == ["log"]
    assert report.progress.fraction == 0.5
    assert report.trouble == ("NaN in vx",)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"argv": []}, "simulation.command"),
        ({"argv": ["x"], "frames": "/abs/*.nc"}, "must be relative"),
        ({"argv": ["x"], "frames": {"s": "*/a.nc"}}, "simulation.frames.s"),
        ({"argv": ["x"], "progress": "("}, "not a valid regular expression"),
        ({"argv": ["x"], "written": "wrote"}, "lacks the group"),
    ],
)
def test_an_invalid_key_gives_one_clear_message(keys, message):
    with pytest.raises(RecipeError, match=message):
        Command(**keys)


def test_a_missing_program_is_named(tmp_path):
    (tmp_path / "model.py").write_text("")
    assert "near: model.py" in Command(argv=["./modl.py"]).lacks(tmp_path)[0].text
    assert "on the path" in Command(argv=["no-such-program"], frames="a").check(tmp_path)[0]
    assert Command(argv=["sh"], frames="*.nc").check(tmp_path) == []


def test_the_cursor_stays_small_over_ten_thousand_frames():
    cursor = Cursor()
    for index in range(10_000):
        name = f"wrfout_{index:06d}.nc"
        cursor = cursor.finishing(Unit.of(name, OutputName("d01")))
    assert len(pickle.dumps(cursor)) < 4000
    assert cursor.is_done(Unit("d01", "wrfout_000000.nc"))
    assert cursor.is_done(Unit("d01", "wrfout_009999.nc"))
    assert not cursor.is_done(Unit("d01", "wrfout_010000.nc"))


def test_a_frame_that_comes_a_little_out_of_order_is_not_counted_as_done():
    done = Done()
    for name in ("a_1", "a_2", "a_4", "a_5"):
        done = done.adding(name)
    assert "a_3" not in done
    assert "a_4" in done


@pytest.mark.parametrize(
    ("first", "missing"),
    [
        (b"#!/no/such/bash -e\n", "/no/such/bash"),
        (b"#! /no/such/bash\r\n", "/no/such/bash"),
        (b"#!/bin/sh\n", ""),
        (b"#!\n", ""),
        (b"\x7fELF\x02", ""),
    ],
)
def test_a_script_whose_interpreter_is_missing_is_reported_before_it_starts(
    tmp_path, first, missing
):
    program = tmp_path / "model.sh"
    program.write_bytes(first)
    program.chmod(0o755)
    said = f"the first line of {program} names {missing}, which is missing here"
    found = Command(argv=["./model.sh"], frames="*.nc").check(tmp_path)
    assert found == ([said] if missing else [])
