"""Folders of others are read in a child process: a file server that hangs holds up no command.

A process that waits for such a server can be neither interrupted nor killed. So a child waits, and
Ctrl-C ends its owner; the child ends when the server answers. As a program it is that child.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from burstlens.core.child_process import ChildProcess, serve
from burstlens.core.errors import RunError
from burstlens.core.version import answer
from burstlens.workflows.look.preparation import LookRequest, SeenFolder, real_folder, see_folder

PROGRAM = (sys.executable, "-P", "-m", __name__)


class FolderReader(ChildProcess):
    """Reads folders in a child process, which starts at once; a context manager that ends it.

    Each method raises what its work in the child has raised, and RunError when the child is gone.
    """

    def __init__(self) -> None:
        super().__init__(PROGRAM)

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
        try:
            return self.call(work, *values)
        except ChildProcessError as ended:
            raise RunError(f"cannot look at {values[0]}: {ended}") from ended


# What runs in the child.


def _see(path: Path, request: LookRequest) -> SeenFolder | None:
    from burstlens.workflows.frames.hdf5 import shared_prober

    return see_folder(path, request, shared_prober())


def _is_empty(path: Path) -> bool:
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        return next(entries, None) is None
    return False


@cache
def _load() -> None:
    """Load what is needed after the first answer, which the owner waits for, while that starts its
    driver."""
    from burstlens.workflows.frames.hdf5 import shared_prober

    shared_prober().start()
    from burstlens.workflows.look.folder import recognition, wanted  # noqa: F401


if __name__ == "__main__":
    answer(__doc__)
    serve(_load)
