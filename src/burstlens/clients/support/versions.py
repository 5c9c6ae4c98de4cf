"""What ran: versions of Burstlens, Python, packages, kernel, C library, scheduler; here and now."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata

from burstlens.cluster_configs.schedulers import loadable
from burstlens.core.version import __version__

LIMIT_S = 5.0
"""How long the scheduler may take to name its version."""


def versions() -> str:
    """One line for each, of the machine that writes the archive."""
    return "".join(f"{name}: {version}\n" for name, version in _found())


def _found() -> Iterator[tuple[str, str]]:
    yield "burstlens", __version__
    yield "python", f"{sys.version.split()[0]} ({sys.executable})"
    yield "host", platform.node()
    yield "kernel", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "C library", " ".join(platform.libc_ver())
    yield "distribution", _distribution()
    yield "CPUs", str(os.cpu_count())
    for scheduler in loadable():
        if command := scheduler.version_command():
            yield scheduler.name, _said(command)
    yield from _packages()


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "not known")
    except OSError:
        return "not known"


def _said(command: Sequence[str]) -> str:
    if shutil.which(command[0]) is None:
        return f"{command[0]} is not on PATH"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, text=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"{command[0]}: {error}"
    lines = (done.stderr if done.returncode else done.stdout).strip().splitlines()
    return lines[-1] if lines else f"{command[0]} ended with {done.returncode}"


def _packages() -> Iterator[tuple[str, str]]:
    """The packages that Burstlens and its extras for users name, where they are installed."""
    try:
        wanted = metadata.requires("burstlens") or []
    except metadata.PackageNotFoundError:
        wanted = []
    wanted = [line for line in wanted if not re.search(r"extra == .(?:dev|docs)\b", line)]
    names = {re.split(r"[^\w.-]", line, maxsplit=1)[0].lower() for line in wanted}
    for name in sorted(names - {"burstlens"}):
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            yield name, "not installed"
