"""Near names: what a person may have meant by a name that is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

NEAR = "; did you mean"
"""How the end of a message begins where there are near names."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message on an unknown name: near names where there are any, else all of them.

    >>> did_you_mean("QRAINE", ["QRAIN", "QVAPOR", "T2"])
    '; did you mean QRAIN?'
    >>> did_you_mean("zzz", ["T2", "W"])
    '; there are T2, W'
    """
    names = sorted(set(known))
    folded: dict[str, str] = {}
    for candidate in names:
        folded.setdefault(candidate.casefold(), candidate)
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    if near:
        return f"{NEAR} {' or '.join(folded[match] for match in near)}?"
    if not names:
        return "; there are none"
    shown = ", ".join(names[:12])
    return f"; there are {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")
