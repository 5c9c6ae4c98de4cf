"""The script beside a series: what it states of a series, and what ParaView shows."""

from __future__ import annotations

import ast
import builtins
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from matplotlib.image import imread

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.kinds.vtk.kind import VtkKind
from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.kinds.vtk.paraview import paraview_script
from burstlens.viz.kinds.vtk.pvd import pvd_entry, pvd_text
from burstlens.viz.product import Context

FACTS: Mapping[str, Any] = {
    "shape": [4, 5, 6],
    "coordinates": "x, y (m), z height (m)",
    "axes": [["x", "m"], ["y", "m"], ["height", "m"]],
    "variables": {
        "W": {"long_name": "z-wind component", "units": "m s-1"},
        "QCLOUD": {"long_name": "Cloud water mixing ratio", "units": "kg kg-1"},
    },
}
START = "00010101T000000"


def script(series: str = "core.pvd", **facts: Any) -> str:
    text = paraview_script(series, {**FACTS, **facts}, START)
    assert text is not None
    return text


def constants(text: str) -> dict[str, Any]:
    """What a script assigns in capital letters, without running it: ParaView is needed for that."""
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.isupper()
    }


def test_variables_have_words_and_units_and_those_about_zero_are_signed():
    assert constants(script())["VARIABLES"] == {
        "W": {"words": "Vertical wind", "units": "m s-1", "signed": True},
        "QCLOUD": {"words": "Cloud water mixing ratio", "units": "kg kg-1", "signed": False},
    }


def test_axes_are_in_km_where_coordinates_are_lengths():
    assert constants(script())["AXES"] == [
        ("x (km)", 1000),
        ("y (km)", 1000),
        ("height (km)", 1000),
    ]
    degrees = [["longitude", "degrees"], ["latitude", "degrees"], ["level", ""]]
    assert constants(script(axes=degrees))["AXES"] == [
        ("longitude (degrees)", 1), ("latitude (degrees)", 1), ("level", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [5, [], "wide", None])
@pytest.mark.parametrize("axes", [5, [["x"]], "wide", [["x", "m"]]])
def test_facts_of_any_form_give_a_script(shape: Any, axes: Any):
    found = constants(script(shape=shape, axes=axes, exaggeration="none"))
    assert (found["DEEP"], found["AXES"], found["EXAGGERATION"]) == (False, [], 1.0)


@pytest.mark.parametrize("variables", [None, 5, {}, ["W"]])
def test_a_series_of_unknown_variables_has_no_script(variables: Any):
    assert paraview_script("core.pvd", {"variables": variables}, START) is None


def test_the_script_hides_no_builtin_of_python_behind_a_name_of_paraview():
    tree = ast.parse(script())
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    assert not imported & set(dir(builtins))
    assert "*" not in imported
    assert imported <= used


@pytest.mark.parametrize("product", ["core", 'say "hi"', "back\\slash", "d'or", "{x}"])
def test_any_name_gives_a_script_that_python_understands(product: str):
    text = script(f"{product}.pvd")
    assert constants(text)["SERIES"] == f"{product}.pvd"
    compile(text, "script.py", "exec")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("series", "version", "line"),
    [
        ("core.pvd", (5, 9), "core.pvd needs ParaView 5.11 or later, and this is 5.9."),
        (
            "core.vtkhdf", (5, 11),
            "core.vtkhdf needs ParaView 6.2 or later, and this is 5.11: with "
            'format = "xml", ParaView 5.11 opens the .pvd.',
        ),
        ("core.pvd", None, "this is a script for ParaView: run it by paraview --script= or by "
         "pvbatch."),
        ("core.pvd", (5, 11), "core.pvd is missing in {folder}: this script stands beside it."),
    ],
)  # fmt: skip
def test_one_line_says_what_is_missing(
    tmp_path: Path, series: str, version: tuple[int, int] | None, line: str
):
    (tmp_path / "core.paraview.py").write_text(script(series), encoding="utf-8")
    if version is not None:
        # As much of a ParaView as the script asks before it needs one.
        package = tmp_path / "paraview"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "servermanager.py").write_text(
            "class vtkSMProxyManager:\n"
            f"    GetVersionMajor = staticmethod(lambda: {version[0]})\n"
            f"    GetVersionMinor = staticmethod(lambda: {version[1]})\n"
        )
        (package / "simple.py").write_text("def __getattr__(name): return None\n")
    done = subprocess.run(
        [sys.executable, "core.paraview.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == f"RuntimeError: {line.format(folder=tmp_path)}\n"


@pytest.fixture
def display() -> Iterator[dict[str, str]]:
    """An environment with a screen: Debian's ParaView draws on one only, also off screen."""
    if shutil.which("pvbatch") is None:
        pytest.skip("pvbatch is not installed (Debian: paraview, python3-paraview)")
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed (Debian: xvfb)")
    # Without -noreset it begins anew after each client, and refuses the next one meanwhile.
    argv = ["Xvfb", "-displayfd", "1", "-noreset", "-screen", "0", "1280x1024x24"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as screen:
        try:
            assert screen.stdout is not None
            yield os.environ | {"DISPLAY": f":{screen.stdout.readline().strip()}"}
        finally:
            screen.terminate()


_LOOK = """
import json, sys
import numpy as np
path, script, picture = sys.argv[0], *sys.argv[1:3]
sys.argv = [script, picture]
found = {"__file__": script}
exec(compile(open(script, encoding="utf-8").read(), script, "exec"), found)
from paraview import servermanager
from vtkmodules.util.numpy_support import vtk_to_numpy
grid = servermanager.Fetch(found["reader"])
np.save("points.npy", vtk_to_numpy(grid.GetPoints().GetData()))
np.save("W.npy", vtk_to_numpy(grid.GetPointData().GetArray("W")))
table = found["GetColorTransferFunction"]("W")
bar = found["GetScalarBar"](table, found["view"])
json.dump({
    "times": list(found["reader"].TimestepValues), "bar": bar.Title,
    "label": servermanager.Fetch(found["clock"]).GetColumn(0).GetValue(0),
    "surfaces": list(found["shown"].Isosurfaces), "caption": found["caption"].Text,
    "limits": [table.RGBPoints[0], table.RGBPoints[-4]],
}, open("found.json", "w"))
"""


@pytest.mark.slow
def test_paraview_shows_the_newest_frame_of_a_series_where_it_is(
    tmp_path: Path, supercell: Path, display: dict[str, str]
):
    entries = []
    for minute in (7, 8):  # the same frame twice: a series has times of its own
        key = f"00010101T00{minute:02d}00"
        out = tmp_path / "core" / f"core_{minute}.vts"
        out.parent.mkdir(exist_ok=True)
        context = Context("run", "run", "core", "d01", key, tmp_path, start=START)
        with open_frame([supercell]) as frame:
            made = VtkKind().make(VtkOptions(("W", "QCLOUD")), frame, out, context)
        entries.append(pvd_entry(key, f"core/{out.name}", start=START))
    (tmp_path / "core.pvd").write_text(pvd_text(entries))
    text = paraview_script("core.pvd", json.loads(json.dumps(made.facts)), START)
    assert text is not None
    (tmp_path / "core.paraview.py").write_text(text, encoding="utf-8")
    (tmp_path / "look.py").write_text(_LOOK)
    done = subprocess.run(
        ["pvbatch", "--force-offscreen-rendering", "look.py", "core.paraview.py", "core.png"],
        cwd=tmp_path, env=display, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["times"] == [420.0, 480.0]
    assert found["label"] == "valid 0001-01-01 00:08:00 UTC"
    assert found["bar"] == "Vertical wind (m s-1)"
    below, above = found["surfaces"]
    assert below < 0 < above
    assert found["limits"][1] == -found["limits"][0] == pytest.approx(max(-below, above))
    assert found["caption"].startswith("Vertical wind \N{MINUS SIGN}")
    with netCDF4.Dataset(supercell) as data:
        faces = (data["PH"][0] + data["PHB"][0]) / 9.81
        winds = data["W"][0]
        spacing = data.DX
    points = np.load(tmp_path / "points.npy").reshape(*faces[1:].shape, 3)
    assert points[..., 2] == pytest.approx((faces[1:] + faces[:-1]) / 2, rel=1e-5)
    assert np.diff(points[..., 0], axis=2) == pytest.approx(spacing, rel=1e-3)
    assert np.diff(points[..., 1], axis=1) == pytest.approx(spacing, rel=1e-3)
    values = np.load(tmp_path / "W.npy").reshape(faces[1:].shape)
    assert values == pytest.approx((winds[1:] + winds[:-1]) / 2, abs=1e-5)
    pixels = imread(tmp_path / "core.png")[..., :3]
    assert pixels.shape == (750, 1200, 3)
    assert (pixels[..., 0] > pixels[..., 2] + 0.3).sum() > 1000  # the updraft is red
