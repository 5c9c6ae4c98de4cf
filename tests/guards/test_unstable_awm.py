"""A seismic model with an unstable time step is stopped by the guard of the shipped recipe."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from burstlens.workflows.recipe import file as recipe_file

pytestmark = pytest.mark.slow
RED = (200, 16, 46)


@pytest.fixture(scope="module")
def unstable(tmp_path_factory):
    """A run of the shipped recipe, with the model forced to a time step that is too long."""
    folder = tmp_path_factory.mktemp("unstable")
    shutil.copytree(recipe_file.BUILT_IN / "seismic-basin", folder / "basin")
    path = folder / "basin" / "awm.toml"
    # On one thread, and barely unstable: a guard on a busy machine has half a minute from the first
    # bad frame to values that are not finite, where the model ends by itself.
    text = "allow_unstable = true\nthreads = 1\n" + path.read_text()
    text, count = re.subn(r"(?m)^step_s = .*$", "step_s = 0.01678", text)
    text, more = re.subn(r"(?m)^surface_every = .*$", "surface_every = 5", text)
    # Long, so that a busy machine, whose guard looks late, does not decide how far the model gets.
    text, longer = re.subn(r"(?m)^steps = .*$", "steps = 12000", text)
    assert (count, more, longer) == (1, 1, 1)
    path.write_text(text)
    (folder / "buffer").mkdir()
    environment = {
        "BURSTLENS_RUNS": str(folder / "runs"),
        "BURSTLENS_BUFFER": str(folder / "buffer"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "burstlens", "run", str(path.parent), "--name", "it"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done, folder / "runs" / "it"


def events(run: Path, kind: str):
    lines = (run / "journal.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == kind]


def test_it_is_stopped_by_its_guard_long_before_the_end(unstable):
    done, run = unstable
    assert done.returncode == 3, done.stdout + done.stderr
    assert 'stopped by guard "stable": vz = ' in done.stderr
    progress = json.loads((run / "status.json").read_text())["progress"]
    assert progress["elapsed_s"] < progress["total_s"] / 2


def test_the_trip_says_where_on_the_ground_and_the_picture_shows_it(unstable):
    _, run = unstable
    trip = events(run, "guard.tripped")[0]
    assert abs(trip["value"]) > 5
    assert trip["stream"] == "surface"
    assert set(trip["place"]["index"]) == {"y", "x"}
    assert trip["place"]["xy_units"] == "m"
    with Image.open(run / "products" / "ground" / f"ground_surface_{trip['time']}.png") as picture:
        colours = picture.convert("RGB").getcolors(1 << 24)
    assert {colour: count for count, colour in colours}.get(RED, 0) > 50
