"""Loops compiled by numba, kept on disk. Importing this needs numba.

One folder for each kind of processor, version of numba and state of the sources: numba finds the
files of a function by an index that processes write in turn, without a lock, so where kinds of
processors share a home directory the code of one could come to stand under the name of the other;
and it does not see that a function of another module, which is compiled into a loop, has changed.
A cache that cannot be written, or is damaged, costs the time to compile and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.registry import cpu_target
from platformdirs import user_cache_path

_log = logging.getLogger(__name__)


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """The function compiled at its first call; threads run it side by side. ``options`` are those
    of :func:`numba.njit`.

    It becomes a part of each loop that calls it. Else a process that has compiled both would call
    the function's own code, and one that has read the loop from disk the loop's copy of it, which
    LLVM has optimised once more: with ``fastmath`` their sums differ in the last bits.
    """
    made = numba.njit(error_model="numpy", nogil=True, forceinline=True, **options)(function)
    with contextlib.suppress(RuntimeError):  # there is no folder that can be written
        made._cache = _Kept(function)
    return made


class _Locator(_CacheLocator):  # type: ignore[misc]
    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._folder = str(folder)
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return self._folder

    def get_source_stamp(self) -> str:
        return ""  # the folder's name has it

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator | None:
        sources = Path(file).parent
        shared = sources / "__pycache__", user_cache_path("burstlens") / "loops"
        for base in [Path(config.CACHE_DIR)] if config.CACHE_DIR else shared:
            found = cls(function, base / f"loops-{_state(str(sources))}")
            with contextlib.suppress(OSError):
                found.ensure_cache_path()
                return found
        return None


class _Impl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_Locator]  # noqa: RUF012  (numba's form)


class _Kept(FunctionCache):  # type: ignore[misc]
    _impl_class = _Impl

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
        except Exception as error:
            _log.info("compiled loops in %s cannot be read: %s", self.cache_path, error)
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        try:
            try:
                super().save_overload(signature, data)
            except OSError:
                raise
            except Exception:  # the index is damaged: begin another one
                self.flush()
                super().save_overload(signature, data)
        except OSError as error:
            _log.info("compiled loops cannot be kept in %s: %s", self.cache_path, error)


@cache
def _state(sources: str) -> str:
    """What stands for this processor, numba, and the modules in that folder as they are."""
    modules = [
        (path.name, (found := path.stat()).st_size, found.st_mtime_ns)
        for path in [Path(__file__), *sorted(Path(sources).glob("*.py"))]
    ]
    processor = cpu_target.target_context.codegen().magic_tuple()
    about = sources, modules, processor, numba.__version__, sys.version
    return hashlib.sha256(repr(about).encode()).hexdigest()[:16]
