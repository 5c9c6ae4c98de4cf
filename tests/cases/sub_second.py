"""Frames of which several come in a second, as large-eddy simulations write them (xarray)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cases.fields import write_regular
from cases.looked import Case, Looked

STEPS = [0.25 * number for number in range(8)]
SINCE = "since 2020-06-01 12:00:00"
FINE_US = [1500 * number for number in range(8)]


def one_file(folder: Path) -> None:
    write_regular(folder / "les_slice.nc", STEPS, f"seconds {SINCE}").close()


def many_files(folder: Path) -> None:
    for record, step in enumerate(STEPS):
        path = folder / f"les_slice_{record:04d}.nc"
        write_regular(path, [step / 86400], f"days {SINCE}", form="NETCDF3_CLASSIC").close()


def elapsed(folder: Path) -> None:
    write_regular(folder / "les_slice.nc", STEPS, "s").close()


def fine(folder: Path) -> None:
    write_regular(folder / "shock.nc", FINE_US, f"microseconds {SINCE}").close()


def check(*keys: str, first: float = 146.0, apart: float = 1.0) -> Callable[[Looked], None]:
    def whole(look: Looked) -> None:
        assert look.code == 0, look.said
        assert look.times() == list(keys)
        values = list(look.series("tas", "--at", "46,0").values())
        assert values == pytest.approx([first + apart * n for n in range(8)], abs=0.01)

    return whole


def dated(*seconds: str) -> list[str]:
    return [f"20200601T12000{second}" for second in seconds]


QUARTERS = ("0", "0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75")
CASES = [
    Case("in one file", one_file, check(*dated(*QUARTERS))),
    Case("in many files, in days", many_files, check(*dated(*QUARTERS), apart=0.0)),
    Case("elapsed", elapsed, check(*(f"t0000000{second:.3f}" for second in STEPS))),
    Case(
        "finer than a millisecond",
        fine,
        check(*dated("0", "0.0015", "0.003", "0.0045", "0.006", "0.0075", "0.009", "0.0105")),
    ),
]
