"""A folder that is looked at."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"  # the checks read what the looks have read

from look_case import TESTS, LookCase


@pytest.fixture
def case(tmp_path: Path) -> Iterator[LookCase]:
    """A folder of its own; what was started there is ended with the test."""
    made = LookCase(tmp_path)
    yield made
    made.close()


class FuseFolder:
    """A folder seen through a file system of its own, which can hang, die and come back."""

    def __init__(self, source: Path, place: Path, control: Path) -> None:
        self.source, self.place, self.control = source, place, control
        self._server: subprocess.Popen[str] | None = None
        place.mkdir()
        control.mkdir()
        self.mount()

    def mount(self) -> None:
        """Mount it. Skips the test where that is not allowed."""
        program = [sys.executable, TESTS / "fuse_folder.py", self.source, self.place, self.control]
        self._server = subprocess.Popen(program, stderr=subprocess.PIPE, text=True)
        while not os.path.ismount(self.place):
            if self._server.poll() is not None:
                said = self._server.communicate()[1]
                pytest.skip(f"no file system can be mounted here: {said.splitlines()[-1]}")
            time.sleep(0.02)

    def hang(self) -> None:
        """Answer nothing from now on."""
        (self.control / "hang").touch()

    def answer(self) -> None:
        """Answer again."""
        (self.control / "hang").unlink()

    def kill(self) -> None:
        """Kill the server: calls below the folder fail with ENOTCONN."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            self._server = None

    def unmount(self) -> None:
        """Remove the mount: the empty folder below shows."""
        self.kill()
        subprocess.run(["umount", "--lazy", str(self.place)], check=False)

    @property
    def changes(self) -> str:
        """The calls that would have changed or locked something."""
        calls = self.control / "calls"
        return calls.read_text() if calls.exists() else ""


@pytest.fixture
def fuse(tmp_path: Path) -> Iterator[FuseFolder]:
    """A mount of ``tmp_path / "source"``."""
    source = tmp_path / "source"
    source.mkdir()
    made = FuseFolder(source, tmp_path / "mounted", tmp_path / "control")
    yield made
    made.unmount()


@pytest.fixture
def fill() -> Callable[[Path], Path]:
    """``fill(place)`` leaves no room there; deleting the file that it returns frees it."""

    def use_up(place: Path) -> Path:
        ballast = place / "ballast"
        with ballast.open("wb", buffering=0) as stream:
            for size in (1 << 16, 4096, 1):
                with contextlib.suppress(OSError):
                    while True:
                        stream.write(b"x" * size)
        return ballast

    return use_up
