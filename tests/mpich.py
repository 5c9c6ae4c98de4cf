"""Debian's MPICH, installed by the first test that needs it."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from debian import UnavailableError, provided
from filelock import FileLock

TRIES = 3
PAUSE_S = 5.0
"""apt-get does not wait while another test updates its lists."""


def mpich_programs() -> tuple[str, str]:
    """The paths of its compiler driver and its launcher. Skips the test where there is none, except
    where CI is set."""
    with FileLock(Path(tempfile.gettempdir()) / f"burstlens-mpich-{os.getuid()}.lock"):
        for left in reversed(range(TRIES)):
            try:
                compiler = provided("mpicc.mpich", package="libmpich-dev")
                return compiler, provided("mpiexec.mpich", "mpiexec.hydra", package="mpich")
            except UnavailableError as error:
                if left and os.getuid() == 0:
                    time.sleep(PAUSE_S)
                    continue
                if os.environ.get("CI"):
                    raise
                pytest.skip(f"MPICH: {error}")
    raise AssertionError("unreachable: the last try returns, raises or skips")
