"""The processes of a supervised job, found and ended wherever they went. Standard library alone.

While the supervisor lives they are its descendants: it is their subreaper, so the child of a
process that has died becomes the supervisor's own, whatever session it has made. When the
supervisor was killed they are known by their environment: ``BURSTLENS_JOB`` outlives fork, setsid
and exec. The supervisor imports this file, on any python3, and
``python job_processes.py JOB_FOLDER`` kills what a dead supervisor has left.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

MARK = "BURSTLENS_JOB"
"""The variable that holds the job folder, in the environment of each of its processes."""
TERM_S = 5.0
KILL_S = 5.0
"""How long the processes are given to end after each signal. One in a dead mount never does."""
_PAUSE_S = 0.005
_LOOKS, _FEW = 60, 6
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def mark(job_folder: Path) -> str:
    """What ``BURSTLENS_JOB`` holds in the processes of the job of that folder."""
    return os.path.realpath(job_folder)


def start_session(words: Sequence[str], log: IO[bytes], **more: Any) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own; what it prints goes to ``log``."""
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        **more,
    )


def start_ticks(pid: int) -> int:
    """The kernel's start time of a process: with the pid, it names a process for good."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    return int(stat.rpartition(")")[2].split()[19])


def all_pids() -> list[int]:
    """The numbers of all processes that ``/proc`` lists."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def members(group: int, ticks: int) -> list[int]:
    """The live processes of the group that a process with this start time led. The group's number
    is given to no other process while one of them lives; a leader with another start time leads
    another group."""
    live = {pid: stat for pid in all_pids() if (stat := _stat(pid))[:1] not in ([], ["Z"])}
    if group in live and int(live[group][19]) != ticks:
        return []
    return [pid for pid, stat in live.items() if int(stat[2]) == group and int(stat[19]) >= ticks]


def adopt() -> None:
    """Make this process the parent of whatever its descendants leave behind (Linux 3.4)."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Between fork and exec: get SIGTERM when ``parent`` is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)


def reap(own: Collection[int]) -> None:
    """Collect adopted processes that have ended. ``own`` are collected by who started them."""
    with contextlib.suppress(ChildProcessError):
        while True:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None or ended.si_pid in own:
                return
            os.waitpid(ended.si_pid, 0)


def descendants(keep: Collection[int] = ()) -> list[int]:
    """All that descend from this process and run, without those in ``keep`` and theirs."""
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        children = [pid for pid in _children(waiting.pop()) if pid not in keep]
        waiting += children
        found += children
    return [pid for pid in found if _runs(pid)]


def end_children(own: Collection[int], keep: Collection[int] = ()) -> None:
    """Kill all descendants but those in ``keep`` and theirs; returns when they are gone. Only
    children are killed, at once when they are seen: what they leave falls to this process, so one
    that forks faster than ``/proc`` can be read through is met in the end."""
    end = time.monotonic() + KILL_S
    while time.monotonic() < end:
        reap(own)
        left = [pid for pid in _children(os.getpid()) if pid not in keep]
        if not left:
            return
        for pid in left:
            kill(pid)
        time.sleep(_PAUSE_S if all(pid in own for pid in left) else 0)


def kill(pid: int) -> None:
    """Send SIGKILL to a process of a job and to its group, so that none of it has time to fork."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        group = os.getpgid(pid)
        if group == os.getpgid(0):
            os.kill(pid, signal.SIGKILL)
        else:  # made by setsid below the supervisor: no other process is in it
            os.killpg(group, signal.SIGKILL)


def send(pids: Iterable[int], number: int) -> None:
    """Send a signal to each process that still exists."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def receivers(pid: int, number: int) -> list[int]:
    """The processes to which a signal can be sent that asks for something: this one if it takes the
    signal, else those of its descendants that are the first to. It would end any other process. A
    launcher that takes it passes it on to what it has started."""
    if _takes(pid, number):
        return [pid]
    return [one for child in _children(pid) for one in receivers(child, number)]


def _takes(pid: int, number: int) -> bool:
    """Whether a process has a handler for the signal, or holds it back to wait for it."""
    masks: dict[str, int] = {}
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/status", "rb") as stream:
        for line in stream:
            name, _, value = line.decode("ascii", "replace").partition(":")
            if name in {"SigBlk", "SigCgt", "SigIgn"}:
                masks[name] = int(value, 16)
    taken = masks.get("SigCgt", 0) | (masks.get("SigBlk", 0) & ~masks.get("SigIgn", 0))
    return bool(taken >> (number - 1) & 1)


def marked(job_folder: Path) -> Iterator[int]:
    """Processes of this user that run with the mark of that job, as they are found. First those
    that ``/proc`` lists, which takes milliseconds, then the newest again and again: one that forks
    and ends all the time is never among the listed ones."""
    wanted = os.fsencode(f"{MARK}={mark(job_folder)}")
    for pid in itertools.chain(all_pids(), _newest()):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as stream:
            if wanted in stream.read().split(b"\0"):  # a zombie has none
                yield pid


def end(find: Callable[[], Iterable[int]], term_s: float = TERM_S) -> bool:
    """End what ``find`` finds, by SIGTERM, then SIGKILL; returns whether there was anything."""
    found = set(find())
    if not found:
        return False
    if term_s:
        send(found, signal.SIGTERM)
    until = time.monotonic() + term_s
    while time.monotonic() < until and any(_runs(pid) for pid in found):
        time.sleep(_PAUSE_S)
    until = time.monotonic() + KILL_S
    while time.monotonic() < until:
        seen = False
        for pid in find():
            seen = True
            kill(pid)
        if not seen:
            break
        time.sleep(_PAUSE_S)
    return True


def _children(pid: int) -> list[int]:
    """The children of a process, zombies among them."""
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):  # CONFIG_PROC_CHILDREN
        return [other for other in all_pids() if _stat(other)[1:2] == [str(pid)]]
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with (
                contextlib.suppress(OSError),
                open(f"/proc/{pid}/task/{thread}/children", "rb") as stream,
            ):
                found += map(int, stream.read().split())
    return found


def _runs(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    return _stat(pid)[:1] not in ([], ["Z"], ["X"])


def _stat(pid: int) -> list[str]:
    """State, parent and what follows of ``/proc/PID/stat``; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()
    except OSError:
        return []


def _newest() -> Iterator[int]:
    """The newest process numbers, looked up again after every few."""
    for _ in range(_LOOKS):
        with open("/proc/loadavg", encoding="ascii") as stream:
            last = int(stream.read().split()[4])
        yield from range(last, max(1, last - _FEW), -1)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        sys.exit()
    end(lambda: marked(Path(sys.argv[1])), term_s=0.0)
