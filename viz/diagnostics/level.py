"""Levels and layers as a recipe writes them: the text after an ``@``.

``temperature@850hPa``, ``wind@1500m``, ``wind@80m agl``, ``W@5`` (the model's level 5, from 0),
``lapse_rate@700-500hPa``, ``wind@0-6km agl``, ``temp@-50m`` (in the sea).
Light: recipes are checked with it on login nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from burstlens.core.errors import RecipeError

AT = "@"
_NUMBER = r"-?\d+(?:\.\d+)?"
_TEXT = re.compile(
    rf"({_NUMBER})\s*(?:-\s*({_NUMBER}))?\s*(?:(hPa|mb|Pa|km|m)\s*(agl)?)?", re.IGNORECASE
)
LEVEL = rf"{_NUMBER}(?:\s*-\s*{_NUMBER})?\s*(?:hPa|mb|Pa|km|m)\b(?:\s*agl\b)?|\d+(?:\.\d+)?"
"""The same pattern within an expression: a level that ends with a unit, or one model level."""
_UNITS = {
    "hpa": ("hPa", 100.0), "mb": ("hPa", 100.0), "pa": ("Pa", 1.0), "km": ("km", 1000.0),
    "m": ("m", 1.0),
}  # fmt: skip
_ABOVE = {"pressure": "", "height": " above sea level", "height_agl": " above ground"}


@dataclass(frozen=True, slots=True)
class Level:
    """One level, or a layer from ``low`` to ``high`` (upwards), in Pa or m.

    ``coordinate`` is the diagnostic it is counted in: ``pressure``, ``height`` (above sea),
    ``height_agl`` (above ground); empty: ``low`` is the number of a model level.
    """

    low: float
    high: float | None
    coordinate: str
    text: str

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the layer; for a level, the same value twice."""
        return self.low, self.low if self.high is None else self.high

    @property
    def words(self) -> str:
        """As in a title: ``at 850 hPa``, ``from 0 to 6 km above ground``."""
        if not self.coordinate:
            return f"on model level {self.text}"
        return ("at " if self.high is None else "from ") + self.text


def parse_level(text: str) -> Level:
    """The level in the text after the ``@``; RecipeError if it is not a level.

    >>> parse_level("500-700 hPa").low
    70000.0
    >>> parse_level("80m agl").words
    'at 80 m above ground'
    """
    match = _TEXT.fullmatch(text.strip())
    if match is None or (match[3] is None and (match[2] or not match[1].isdigit())):
        raise RecipeError(
            f"{text!r} is not a level: say 850hPa, 1500m (above sea), -50m (below it), "
            "80m agl (above ground), 5 (the model's level 5), or a layer such as 700-500hPa, "
            "0-6km agl"
        )
    first, second, unit, ground = match.groups()
    if unit is None:
        return Level(float(first), None, "", first)
    if second and first.startswith("-") and not second.startswith("-"):
        raise RecipeError(f"{text!r} is not a layer: both ends need their sign, as in -100--50m")
    unit, factor = _UNITS[unit.lower()]
    if ground and unit.endswith("Pa"):
        raise RecipeError(f"{text!r} is not a level: agl goes with m or km")
    if "-" in (first[0], (second or " ")[0]) and (ground or unit.endswith("Pa")):
        raise RecipeError(f"{text!r} is not a level: only heights above the sea may be negative")
    coordinate = "pressure" if unit.endswith("Pa") else "height_agl" if ground else "height"
    ends = [float(end) * factor for end in (first, second) if end is not None]
    ends.sort(reverse=coordinate == "pressure")
    if len(ends) == 2 and ends[0] == ends[1]:
        raise RecipeError(f"{text!r} is not a layer: its ends are the same")
    shown, where = [end / factor for end in ends], _ABOVE[coordinate]
    if shown[0] < 0 and shown[-1] <= 0:
        shown, where = [-end for end in reversed(shown)], " below sea level"
    words = " to ".join(f"{end + 0.0:g}" for end in shown) + f" {unit}{where}"
    return Level(ends[0], ends[1] if len(ends) == 2 else None, coordinate, words)


def check_levels(names: Iterable[str]) -> None:
    """ValueError when one of the names has an ``@`` without a valid level after it."""
    for name in names:
        _, at, text = name.partition(AT)
        try:
            _ = parse_level(text) if at else None
        except RecipeError as error:
            raise ValueError(f"{name}: {error}") from None
