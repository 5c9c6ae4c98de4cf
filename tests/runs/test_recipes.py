"""Recipes that ship, run whole: smaller in time, otherwise as they are."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from PIL import Image
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

pytestmark = pytest.mark.slow

RECIPES = Path(__file__).parents[2] / "workflows" / "recipes"
FRAMES = 8


@pytest.fixture(scope="module")
def basin(scene):
    """The three coupled steps of seismic-basin: prepare, awm, a program that reads its frames."""
    made = scene("basin")
    shutil.rmtree(made.folder / "inputs")
    shutil.copytree(RECIPES / "seismic-basin", made.folder, dirs_exist_ok=True)
    parameters = made.folder / "awm.toml"
    text = parameters.read_text()
    assert "steps = 1200" in text
    assert "surface_every = 20" in text
    assert "volume_every = 100" in text
    # A frame each second of an idle machine: pictures have to come meanwhile.
    text = text.replace("steps = 1200", f"steps = {FRAMES * 150}")
    text = text.replace("surface_every = 20", "surface_every = 150")
    parameters.write_text(text.replace("volume_every = 100", "volume_every = 600"))
    process = made.start()
    output, _ = process.communicate(timeout=280)
    return made, process.returncode, output


def test_it_ends_well_and_frees_its_buffer(basin):
    made, code, output = basin
    assert code == 0, output
    assert made.on_buffer() == []


def test_the_steps_ran_in_order(basin):
    made, _, _ = basin
    ended = {event["job"]: event["t"] for event in made.events("step.ended")}
    (prepared,) = (t for job, t in ended.items() if "prepare" in job)
    (peaked,) = (t for job, t in ended.items() if "peak" in job)
    (simulated,) = (event["t"] for event in made.events("simulation.ended"))
    assert prepared < made.events("simulation.submitted")[0]["t"]
    assert prepared < simulated < peaked


def test_the_last_step_read_the_frames_on_the_buffer(basin):
    made, _, _ = basin
    with netCDF4.Dataset(made.run_dir / "output" / "peak.nc") as data:
        peak = np.ma.filled(data["pgv"][:], np.nan)
    assert np.isfinite(peak).all()
    assert peak.max() > 0
    assert (made.run_dir / "output" / "stations.nc").is_file()


def test_each_surface_frame_has_its_picture(basin):
    made, _, _ = basin
    pictures = sorted((made.run_dir / "products" / "ground").glob("*.png"))
    assert len(pictures) == FRAMES
    sizes = {Image.open(picture).size for picture in pictures}
    assert len(sizes) == 1


def test_the_volumes_open_in_vtk_by_their_series(basin):
    made, _, _ = basin
    series = (made.run_dir / "products" / "waves.pvd").read_text()
    volumes = sorted((made.run_dir / "products" / "waves").glob("*.vti"))
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
    made, _, _ = basin
    (simulated,) = (event["t"] for event in made.events("simulation.ended"))
    published = [event["t"] for event in made.events("product.published")]
    assert sum(t < simulated for t in published) >= FRAMES // 2


@pytest.fixture(scope="module")
def scenario(scene):
    """seismic-scenario with less to compute: a sixth of its time."""
    made = scene("scenario")
    shutil.rmtree(made.folder / "inputs")
    shutil.copytree(RECIPES / "seismic-scenario", made.folder, dirs_exist_ok=True)
    parameters = made.folder / "awm.toml"
    text = parameters.read_text()
    assert "steps = 1000" in text
    parameters.write_text(text.replace("steps = 1000", f"steps = {FRAMES * 20}"))
    process = made.start()
    output, _ = process.communicate(timeout=280)
    return made, process.returncode, output


@pytest.mark.slow
def test_each_frame_of_a_scenario_has_all_of_its_products(scenario):
    made, code, output = scenario
    assert code == 0, output
    assert made.on_buffer() == []
    index = made.index()
    for name in ("motion", "pgv", "pga", "intensity", "peaks", "seismograms"):
        times = [entry["time"] for entry in index if entry["product"] == name]
        assert len(set(times)) == len(times) == FRAMES, name
        if name != "motion":  # chained: in order
            assert times == sorted(times)


@pytest.mark.slow
def test_peaks_of_a_scenario_only_grow_and_are_the_model_s_own(scenario):
    made, _, _ = scenario
    files = sorted((made.run_dir / "products" / "peaks").glob("*.nc"))
    peaks = []
    for path in files:
        with netCDF4.Dataset(path) as data:
            peaks.append(np.ma.filled(data["pgv"][0], np.nan))
            assert 1 <= data["intensity"][:].min() <= data["intensity"][:].max() <= 10
    assert all((after >= before).all() for before, after in pairwise(peaks))
    with netCDF4.Dataset(made.run_dir / "output" / "stations.nc") as data:
        larger = np.maximum(np.abs(data["vx"][:]), np.abs(data["vy"][:])).max(axis=0)
        places = [
            (round(y / 250), round(x / 250))
            for x, y in zip(data["x"][:], data["y"][:], strict=True)
        ]
    # The stations lie on nodes of the grid, and record every step.
    assert [peaks[-1][at] for at in places] == pytest.approx((100 * larger).tolist(), rel=1e-4)


@pytest.mark.slow
def test_seismograms_of_a_scenario_gather_every_step(scenario):
    made, _, _ = scenario
    entries = [entry for entry in made.index() if entry["product"] == "seismograms"]
    samples = [entry["facts"]["samples"] for entry in entries]
    assert samples == [20 * (n + 1) for n in range(FRAMES)]
    assert entries[-1]["facts"]["stations"] == [f"L{n:02d}" for n in range(1, 10)]


def test_of_each_volume_only_the_basin_is_brought_out(basin):
    made, _, _ = basin
    written = [e["bytes"] for e in made.events("frame.ready") if e["stream"] == "volume"]
    volumes = sorted((made.run_dir / "products" / "waves").glob("*.vti"))
    assert sum(path.stat().st_size for path in volumes) < sum(written) / 5
    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(volumes[0]))
    reader.Update()
    bounds = np.array(reader.GetOutput().GetBounds()) / 1000
    np.testing.assert_allclose(bounds, [7.6, 21.4, 6.6, 17.4, -2.4, 0.0], atol=1e-6)
