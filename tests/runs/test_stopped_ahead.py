"""A run whose model is asked to stop ahead of its jobs' ends: it is the run in one piece."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from awm_texts import block_of, surface_products

pytestmark = pytest.mark.slow

WALLTIME_S = 600.0
MODEL = block_of((32, 28, 24), 3000, "surface_every = 250\npeaks = true", top="threads = 1")
RECIPE = """
title = "Waves in jobs"
[simulation]
model = "awm"
inputs = "inputs"
segments = "until done"
walltime = 600
[checkpoint]
lead = 60
[buffer]
capacity = "200 MiB"
destroy = "never"
""" + surface_products(300)


def run_of(scene, name: str, *settings: str, fails: bool = False):
    made = scene(name)
    (made.folder / "inputs" / "awm.toml").write_text(MODEL)
    (made.folder / "recipe.toml").write_text(RECIPE)
    words = [word for setting in settings for word in ("--set", setting)]
    output, _ = (process := made.start(*words)).communicate(timeout=280)
    assert (process.returncode != 0) == fails, output
    made.output = output
    return made


def ended(run, attempt: int) -> dict:
    return json.loads((run.run_dir / "attempts" / str(attempt) / "ended.json").read_text())


@pytest.fixture(scope="module")
def whole(scene):
    return run_of(scene, "whole")


@pytest.fixture(scope="module")
def lead(whole) -> str:
    """The lead with which a job takes half as long as the run in one piece."""
    return f"checkpoint.lead={WALLTIME_S - ended(whole, 1)['seconds'] / 2:.1f}"


@pytest.fixture(scope="module")
def parts(scene, lead):
    return run_of(scene, "parts", lead)


def products(run) -> dict[str, bytes]:
    """Those that are shown, and states of chained ones without the attempt in their names."""
    folder = run.run_dir / "products"
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in {".png", ".npz", ".json"} and "live" not in path.parts
    }
    return {(n.rpartition("_")[0] if ".states" in n else n): data for n, data in found.items()}


def test_a_run_in_one_piece_is_not_asked(whole):
    assert ended(whole, 1)["reason"] == "exited"
    assert not whole.events("checkpoint.whole")


def test_each_job_stops_as_it_is_asked_and_the_next_one_goes_on_from_its_checkpoint(parts):
    outcomes = [one["outcome"] for one in parts.events("simulation.ended")]
    assert len(outcomes) > 1
    assert outcomes == ["cut"] * (len(outcomes) - 1) + ["done"]
    cuts = range(1, len(outcomes))
    assert [ended(parts, number)["reason"] for number in cuts] == ["stop_by"] * len(cuts)
    assert [ended(parts, number)["exit_code"] for number in cuts] == [0] * len(cuts)
    began = parts.events("simulation.submitting")
    left = [one["time"] for one in parts.events("checkpoint.whole")]
    assert [one.get("checkpoint") for one in began] == [None, *left]


def test_nothing_is_lost_so_nothing_is_said(parts):
    assert not parts.events("alarm")
    assert not parts.events("product.superseded")


def test_its_products_are_those_of_the_run_in_one_piece_byte_by_byte(whole, parts):
    assert len(products(whole)) > 20
    assert products(parts) == products(whole)


def test_in_one_job_it_ends_with_a_checkpoint_and_says_how_it_continues(scene, lead, whole):
    made = run_of(scene, "short", lead, "simulation.segments=1", fails=True)
    assert ended(made, 1)["reason"] == "stop_by"
    (event,) = made.events("run.ended")
    assert "nothing is lost after its checkpoint" in event["message"]
    assert "burstlens resume it --from latest --walltime 00:20:00" in event["advice"]
    assert event["advice"] in made.output
    done = made.call("resume", "it", "--from", "latest", "--walltime", "02:00:00")
    assert done.returncode == 0, done.stdout + done.stderr
    assert products(made) == products(whole)


def test_a_job_too_short_for_a_checkpoint_ends_the_run_with_one_clear_message(scene):
    made = run_of(scene, "hasty", "simulation.walltime=0.6", "checkpoint.lead=0.3", fails=True)
    (event,) = made.events("run.ended")
    assert event["message"].startswith("attempt 1 wrote no checkpoint, so none can follow it")
    assert "use a longer walltime" in event["message"]


def test_the_files_stay_in_the_folders_of_the_attempts(parts):
    buffers = [path for path in parts.on_buffer() if path.suffix == ".awm"]
    assert {Path(path).parent.name for path in buffers} <= {
        str(number) for number in range(1, len(parts.events("simulation.ended")) + 1)
    }
