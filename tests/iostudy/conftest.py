"""MPICH, and studies that it runs; Debian's package is installed where it is missing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from debian import UnavailableError, provided

from burstlens.workflows.iostudy.build import compile_to, lay
from burstlens.workflows.iostudy.profile import Profile

OBSERVER = Path(__file__).parent / "observer.c"


@pytest.fixture(scope="session")
def mpi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``mpicc`` and ``mpiexec`` of MPICH, whichever MPI the machine prefers."""
    folder = tmp_path_factory.mktemp("mpi")
    try:
        for name, package in (("mpicc", "libmpich-dev"), ("mpiexec", "mpich")):
            program = provided(f"{name}.mpich", package=package)
            (folder / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
            (folder / name).chmod(0o755)
    except UnavailableError as error:
        pytest.skip(str(error))
    return folder


@pytest.fixture(scope="session")
def program(mpi: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled program."""
    path = tmp_path_factory.mktemp("program") / "iostudy"
    compile_to(path, str(mpi / "mpicc"))
    return path


@pytest.fixture(scope="session")
def observer(mpi: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that records writes, and makes them fail as ``FAULT`` says."""
    path = tmp_path_factory.mktemp("observer") / "observer.so"
    subprocess.run(
        [str(mpi / "mpicc"), "-shared", "-fPIC", "-o", str(path), str(OBSERVER)], check=True
    )
    return path


@pytest.fixture
def study(
    mpi: Path, program: Path, observer: Path, tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a profile on so many ranks in ``tmp_path``, with the observer if ``fault`` is given."""

    def run(
        profile: Profile, ranks: int = 2, *, started: int | None = None, fault: str | None = None,
        env: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        lay(profile, ranks, tmp_path)
        words = [str(mpi / "mpiexec"), "-n", str(started or ranks)]
        if fault is not None:
            words += ["-genv", "LD_PRELOAD", str(observer), "-genv", "FAULT", fault]
        return subprocess.run(
            [*words, str(program)], cwd=tmp_path, env={**os.environ, **(env or {})},
            capture_output=True, text=True, timeout=100,
        )  # fmt: skip

    return run
