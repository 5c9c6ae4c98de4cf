"""Copies of the source that tests change: programs and tests import Burstlens from there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "workflows", "viz", "stagers", "cluster_configs")


class CopiedSource:
    """A copy of the source; ``compiled``: with what Python keeps of it, which is as old."""

    def __init__(self, folder: Path, *, compiled: bool = False) -> None:
        self.folder = folder
        ignored = None if compiled else shutil.ignore_patterns("__pycache__")
        for name in FOLDERS:
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", folder)

    def start(self, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
        """A program that imports Burstlens from the copy, at its end."""
        env = os.environ | {"PYTHONPATH": str(self.folder / "src")} | environment
        return subprocess.run(
            [str(word) for word in words], cwd=self.folder, env=env,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def run(self, *words: object, **environment: str) -> str:
        """The output of such a program, which must end well."""
        done = self.start(*words, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def python(self, *words: object, **environment: str) -> str:
        """What this Python prints."""
        return self.run(sys.executable, *words, **environment)

    def tests(self, *paths: str) -> str:
        """What pytest says of files of tests, with temporary folders of its own: at its end it
        deletes what older sessions left in the shared ones, which took 50 s on a busy disk."""
        own = f"--basetemp={self.folder / 'temporary'}"
        return self.python("-m", "pytest", "-q", "-p", "no:cacheprovider", own, *paths)

    def check_style(self) -> None:
        """What `make lint` says of imports and of the files' form, without the type checker."""
        scripts = Path(sys.executable).parent
        self.run(scripts / "lint-imports", "--no-cache")
        self.run(scripts / "ruff", "check", "--no-cache", *FOLDERS[1:])
