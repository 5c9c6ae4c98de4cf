"""What the tests of volumes in pieces share: making them, and reading them back by VTK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.vtk import hdf_file as hdf_file  # h5py starts a process at its import
from burstlens.viz.kinds.vtk.kind import VtkKind
from burstlens.viz.kinds.vtk.options import VtkOptions, WindVector
from burstlens.viz.product import Context, Made

KIND = VtkKind()


def read_back(out: Path) -> Any:
    """The data set as VTK's own reader gives it."""
    if out.suffix == ".vtkhdf":
        vtk_hdf = pytest.importorskip("vtkmodules.vtkIOHDF")
        reader = vtk_hdf.vtkHDFReader()
    else:
        from vtkmodules.vtkIOXML import vtkXMLGenericDataObjectReader

        reader = vtkXMLGenericDataObjectReader()
    reader.SetFileName(str(out))
    reader.Update()
    assert reader.GetErrorCode() == 0
    return reader.GetOutputDataObject(0)


def everything(data: Any) -> dict[str, Any]:
    """Kind, extent, coordinates, arrays and field data of a data set, bit for bit."""
    from vtkmodules.util.numpy_support import vtk_to_numpy

    held: dict[str, Any] = {"kind": data.GetClassName(), "extent": data.GetExtent()}
    if held["kind"] == "vtkImageData":
        held |= {"origin": data.GetOrigin(), "spacing": data.GetSpacing()}
        coordinates = []
    elif held["kind"] == "vtkRectilinearGrid":
        coordinates = [data.GetXCoordinates(), data.GetYCoordinates(), data.GetZCoordinates()]
    else:
        coordinates = [data.GetPoints().GetData()]
    for n, part in enumerate(coordinates):
        values = vtk_to_numpy(part)
        held[f"coordinate {n}"] = (values.dtype, values.shape, values.tobytes())
    for n in range(data.GetPointData().GetNumberOfArrays()):
        part = data.GetPointData().GetArray(n)
        values = vtk_to_numpy(part)
        held[part.GetName()] = (values.dtype, values.shape, values.tobytes())
    for n in range(data.GetFieldData().GetNumberOfArrays()):
        part = data.GetFieldData().GetAbstractArray(n)
        held[f"field {part.GetName()}"] = part.GetValue(0)
    return held


def make_pieces(
    options: VtkOptions, paths: list[Path], context: Context, folder: Path, count: int
) -> tuple[list[Made], list[str]]:
    """The pieces in the folder, each from the frame opened anew."""
    folder.mkdir(exist_ok=True)
    made, names = [], []
    for number in range(count):
        with open_frame(paths, stream=context.stream) as frame:
            out = folder / f"out{number}"
            one = KIND.make_piece(options, frame, out, context, number, count)
        # Through JSON, as the journal keeps the facts.
        made.append(Made(one.extension, json.loads(json.dumps(one.facts, allow_nan=False))))
        names.append(f"core.{number}.{one.extension}")
        out.rename(folder / names[-1])
    return made, names


def both(
    options: VtkOptions, path: Path | list[Path], context: Context, tmp_path: Path, count: int
) -> tuple[tuple[Any, Made], tuple[Any, Made]]:
    """The volume in one file and as the table of its pieces: what VTK reads, and the facts."""
    paths = path if isinstance(path, list) else [path]
    folder = tmp_path / "pieces"
    made, names = make_pieces(options, paths, context, folder, count)
    joined = KIND.join(options, made, folder / "table", context, names)
    assert joined.extension in KIND.extensions(options)
    table = (folder / "table").rename(folder / f"core.{joined.extension}")
    with open_frame(paths, stream=context.stream) as frame:
        whole = KIND.make(options, frame, tmp_path / "whole", context)
    one = (tmp_path / "whole").rename(tmp_path / f"whole.{whole.extension}")
    return (everything(read_back(one)), whole), (everything(read_back(table)), joined)


def same(one: tuple[Any, Made], table: tuple[Any, Made]) -> None:
    assert table[0].keys() == one[0].keys()
    assert [key for key in one[0] if table[0][key] != one[0][key]] == []
    assert table[1].facts == one[1].facts


HALF = Crop(index={"west_east": (4, 30), "bottom_top": (2, 20)}, stride={"south_north": 3})
WRF = {
    "terrain": VtkOptions(("T", "QVAPOR")),
    "staggered": VtkOptions(("U", "V", "W")),
    "crop and stride": VtkOptions(("U", "V", "W", "vorticity"), HALF),
    "derived": VtkOptions(("vorticity", "temperature", "reflectivity", "U + V [m s-1]")),
    "wind": VtkOptions(("T",), wind=WindVector(), exaggeration=3, units={"T": "degC"}),
    "soil": VtkOptions(("TSLB",)),
    "section": VtkOptions(("U", "W"), Crop(index={"south_north": 7})),
    "wind alone": VtkOptions(wind=WindVector()),
}
