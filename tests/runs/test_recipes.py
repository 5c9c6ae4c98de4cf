"""Recipes that ship, run whole: smaller in time, otherwise as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from PIL import Image
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

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
    assert "volume_every = 100" in text
    text = text.replace("steps = 1200", f"steps = {FRAMES * 20}")
    parameters.write_text(text.replace("volume_every = 100", "volume_every = 80"))
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
        assert data.GetSpacing() == pytest.approx((400.0, 400.0, 400.0))


def test_pictures_came_while_the_model_ran(basin):
    made, _, _ = basin
    (simulated,) = (event["t"] for event in made.events("simulation.ended"))
    published = [event["t"] for event in made.events("product.published")]
    assert sum(t < simulated for t in published) >= FRAMES // 2
