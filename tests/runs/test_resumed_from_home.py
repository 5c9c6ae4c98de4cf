"""A run whose buffer is gone continues from the checkpoint that came home."""

from __future__ import annotations

import json
import shutil
import time

import pytest
from awm_texts import block_of, surface_products

pytestmark = pytest.mark.slow

MODEL = block_of((60, 56, 40), 1920, "surface_every = 160")
RECIPE = """
title = "Waves"
[simulation]
model = "awm"
inputs = "inputs"
[checkpoint]
every = 1.2
[buffer]
capacity = "200 MiB"
""" + surface_products(200)


def made(scene, name: str):
    run = scene(name)
    (run.folder / "inputs" / "awm.toml").write_text(MODEL)
    (run.folder / "recipe.toml").write_text(RECIPE)
    return run


def pictures(run) -> dict[str, bytes]:
    found = (run.run_dir / "products").glob("*/*.png")
    return {path.name: path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def whole(scene):
    run = made(scene, "whole")
    output, _ = (process := run.start()).communicate(timeout=200)
    assert process.returncode == 0, output
    return run


@pytest.fixture
def stopped(scene):
    """A run that a person has stopped after its second checkpoint."""
    run = made(scene, f"stopped-{time.monotonic_ns()}")
    process = run.start()
    end = time.monotonic() + 120
    while len(run.events("checkpoint.whole")) < 2 and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.02)
    run.call("stop", "it", "--now")
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 4, output
    return run


def test_a_run_that_was_freed_continues_from_the_checkpoint_at_home(whole, stopped):
    home = [one["time"] for one in stopped.events("checkpoint.home")]
    assert home, "none came home at the end"
    freed = stopped.call("free", "it")
    assert freed.returncode == 0, freed.stderr
    assert stopped.on_buffer() == []
    shown = json.loads((stopped.run_dir / "status.json").read_text())["checkpoints"]
    assert [one["time"] for one in shown if one["home"]] == [one["time"] for one in shown] == home
    done = stopped.call("resume", "it", "--from", "latest")
    assert done.returncode == 0, done.stdout + done.stderr
    (_, second) = stopped.events("simulation.submitting")
    assert (second["written_by"], second["checkpoint"]) == (1, home[-1])
    assert pictures(stopped) == pictures(whole)


def test_a_run_whose_buffer_was_deleted_continues_without_being_told_from_where(whole, stopped):
    (home,) = (one["time"] for one in stopped.events("checkpoint.home"))
    for path in (stopped.folder / "buffer").iterdir():
        shutil.rmtree(path)
    done = stopped.call("resume", "it")
    assert done.returncode == 0, done.stdout + done.stderr
    (_, second) = stopped.events("simulation.submitting")
    assert second["checkpoint"] == home
    assert any("the simulation continues from" in one["text"] for one in stopped.events("alarm"))
    assert pictures(stopped) == pictures(whole)


def test_a_copy_at_home_that_is_damaged_is_suspect_and_the_run_starts_afresh(whole, stopped):
    (home,) = (one["time"] for one in stopped.events("checkpoint.home"))
    assert stopped.call("free", "it").returncode == 0
    (file,) = (stopped.run_dir / "checkpoints" / "1" / home).glob("*.awm")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    done = stopped.call("resume", "it")
    assert done.returncode == 0, done.stdout + done.stderr
    (suspect,) = stopped.events("checkpoint.suspect")
    assert f"the checkpoint's file {file} is damaged" in suspect["reason"]
    assert [one.get("checkpoint") for one in stopped.events("simulation.submitting")] == [
        None, home, None,
    ]  # fmt: skip
    assert pictures(stopped) == pictures(whole)
