"""What this machine or session may not lack for a run on it: found before anything is made.

Libraries report such a lack late or not at all: libzmq aborts its process, a pool of workers waits
for a manager that could not make its socket, Python's semaphores raise an error without a name.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from burstlens.core.errors import SiteError
from burstlens.core.quantity import show_bytes

LEAST_FILES, WANTED_FILES = 64, 4096
LEAST_MEMORY = 800 << 20
"""Addresses of one worker with its libraries; what it computes comes on top of that."""
LEAST_THREADS = 100
"""Threads of a run with one worker: the driver's, Parsl's processes, the libraries' own."""
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  (glibc makes semaphores there)
SEMAPHORES = 32
LONGEST_SOCKET = 107
"""Characters of the name of a socket (sun_path of unix(7) without its end)."""
_IN_TMPDIR = len("/pymp-12345678/listener-12345678")


def require_room(*, local: bool) -> None:
    """Raise SiteError with the limit that a run could not end under, and how to change it.
    ``local``: its worker pool runs on this machine. The limit on open files is raised as far as the
    session may."""
    if not os.path.exists("/proc/self/stat"):
        raise SiteError(
            "there is no /proc on this machine: processes cannot be told apart without it; mount it"
        )
    _require_open_files()
    _require_memory()
    _require_semaphores()
    if local:
        _require_socket_names()
        _require_threads()


def _require_open_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    if soft != resource.RLIM_INFINITY and soft < LEAST_FILES:
        raise SiteError(
            f"the limit on open files is {soft}, and a run needs {LEAST_FILES}: "
            "raise it (ulimit -n)"
        )


def _require_memory() -> None:
    for name, which in (("v", resource.RLIMIT_AS), ("d", resource.RLIMIT_DATA)):
        soft, _ = resource.getrlimit(which)
        if soft != resource.RLIM_INFINITY and soft < LEAST_MEMORY:
            raise SiteError(
                f"the limit on a process's memory is {show_bytes(soft)}, and a run needs "
                f"{show_bytes(LEAST_MEMORY)}: raise it (ulimit -{name})"
            )


def _require_semaphores() -> None:
    try:
        made = multiprocessing.get_context("fork")  # the others start a process to remove them
        _ = [made.Lock() for _ in range(SEMAPHORES)]  # each takes a page, also of a full disk
    except (OSError, ImportError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SiteError(
            f"{SHARED_MEMORY} takes no semaphores ({why}), which worker processes need: mount it, "
            "make it writable, or free space there"
        ) from None


def _require_socket_names() -> None:
    length = len(os.fsencode(tempfile.gettempdir()))
    if length + _IN_TMPDIR > LONGEST_SOCKET:
        raise SiteError(
            f"TMPDIR has {length} characters, and names of sockets in it at most {LONGEST_SOCKET}: "
            f"set TMPDIR to a folder of at most {LONGEST_SOCKET - _IN_TMPDIR} characters"
        )


def _require_threads() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if soft == resource.RLIM_INFINITY or os.geteuid() == 0:  # the kernel does not hold root to it
        return
    used = sum(_own_threads())
    if used + LEAST_THREADS > soft:
        raise SiteError(
            f"the limit on your processes and threads is {soft}, of which {used} are there, and a "
            f"run needs {LEAST_THREADS}: raise it (ulimit -u), or end others"
        )


def _own_threads() -> Iterator[int]:
    """The number of threads of each of the user's processes."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if place.stat().st_uid == os.geteuid():
                yield int((place / "stat").read_text().rpartition(")")[2].split()[17])
        except (OSError, ValueError, IndexError):
            continue  # it has ended
