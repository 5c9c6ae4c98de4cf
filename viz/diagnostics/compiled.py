"""How loops are compiled: by numba, kept on disk where that is possible. Importing this needs
numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Any:
    """The function compiled at its first call; threads run it side by side."""
    try:
        return numba.njit(cache=True, error_model="numpy", nogil=True)(function)
    except RuntimeError:  # there is no writable folder for the cache
        return numba.njit(error_model="numpy", nogil=True)(function)
