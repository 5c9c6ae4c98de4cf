"""A child process that calls functions for its owner, which it holds up for a given time at most.

A process that waits for a file server that hangs can be neither interrupted nor killed. So a child
waits, and its owner goes on. As a program it is that child.
"""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import select
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import IO, Any, Self

from burstlens.core.version import answer

PROGRAM = (sys.executable, "-P", "-m", __name__)
ENDS_S = 1.0
"""How long the end of the child is waited for: one that hangs in the kernel does not end."""


def can_read(file: IO[Any] | int, wait_s: float) -> bool:
    """Whether there is something to read, or the end, within so many seconds. ``select`` refuses
    descriptors from 1024 on, which a process with many open files has."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(math.ceil(1000 * max(0.0, wait_s))))


class ChildProcess:
    """A child that starts at once; as a context manager it ends with the block."""

    def __init__(self, program: Sequence[str] = PROGRAM) -> None:
        # In a session of its own, and without the caller's output: a child that outlives its owner
        # gets no Ctrl-C, and nobody waits for the end of a pipe that it still holds.
        self._child = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, work: Callable[..., Any], *values: Any, wait_s: float | None = None) -> Any:
        """What ``work`` of these values returns in the child. Raises what it has raised;
        ChildProcessError when the child has ended, TimeoutError when it has not begun to answer
        within ``wait_s``: then it answers no further question."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            pickle.dump((work, values), self._child.stdin)
            self._child.stdin.flush()
            if wait_s is not None and not can_read(self._child.stdout, wait_s):
                self.close()
                raise TimeoutError(f"no answer within {wait_s:g} s")
            found, error = pickle.load(self._child.stdout)  # noqa: S301  (its own child)
        except TimeoutError:
            raise
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as ended:
            raise ChildProcessError("the process that reads it ended") from ended
        if error is not None:
            raise error
        return found

    def close(self) -> None:
        """End the child, or leave it where its file server does not answer."""
        self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(ENDS_S)


def serve(afterwards: Callable[[], object] | None = None) -> None:
    """Call what the standard input asks for until it ends; each answer is a value and an error.
    ``afterwards`` is called after each answer. Returns quietly when the owner has ended."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
    with contextlib.suppress(BrokenPipeError):
        while True:
            value, error = None, None
            try:
                work, values = pickle.load(questions)  # noqa: S301  (its owner's)
            except EOFError:
                return
            try:
                value = work(*values)
            except Exception as raised:
                error = raised
            pickle.dump((value, error), answers)
            answers.flush()
            if afterwards is not None:
                afterwards()


if __name__ == "__main__":
    answer(__doc__)
    serve()
