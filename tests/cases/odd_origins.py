"""Times since origins that are not in ISO form (Ferret, GrADS, UCLALES, COARDS), side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cases.fields import write_regular
from cases.looked import Case, Looked

NEW_YEAR = ["20110101T000000", "20110101T010000", "20110101T020000"]
ELAPSED = ["t00000000.000", "t00000600.000", "t00001200.000"]
ORIGINS: dict[str, tuple[str, list[float], list[str]]] = {
    "caps": ("Hours Since 2011-01-01", [0, 1, 2], NEW_YEAR),
    "compact": ("hours since 20110101 00:00", [0, 1, 2], NEW_YEAR),
    "slash": ("hours since 2011/01/01", [0, 1, 2], NEW_YEAR),
    "zone": ("hours since 2011-01-01 02:00:00 +2", [0, 1, 2], NEW_YEAR),
    "ferret": ("hours since 01-JAN-2011 00:00:00", [0, 1, 2], NEW_YEAR),
    "words": ("hours since Jan 1, 2011", [0, 1, 2], NEW_YEAR),
    "month": ("months since 1899-12", [949, 950, 951],
              ["19790101T000000", "19790201T000000", "19790301T000000"]),
    "climate": ("hour since 0000-01-01 00:00:00", [366, 1096, 1826],
                ["00000116T060000", "00000215T160000", "00000317T020000"]),
    "begun": ("seconds since initialization", [0, 600, 1200], ELAPSED),
    "zeros": ("seconds since 0000-00-00 00:00:00", [0, 600, 1200], ELAPSED),
    "nodate": ("seconds since 2000-00-00 0000", [0, 600, 1200],
               ["20000101T000000", "20000101T001000", "20000101T002000"]),
}  # fmt: skip
UNKNOWN = "hours since the flood"


def write(form: Any) -> Any:
    def into(folder: Path) -> None:
        for name, (units, values, _) in ORIGINS.items():
            write_regular(folder / f"{name}.nc", values, units, form=form).close()
        write_regular(folder / "unknown.nc", [0, 1, 2], UNKNOWN, form=form).close()

    return into


def check(look: Looked) -> None:
    for name, (_, _, keys) in ORIGINS.items():
        assert look.times_of(name) == keys, name
    assert look.times_of("unknown") == []
    assert "unknown.nc: the units of its times are not known: 'since the flood'" in look.said
    (named,) = look.events("stream.undecoded")
    assert named["stream"] == "unknown"
    assert "tas" in look.products()


CASES = [
    Case("classic", write("NETCDF3_CLASSIC"), check),
    Case("netCDF-4", write("NETCDF4"), check),
]
