"""The keys of numbers in units of time, as a file with them has them."""

from __future__ import annotations

from collections.abc import Iterable

from burstlens.core.time_axis import read_axis


def numeric_keys(
    values: Iterable[float],
    units: str = "s",
    calendar: str = "",
    *,
    is_fixed: bool = False,
    code: str = "d",
) -> list[str | None]:
    axis = read_axis({"units": units, "calendar": calendar}, code)
    return axis.keys(values, is_fixed=is_fixed)
