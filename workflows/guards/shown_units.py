"""The units in which guards give values and limits: those in which a map shows the variable.

A recipe's limits are in the file's units; a reader compares alarms and limits with the picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from burstlens.core.digits import format_number
from burstlens.core.errors import RecipeError
from burstlens.core.units import conversion


@dataclass(frozen=True, slots=True)
class ShownUnits:
    """``units``, and how values in the file's become those: ``value * factor + offset``."""

    units: str = ""
    factor: float = 1.0
    offset: float = 0.0

    def value(self, of: float) -> float:
        """A value in these units."""
        return of * self.factor + self.offset

    def difference(self, of: float) -> float:
        """A difference of two values, or a rate, in these units."""
        return of * self.factor

    def text(self, of: float, other: float | None = None) -> str:
        """A value with its units, with so many digits that it differs from ``other`` in them."""
        return f"{self.number(of, other)} {self.units}".rstrip()

    def text_of_difference(self, of: float) -> str:
        """A difference of two values, or a rate, with its units."""
        return f"{format_number(self.difference(of))} {self.units}".rstrip()

    def number(self, of: float, other: float | None = None) -> str:
        """The same without units."""
        span = 0.0 if other is None else abs(self.value(of) - self.value(other))
        return format_number(self.value(of), span)


def shown_in(wanted: str | None, units: str, *, difference: bool = False) -> ShownUnits:
    """From the file's ``units`` to those ``wanted``; the file's own where they do not convert.
    ``difference``: the values are differences of temperatures, say, without a zero point."""
    if wanted:
        try:
            return ShownUnits(wanted, *conversion(units, wanted, difference=difference))
        except RecipeError:  # check says so of the map
            pass
    return ShownUnits(units)


def units_of_maps(options: Iterable[Any]) -> Mapping[str, str]:
    """By variable: the units of the first product that shows it in some of its own choice."""
    found: dict[str, str] = {}
    for one in options:
        variable, units = getattr(one, "variable", None), getattr(one, "units", None)
        if isinstance(variable, str) and isinstance(units, str):
            found.setdefault(variable, units)
    return found
