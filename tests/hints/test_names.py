"""Which MPI a site has: by its file, else by what its launcher prints."""

from __future__ import annotations

import os

import pytest

from burstlens.cluster_configs.site import SITES, read
from burstlens.workflows.hints import names
from burstlens.workflows.hints.names import mpi_of

pytestmark = pytest.mark.integration


@pytest.fixture
def launcher(tmp_path, monkeypatch):
    """Makes an ``mpiexec`` that runs this shell script, first on PATH."""
    names._of_launcher.cache_clear()

    def make(script):
        program = tmp_path / "mpiexec"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin:/bin")

    yield make
    names._of_launcher.cache_clear()


@pytest.mark.parametrize(
    ("site", "mpi"),
    [("frontier", "cray-mpich"), ("cori", "cray-mpich"), ("shaheen2", "cray-mpich"),
     ("slurm-datawarp", "none"), ("slurm", None)],
)  # fmt: skip
def test_sites_that_ship_say_it_or_leave_it_open(site, mpi):
    assert mpi_of(read(SITES / f"{site}.toml")) == mpi


@pytest.mark.parametrize(
    ("said", "mpi"),
    [
        ("HYDRA build details:\n    Version: 4.0.2", "romio"),
        ("mpirun (Open MPI) 4.1.4", "openmpi"),
        ("mpiexec (OpenRTE) 4.1.4", "openmpi"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.10", None),
    ],
)
def test_on_this_machine_the_launcher_s_version_says_it(launcher, said, mpi):
    launcher(f"cat <<'END'\n{said}\nEND")
    assert mpi_of(read(SITES / "local.toml")) == mpi


def test_a_launcher_that_fails_or_hangs_leaves_it_open(launcher, monkeypatch):
    launcher("exit 3")
    assert mpi_of(read(SITES / "local.toml")) is None
    names._of_launcher.cache_clear()
    monkeypatch.setattr(names, "LIMIT_S", 0.2)
    launcher("exec sleep 30")
    assert mpi_of(read(SITES / "local.toml")) is None


def test_without_a_launcher_it_is_open(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert mpi_of(read(SITES / "local.toml")) is None
