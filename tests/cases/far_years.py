"""Years below 0 and of five digits, of models of past climates and long spin-ups (cftime)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from cases.fields import write_regular
from cases.looked import Case, Looked


def years(*numbers: int, calendar: str = "noleap") -> Callable[[Path], None]:
    """Frames of 1 January of these years."""
    days = [365.0 * (number - 1) for number in numbers]
    units = "days since 0001-01-01 00:00:00"
    return lambda folder: write_regular(folder / "spinup.nc", days, units, calendar).close()


def climatology(folder: Path) -> None:
    """Times around the year 0 from which they count, as of COARDS."""
    days = [-365.0, 0.0, 366.0, 731.0]
    units = "days since 0000-01-01 00:00:00"
    write_regular(folder / "climate.nc", days, units, "standard").close()


def check(labels: Sequence[str]) -> Callable[[Looked], None]:
    def whole(look: Looked) -> None:
        assert look.code == 0, look.said
        values = list(look.series("tas", "--at", "46,0").values())
        assert values == pytest.approx([146.0 + n for n in range(len(labels))], abs=0.01)
        code, said = look.burstlens("series", look.run.name, "tas", "--at", "46,0")
        assert code == 0, said
        assert [line.split(",")[0] for line in said.splitlines()[-len(labels) :]] == [
            f"{label}-01-01T00:00:00" for label in labels
        ]

    return whole


CASES = [
    Case("before the year 0", years(-2099, -1999, -1899), check(("-2099", "-1999", "-1899"))),
    Case(
        "around the year 0",
        years(-1, 0, 1, 2, calendar="365_day"),
        check(("-0001", "0000", "0001", "0002")),
    ),
    Case(
        "around a year 0 that CF's calendar lacks",
        climatology,
        check(("-0001", "0000", "0001", "0002")),
    ),
    Case(
        "beyond 9999",
        years(9999, 10000, 10001, 10002),
        check(("9999", "10000", "10001", "10002")),
    ),
]
