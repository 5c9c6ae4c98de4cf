"""Programs that tests need, from Debian's packages."""

from __future__ import annotations

import os
import shutil
import subprocess


class UnavailableError(Exception):
    """A program is missing and cannot be installed here."""


def provided(*programs: str, package: str) -> str:
    """The path of the first of these programs, installed from its package where all are missing.

    Raises UnavailableError.
    """
    for name in programs:
        if path := shutil.which(name):
            return path
    if os.getuid() != 0 or not shutil.which("apt-get"):
        raise UnavailableError(f"install it first, on Debian as root: apt-get install {package}")
    apt = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120"]
    for words in (["update"], ["install", "--no-install-recommends", package]):
        done = subprocess.run(
            [*apt, *words],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=900,
        )
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise UnavailableError(f"it cannot be installed: {' '.join(last)}")
    for name in programs:
        if path := shutil.which(name):
            return path
    raise UnavailableError(f"Debian's package {package} holds none of {', '.join(programs)}")
