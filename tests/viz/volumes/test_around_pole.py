"""VTK files of grids around a pole: on a plane or on the sphere, without torn cells."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from model_grids import GRIDS, ModelGrid
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLStructuredGridReader

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.kinds.vtk.kind import VtkKind
from burstlens.viz.kinds.vtk.options import VtkOptions, WindVector
from burstlens.viz.product import Context


def eastward(grid: ModelGrid) -> ModelGrid:
    """The grid with a wind of 3 m/s towards the east on the same points."""
    winds = {name: np.full(grid.lon.shape, speed) for name, speed in
             (("ua", 3.0), ("va", 0.0), ("wa", 0.0))}  # fmt: skip
    about = {"units": "m s-1", "coordinates": "TLON TLAT"}
    further = {name: (grid.dimensions, values, about) for name, values in winds.items()}
    return dataclasses.replace(grid, further=further)


def around_a_pole(kind: str, context: Context, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Points and winds (y, x, 3) of a volume of such a grid."""
    grid = eastward(GRIDS[kind]())
    grid.write(path / "grid.nc", grid.lat)
    wind = WindVector("ua", "va", "wa", relative_to="earth")
    out = path / "grid.vts"
    with open_frame([path / "grid.nc"], stream=context.stream) as frame:
        VtkKind().make(VtkOptions(("tas",), wind=wind), frame, out, context)
    reader = vtkXMLStructuredGridReader()
    reader.SetFileName(str(out))
    reader.Update()
    data = reader.GetOutput()
    found = data.GetPoints().GetData(), data.GetPointData().GetArray("wind")
    at, blown = (vtk_to_numpy(one).reshape(*grid.lon.shape, 3) for one in found)
    return at, blown


@pytest.mark.parametrize("kind", ["EASE", "EASE, south, its first row at the top"])
def test_a_grid_around_a_pole_lies_on_its_plane(kind: str, context: Context, tmp_path: Path):
    at, wind = around_a_pole(kind, context, tmp_path)
    steps = [np.linalg.norm(np.diff(at, axis=axis), axis=-1) for axis in (0, 1)]
    assert max(step.max() for step in steps) < 2 * min(step.min() for step in steps)
    assert (at[..., 2] == 0).all()
    assert np.linalg.norm(wind, axis=-1) == pytest.approx(3.0)
    outwards = at / np.linalg.norm(at, axis=-1, keepdims=True)
    assert (wind * outwards).sum(axis=-1) == pytest.approx(0.0, abs=1e-3)
    # Seen from above the north pole eastward is anticlockwise, from below the south pole clockwise.
    side = 1 if kind == "EASE" else -1
    turning = at[..., 0] * wind[..., 1] - at[..., 1] * wind[..., 0]
    assert (side * turning > 0).all()


def test_a_grid_whose_cells_degrees_would_tear_lies_on_the_sphere(context: Context, tmp_path: Path):
    at, wind = around_a_pole("displaced pole", context, tmp_path)
    assert np.linalg.norm(at, axis=-1) == pytest.approx(6.37e6, rel=1e-6)
    assert np.linalg.norm(np.diff(at, axis=1), axis=-1).max() < 6e5
    assert (at * wind).sum(axis=-1) == pytest.approx(0.0, abs=60.0)
    assert np.linalg.norm(wind, axis=-1) == pytest.approx(3.0, rel=1e-5)
