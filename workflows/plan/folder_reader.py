"""Folders of others are read in a child process: a file server that hangs holds up no command.

A process that waits for such a server can be neither interrupted nor killed. So a child waits, and
Ctrl-C ends its owner; the child ends when the server answers. As a program it is that child.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from burstlens.core.about import answer
from burstlens.core.errors import RunError
from burstlens.workflows.plan.look import LookRequest, SeenFolder, real_folder, see_folder

PROGRAM = (sys.executable, "-P", "-m", __name__)
ENDS_S = 1.0
"""How long the end of the child is waited for: one that hangs in the kernel does not end."""


class FolderReader:
    """Reads folders in a child process, which starts at once; a context manager that ends it.

    Each method raises what its work in the child has raised, and RunError when the child is gone.
    """

    def __init__(self) -> None:
        # In a session of its own, and without the caller's output: a child that outlives its owner
        # gets no Ctrl-C, and nobody waits for the end of a pipe that it still holds.
        self._child = subprocess.Popen(
            PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    def __enter__(self) -> FolderReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def real_path(self, path: str | os.PathLike[str]) -> Path:
        """See :func:`.real_folder`."""
        found: Path = self._call(real_folder, os.fspath(path))
        return found

    def see(self, path: Path, request: LookRequest) -> SeenFolder | None:
        """See :func:`.see_folder`."""
        found: SeenFolder | None = self._call(_see, path, request)
        return found

    def is_empty(self, path: Path) -> bool:
        """Whether nothing is in the folder; False where that is not known."""
        return bool(self._call(_is_empty, path))

    def _call(self, work: Callable[..., Any], *values: Any) -> Any:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            pickle.dump((work, values), self._child.stdin)
            self._child.stdin.flush()
            found, error = pickle.load(self._child.stdout)  # noqa: S301  (its own child)
        except (EOFError, OSError, pickle.UnpicklingError) as ended:
            raise RunError(
                f"cannot look at {values[0]}: the process that reads it ended"
            ) from ended
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


# What runs in the child.


def _see(path: Path, request: LookRequest) -> SeenFolder | None:
    from burstlens.workflows.frames.hdf5 import shared_prober

    return see_folder(path, request, shared_prober())


def _is_empty(path: Path) -> bool:
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        return next(entries, None) is None
    return False


def main() -> None:
    """Do what the standard input asks for until it ends; each answer is a value and an error."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
    while True:
        try:
            work, values = pickle.load(questions)  # noqa: S301  (its owner's)
        except EOFError:
            return
        value, error = None, None
        try:
            value = work(*values)
        except Exception as raised:
            error = raised
        pickle.dump((value, error), answers)
        answers.flush()
        _load()


@cache
def _load() -> None:
    """Load what is needed after the first answer, which the owner waits for, while that starts its
    driver."""
    from burstlens.workflows.frames.hdf5 import shared_prober

    shared_prober().start()
    from burstlens.workflows.attach import recognition, wanted  # noqa: F401


if __name__ == "__main__":
    answer(__doc__)
    with contextlib.suppress(BrokenPipeError):  # the process that asked has ended
        main()
