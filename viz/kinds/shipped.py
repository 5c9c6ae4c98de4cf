"""Files of the recipe's folder that travel with a run: named by relative paths, found inside."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from burstlens.core.errors import RecipeError


def check_relative(path: str) -> None:
    """ValueError when a path leaves the folder it is meant to stay in."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise ValueError(f"{path!r} must be a relative path without '..'")


def check_extension(extension: str) -> None:
    """ValueError unless an extension is letters and digits, without the dot."""
    if not re.fullmatch(r"[A-Za-z0-9]{1,12}(\.[A-Za-z0-9]{1,12})?", extension):
        raise ValueError(f"extension is letters and digits without a dot, not {extension!r}")


def inside(folder: Path, relative: str) -> Path:
    """The file of that relative path; RecipeError when it is missing or leads out of the folder."""
    path = (folder / relative).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise RecipeError(f"{relative} leads out of the folder of the run's files")
    if not path.exists():
        raise RecipeError(f"{relative} is not among the run's files")
    return path
