"""Units finer than seconds or coarser than days, calendars as FMS and NCL name them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases.fields import write_regular
from cases.looked import Case, Looked

STREAMS: dict[str, tuple[str, str | None, list[float], list[str]]] = {
    "ns": ("nanoseconds since 2020-01-01", None, [0, 1_500_000, 3_000_000],
           ["20200101T000000", "20200101T000000.0015", "20200101T000000.003"]),
    "us": ("microseconds since 2020-01-01 00:00:00", None, [0, 1500, 3000],
           ["20200101T000000", "20200101T000000.0015", "20200101T000000.003"]),
    "weeks": ("weeks since 2011-01-01", "NOLEAP", [0, 9, 52],
              ["20110101T000000", "20110305T000000", "20111231T000000"]),
    "parts": ("hours since 2020-01-01 00:00:00.123456789", "proleptic_gregorian", [0, 6, 12],
              [f"20200101T{hour:02d}0000.123457" for hour in (0, 6, 12)]),
    "mom": ("days since 0001-01-01 00:00:00", "THIRTY_DAY_MONTHS", [15, 45, 75],
            ["00010116T000000", "00010216T000000", "00010316T000000"]),
    "ncl": ("days since 0001-01-01", "no_leap", [58, 59, 365],
            ["00010228T000000", "00010301T000000", "00020101T000000"]),
    "julian": ("days since 1900-01-01", "JULIAN", [0, 58, 59],
               ["19000101T000000", "19000228T000000", "19000229T000000"]),
    "free": ("days since 0001-01-01", "NO_CALENDAR", [0, 1, 2],
             ["t00000000.000", "t00086400.000", "t00172800.000"]),
}  # fmt: skip


def write(form: Any) -> Callable[[Path], None]:
    def into(folder: Path) -> None:
        for name, (units, calendar, values, _) in STREAMS.items():
            write_regular(folder / f"{name}.nc", values, units, calendar, form).close()

    return into


def check(look: Looked) -> None:
    assert look.code == 0, look.said
    for name, (_, _, _, keys) in STREAMS.items():
        assert look.times_of(name) == keys, name


def write_months(folder: Path) -> None:
    write_regular(folder / "sst.nc", [1, 2, 3], "month").close()


def check_months(look: Looked) -> None:
    assert look.code == 0, look.said
    values = look.series("tas", "--at", "46,0")
    assert list(values) == [f"f-sst_month000000000{month}" for month in (1, 2, 3)]
    assert list(values.values()) == pytest.approx([146, 147, 148], abs=0.01)


CASES = [
    Case("netCDF-4", write("NETCDF4"), check),
    Case("classic", write("NETCDF3_64BIT_OFFSET"), check),
    Case("months of no year", write_months, check_months),
]
