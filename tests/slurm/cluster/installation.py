"""Slurm from Debian's packages, and the ordinary user who submits the jobs."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

USER = "dwuser"
PROGRAMS = {
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "munged": "munge",
    "sbatch": "slurm-client",
}
PLUGIN, PLUGIN_PACKAGE = "burst_buffer_datawarp.so", "slurm-wlm-basic-plugins"
PLUGIN_FOLDERS = ("/usr/lib/*/slurm-wlm", "/usr/lib/*/slurm", "/usr/lib*/slurm")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
POLICY = Path("/usr/sbin/policy-rc.d")
CACHE = Path("/var/tmp/burstlens-testbed")


class UnavailableError(Exception):
    """Slurm cannot be had here; the message says why."""


def provide() -> pwd.struct_passwd:
    """Install what is missing, make the user if there is none. Raises UnavailableError."""
    if os.getuid() != 0:
        raise UnavailableError(
            "it needs root, to run jobs as another user (burst buffers refuse root)"
        )
    with locked("install"):
        packages = _missing()
        if packages:
            _install(packages)
        try:
            return pwd.getpwnam(USER)
        except KeyError:
            words = ["useradd", "--create-home", "--shell", "/bin/bash", USER]
            _run(words, f"the user {USER} cannot be made")
            return pwd.getpwnam(USER)


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """One testbed at a time."""
    CACHE.mkdir(mode=0o755, exist_ok=True)
    if CACHE.lstat().st_uid != os.getuid():
        raise UnavailableError(f"{CACHE} belongs to another user")
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _missing() -> list[str]:
    names = {pkg for prog, pkg in PROGRAMS.items() if not shutil.which(prog, path=SYSTEM_PATH)}
    if not any(glob.glob(f"{folder}/{PLUGIN}") for folder in PLUGIN_FOLDERS):
        names.add(PLUGIN_PACKAGE)
    return sorted(names)


def _install(packages: list[str]) -> None:
    if not shutil.which("apt-get"):
        raise UnavailableError(f"no {', '.join(packages)}, and no apt-get to install them with")
    trouble = f"{', '.join(packages)} cannot be installed"
    with _no_services():
        apt = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120"]
        _run([*apt, "update"], trouble)
        _run([*apt, "install", "--no-install-recommends", *packages], trouble)
    if missing := _missing():
        raise UnavailableError(f"{', '.join(missing)} is installed, but not what is needed of it")


@contextlib.contextmanager
def _no_services() -> Iterator[None]:
    """The packages' own services stay down: dpkg asks this program before it starts one."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


def _run(words: list[str], trouble: str) -> None:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        words, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise UnavailableError(f"{trouble}: {' '.join(last)}")
