"""How loops are compiled: by numba, kept on disk where that is possible. Importing this needs
numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from burstlens.core import loops


def compiled(function: Callable[..., Any]) -> Any:
    """The function compiled at its first call; threads run it side by side."""
    return loops.compiled(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The same, put into the loops that call it: no loop with a call in it is vectorised."""
    return loops.compiled(function, inline="always")
