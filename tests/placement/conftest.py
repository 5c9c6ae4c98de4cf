"""Programs that somebody else started, and a Slurm whose answers a test gives."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from observer_case import Commands


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
