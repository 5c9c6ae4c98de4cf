"""Processes of one testbed: known by what they were started with, ended by their ids."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

MARK = "BURSTLENS_TESTBED"
"""Stands in the environment of all that a testbed starts; its value is the testbed's folder."""


def marked(root: Path) -> set[int]:
    """Processes that carry the mark of that testbed, and all that descend from them."""
    parents = dict(_parents())
    found = {pid for pid in parents if carries(pid, root)}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def carries(pid: int, root: Path) -> bool:
    """Whether it was started with the mark of that testbed."""
    return f"{MARK}={root}".encode() in _read(pid, "environ").split(b"\0")


def alive(pid: int) -> bool:
    """Whether it runs; a zombie does not."""
    return _state(pid) not in ("", "Z")


def end(pids: Iterable[int], *, patience_s: float = 5.0) -> None:
    """Ask them to end, then make them."""
    left = set(pids)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        until = time.monotonic() + patience_s
        while (left := {pid for pid in left if alive(pid)}) and time.monotonic() < until:
            time.sleep(0.02)


def _parents() -> Iterator[tuple[int, int]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = _stat(int(name))
            if len(fields) > 1:
                yield int(name), int(fields[1])


def _state(pid: int) -> str:
    return next(iter(_stat(pid)), "")


def _stat(pid: int) -> list[str]:
    # The name, in brackets, may hold spaces and brackets itself.
    return _read(pid, "stat").decode("utf-8", "replace").rpartition(")")[2].split()


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
