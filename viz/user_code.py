"""A function of the user's: loaded from the run's own files, called for a frame."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from burstlens.errors import BurstlensError, FrameError, RecipeError
from burstlens.nearness import did_you_mean
from burstlens.viz.frame import FrameReader
from burstlens.viz.product import Context, whole_file
from burstlens.viz.script import PythonOptions

_loaded: dict[Path, tuple[tuple[int, int], ModuleType]] = {}
"""Modules of this worker, with the size and mtime of the file that they were loaded from."""


def call_function(
    options: PythonOptions, frame: FrameReader, out: Path, context: Context
) -> dict[str, Any]:
    """Call ``f(frame, out)``, with the state's path where it is chained; what it gives back is
    returned as facts, where that is a dict.

    Raises RecipeError when the file or the function is not there, FrameError when it fails or
    writes nothing.
    """
    # Before matplotlib.pyplot is imported by the user's file: there is no display.
    os.environ["MPLBACKEND"] = "Agg"
    function = _function(options, context.files)
    # What writes pictures reads their format from the name.
    written = out.with_name(f"{out.name}.{options.extension}")
    with whole_file(written):
        try:
            returned = function(frame, written, *([context.state] if options.chained else []))
        except (BurstlensError, MemoryError):
            raise
        except Exception as error:
            raise FrameError(f"{options.function} failed: {_where(error, options.file)}") from error
        finally:
            _close_figures()
        if not written.is_file() or written.stat().st_size == 0:
            raise FrameError(f"{options.function} wrote nothing to out_path")
        written.replace(out)
    return dict(returned) if isinstance(returned, dict) else {}


def inside(folder: Path, relative: str) -> Path:
    """The file of that relative path; RecipeError when it is missing or leads out of the folder."""
    path = (folder / relative).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise RecipeError(f"{relative} leads out of the folder of the run's files")
    if not path.exists():
        raise RecipeError(f"{relative} is not among the run's files")
    return path


def _function(options: PythonOptions, folder: Path) -> Callable[..., Any]:
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
        raise RecipeError(f"{shown} cannot be loaded: {_where(error, shown)}") from error
    _loaded[path] = (version, module)
    return module


def _where(error: Exception, shown: str) -> str:
    """The error in a line, with the line of the user's file at which it arose."""
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    if isinstance(error, SyntaxError):
        return text
    name = Path(shown).name
    lines = [
        entry.lineno
        for entry in traceback.extract_tb(error.__traceback__)
        if Path(entry.filename).name == name
    ]
    return f"{text} ({shown}, line {lines[-1]})" if lines else text


def _close_figures() -> None:
    """pyplot keeps every figure that is not closed: a worker would grow frame by frame."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
