"""The recipe seismic-scenario, run whole: smaller in time, otherwise as it ships."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import netCDF4
import numpy as np
import pytest

pytestmark = pytest.mark.slow

RECIPES = Path(__file__).parents[2] / "workflows" / "recipes"
FRAMES = 8


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


def test_seismograms_of_a_scenario_gather_every_step(scenario):
    made, _, _ = scenario
    entries = [entry for entry in made.index() if entry["product"] == "seismograms"]
    samples = [entry["facts"]["samples"] for entry in entries]
    assert samples == [20 * (n + 1) for n in range(FRAMES)]
    assert entries[-1]["facts"]["stations"] == [f"L{n:02d}" for n in range(1, 10)]
