"""HDF5 files in progress: the end of file in their superblock, and what h5py reads from them.

A child process, which lives as long as its owner, runs each h5py probe. A half-written file can
make the HDF5 library loop, crash or allocate without bound, and no thread or signal handler can
end a call into it. So the kernel ends the child (an alarm with its default disposition) and its
memory is limited: a bad file costs one probe and never the worker.
Format: "HDF5 File Format Specification Version 3.0", sections II.A.1 to II.A.3.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from burstlens.core.child_process import can_read
from burstlens.core.errors import FrameError, TimesError, UnreadError
from burstlens.core.hdf5_filters import plugin_environment
from burstlens.core.version import answer

SIGNATURE = b"\x89HDF\r\n\x1a\n"
LIMIT_S = 5.0
"""Time limit of one probe, after which the child is ended; 0.5 to 0.9 ms is usual."""
START_LIMIT_S = 60.0
MEMORY_BYTES = 1 << 30
_REST_S = 10.0
_GONE_S = 0.5
_ASKED_AT_MOST = 3
"""Attempts per probe: a child killed from outside (for memory, say) does not mean a bad file."""
_OFFSETS = (0, *(1 << power for power in range(9, 17)))
"""Where a superblock may begin: behind a user block of a power of two, at least 512 bytes."""


@dataclass(frozen=True, slots=True)
class Superblock:
    """``end``, the end-of-file address, equals the size of a complete file. ``has_writer``: the
    consistency flags say that a program has the file open for writing. The library clears them
    when it closes the file, not when it is killed; HDF5 1.8 never sets them."""

    end: int
    has_writer: bool


def superblock(descriptor: int) -> Superblock | None:
    """The superblock, or None if there is none yet or its version is unknown."""
    for offset in _OFFSETS:
        block = os.pread(descriptor, 64, offset)
        if block.startswith(SIGNATURE):
            return _superblock(block)
        if block.startswith(b"CDF"):  # a classic file: no need to look further
            return None
    return None


def _superblock(block: bytes) -> Superblock | None:
    if len(block) < 64:
        return None
    version = block[8]
    if version in (0, 1):
        width, start, flags = block[13], 24 if version == 0 else 28, block[20]
    elif version in (2, 3):
        width, start, flags = block[9], 12, block[11]
    else:
        return None
    if width not in (2, 4, 8):
        return None
    # An absolute address: h5py with HDF5 2.0 counts the user block, although the specification
    # makes it relative to the base address.
    end = int.from_bytes(block[start + 2 * width : start + 3 * width], "little")
    return Superblock(end, bool(flags & 1))


@dataclass(frozen=True, slots=True)
class Reply:
    """What h5py found: the number of records, keys of the requested ones and their calendar,
    numeric attributes.

    ``is_fixed``: the number of records is fixed, so it does not show how many are written.
    """

    records: int
    times: tuple[str | None, ...]
    numbers: Mapping[str, int]
    is_fixed: bool = False
    calendar: str = ""


class Prober:
    """Reads files with h5py in a child process, which it starts on first use."""

    def __init__(self, limit_s: float = LIMIT_S, command: Sequence[str] | None = None) -> None:
        self._limit_s = limit_s
        self._command = command or (sys.executable, "-P", "-m", __name__, str(limit_s))
        self._child: subprocess.Popen[bytes] | None = None
        self._greeted = False
        self._resting: dict[str, tuple[float, FrameError]] = {}

    def ask(
        self,
        path: str,
        first: int,
        time_variable: str,
        attributes: Sequence[str] = (),
        end: int | None = None,
    ) -> Reply:
        """What the file holds, with the times of its records from ``first`` on.

        Without a time variable ("") the file is one record, and its time is None.
        ``attributes`` names global attributes to read as integers, if the file has them.
        ``end``: only the times of records that lie below that address, see :mod:`.described`.

        Raises :class:`FrameError` if the file cannot be read (yet) or crashes the library,
        :class:`TimesError` if it has no such variable or its times cannot be decoded, and
        :class:`UnreadError` if reading took longer than the limit or the child was killed
        repeatedly. A file that gave no answer is not read for a while.
        """
        answer = self._asked(path, [first, time_variable, [*attributes], end])
        return Reply(**{**answer, "times": tuple(answer["times"])})

    def describe(self, path: str) -> dict[str, Any]:
        """The names, dimensions and attributes in the file, see :mod:`.contents`. Raises as
        :meth:`ask`."""
        return self._asked(path, [])

    def _asked(self, path: str, about: list[Any]) -> dict[str, Any]:
        until, error = self._resting.get(path, (0.0, None))
        if error is not None and until > time.monotonic():
            raise type(error)(f"{error}; it is not read for a while")
        request = json.dumps([path, *about])
        for left in reversed(range(_ASKED_AT_MOST)):
            child = self._started()
            try:
                answer = self._answer(child, request)
            except (OSError, ValueError) as failed:
                killed = _killed(child)
                self.close()
                if killed and left:
                    continue
                error = _end(child)
                self._resting[path] = time.monotonic() + _REST_S, error
                raise error from failed
            break
        if "error" in answer:
            raise (TimesError if answer.get("times") else FrameError)(answer["error"])
        return answer

    def _answer(self, child: subprocess.Popen[bytes], request: str) -> dict[str, Any]:
        assert child.stdin is not None
        child.stdin.write(request.encode() + b"\n")
        child.stdin.flush()
        found: dict[str, Any] = json.loads(self._line(child, self._limit_s + 1.0))
        return found

    def close(self) -> None:
        """End the child. It also ends by itself when its owner ends."""
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in filter(None, (child.stdin, child.stdout)):
            with suppress(OSError):
                pipe.close()
        child.kill()
        # It may hang in the kernel on a file server that does not answer: it cannot be killed.
        with suppress(subprocess.TimeoutExpired):
            child.wait(1.0)

    def start(self) -> None:
        """Start the child, and do not wait for it: it imports h5py meanwhile."""
        environment = os.environ | {"HDF5_USE_FILE_LOCKING": "FALSE", "OPENBLAS_NUM_THREADS": "1"}
        environment |= plugin_environment()
        self._child, self._greeted = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        ), False  # fmt: skip

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self.start()
        assert self._child is not None
        if self._greeted:
            return self._child
        try:
            self._line(self._child, START_LIMIT_S)
        except ValueError as error:
            self.close()
            text = "the prober of HDF5 files did not start: is h5py installed?"
            raise UnreadError(text) from error
        self._greeted = True
        return self._child

    @staticmethod
    def _line(child: subprocess.Popen[bytes], limit_s: float) -> bytes:
        """One line from the child. Raises ValueError if it ended or sent none in time."""
        assert child.stdout is not None
        descriptor, line, end = child.stdout.fileno(), b"", time.monotonic() + limit_s
        while not line.endswith(b"\n"):
            if not can_read(descriptor, end - time.monotonic()):
                raise ValueError("no answer in time")
            if not (more := os.read(descriptor, 1 << 16)):
                raise ValueError("the child ended")
            line += more
        return line


@cache
def shared_prober() -> Prober:
    """The process's only prober: its child outlives the call, since it takes 0.2 s to start."""
    return Prober()


def _killed(child: subprocess.Popen[bytes]) -> bool:
    """Whether it was killed from outside: its own time limit ends it by SIGALRM."""
    try:
        return child.wait(_GONE_S) == -signal.SIGKILL
    except subprocess.TimeoutExpired:
        return False


def _end(child: subprocess.Popen[bytes]) -> FrameError:
    code = child.returncode
    if code is None or code in (-signal.SIGALRM, -signal.SIGKILL):
        return UnreadError("reading it was ended: it took too long")
    how = f"signal {-code} in the HDF5 library" if code < 0 else f"exit code {code}"
    return FrameError(f"reading it was ended: {how}")


def main(limit_s: float) -> None:
    """The child: answers each request with one line of JSON until its input ends."""
    import resource

    import h5py

    # Import here what a probe needs, before the alarm runs.
    from burstlens.workflows.frames.described import described, raise_for_filter, recorded

    pages = int(open("/proc/self/statm").read().split()[0])  # noqa: SIM115
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    print("ready", flush=True)
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        try:
            path, *rest = json.loads(line)
            with h5py.File(path, "r", locking=False) as file:
                try:
                    answer = recorded(file, *rest) if rest else described(file)
                except (OSError, RuntimeError):
                    raise_for_filter(file, rest[1:2])
                    raise
        except FrameError as error:
            answer = {"error": str(error), "times": isinstance(error, TimesError)}
        except Exception as error:
            # Whatever h5py raises for a half-written file: it cannot be read yet.
            answer = {"error": f"it cannot be read: {str(error)[:200]}"}
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    answer(__doc__)
    try:
        main(float(sys.argv[1]))
    except BrokenPipeError:  # the process that asked was killed
        os._exit(1)
