"""Errors of files as messages for people, and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from burstlens.core.errors import RunError


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raises RunError in place of an OSError of the block."""
    try:
        yield
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error


@contextlib.contextmanager
def writing(path: Path, hint: str = "") -> Iterator[None]:
    """Raises RunError in place of an OSError of the block; ``hint`` ends its message."""
    try:
        yield
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}{hint}") from error


@contextlib.contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """A path beside ``out`` for a file or folder, which is renamed to ``out`` after the block.

    Raises RunError in place of an OSError. On any error nothing is left there, and ``out`` is as
    it was.
    """
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with writing(out, "; --out names another place"):
            yield part
            part.replace(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)  # of a folder
        with contextlib.suppress(OSError):
            part.unlink()
