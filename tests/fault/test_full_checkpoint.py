"""A disk that is full when the model writes a checkpoint: the run resumes from the one before."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from parts_case import MODEL, TIMES, prepare
from scene_case import Scene

LARGER = (
    MODEL.replace("nx = 32", "nx = 72").replace("ny = 28", "ny = 64").replace("nz = 24", "nz = 64")
)
CHECKPOINTS = '[checkpoint]\nevery = "0.12 s"\n'
ROOM_MIB = 84
"""Room for two checkpoints of 32 MiB, and for what else the run writes."""


@pytest.mark.fault
def test_a_checkpoint_that_finds_no_room_is_a_failure_that_a_retry_mends(
    tmp_path: Path, small_disk: Callable[..., Path]
) -> None:
    scene = Scene(tmp_path / "scene")
    (scene.folder / "inputs").mkdir(parents=True)
    prepare(scene, "retries = 2", model=LARGER)
    recipe = scene.folder / "recipe.toml"
    text = recipe.read_text().replace('capacity = "200 MiB"', 'capacity = "1 MiB"\nreserve = 0.0')
    recipe.write_text(text + CHECKPOINTS)
    disk = small_disk(f"{ROOM_MIB}M", "buffer")
    (scene.folder / "buffer").symlink_to(disk)
    driver = scene.start()
    await_that(lambda: scene.events("simulation.ended"), driver)
    subprocess.run(["mount", "-o", "remount,size=500M", str(disk)], check=True)
    output, _ = driver.communicate(timeout=200)
    assert driver.returncode == 0, output
    first = scene.events("simulation.ended")[0]
    assert first["outcome"] == "failed"
    second = scene.events("simulation.submitting")[1]
    assert second["checkpoint"] in {one["time"] for one in scene.events("checkpoint.whole")}
    (alarm,) = (one["text"] for one in scene.events("alarm") if "resumes from" in one["text"])
    assert alarm.startswith("attempt 1 ended with exit code 1")
    shown = {line["time"] for line in scene.index() if line["product"] == "motion"}
    assert sorted(shown) == TIMES
    model_log = (scene.run_dir / "logs" / "attempt-1" / "model.log").read_text()
    assert "No space left on device" in model_log


def await_that(holds: Callable[[], object], driver: object, limit_s: float = 150.0) -> None:
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end
        assert driver.poll() is None, driver.stdout.read()  # type: ignore[attr-defined]
        time.sleep(0.002)
