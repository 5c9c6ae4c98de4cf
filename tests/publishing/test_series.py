"""Files for ParaView: series and scripts beside the products."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from burstlens.core.run.segments import Segments
from burstlens.core.run.status_file import SegmentPart
from burstlens.viz.kinds.vtk.hdf_file import write_vtkhdf
from burstlens.workflows.publishing.series import Series

FACTS = {"shape": [4, 5, 6], "coordinates": "x, y (m)", "variables": {"W": {}, "QCLOUD": {}}}


def line(name: str, time: str, **facts: Any) -> dict[str, Any]:
    product = name.split("/")[0]
    return {"product": product, "stream": "d01", "name": name, "time": time, "facts": FACTS | facts}


def constants(script: Path) -> dict[str, Any]:
    """What a script assigns in capital letters, without running it: ParaView is needed for that."""
    tree = ast.parse(script.read_text())
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.isupper()
    }


def test_a_script_beside_the_series_opens_it(tmp_path: Path):
    series = Series(tmp_path, None)
    series.add(line("core/core_d01_1.vts", "t00000001.000"))
    series.write(force=True)
    assigned = constants(tmp_path / "core.paraview.py")
    assert (tmp_path / assigned["SERIES"]).is_file()
    assert list(assigned["VARIABLES"]) == ["W", "QCLOUD"]
    assert assigned["START"] is None


@pytest.mark.parametrize(
    ("start", "zero"),
    [("20050828T000000", "2005-08-28T00:00:00"), (None, "1970-01-01T00:00:00"),
     ("t00000000.000", "1970-01-01T00:00:00")],
)  # fmt: skip
def test_the_script_counts_from_the_time_that_the_series_counts_from(
    tmp_path: Path, start: str | None, zero: str
):
    series = Series(tmp_path, start)
    series.add(line("core/core_d01_1.vts", "20050828T120000"))
    series.write(force=True)
    assert constants(tmp_path / "core.paraview.py")["START"] == zero
    (entry,) = ElementTree.parse(tmp_path / "core.pvd").getroot().iter("DataSet")
    shown = np.datetime64(zero) + np.timedelta64(int(float(str(entry.get("timestep")))), "s")
    assert shown == np.datetime64("2005-08-28T12:00:00")


def test_the_script_is_written_once_and_what_a_person_made_of_it_stays(tmp_path: Path):
    series = Series(tmp_path, None)
    series.add(line("core/a.vts", "t00000001.000"))
    series.write(force=True)
    (tmp_path / "core.paraview.py").write_text("mine")
    series.add(line("core/b.vts", "t00000002.000"))
    series.write(force=True)
    assert (tmp_path / "core.paraview.py").read_text() == "mine"
    sets = ElementTree.parse(tmp_path / "core.pvd").getroot().iter("DataSet")
    assert [entry.get("file") for entry in sets] == ["core/a.vts", "core/b.vts"]


@pytest.mark.parametrize("extension", ["pvti", "pvtr", "pvts"])
def test_a_series_lists_the_tables_of_volumes_in_pieces(tmp_path: Path, extension: str):
    series = Series(tmp_path, None)
    series.add(line("core/a.vts", "t00000001.000"))
    series.add(line(f"core/b.{extension}", "t00000002.000"))
    series.write(force=True)
    sets = ElementTree.parse(tmp_path / "core.pvd").getroot().iter("DataSet")
    assert [entry.get("file") for entry in sets] == ["core/a.vts", f"core/b.{extension}"]


def test_files_without_facts_get_a_series_without_a_script(tmp_path: Path):
    series = Series(tmp_path, None)
    series.add({**line("p/a.vti", "t00000001.000"), "facts": None})
    series.add({**line("t2/a.png", "t00000001.000"), "facts": {}})
    series.write(force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.pvd"]


@pytest.mark.parametrize(
    "facts",
    [
        None,
        [],
        {},
        {"layout": 5},
        {"layout": {}},
        {"layout": {"Points": 3}},
        {"layout": {"Points": ["f4", [3]]}},
        {"layout": {"Points": ["no type", [1, 2, 3, 3]]}},
    ],
)
def test_a_file_of_a_users_own_program_is_not_part_of_a_series(tmp_path: Path, facts: Any):
    series = Series(tmp_path, None)
    series.add(
        {
            "product": "p",
            "stream": "",
            "name": "p/a.vtkhdf",
            "time": "t00000001.000",
            "facts": facts,
        }
    )
    series.write(force=True)
    assert list(tmp_path.iterdir()) == []


def test_vtkhdf_frames_become_one_file_in_the_order_of_their_times(tmp_path: Path):
    hdf = pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    (tmp_path / "core").mkdir()
    series = Series(tmp_path, "20050828T000000")
    points = np.random.default_rng(1).normal(size=(2, 3, 4, 3)).astype("f4")
    for hour in (2, 0, 1):  # the newest frame is made first
        name = f"core/core_d01_20050828T{hour:02d}0000.vtkhdf"
        arrays = {"W": np.full((2, 3, 4), hour, "f4")}
        layout = write_vtkhdf(tmp_path / name, points, arrays, fields={})
        series.add(line(name, f"20050828T{hour:02d}0000", layout=layout))
        series.write(force=True)
    reader = hdf.vtkHDFReader()
    reader.SetFileName(str(tmp_path / "core.vtkhdf"))
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == 3
    for step in range(3):
        reader.SetStep(step)
        reader.Update()
        values = reader.GetOutputDataObject(0).GetPointData().GetArray("W")
        assert reader.GetTimeValue() == 3600.0 * step
        assert (vtk_to_numpy(values) == step).all()
    assert constants(tmp_path / "core.paraview.py")["SERIES"] == "core.vtkhdf"
    assert not (tmp_path / "core.pvd").exists()


def test_no_more_than_once_a_second_unless_forced(tmp_path: Path):
    series = Series(tmp_path, None)
    series.add(line("core/a.vts", "t00000001.000"))
    series.write()
    series.add(line("core/b.vts", "t00000002.000"))
    series.write()
    assert "b.vts" not in (tmp_path / "core.pvd").read_text()
    series.write(force=True)
    assert "b.vts" in (tmp_path / "core.pvd").read_text()


def test_times_of_paraview_are_seconds_of_the_calendar_of_the_frames(tmp_path: Path):
    series = Series(tmp_path, None)
    days = ("0227", "0228", "0229", "0230", "0301", "0302")
    for day in days:
        series.add(line(f"core/{day}.vts", f"1991{day}T000000", calendar="360_day"))
    series.write(force=True)
    entries = ElementTree.parse(tmp_path / "core.pvd").getroot().iter("DataSet")
    steps = np.array([float(str(entry.get("timestep"))) for entry in entries])
    assert np.diff(steps).tolist() == [86400.0] * 5
    # The script cannot show such dates: it shows the seconds.
    assert constants(tmp_path / "core.paraview.py")["START"] is None


def steps_of(path: Path) -> list[float]:
    entries = ElementTree.parse(path).getroot().iter("DataSet")
    return [float(str(entry.get("timestep"))) for entry in entries]


def test_each_product_counts_in_its_own_calendar_and_a_frame_without_one_in_the_gregorian(
    tmp_path: Path,
):
    series = Series(tmp_path, "20000101T000000")
    series.add(line("core/a.vts", "20010301T000000", calendar="360_day"))
    series.add(line("other/a.vts", "20010301T000000"))
    series.add(line("core/b.vts", "20010302T000000"))
    series.write(force=True)
    days = [[step / 86400 for step in steps_of(tmp_path / f"{p}.pvd")] for p in ("core", "other")]
    assert days == [[420.0, 426.0], [425.0]]


def test_a_series_of_the_standard_calendar_goes_on_after_1582(tmp_path: Path):
    series = Series(tmp_path, "15821004T000000")
    series.add(line("core/a.vts", "15821004T000000", calendar="standard"))
    series.add(line("core/b.vts", "15821015T000000"))
    series.write(force=True)
    assert steps_of(tmp_path / "core.pvd") == [0.0, 86400.0]


SEGMENTS = Segments((SegmentPart(1, "", "t00000001.000"), SegmentPart(2, "t00000001.000")))


def of_attempt(attempt: int, second: int) -> dict[str, Any]:
    time = f"t0000000{second}.000"
    return line(f"core/core_d01_{time}.vts", time) | {"attempt": attempt}


def shown(folder: Path) -> list[str]:
    entries = ElementTree.parse(folder / "core.pvd").getroot().iter("DataSet")
    return [str(entry.get("timestep")) for entry in entries]


def test_stale_files_leave_the_series_when_another_attempt_begins(tmp_path: Path):
    segments = Segments()
    series = Series(tmp_path, None, lambda: segments)
    for second in (1, 2, 3):
        series.add(of_attempt(1, second))
    series.write(force=True)
    assert len(shown(tmp_path)) == 3
    segments = SEGMENTS
    series.write(force=True)
    assert len(shown(tmp_path)) == 1
    series.add(of_attempt(2, 3))
    series.write(force=True)
    assert [float(time) for time in shown(tmp_path)] == [1.0, 3.0]


def test_a_series_of_which_all_is_stale_stays_until_there_is_something_else(tmp_path: Path):
    segments = Segments()
    series = Series(tmp_path, None, lambda: segments)
    series.add(of_attempt(1, 2))
    series.write(force=True)
    segments = SEGMENTS
    series.write(force=True)
    assert [float(time) for time in shown(tmp_path)] == [2.0]
