"""The option ``values`` of a product kind: how the field as drawn is kept beside its picture.

Importable on a login node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Values:
    """The field's values beside its picture: thinned by stride, never averaged."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    points: int = 500
    """Points on the longer side of the field, at most: every second, third ... point is kept."""

    bits: Literal[12, 16] = 12
    """Bits per value: 12 are one part in 4091 of the field's range, 16 one in 65531."""

    def __post_init__(self) -> None:
        if not 2 <= self.points <= 4000:
            raise ValueError(f"values: points must be 2 to 4000, not {self.points}")
        if self.bits not in (12, 16):
            raise ValueError(f"values: bits must be 12 or 16, not {self.bits}")


def stride(shape: tuple[int, ...], points: int) -> int:
    """Every how many-th point is kept so that no side has more than ``points``.

    >>> stride((1000, 400), 500), stride((1001, 400), 500), stride((40, 30), 500)
    (2, 3, 1)
    """
    return max(1, -(-max(shape) // points))
