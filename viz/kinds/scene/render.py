"""The process that renders scenes with VTK, off screen: stages come in, pixels go out.

VTK ends its process by a segmentation fault where it finds no OpenGL, and drivers have faults of
their own; a worker must outlive both, so this is a program by itself
(``renderer.py`` starts it). It ends when the other end of its pipe is closed, or the
worker has ended.
"""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import vtkmodules.vtkInteractionStyle
import vtkmodules.vtkRenderingOpenGL2
import vtkmodules.vtkRenderingVolumeOpenGL2  # noqa: F401
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import (
    vtkCellArray,
    vtkImageData,
    vtkPiecewiseFunction,
    vtkPolyData,
    vtkStructuredGrid,
)
from vtkmodules.vtkFiltersCore import vtkContourFilter, vtkPolyDataNormals
from vtkmodules.vtkFiltersGeometry import vtkStructuredGridGeometryFilter
from vtkmodules.vtkRenderingCore import (
    vtkActor,
    vtkColorTransferFunction,
    vtkLightKit,
    vtkPolyDataMapper,
    vtkRenderer,
    vtkRenderWindow,
    vtkVolume,
    vtkVolumeProperty,
    vtkWindowToImageFilter,
)
from vtkmodules.vtkRenderingVolume import vtkFixedPointVolumeRayCastMapper

from burstlens.core.version import answer
from burstlens.viz.kinds.scene.stage import (
    DENSEST,
    VIEW_DEGREES,
    Array,
    Body,
    Fog,
    Lines,
    Sheet,
    Shell,
    Stage,
)

_SAMPLES = 8
_LOOK_S = 2.0
_OVER = 40.0
"""How much nearer to the eye a line is than the surface it lies on, in steps of depth."""
_MISSING = "missing"


def render(window: Any, stage: Stage) -> Array:
    """The picture as (height, width, 3) bytes, the top row first."""
    scene = vtkRenderer()
    scene.SetBackground(1, 1, 1)
    lights = vtkLightKit()
    lights.SetKeyLightWarmth(0.5)
    lights.SetHeadLightWarmth(0.5)
    lights.SetFillLightWarmth(0.5)
    lights.SetKeyToHeadRatio(1.4)
    lights.AddLightsToRenderer(scene)
    for body in stage.bodies:
        if isinstance(body, Shell):
            scene.AddActor(_shell(body))
        elif isinstance(body, Fog):
            scene.AddVolume(_fog(body))
        elif isinstance(body, Sheet):
            scene.AddActor(_sheet(body))
        else:
            scene.AddActor(_lines(body))
    camera = scene.GetActiveCamera()
    camera.SetViewUp(0, 0, 1)
    camera.SetViewAngle(VIEW_DEGREES)
    camera.SetPosition(*stage.view.eye)
    camera.SetFocalPoint(*stage.view.focus)
    scene.ResetCameraClippingRange()
    clear = all(map(_is_opaque, stage.bodies))
    # Depth peeling sorts translucent bodies; it excludes multisampling: FXAA smooths the edges.
    scene.SetUseDepthPeeling(not clear)
    scene.SetUseFXAA(not clear)
    window.SetMultiSamples(_SAMPLES if clear else 0)
    window.SetAlphaBitPlanes(not clear)
    window.SetSize(stage.width, stage.height)
    window.AddRenderer(scene)
    try:
        window.Render()
        grab = vtkWindowToImageFilter()
        grab.SetInput(window)
        grab.ReadFrontBufferOff()
        grab.Update()
        pixels = vtk_to_numpy(grab.GetOutput().GetPointData().GetScalars())
    finally:
        window.RemoveRenderer(scene)
    shape = stage.height, stage.width, -1
    return np.asarray(pixels.reshape(shape)[::-1, :, :3].copy())


def _is_opaque(body: Body) -> bool:
    if isinstance(body, Shell):
        return body.opacity == 1
    return not isinstance(body, Sheet) or bool((body.colours[..., 3] == 255).all())


def _shell(body: Shell) -> Any:
    values = body.values
    missing = ~np.isfinite(values)
    grid = _grid(body.points)
    scalars = numpy_to_vtk(np.ascontiguousarray(np.where(missing, body.value - 1, values)).ravel())
    grid.GetPointData().SetScalars(scalars)
    beside = numpy_to_vtk(missing.astype(np.float32).ravel())
    beside.SetName(_MISSING)
    if missing.any():
        grid.GetPointData().AddArray(beside)
    contour = vtkContourFilter()
    contour.SetInputData(grid)
    contour.SetValue(0, body.value)
    contour.ComputeScalarsOff()
    contour.GenerateTrianglesOn()
    contour.Update()
    surface = contour.GetOutput()
    if missing.any():
        _cut(surface)
    smooth = vtkPolyDataNormals()
    smooth.SetInputData(surface)
    smooth.SplittingOff()
    smooth.Update()
    actor = _actor(smooth.GetOutput())
    look = actor.GetProperty()
    look.SetColor(*body.colour)
    look.SetOpacity(body.opacity)
    look.SetAmbient(0.22)
    look.SetDiffuse(0.85)
    look.SetSpecular(0.12)
    look.SetSpecularPower(20)
    look.SetInterpolationToPhong()
    return actor


def _cut(surface: Any) -> None:
    """Remove the triangles next to missing points: their surface is not known."""
    beside = surface.GetPointData().GetArray(_MISSING)
    if beside is None or not surface.GetNumberOfPolys():
        return
    corners = vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    kept = corners[(vtk_to_numpy(beside)[corners] == 0).all(axis=1)]
    counted = np.column_stack([np.full(len(kept), 3), kept])
    triangles = vtkCellArray()
    if len(kept):
        triangles.ImportLegacyFormat(numpy_to_vtkIdTypeArray(counted.ravel(), deep=True))
    surface.SetPolys(triangles)


def _fog(body: Fog) -> Any:
    nz, ny, nx = body.values.shape
    low, high = body.points.astype(np.float64)
    image = vtkImageData()
    image.SetDimensions(nx, ny, nz)
    image.SetOrigin(*low)
    image.SetSpacing(*((high - low) / np.maximum([nx - 1, ny - 1, nz - 1], 1)))
    image.GetPointData().SetScalars(numpy_to_vtk(body.values.ravel(), deep=True))
    # Ray casting on the CPU: this does not depend on 3-D textures of the OpenGL.
    mapper = vtkFixedPointVolumeRayCastMapper()
    mapper.SetInputData(image)
    mapper.AutoAdjustSampleDistancesOff()
    mapper.SetImageSampleDistance(1.0)
    mapper.SetSampleDistance(float(image.GetSpacing()[2]) / 2)
    dense = vtkPiecewiseFunction()
    dense.AddPoint(0, 0.0)
    dense.AddPoint(DENSEST, body.opacity)
    colour = vtkColorTransferFunction()
    colour.AddRGBPoint(0, *body.colour)
    look = vtkVolumeProperty()
    look.SetScalarOpacity(dense)
    look.SetScalarOpacityUnitDistance(body.thickness)
    look.SetColor(colour)
    look.SetInterpolationTypeToLinear()
    look.ShadeOff()  # the mapper's light turns pale haze into soot where it is thin
    volume = vtkVolume()
    volume.SetMapper(mapper)
    volume.SetProperty(look)
    return volume


def _sheet(body: Sheet) -> Any:
    grid = _grid(body.points[None])
    colours = numpy_to_vtk(np.ascontiguousarray(body.colours).reshape(-1, 4))
    grid.GetPointData().SetScalars(colours)
    surface = vtkStructuredGridGeometryFilter()
    surface.SetInputData(grid)
    surface.Update()
    actor = _actor(surface.GetOutput())
    if body.lit:
        smooth = vtkPolyDataNormals()
        smooth.SetInputConnection(surface.GetOutputPort())
        smooth.SplittingOff()
        smooth.Update()
        actor = _actor(smooth.GetOutput())
        actor.GetProperty().SetSpecular(0)
    else:
        # Colours that are read off a colour bar are not shaded.
        actor.GetProperty().LightingOff()
    actor.GetMapper().ScalarVisibilityOn()
    actor.GetMapper().SetColorModeToDirectScalars()
    return actor


def _lines(body: Lines) -> Any:
    whole = np.isfinite(body.points).all(axis=1)
    runs = np.flatnonzero(np.diff(np.concatenate([[0], whole.astype(np.int8), [0]])))
    cells: list[Array] = []
    for begin, end in zip(runs[::2], runs[1::2], strict=True):
        cells += [np.array([end - begin]), np.arange(begin, end)]
    lines = vtkCellArray()
    if cells:
        lines.ImportLegacyFormat(numpy_to_vtkIdTypeArray(np.concatenate(cells), deep=True))
    data = vtkPolyData()
    data.SetPoints(_points(np.nan_to_num(body.points)))
    data.SetLines(lines)
    actor = _actor(data)
    # Lines lie on the ground, and over it.
    mapper = actor.GetMapper()
    mapper.SetResolveCoincidentTopologyToPolygonOffset()
    mapper.SetRelativeCoincidentTopologyLineOffsetParameters(0, -_OVER)
    look = actor.GetProperty()
    look.SetColor(*body.colour)
    look.SetLineWidth(body.width)
    look.LightingOff()
    return actor


def _actor(data: Any) -> Any:
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(data)
    mapper.ScalarVisibilityOff()
    actor = vtkActor()
    actor.SetMapper(mapper)
    return actor


def _grid(points: Array) -> Any:
    nz, ny, nx, _ = points.shape
    grid = vtkStructuredGrid()
    grid.SetDimensions(nx, ny, nz)
    grid.SetPoints(_points(points.reshape(-1, 3)))
    return grid


def _points(points: Array) -> Any:
    held = vtkPoints()
    held.SetData(numpy_to_vtk(np.ascontiguousarray(points, np.float32), deep=True))
    return held


def main(descriptor: int, worker: int) -> None:
    """Answer each stage with its pixels, or with the text of the error."""
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    with Connection(descriptor) as pipe:
        while True:
            # Processes that the worker forked may hold the other end open after its death.
            while not pipe.poll(_LOOK_S):
                if os.getppid() != worker:
                    return
            try:
                stage = pipe.recv()
            except EOFError:
                return
            try:
                answer: Any = render(window, stage)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            pipe.send(answer)


if __name__ == "__main__":
    answer(__doc__)
    main(int(sys.argv[1]), int(sys.argv[2]))
