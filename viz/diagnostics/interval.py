"""Quantities of the time since the frame before: their products are made frame after frame.

Light: recipes are checked with it on login nodes. :mod:`burstlens.viz.diagnostics.rain` computes
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

RAIN, RAIN_RATE = "rain_interval", "rain_rate"
INTERVALS = frozenset({RAIN, RAIN_RATE})
"""The names of such quantities."""
_WORD = re.compile(r"[A-Za-z_]\w*")


def of_interval(names: Iterable[str]) -> bool:
    """Whether one of the names, or a part of an expression, is such a quantity.

    >>> of_interval(["T2", "rain_rate"])
    True
    """
    return any(INTERVALS & set(_WORD.findall(name)) for name in names)
