"""VTKHDF files and series, read back by VTK's own reader."""

from __future__ import annotations

import dataclasses
import errno
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.errors import StagingError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.vtk.hdf_file import Step, layout_of, write_series, write_vtkhdf
from burstlens.viz.kinds.vtk.kind import VtkKind
from burstlens.viz.kinds.vtk.options import VtkOptions, WindVector
from burstlens.viz.product import Context

vtk_hdf = pytest.importorskip("vtkmodules.vtkIOHDF")
SHAPE = (3, 4, 5)
Truth = dict[str, np.ndarray]


def truth(number: int, shape: tuple[int, int, int] = SHAPE) -> Truth:
    generator = np.random.default_rng(number)
    return {
        "Points": generator.normal(size=(*shape, 3)).astype("f4"),
        "W": generator.normal(size=shape).astype("f4"),
        "count": generator.integers(0, 9, size=shape, dtype="i4"),
        "wind": generator.normal(size=(*shape, 3)),
    }


def write(path: Path, held: Truth, **options: Any) -> Any:
    path.parent.mkdir(exist_ok=True)
    arrays = {name: values for name, values in held.items() if name != "Points"}
    fields: dict[str, float | str] = {"TimeValue": 60.0, "W units": "m s-1", "Title": "Größe"}
    return write_vtkhdf(path, held["Points"], arrays, fields=fields, **options)


def reader(path: Path) -> Any:
    made = vtk_hdf.vtkHDFReader()
    made.SetFileName(str(path))
    made.UpdateInformation()
    return made


def same(made: Any, step: int, held: Truth) -> bool:
    from vtkmodules.util.numpy_support import vtk_to_numpy

    made.SetStep(step)
    made.Update()
    data = made.GetOutputDataObject(0)
    nz, ny, nx, _ = held["Points"].shape
    assert data.GetClassName() == "vtkStructuredGrid"
    assert data.GetExtent() == (0, nx - 1, 0, ny - 1, 0, nz - 1)
    read = {"Points": data.GetPoints().GetData()}
    read |= {name: data.GetPointData().GetArray(name) for name in held if name != "Points"}
    assert all(part is not None for part in read.values())
    return all(
        np.array_equal(vtk_to_numpy(part).ravel(), held[name].ravel())
        for name, part in read.items()
    )


@pytest.mark.parametrize("compress", [False, True])
def test_a_frame_is_read_back_bit_for_bit(compress: bool, tmp_path: Path):
    held = truth(1)
    layout = write(tmp_path / "core" / "a.vtkhdf", held, compress=compress)
    made = reader(tmp_path / "core" / "a.vtkhdf")
    assert same(made, 0, held)
    assert layout["PointData/wind"] == ("<f8", (3, 4, 5, 3))
    fields = made.GetOutputDataObject(0).GetFieldData()
    assert fields.GetArray("TimeValue").GetValue(0) == 60.0
    assert fields.GetAbstractArray("W units").GetValue(0) == "m s-1"


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_series_shows_each_frame_at_its_time_from_any_folder(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    steps = []
    for n in range(count):
        name = f"core/50% of {n}.vtkhdf"
        layout = write(tmp_path / name, truth(n), compress=n == 1)
        steps.append(Step(name, 100.0 * n, layout))
    assert write_series(tmp_path / "core.vtkhdf", steps) == count
    monkeypatch.chdir("/")
    made = reader(tmp_path / "core.vtkhdf")
    assert made.GetNumberOfSteps() == count
    for n in range(count):
        assert same(made, n, truth(n))
        assert made.GetTimeValue() == (100.0 * n if count > 1 else 0.0)
    # The whole run may move: references are relative.
    (tmp_path / "elsewhere").mkdir()
    for part in ("core", "core.vtkhdf"):
        os.rename(tmp_path / part, tmp_path / "elsewhere" / part)
    assert same(reader(tmp_path / "elsewhere" / "core.vtkhdf"), count - 1, truth(count - 1))


def test_a_frame_that_is_published_anew_is_the_one_that_the_series_shows(tmp_path: Path):
    names = [f"core/{n}.vtkhdf" for n in range(3)]
    steps = [Step(n, float(i), write(tmp_path / n, truth(i))) for i, n in enumerate(names)]
    write_series(tmp_path / "core.vtkhdf", steps)
    write(tmp_path / "core" / "new", truth(9))
    os.replace(tmp_path / "core" / "new", tmp_path / names[1])
    assert same(reader(tmp_path / "core.vtkhdf"), 1, truth(9))


def test_frames_of_another_size_than_the_newest_are_left_out(tmp_path: Path):
    steps = []
    for n, shape in enumerate([(2, 2, 2), SHAPE, SHAPE]):
        layout = write(tmp_path / "core" / f"{n}.vtkhdf", truth(n, shape))
        steps.append(Step(f"core/{n}.vtkhdf", float(n), layout))
    assert write_series(tmp_path / "core.vtkhdf", steps) == 2
    made = reader(tmp_path / "core.vtkhdf")
    assert made.GetNumberOfSteps() == 2
    assert same(made, 0, truth(1))


def test_a_layout_from_json_is_as_good(tmp_path: Path):
    import json

    reloaded = json.loads(json.dumps({"layout": write(tmp_path / "core" / "0.vtkhdf", truth(0))}))
    layout = layout_of(reloaded)
    assert layout is not None
    write_series(tmp_path / "core.vtkhdf", [Step("core/0.vtkhdf", 0.0, layout)])
    assert same(reader(tmp_path / "core.vtkhdf"), 0, truth(0))


@pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
def test_a_full_disk_is_an_error_and_leaves_no_file(part: float, tmp_path: Path):
    out = tmp_path / "a.vtkhdf"
    held = truth(0, (30, 40, 50))
    write(out, held)
    size = out.stat().st_size
    out.unlink()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(part * size), hard))
    try:
        with pytest.raises(StagingError) as raised:
            write(out, held)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert raised.value.errno == errno.EFBIG
    assert list(tmp_path.iterdir()) == []


def test_a_series_that_cannot_be_written_leaves_the_one_before(tmp_path: Path):
    layout = write(tmp_path / "core" / "0.vtkhdf", truth(0))
    steps = [Step("core/0.vtkhdf", 0.0, layout)]
    write_series(tmp_path / "core.vtkhdf", steps)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    try:
        with pytest.raises(OSError, match=r".+"):
            write_series(tmp_path / "core.vtkhdf", steps * 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["core", "core.vtkhdf"]
    assert same(reader(tmp_path / "core.vtkhdf"), 0, truth(0))


def test_the_product_holds_what_the_xml_file_holds(supercell: Path, context: Context):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLStructuredGridReader

    crop = Crop(index={"west_east": (5, 30)})
    options = VtkOptions(("W", "theta"), crop, wind=WindVector(), grid="curvilinear")
    out = context.files.parent
    with open_frame([supercell]) as frame:
        xml = VtkKind().make(options, frame, out / "xml", context)
        hdf_options = dataclasses.replace(options, format="vtkhdf")
        hdf = VtkKind().make(hdf_options, frame, out / "hdf", context)
    assert hdf.extension == "vtkhdf"
    assert {k: v for k, v in hdf.facts.items() if k != "layout"} == xml.facts
    assert VtkKind().extensions(hdf_options) == ("vtkhdf",)
    old = vtkXMLStructuredGridReader()
    old.SetFileName(str(out / "xml"))
    old.Update()
    made = reader(out / "hdf")
    made.Update()
    new, old = made.GetOutputDataObject(0), old.GetOutput()
    assert np.array_equal(
        vtk_to_numpy(new.GetPoints().GetData()), vtk_to_numpy(old.GetPoints().GetData())
    )
    for name in ("W", "theta", "wind"):
        assert np.array_equal(
            vtk_to_numpy(new.GetPointData().GetArray(name)).ravel(),
            vtk_to_numpy(old.GetPointData().GetArray(name)).ravel(),
        )
