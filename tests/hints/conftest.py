"""Debian's MPICH, and the probe as an MPI program to launch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from mpich import mpich_programs

from burstlens.workflows import hints

PROGRAM = Path(hints.__file__).with_name("probe.c")


@pytest.fixture(scope="session")
def mpich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with MPICH's ``mpiexec`` and ``mpicc``, and ``writer``: it opens and writes the
    files that it is given."""
    compiler, launcher = mpich_programs()
    folder = tmp_path_factory.mktemp("mpich")
    for name, program in (("mpicc", compiler), ("mpiexec", launcher)):
        # By a link hydra would look for its proxy in this folder.
        (folder / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        (folder / name).chmod(0o755)
    subprocess.run([compiler, str(PROGRAM), "-o", str(folder / "writer")], check=True)
    return folder
