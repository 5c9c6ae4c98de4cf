"""Near names: what a person may have meant by a name that is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

NEAR = "; did you mean"
"""How the end of a message begins where there are near names."""
LONGEST = 80
"""The search compares at most so many characters: its time grows with their square, and nobody
mistypes a name that is longer."""
MOST = 2000
"""The search compares with at most so many names."""
LISTED = 100
"""Of more names than these the first few say nothing about the rest."""


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
    """The end of a message on an unknown name: near names where there are any, else the first of
    all, else nothing where these are more than ``LISTED``.

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
    shown = ", ".join(one if len(one) <= LONGEST else f"{one[:LONGEST]}..." for one in names[:12])
    return f"; there are {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")
