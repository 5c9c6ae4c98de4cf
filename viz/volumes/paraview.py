"""A script that shows a series in ParaView: opened, coloured, turned to be seen, at its last time.

Functions are those of ParaView's documentation (5.11 and later) and source; the properties of the
camera, ``Scale`` and the presets were found in scripts for it only. Never run in ParaView here.
Importable on a login node.
"""

from __future__ import annotations

from collections.abc import Sequence

_SCRIPT = '''\
"""Shows a product of a run in ParaView: `paraview --script=` this file.

It begins at the newest frame. While the run goes on, File > Reload Files brings later ones.
"""

import os

from paraview.simple import (
    AnnotateTimeFilter,
    ColorBy,
    Contour,
    GetActiveViewOrCreate,
    GetAnimationScene,
    GetColorTransferFunction,
    OpenDataFile,
    Render,
    RenameSource,
    ResetCamera,
    SetActiveSource,
    Show,
)

SERIES = {series!r}
VARIABLES = {variables!r}
DEEP = {deep!r}
SPHERE = {sphere!r}
COLOURS = {colours!r}

folder = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else os.getcwd()
reader = OpenDataFile(os.path.join(folder, SERIES))
if reader is None:
    raise RuntimeError("ParaView cannot open " + SERIES + " in " + folder)
RenameSource(SERIES, reader)
view = GetActiveViewOrCreate("RenderView")
scene = GetAnimationScene()
scene.UpdateAnimationUsingDataTimeSteps()
scene.GoToLast()
reader.UpdatePipeline(scene.AnimationTime)

# A domain is many times as wide as it is high: stretched until it can be seen, on the screen only.
left, right, south, north, bottom, top = reader.GetDataInformation().GetBounds()
wide, tall = max(right - left, north - south), top - bottom
stretch = 1.0
if not SPHERE and tall > 0 and not 0.1 < tall / wide < 2:
    stretch = 0.3 * wide / tall

name = VARIABLES[0]
shown = reader
# Contour takes no vectors: a wind alone is coloured by its speed, from the outside.
surface = DEEP and reader.PointData[name].GetNumberOfComponents() == 1
if surface:
    frame = Show(reader, view)
    frame.SetRepresentationType("Outline")
    frame.Scale = [1.0, 1.0, stretch]
    low, high = reader.PointData[name].GetRange(0)
    shown = Contour(Input=reader)
    shown.ContourBy = ["POINTS", name]
    # Half-way to the largest value: an updraft of W, the core of a cloud.
    shown.Isosurfaces = [high / 2 if low < 0 < high else (low + high) / 2]
display = Show(shown, view)
display.SetRepresentationType("Surface")
display.Scale = [1.0, 1.0, stretch]
coloured = VARIABLES[1] if surface and len(VARIABLES) > 1 else name
ColorBy(display, ("POINTS", coloured))
display.RescaleTransferFunctionToDataRange(False, True)
for preset in COLOURS:
    try:
        if GetColorTransferFunction(coloured).ApplyPreset(preset, True):
            break
    except RuntimeError:
        pass  # no preset of that name in this version
display.SetScalarBarVisibility(view, True)
Show(AnnotateTimeFilter(Input=reader), view)

# From the south, somewhat to the left and from above; on the sphere from outside.
middle = [(left + right) / 2, (south + north) / 2, stretch * (bottom + top) / 2]
toward = middle if SPHERE else [-0.4 * wide, -wide, 0.6 * wide]
view.CameraFocalPoint = middle
view.CameraPosition = [at + way for at, way in zip(middle, toward)]
view.CameraViewUp = [0.0, 0.0, 1.0]
ResetCamera(view)
SetActiveSource(reader)
Render(view)
'''
_COLOURS = ("Viridis (matplotlib)", "Viridis")
"""A preset that is perceptually even, by the names that it has in scripts for ParaView 5 and 6."""


def paraview_script(series: str, variables: Sequence[str], *, deep: bool, sphere: bool) -> str:
    """The text of a script that stands beside ``series``.

    An isosurface of the first of ``variables`` in the colours of the second where the grid is
    ``deep``, else the first on its surface. ``sphere``: coordinates are earth-centred.
    """
    return _SCRIPT.format(
        series=series, variables=list(variables), deep=deep, sphere=sphere, colours=_COLOURS
    )
