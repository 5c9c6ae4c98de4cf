"""Jobs on a buffer, under a supervisor that is a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from burstlens.workflows.placement import supervisor
from burstlens.workflows.placement.supervised import describe


@pytest.fixture
def wait_for() -> Callable[..., Any]:
    """Waits until the function gives something true, and returns that."""

    def wait(function: Callable[[], Any], patience_s: float = 120.0) -> Any:
        end = time.monotonic() + patience_s
        while not (found := function()):
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.02)
        return found

    return wait


@pytest.fixture
def alive() -> Callable[[int], bool]:
    """Whether a process runs; a zombie does not."""

    def lives(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    return lives


@pytest.fixture
def job(run_dir: Any, tmp_path: Path) -> Callable[..., Path]:
    """Describes a job that runs this shell program on the buffer; returns its folder."""

    def make(program: str, name: str = "attempt-1", **fields: Any) -> Path:
        buffer = tmp_path / "buffer"
        buffer.mkdir(exist_ok=True)
        folder = run_dir.job(name)
        values = {
            "run_dir": str(run_dir.path),
            "name": name,
            "root": str(buffer),
            "folder": "storm-1/1",
            "argv": ["sh", "-c", program],
            "log": "model.log",
            "keep_logs": ["model.log"],
        }
        describe(folder, values | fields)
        return folder

    return make


@pytest.fixture
def supervise() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts supervisors; ends what is left of them and of their programs after the test."""
    started: list[tuple[subprocess.Popen[str], Path]] = []

    def start(folder: Path, **environment: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-P", supervisor.__file__, str(folder)],
            env={**os.environ, **environment},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append((child, folder))
        return child

    yield start
    for child, folder in started:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        child.communicate()
        with contextlib.suppress(OSError, ValueError, KeyError):
            group = json.loads((folder / "started.json").read_text())["group"]
            os.killpg(group, signal.SIGKILL)
