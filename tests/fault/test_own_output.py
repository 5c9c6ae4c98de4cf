"""Nobody takes the driver's output: the run ends as with ``--detach``, with its exit code."""

from __future__ import annotations

import fcntl
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from typing import Any

import pytest

PIPE_BYTES = 4096


def _full(_: Any) -> tuple[int, Callable[[], None]]:
    output = os.open("/dev/full", os.O_WRONLY)
    return output, lambda: None


def _pipe(_: Any) -> tuple[int, Callable[[], None]]:
    """A pipe that is full, and that nobody reads."""
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    os.write(write, bytes(PIPE_BYTES))
    return write, lambda: os.close(read)


def _stopped(_: Any) -> tuple[int, Callable[[], None]]:
    """A terminal on which Ctrl-S was pressed."""
    master, slave = pty.openpty()
    termios.tcflow(slave, termios.TCOOFF)
    return slave, lambda: os.close(master)


def _closed(_: Any) -> tuple[int, Callable[[], None]]:
    """A terminal whose other end is gone."""
    master, slave = pty.openpty()
    os.close(master)
    return slave, lambda: None


OUTPUTS = {"dev-full": _full, "pipe": _pipe, "ctrl-s": _stopped, "hung-up": _closed}


@pytest.fixture
def launch(case: Any) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts the run with that for its output and its errors."""
    ends: list[Callable[[], None]] = []

    def start(what: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "burstlens", "-v", "run", "r.toml", "--name", "r"]
        places = {"BURSTLENS_RUNS": str(case.runs), "BURSTLENS_BUFFER": str(case.buffer)}
        environment = {**os.environ, **places}
        if what == "none":
            words = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *words]
            return subprocess.Popen(words, cwd=case.folder, env=environment)
        output, end = OUTPUTS[what](case)
        ends.append(end)
        try:
            return subprocess.Popen(
                words, cwd=case.folder, env=environment, stdout=output, stderr=output
            )
        finally:
            os.close(output)

    yield start
    for end in ends:
        end()


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, marks=pytest.mark.slow if what == "ctrl-s" else pytest.mark.fault)
        for what in (*OUTPUTS, "none")
    ],
)
def test_a_run_whose_output_nobody_takes_ends_well(case: Any, launch: Any, what: str) -> None:
    driver = launch(what)
    try:
        assert driver.wait(150) == 0
    finally:
        driver.kill()
    assert not case.faults()
