"""The function of a recipe: loaded from the run's own files, anew when they have changed."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean
from burstlens.viz.kinds.python.options import PythonOptions
from burstlens.viz.kinds.shipped import inside

_loaded: dict[Path, tuple[tuple[int, int], ModuleType]] = {}
"""Modules of this worker, with the size and mtime of the file that they were loaded from."""


def load_function(options: PythonOptions, folder: Path) -> Callable[..., Any]:
    """The function that the options name. RecipeError when the file or the function is missing."""
    module = _module(inside(folder, options.file), options.file)
    name = options.function.rpartition(":")[2]
    function = getattr(module, name, None)
    if not callable(function):
        known = [key for key, value in vars(module).items() if callable(value)]
        raise RecipeError(f"{options.file} has no function {name!r}{did_you_mean(name, known)}")
    return function  # type: ignore[no-any-return]


def _module(path: Path, shown: str) -> ModuleType:
    """The file's module, loaded anew when the file has changed."""
    found = path.stat()
    version = (found.st_size, found.st_mtime_ns)
    kept = _loaded.get(path)
    if kept is not None and kept[0] == version:
        return kept[1]
    module = ModuleType(f"burstlens_user_{path.stem}")
    module.__file__ = str(path)
    try:
        # Compiled here, not imported: no stale bytecode file, nothing found elsewhere by its name.
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102
    except Exception as error:
        raise RecipeError(f"{shown} cannot be loaded: {where(error, shown)}") from error
    _loaded[path] = (version, module)
    return module


def where(error: Exception, shown: str) -> str:
    """The error in one line, with the line of the user's file at which it arose."""
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    if isinstance(error, SyntaxError):
        return text
    calls = traceback.extract_tb(error.__traceback__)
    lines = [call.lineno for call in calls if Path(call.filename).name == Path(shown).name]
    return f"{text} ({shown}, line {lines[-1]})" if lines else text
