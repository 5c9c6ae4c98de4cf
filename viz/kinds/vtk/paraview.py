"""A script that opens a series in ParaView: at its latest time, coloured, in a fitting view.

Run in ParaView 5.11; of later versions only the documentation was read. Importable on a login node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burstlens.core import valid_time
from burstlens.core.lengths import metres
from burstlens.viz.drawing import style

_OLDEST = (5, 11)
_OLDEST_OF_HDF = (6, 2)
"""The first ParaView whose VTK (9.7) reads structured grids in VTKHDF."""
_HEAD = '''\
"""Shows a product of a run in ParaView: `paraview --script=` this file.

It begins at the newest frame. While the run goes on, File > Reload Files brings later ones.
`pvbatch` this file, with the name of a picture, saves that and ends.
"""

SERIES = {series!r}
NEEDS = {needs!r}
START = {start!r}
TIMES = {times!r}
VARIABLES = {variables!r}
DEEP = {deep!r}
SPHERE = {sphere!r}
AXES = {axes!r}
EXAGGERATION = {exaggeration!r}
'''
_BODY = '''
import math
import os
import sys


def refuse(line):
    """End with one line. sys.exit would end ParaView's window, and show nothing."""
    sys.tracebacklimit = 0
    raise RuntimeError(line) from None


try:
    from paraview.servermanager import vtkSMProxyManager
except ImportError:
    refuse("this is a script for ParaView: run it by paraview --script= or by pvbatch.")
version = vtkSMProxyManager.GetVersionMajor(), vtkSMProxyManager.GetVersionMinor()
if version < NEEDS:
    refuse(
        SERIES + " needs ParaView %d.%d or later, and this is %d.%d" % (*NEEDS, *version)
        + (': with format = "xml", ParaView 5.11 opens the .pvd.' if NEEDS > (6, 0) else ".")
    )

import numpy as np
from paraview.simple import (
    ColorBy,
    Contour,
    GetActiveViewOrCreate,
    GetAnimationScene,
    GetColorTransferFunction,
    GetScalarBar,
    LoadPalette,
    OpenDataFile,
    PythonAnnotation,
    Render,
    RenameSource,
    SaveScreenshot,
    SetActiveSource,
    Show,
    Text,
)

picture = sys.argv[1] if "__file__" in globals() and len(sys.argv) > 1 else None
folder = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else os.getcwd()
if not os.path.exists(os.path.join(folder, SERIES)):
    refuse(SERIES + " is missing in " + folder + ": this script stands beside it.")
reader = OpenDataFile(os.path.join(folder, SERIES))
RenameSource(SERIES, reader)
LoadPalette("WhiteBackground")
view = GetActiveViewOrCreate("RenderView")
view.OrientationAxesVisibility = 0
Render(view)  # the first one places the camera by itself
scene = GetAnimationScene()
scene.UpdateAnimationUsingDataTimeSteps()
scene.GoToLast()
reader.UpdatePipeline(scene.AnimationTime)


def is_vector(name):
    return reader.PointData[name].GetNumberOfComponents() > 1


def extent(name):
    """The range in the newest frame; that of a vector's length."""
    return reader.PointData[name].GetRange(-1 if is_vector(name) else 0)


def signed(name):
    low, high = extent(name)
    return VARIABLES[name]["signed"] and low < 0 < high


def surfaces(name):
    """A quarter of the extremes on both sides of zero: updraft and downdraft of W; else a quarter
    of the range: a cloud. A side that hardly differs from zero has none."""

    def quarter(begin, end):
        step = 10.0 ** math.floor(math.log10(abs(end - begin) / 4))
        return round((begin + (end - begin) / 4) / step) * step

    low, high = extent(name)
    if signed(name):
        return [quarter(0, end) for end in (low, high) if abs(end) > 0.1 * max(-low, high)]
    return [quarter(low, high)] if high > low else []


def paint(display, name, limits=None):
    """Colours between limits, else of all values; of a signed field with zero in the middle."""
    ColorBy(display, ("POINTS", name, "Magnitude") if is_vector(name) else ("POINTS", name))
    table = GetColorTransferFunction(name)
    for preset in (("Cool to Warm",) if signed(name) else ("Viridis (matplotlib)", "Viridis")):
        try:
            if table.ApplyPreset(preset, True):
                break
        except RuntimeError:
            pass  # no preset of that name in this version
    low, high = limits or extent(name)
    if not low < high:
        low, high = low - (abs(low) / 100 or 1), high + (abs(high) / 100 or 1)
    most = max(-low, high)
    table.RescaleTransferFunction(*((-most, most) if signed(name) else (low, high)))
    # A later time must not move zero out of the middle.
    table.AutomaticRescaleRangeMode = "Never"
    display.SetScalarBarVisibility(view, True)
    bar = GetScalarBar(table, view)
    units = VARIABLES[name]["units"]
    bar.Title = VARIABLES[name]["words"] + (" (" + units + ")" if units else "")
    bar.ComponentTitle = ""
    bar.AutoOrient = 0
    bar.Orientation = "Vertical"
    bar.WindowLocation = "Any Location"
    bar.Position = [0.9, 0.2]
    bar.ScalarBarLength = 0.6
    bar.AddRangeLabels = 0
    bar.TitleFontSize = bar.LabelFontSize = 16


def ticks(low, high, count):
    """Round values from low to high, at most so many steps."""
    if not low < high:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / count))
    step = next(n * power for n in (1, 2, 5, 10) if n * power * count >= high - low)
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def write(source, place, size):
    text = Show(source, view)
    text.WindowLocation = place
    text.FontSize = size


# A domain is many times as wide as it is high: stretched until it can be seen, on the screen only.
left, right, south, north, bottom, top = reader.GetDataInformation().GetBounds()
wide, tall = max(right - left, north - south), top - bottom
stretch = 1.0
if not SPHERE and tall > 0 and not 0.1 < tall / wide < 2:
    steps = [n * 10**power for power in range(-6, 7) for n in (1, 1.5, 2, 3, 5, 7)]
    stretch = max(step for step in steps if step <= 0.3 * wide / tall)

name = next(iter(VARIABLES))
shown, coloured, words = reader, name, []
levels = surfaces(name) if DEEP and not is_vector(name) else []
if levels:
    frame = Show(reader, view)
    frame.SetRepresentationType("Outline")
    frame.Scale = [1.0, 1.0, stretch]
    shown = Contour(Input=reader)
    shown.ContourBy = ["POINTS", name]
    shown.Isosurfaces = levels
    values = " and ".join("%g" % level for level in levels).replace("-", "\\u2212")
    words.append((VARIABLES[name]["words"] + " " + values + " " + VARIABLES[name]["units"]).strip())
    # The two sides of a signed field differ by its own colours.
    if not signed(name):
        coloured = list(VARIABLES)[:2][-1]
display = Show(shown, view)
display.SetRepresentationType("Surface")
display.Scale = [1.0, 1.0, stretch]
display.Ambient = 0.2
# Surfaces of two values are as far apart in colour as can be.
paint(display, coloured, (min(levels), max(levels)) if len(levels) == 2 else None)
if stretch * EXAGGERATION != 1 and all(title.endswith("(km)") for title, unit in AXES):
    words.append("heights \\u00d7 %g" % (stretch * EXAGGERATION))
caption = Text()
caption.Text = "   ".join(words)
write(caption, "Lower Left Corner", 18)
clock = PythonAnnotation(Input=reader)
clock.ArrayAssociation = "Field Data"
clock.Expression = (
    "'number %.12g' % time_value" if not TIMES
    else "'t = %.12g s' % time_value" if START is None
    # numpy's time, as its years begin before 1677 when it counts seconds.
    else "'valid ' + str(np.datetime64('" + START + "', 'ms') + int(round(1000 * time_value)))"
    ".replace('T', ' ').replace('.000', '') + ' UTC'"
)
write(clock, "Upper Left Corner", 20)

if AXES:
    grid = view.AxesGrid
    grid.Visibility = 1
    grid.AxesToLabel = 7  # one edge for each axis
    grid.XTitle, grid.YTitle, grid.ZTitle = (title for title, unit in AXES)
    grid.DataScale = [AXES[0][1], AXES[1][1], AXES[2][1] * EXAGGERATION * stretch]
    # Labels of its own: ParaView 5.11 makes any number of them for an axis seen from its end.
    grid.XAxisUseCustomLabels = grid.YAxisUseCustomLabels = grid.ZAxisUseCustomLabels = 1
    grid.XAxisLabels = ticks(left / AXES[0][1], right / AXES[0][1], 6)
    grid.YAxisLabels = ticks(south / AXES[1][1], north / AXES[1][1], 6)
    high = AXES[2][1] * EXAGGERATION
    grid.ZAxisLabels = ticks(bottom / high, top / high, 4)

# From the south, somewhat to the left and from above; on the sphere from outside. As near as the
# box fits between the words and the colour bar: `low` and `high` are parts of half the picture.
if picture:
    view.ViewSize = [1200, 750]
corners = np.array(
    [[x, y, z * stretch] for x in (left, right) for y in (south, north) for z in (bottom, top)]
)
middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
into = -middle if SPHERE else np.array([0.4, 1.0, -0.6])
into = into / np.linalg.norm(into)
upward = np.array([0.0, 0.0, 1.0] if abs(into[2]) < 0.99 else [0.0, 1.0, 0.0])
aside = np.cross(into, upward)
aside /= np.linalg.norm(aside)
slope = math.tan(math.radians(view.CameraViewAngle / 2))
aspect = view.ViewSize[0] / view.ViewSize[1]
depth = (corners - middle) @ into
sides, away = [], 0.0
for direction, reach, low, high in (
    (aside, slope * aspect, -0.82, 0.6), (np.cross(aside, into), slope, -0.75, 0.8)
):
    along = (corners - middle) @ direction
    least = (along - high * reach * depth).max()
    most = (along - low * reach * depth).min()
    away = max(away, (least - most) / ((high - low) * reach))
    sides.append((direction, (least + most) / 2, (low + high) * reach / 2))
focus = middle + sum(direction * (place - off * away) for direction, place, off in sides)
view.CameraFocalPoint = list(focus)
view.CameraPosition = list(focus - into * away)
view.CameraViewUp = list(upward)
view.CenterOfRotation = list(middle)
SetActiveSource(reader)
Render(view)
if picture:
    SaveScreenshot(picture, view, ImageResolution=view.ViewSize)
'''


def paraview_script(
    series: str, facts: Mapping[str, Any], start: str | None, *, has_times: bool = True
) -> str | None:
    """The text of a script that stands beside ``series``; None where its variables are unknown.

    ``facts`` are those of a frame (:meth:`burstlens.viz.kinds.vtk.read.Volume.facts`; a user's own
    program may have any). Isosurfaces of its first variable where there are levels, else that
    variable on its surface. ``start`` is the calendar key that ParaView's times count from, None
    where they are elapsed ones. Without ``has_times`` they are the numbers of files.
    """
    variables, shape = facts.get("variables"), facts.get("shape")
    if not isinstance(variables, Mapping) or not variables:
        return None
    exaggeration = facts.get("exaggeration")
    return _HEAD.format(
        series=series,
        needs=_OLDEST_OF_HDF if series.endswith(".vtkhdf") else _OLDEST,
        # A date of another calendar cannot be counted there: the seconds are shown.
        start=None if start is None or facts.get("calendar") else valid_time.iso(start),
        times=has_times,
        variables={str(name): _quantity(str(name), known) for name, known in variables.items()},
        deep=isinstance(shape, list) and len(shape) == 3 and shape[0] > 1,
        sphere="centre of the earth" in str(facts.get("coordinates", "")),
        axes=_axes(facts.get("axes")),
        exaggeration=exaggeration if isinstance(exaggeration, float) else 1.0,
    ) + _BODY  # fmt: skip


def _quantity(name: str, facts: object) -> dict[str, Any]:
    # VTK's own fonts have no raised minus: units stay as the file has them.
    """A variable in words, its units, and whether zero is its middle."""
    known = facts if isinstance(facts, Mapping) else {}
    long_name, units = str(known.get("long_name", "")), str(known.get("units", ""))
    return {
        "words": style.words(name, long_name) or name,
        "units": units,
        "signed": style.is_signed(units, long_name, -1, 1),
    }


def _axes(found: object) -> list[tuple[str, float]]:
    """Each axis' title, and how many of the coordinates' units make one of its own."""
    try:
        named = [(str(name), str(units)) for name, units in found]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return []
    if len(named) != 3:
        return []
    lengths = [metres(units) for _, units in named]
    return [
        (f"{name} ({units})" if units else name, 1) if length is None
        else (f"{name} (km)", int(1000 / length) if (1000 / length).is_integer() else 1000 / length)
        for (name, units), length in zip(named, lengths, strict=True)
    ]  # fmt: skip
