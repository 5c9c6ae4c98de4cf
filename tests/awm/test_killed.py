"""awm killed at any moment: what has the name of a checkpoint is whole, and continues the run."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest

from burstlens.workflows.awm.checkpoint_files import GLOB, step_of
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.parameters import read
from burstlens.workflows.awm.program import Run
from burstlens.workflows.awm.stretch import Stretch

TEXT = """
grid = { nx = 40, ny = 40, nz = 40, spacing_m = 100.0 }
time = { step_s = 0.008, steps = 60 }
material = { layers = [{ vp_m_s = 5000, vs_m_s = 2900, rho_kg_m3 = 2700 }] }
output = { surface_every = 7, volume_every = 20, peaks = true, station_every = 9 }
checkpoint = { every = 1, keep = 2 }
station = [{ name = "A", x_m = 900.0, y_m = 1500.0 }]
[source]
x_m = 2000.0
y_m = 2000.0
depth_m = 900.0
mxx_n_m = 1e15
function = "gaussian"
frequency_hz = 2.0
"""
"""Most of its time it writes checkpoints, each of some 12 MB."""


def steps_of(folder):
    return sorted(step_of(path.name) for path in folder.glob(GLOB))


def killed(folder, restart, delay_s):
    """Start the program and kill it so long after it was seen to write its second checkpoint or a
    later one; returns whether it was writing one then."""
    command = [sys.executable, "-m", "burstlens.workflows.awm", "awm.toml"]
    if restart is not None:
        command += ["--restart", restart.name]
    before = set(steps_of(folder))
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while len(set(steps_of(folder)) - before) < 1 or not list(folder.glob(".*.part")):
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.0005)
        time.sleep(delay_s)
        process.kill()
    return bool(list(folder.glob(".*.part")))


@pytest.mark.integration
@pytest.mark.slow
def test_whenever_it_is_killed_the_last_checkpoint_continues_the_run(tmp_path, values):
    for name in ("whole", "one"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "awm.toml").write_text(TEXT)
    folder, chance = tmp_path / "one", random.Random(38)
    parameters = read(folder / "awm.toml")
    halves, restart = 0, None
    for delay_s in (0.0, chance.uniform(0, 0.01), chance.uniform(0, 0.03)):
        halves += killed(folder, restart, delay_s)
        steps = steps_of(folder)
        assert steps
        for path in folder.glob(GLOB):  # each is whole, in the step that its name says
            run = Run(parameters, folder, Threads(2), Stretch(path))
            assert run.restore().step == step_of(path.name)
        restart = max(folder.glob(GLOB))
    assert halves > 0
    rest = Stretch(restart, every_s=1e9)
    assert Run(parameters, folder, Threads(2), rest).go() == 0
    assert not list(folder.glob(".*"))
    assert Run(parameters, tmp_path / "whole", Threads(1), Stretch(every_s=1e9)).go() == 0
    assert values(folder) == values(tmp_path / "whole")
