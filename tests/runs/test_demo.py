"""The demo, run whole: what it leaves, and as another process sees it by inotify on the buffer and
on the products."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import struct
import threading
import time
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from PIL import Image
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

pytestmark = pytest.mark.slow

BASIN = Path(__file__).parents[2] / "workflows" / "recipes" / "seismic-basin"
FRAMES = 8
CLOSE_WRITE, MOVED_TO, CREATE, MODIFY = 0x8, 0x80, 0x100, 0x2
_EVENT = struct.Struct("iIII")


class Observer:
    """Notes (time, event, path) of what happens in folders, also those made later."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._library.inotify_init1(0)
        self._folders: dict[int, Path] = {}
        self.seen: list[tuple[float, int, Path]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def add(self, folder: Path) -> None:
        number = self._library.inotify_add_watch(
            self._descriptor, os.fsencode(folder), CLOSE_WRITE | MOVED_TO | CREATE | MODIFY
        )
        self._folders[number] = folder

    def _read(self) -> None:
        while True:
            block = os.read(self._descriptor, 65536)
            now, at = time.monotonic(), 0
            while at < len(block):
                number, mask, _, length = _EVENT.unpack_from(block, at)
                name = block[at + 16 : at + 16 + length].rstrip(b"\0").decode()
                at += 16 + length
                self.seen.append((now, mask, self._folders[number] / name))


@pytest.fixture(scope="module")
def observed(scene):
    """The three coupled steps: prepare, awm, a program that reads its frames; and what was seen."""
    made = scene("demo")
    shutil.rmtree(made.folder / "inputs")
    shutil.copytree(BASIN, made.folder, dirs_exist_ok=True)
    parameters = made.folder / "awm.toml"
    text = parameters.read_text()
    # A frame each second of an idle machine: pictures have to come meanwhile.
    for old, new in (
        ("steps = 1200", f"steps = {FRAMES * 150}"),
        ("surface_every = 20", "surface_every = 150"),
        ("volume_every = 100", "volume_every = 600"),
    ):
        assert old in text
        text = text.replace(old, new)
    parameters.write_text(text)
    observer = Observer()
    process = made.start()
    facts = made.run_dir / "run.json"
    while not facts.is_file():
        time.sleep(0.01)
    on_buffer = json.loads(facts.read_text())["buffer_folder"]
    waiting = {
        made.folder / "buffer" / f"burstlens-{os.getuid()}" / on_buffer / "1",
        made.run_dir / "products" / "ground",
    }
    while process.poll() is None and waiting:
        for folder in sorted(waiting):
            if folder.is_dir():
                observer.add(folder)
                waiting.discard(folder)
        time.sleep(0.002)
    output, _ = process.communicate(timeout=280)
    return made, process.returncode, output, observer.seen


@pytest.fixture
def basin(observed):
    """The run at its end."""
    return observed[0]


def test_it_ends_well_and_frees_its_buffer(observed):
    made, code, output, _ = observed
    assert code == 0, output
    assert made.on_buffer() == []


def test_the_steps_ran_in_order(basin):
    ended = {event["job"]: event["t"] for event in basin.events("step.ended")}
    (prepared,) = (t for job, t in ended.items() if "prepare" in job)
    (peaked,) = (t for job, t in ended.items() if "peak" in job)
    (simulated,) = (event["t"] for event in basin.events("simulation.ended"))
    assert prepared < basin.events("simulation.submitted")[0]["t"]
    assert prepared < simulated < peaked


def test_the_last_step_read_the_frames_on_the_buffer(basin):
    with netCDF4.Dataset(basin.run_dir / "output" / "peak.nc") as data:
        peak = np.ma.filled(data["pgv"][:], np.nan)
    assert np.isfinite(peak).all()
    assert peak.max() > 0
    assert (basin.run_dir / "output" / "stations.nc").is_file()


def test_each_surface_frame_has_its_picture(basin):
    pictures = sorted((basin.run_dir / "products" / "ground").glob("*.png"))
    assert len(pictures) == FRAMES
    sizes = {Image.open(picture).size for picture in pictures}
    assert len(sizes) == 1


def test_the_volumes_open_in_vtk_by_their_series(basin):
    series = (basin.run_dir / "products" / "waves.pvd").read_text()
    volumes = sorted((basin.run_dir / "products" / "waves").glob("*.vti"))
    assert len(volumes) == 2
    for volume in volumes:
        assert f'file="waves/{volume.name}"' in series
        reader = vtkXMLImageDataReader()
        reader.SetFileName(str(volume))
        reader.Update()
        data = reader.GetOutput()
        assert data.GetPointData().GetArray("vz") is not None
        assert data.GetSpacing() == pytest.approx((200.0, 200.0, 200.0))


def test_pictures_came_while_the_model_ran(basin):
    (simulated,) = (event["t"] for event in basin.events("simulation.ended"))
    published = [event["t"] for event in basin.events("product.published")]
    assert min(published) < simulated  # how many is a matter of how busy the machine is


def test_of_each_volume_only_the_basin_is_brought_out(basin):
    written = [e["bytes"] for e in basin.events("frame.ready") if e["stream"] == "volume"]
    volumes = sorted((basin.run_dir / "products" / "waves").glob("*.vti"))
    assert sum(path.stat().st_size for path in volumes) < sum(written) / 5
    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(volumes[0]))
    reader.Update()
    bounds = np.array(reader.GetOutput().GetBounds()) / 1000
    np.testing.assert_allclose(bounds, [7.6, 21.4, 6.6, 17.4, -2.4, 0.0], atol=1e-6)


def test_pictures_are_published_while_the_model_writes(observed):
    made, code, output, seen = observed
    assert code == 0, output
    closed: dict[int, float] = {}
    for when, mask, path in seen:
        match = re.fullmatch(r"surface_(\d+)\.nc", path.name)
        if match and mask & CLOSE_WRITE:
            closed[int(match[1])] = when
    published = {
        path.name: when for when, mask, path in seen if path.suffix == ".png" and mask & MOVED_TO
    }
    pictures = sorted(path.name for path in (made.run_dir / "products" / "ground").glob("*.png"))
    assert len(pictures) == len(closed) == FRAMES
    # How soon is measured in bench/: other tests have the same two cores.
    assert min(published.values()) < max(closed.values())


def test_nothing_partial_ever_stands_under_a_final_name(observed):
    made, _, _, seen = observed
    assert any(path.suffix == ".png" and mask & MOVED_TO for _, mask, path in seen)
    touched = {path for _, mask, path in seen if path.suffix == ".png" and not mask & MOVED_TO}
    assert touched == set()
    for picture in (made.run_dir / "products" / "ground").glob("*.png"):
        Image.open(picture).verify()
