"""The study's recipes that ship, each run whole on real MPI as it is shipped."""

from __future__ import annotations

import json
import os
import re

import program
import pytest

from burstlens.workflows.recipe.load import load

CASES = {
    "io-ior": (4, 16 * 2**20), "io-btio": (4, 64**3 * 40), "io-wrf": (4, 20 * 150 * 160 * 4 * 8),
    "io-neuromapp": (4, 16 * 665600), "io-seissol": (4, 32 * 2**20), "io-pidx": (4, 16 * 2**20),
    "io-migration": (1, 4 * 17310596),
}  # fmt: skip
"""Frames and bytes of each."""


@pytest.mark.parametrize("name", CASES)
def test_a_recipe_that_extends_one_reads_the_same_profile(name, tmp_path):
    (tmp_path / "mine.toml").write_text(f'extends = "{name}"\n')
    inputs = load(str(tmp_path / "mine.toml"))[0].inputs
    assert inputs == load(name)[0].inputs
    assert (inputs.name, (inputs / "profile.toml").is_file()) == (name, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_recipe_runs_and_each_of_its_frames_is_whole_and_right(name, mpi, burstlens, tmp_path):
    frames, size = CASES[name]
    path = f"{mpi}:{os.environ['PATH']}"
    done = burstlens("run", name, "--name", "r", "--set", "pause=0", env={"PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
    run = tmp_path / "runs" / "r"
    events = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    ready = [event for event in events if event.get("event") == "frame.ready"]
    assert len(ready) == frames
    assert all(size < event["bytes"] <= size + 8 * 2**20 for event in ready)
    log = (run / "logs" / "attempt-1" / "model.log").read_text()
    assert "all as written" in log
    assert len(re.findall(rf": wrote \S+, {size} bytes in ", log)) == frames


@pytest.mark.slow
def test_what_is_wrong_with_a_case_ends_the_run_with_its_message(mpi, tmp_path):
    env = {**os.environ, "PATH": f"{mpi}:{os.environ['PATH']}"}
    words = ("run", "io-btio", "--name", "r", "--set", "ranks_per_node=3")
    done = program.burstlens(words, tmp_path, env, 60)
    assert done.returncode == 1
    assert b"ended with exit code 1: iostudy: error: NAS BT runs on a square number" in done.stderr
    assert program.burstlens(("free", "r"), tmp_path, env, 60).returncode == 0
