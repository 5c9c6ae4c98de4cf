"""Near names: suggestions for an unknown name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

NEAR = "; did you mean"
"""Begins the end of a message that has near names."""
LONGEST = 80
"""The search compares at most this many characters: its time grows with their square, and longer
names are not typing errors."""
MOST = 2000
"""The search compares with at most this many names."""
WHOLE, FIRST = 20, 12
"""Up to so many names are shown as a whole, of more these first ones."""
LISTED = 100
"""Longer lists of names are not shown: their first few would not help."""


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """Up to three of the known names that resemble ``name``, the nearest first.

    >>> near_names("QRAINE", ["QRAIN", "QVAPOR", "T2"])
    ['QRAIN']
    """
    if len(name) > LONGEST:
        return []
    folded: dict[str, str] = {}
    for candidate in sorted(set(known)):
        if len(candidate) <= LONGEST and len(folded) < MOST:
            folded.setdefault(candidate.casefold(), candidate)
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    return [folded[match] for match in near]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message on an unknown name: near names where there are any, else the first
    names, else nothing where there are more than ``LISTED``.

    >>> did_you_mean("QRAINE", ["QRAIN", "QVAPOR", "T2"])
    '; did you mean QRAIN?'
    >>> did_you_mean("zzz", ["T2", "W"])
    '; there are T2, W'
    """
    names = sorted(set(known))
    if near := near_names(name, names):
        return f"{NEAR} {' or '.join(near)}?"
    if not names:
        return "; there are none"
    if len(names) > LISTED:
        return ""
    first = names if len(names) <= WHOLE else names[:FIRST]
    shown = ", ".join(one if len(one) <= LONGEST else f"{one[:LONGEST]}..." for one in first)
    more = len(names) - len(first)
    return f"; there are {shown}" + (f" and {more} more" if more else "")
