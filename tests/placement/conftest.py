"""Programs that somebody else started, and a Slurm whose answers a test gives."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from burst_case import SlurmPrograms, on_path
from observer_case import Commands

from burstlens.cluster_configs import slurm as client
from burstlens.cluster_configs.polling import PollingScheduler
from burstlens.core.run.directory import RunDir
from burstlens.workflows.plan.commands import new_run


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a program; ``ready`` is what it prints once it may be signalled."""
    started: list[subprocess.Popen[str]] = []

    def run(argv: Sequence[str], *, ready: bool = False, **options: Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, **options)
        started.append(process)
        if ready:
            assert process.stdout is not None
            process.stdout.readline()
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.communicate()


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Slurm's commands at the front of the PATH; those that are not set do not answer."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    found = Commands(folder)
    for name in ("sbatch", "squeue", "scancel", "sacct"):
        found.set(name, "exit 1")
    found.job("JobState=RUNNING Reason=None NodeList=nid00012")
    return found


RECIPE = """\
title = "A model"
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
[buffer]
capacity = "10 GiB"
{}
[[product]]
name = "t2"
kind = "map"
variable = "T2"
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlurmPrograms:
    """Slurm's programs whose answers about buffers a test gives, without pauses."""
    monkeypatch.setattr(client, "PAUSE_S", 0.01)
    monkeypatch.setattr(PollingScheduler.__init__, "__defaults__", (None, 0.2))
    return on_path(tmp_path / "slurm", monkeypatch)


@pytest.fixture
def new(
    slurm: SlurmPrograms,
    recipe_file: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., RunDir]:
    """A new run whose buffer has that name, or one of its own."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))

    def make(name: str = "", run: str = "storm", site: str = "slurm-datawarp") -> RunDir:
        line = f'name = "{name}"' if name else ""
        text = RECIPE.format(line)
        return new_run(str(recipe_file(text)), site, name=run)[0]

    return make
