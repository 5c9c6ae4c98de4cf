"""The fact ``shown`` of a picture: its points of further dimensions where its recipe names none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SHOWN = "shown"
"""The name of the fact; a user's function cannot give it."""
KnownPoints = Mapping[str, Mapping[str, int]]
"""Numbers of points along further dimensions, by variable."""


@dataclass(frozen=True, slots=True)
class ShownPoint:
    """The numbers of a variable's point along its further dimensions, and the point in words."""

    points: Mapping[str, int]
    words: str


def read_shown(facts: Any) -> dict[str, ShownPoint]:
    """The points that a picture's facts name, by variable; whatever else they hold is left out."""
    shown = facts.get(SHOWN) if isinstance(facts, Mapping) else None
    if not isinstance(shown, Mapping):
        return {}
    return {
        str(name): ShownPoint(dict(about["points"]), str(about.get("words", "")))
        for name, about in shown.items()
        if isinstance(about, Mapping) and _are_points(about.get("points"))
    }


def _are_points(given: Any) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and type(number) is int for name, number in given.items()
    )
