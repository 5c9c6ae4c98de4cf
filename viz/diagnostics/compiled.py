"""How loops are compiled: by numba, kept on disk where that is possible. Importing this needs
numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Any:
    """The function compiled at its first call; threads run it side by side."""
    return _jit(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The same, put into the loops that call it: no loop with a call in it is vectorised."""
    return _jit(function, inline="always")


def _jit(function: Callable[..., Any], **options: Any) -> Any:
    options |= {"error_model": "numpy", "nogil": True}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # there is no writable folder for the cache
        return numba.njit(**options)(function)
