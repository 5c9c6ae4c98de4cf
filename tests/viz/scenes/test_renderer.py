"""The process that renders with VTK, off screen, and what becomes of a picture when it ends."""

from __future__ import annotations

import contextlib
import ctypes.util
import dataclasses
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.requirements import Requirement

from burstlens.core.allowance import time_limit
from burstlens.core.errors import FrameError
from burstlens.viz.kinds.scene.renderer import Renderer, renderer
from burstlens.viz.kinds.scene.stage import Lines, Sheet, Shell, Stage, View

pytestmark = pytest.mark.integration


def reddish(pixels: np.ndarray) -> np.ndarray:
    return (pixels[..., 0] > pixels[..., 1] + 60) & (pixels[..., 0] > pixels[..., 2] + 60)


def ball() -> Shell:
    """A sphere of radius 2 about (5, 5, 3) in a box of 10 x 10 x 6."""
    z, y, x = np.meshgrid(
        np.linspace(0, 6, 25), np.linspace(0, 10, 41), np.linspace(0, 10, 41), indexing="ij"
    )
    away = np.sqrt((x - 5) ** 2 + (y - 5) ** 2 + (z - 3) ** 2)
    return Shell(np.stack([x, y, z], axis=-1), away.astype("f4"), 2.0, (0.8, 0.0, 0.0))


def box(**view: Any) -> View:
    given = {"azimuth": 180.0, "elevation": 0.0, "zoom": 1.0, "aspect": 1.25} | view
    return View((0, 0, 0), (10, 10, 6), **given)


@pytest.fixture
def fresh() -> Iterator[Renderer]:
    held = Renderer()
    yield held
    held.close()


def test_a_sphere_appears_where_the_view_projects_it_and_as_large_as_it_is(fresh: Renderer):
    view = box(azimuth=200.0, elevation=30.0)
    pixels = fresh.render(Stage(500, 400, view, (ball(),))).astype(int)
    assert pixels.shape == (400, 500, 3)
    rows, columns = np.nonzero(reddish(pixels))
    centre = view.project(np.array([5.0, 5.0, 3.0]))[0] * [500, 400]
    assert columns.mean() == pytest.approx(centre[0], abs=2)
    assert 400 - rows.mean() == pytest.approx(centre[1], abs=2)
    # The outline of a sphere: seen from d away under the angle asin(r / d).
    away = float(np.linalg.norm(view.eye - [5, 5, 3]))
    radius = 400 / 2 * np.tan(np.arcsin(2 / away)) / np.tan(np.radians(12))
    assert reddish(pixels).sum() == pytest.approx(np.pi * radius**2, rel=0.04)


def test_the_view_shows_the_whole_box_at_any_angle():
    for azimuth in range(0, 360, 35):
        for elevation in (0.0, 25.0, 85.0):
            view = box(azimuth=float(azimuth), elevation=elevation)
            seen = view.project(view.corners)
            assert seen.min() > 0.069
            assert seen.max() < 0.931
            # As near as it can be: a corner touches the edge of its room.
            assert max(np.abs(seen - 0.5).max(axis=0)) == pytest.approx(0.43, abs=1e-6)
            # In the direction that leaves no room it fills all of it, from edge to edge.
            least, most = seen.min(axis=0), seen.max(axis=0)
            assert (most - least).max() == pytest.approx(0.86, abs=1e-6)


def test_a_box_as_wide_as_usual_fills_the_usual_picture_in_both_directions():
    view = View((0, 0, 0), (3, 3, 1), azimuth=205.0, elevation=25.0, zoom=1.0, aspect=880 / 500)
    seen = view.project(view.corners)
    assert np.ptp(seen, axis=0).min() > 0.7


def test_the_azimuth_is_the_side_on_which_the_camera_stands():
    east, west = np.array([10, 5, 3.0]), np.array([0, 5, 3.0])
    south, north = box(azimuth=180.0), box(azimuth=0.0)
    assert south.project(east)[0, 0] > south.project(west)[0, 0]
    assert north.project(east)[0, 0] < north.project(west)[0, 0]
    assert south.eye[1] < 0 < 10 < north.eye[1]


def test_what_has_no_value_makes_no_surface_of_its_own(fresh: Renderer):
    shell = ball()
    values = np.where(shell.values > 4, np.float32("nan"), shell.values)
    holed = dataclasses.replace(shell, values=values)
    stage = Stage(300, 240, box(), (shell,))
    whole = reddish(fresh.render(stage).astype(int)).sum()
    assert reddish(fresh.render(Stage(300, 240, box(), (holed,))).astype(int)).sum() == whole


def test_a_shell_that_is_seen_through_shows_what_is_behind(fresh: Renderer):
    wall = np.array([[[0, 10, 0], [10, 10, 0]], [[0, 10, 6], [10, 10, 6]]], float)
    blue = np.full((2, 2, 4), (0, 0, 220, 255), np.uint8)
    pixels = []
    for opacity in (1.0, 0.3):
        shell = dataclasses.replace(ball(), opacity=opacity)
        stage = Stage(300, 240, box(), (Sheet(wall, blue), shell))
        pixels.append(fresh.render(stage).astype(int)[120, 150])
    assert pixels[0][2] < 60
    assert pixels[1][2] > 120


def test_lines_break_where_a_point_is_missing(fresh: Renderer):
    gap = np.full(3, np.nan)
    path = np.array([[0, 5, 3], [4, 5, 3], gap, [6, 5, 3], [10, 5, 3.0]])
    lines = Lines(path, (0, 0, 0), 3.0)
    pixels = fresh.render(Stage(300, 240, box(), (lines,))).astype(int)
    row = pixels[118:123].min(axis=(0, 2)) < 100
    assert row[80:120].any()
    assert row[180:220].any()
    assert not row[145:155].any()


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_a_crash_of_vtk_fails_one_picture_and_the_next_one_is_made(
    fresh: Renderer, number: signal.Signals
):
    stage = Stage(200, 160, box(), (ball(),))
    first = fresh.render(stage)
    assert fresh.pid is not None
    before = fresh.pid
    os.kill(before, signal.SIGSTOP)
    os.kill(before, number)
    os.kill(before, signal.SIGCONT)
    with pytest.raises(FrameError, match=f"ended by {number.name}"):
        fresh.render(stage)
    assert np.array_equal(fresh.render(stage), first)
    assert fresh.pid != before


def test_a_renderer_that_hangs_is_ended(fresh: Renderer):
    stage = Stage(200, 160, box(), (ball(),))
    fresh.render(stage)
    assert fresh.pid is not None
    os.kill(fresh.pid, signal.SIGSTOP)
    with pytest.raises(FrameError, match=r"longer than 0\.2 s"):
        fresh.render(stage, timeout_s=0.2)
    assert fresh.render(stage).any()


def test_after_an_interruption_the_next_picture_is_not_the_one_that_was_left(fresh: Renderer):
    wanted = Stage(200, 160, box(), (ball(),))
    first = fresh.render(wanted)
    assert fresh.pid is not None
    before = fresh.pid
    os.kill(before, signal.SIGSTOP)
    with pytest.raises(FrameError, match=r"longer than 0\.3 s"), time_limit(0.3):
        fresh.render(Stage(200, 160, box(), (dataclasses.replace(ball(), value=1.0),)))
    with contextlib.suppress(ProcessLookupError):
        os.kill(before, signal.SIGCONT)
    assert np.array_equal(fresh.render(wanted), first)


def test_without_opengl_the_message_says_what_is_needed(
    fresh: Renderer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("VTK_DEFAULT_OPENGL_WINDOW", "vtkOSOpenGLRenderWindow")
    if ctypes.util.find_library("OSMesa"):
        pytest.skip("this machine has OSMesa")
    with pytest.raises(FrameError, match=r"libEGL .* or libOSMesa"):
        fresh.render(Stage(200, 160, box(), (ball(),)))


def test_an_older_vtk_than_scenes_need_is_not_installed():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    asked = [Requirement(text) for text in project["project"]["dependencies"]]
    (vtk,) = (each.specifier for each in asked if each.name == "vtk")
    assert "9.3.1" not in vtk
    assert "9.4.0" in vtk


def test_what_vtk_refuses_is_reported_and_the_process_survives(fresh: Renderer):
    broken = dataclasses.replace(ball(), points=np.zeros((2, 2)))
    with pytest.raises(FrameError, match="cannot be rendered: ValueError"):
        fresh.render(Stage(200, 160, box(), (broken,)))
    pid = fresh.pid
    fresh.render(Stage(200, 160, box(), (ball(),)))
    assert fresh.pid == pid


@pytest.mark.parametrize("forks", ["", "os.fork() or (os.closerange(0, 3), time.sleep(70)); "])
def test_the_process_ends_with_its_worker_whatever_that_has_forked(forks: str):
    code = (
        "from burstlens.viz.kinds.scene.renderer import renderer; import os, time;"
        "held = renderer();"
        f"print(held.pid, flush=True); {forks}os._exit(1)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid = int(said.stdout)
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        if "Z" in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1][:3]:
            break
        time.sleep(0.05)
    else:
        assert not Path(f"/proc/{pid}").exists()


def test_a_worker_has_one_renderer():
    assert renderer() is renderer()
