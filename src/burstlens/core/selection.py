"""A variable at one point of a further dimension, as people write it: ``t2m[expver=5]``.

Several are joined by commas: ``swh[number=3, step=6]``. Light: recipes are checked with it.
"""

from __future__ import annotations

import re

from burstlens.core.errors import RecipeError

SELECTION = r"\[\s*\w+\s*=(?!=)[^][]*\]"
"""The part in brackets; units in brackets have no ``=``."""
_SELECTED = re.compile(rf"(.+?)\s*({SELECTION})", re.DOTALL)
_ONE = re.compile(r"\s*(\w+)\s*=\s*([^=,]*[^=,\s])\s*")


def parse_selection(name: str) -> tuple[str, dict[str, str]]:
    """The variable and the wanted value of each dimension; none for a name without a selection.

    RecipeError says how it is written.

    >>> parse_selection("swh[number=3, step=6]")
    ('swh', {'number': '3', 'step': '6'})
    """
    match = _SELECTED.fullmatch(name.strip())
    if match is None:
        return name, {}
    found: dict[str, str] = {}
    for part in match[2][1:-1].split(","):
        one = _ONE.fullmatch(part)
        if one is None or one[1] in found:
            raise RecipeError(f"{name!r}: a choice is written {match[1]}[dimension=value]")
        found[one[1]] = one[2]
    return match[1], found
