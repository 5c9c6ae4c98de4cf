"""Which MPI the programs of a site use, as far as MPI-IO hints go."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache

from burstlens.cluster_configs.site import Mpi, Site

LIMIT_S = 10.0
"""Limit for ``mpiexec --version``."""
_SIGNS: tuple[tuple[str, Mpi], ...] = (
    (r"Open ?MPI|OpenRTE|PRRTE", "openmpi"),
    (r"HYDRA|MPICH|MVAPICH", "romio"),
)
"""What launchers print about themselves."""


def mpi_of(site: Site) -> Mpi | None:
    """The MPI that the site file names, else the one of the launcher on this machine.

    None if neither says it: a batch system's launcher (``srun``) starts programs of any MPI.
    """
    if site.mpi is not None:
        return site.mpi
    if site.scheduler != "local":
        return None
    path = shutil.which(site.mpi_launcher[0], path=search_path())
    return None if path is None else _of_launcher(path)


def search_path() -> str:
    """Where programs of this machine are looked for: a run has its interpreter's folder first."""
    return os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])


@cache
def _of_launcher(path: str) -> Mpi | None:
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = done.stdout.decode(errors="replace")
    return next((mpi for sign, mpi in _SIGNS if re.search(sign, said)), None)
