"""Variables compressed by plugins of HDF5 (netcdf-c): read wherever netCDF4 reads them, else the
filter is named and the other streams are shown."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import pytest
from cases.fields import write_regular
from cases.looked import Case, Looked
from packed_by_plugins import NOBODYS, write_packed

NAMES = [
    name
    for name, there in {
        "zstd": netCDF4.__has_zstandard_support__,
        "bzip2": netCDF4.__has_bzip2_support__,
        "blosc_zstd": netCDF4.__has_blosc_support__,
    }.items()
    if there
]


def write(folder: Path) -> None:
    """One stream for each filter, and one whose filter nobody has."""
    for name in NAMES:
        stream = name.replace("_", "")
        path = folder / f"{stream}_out.nc"
        data = write_regular(path, [0, 1], "hours since 2001-01-01", compression=name)
        data.renameVariable("tas", stream)
        data.close()
    write_packed(folder / "unknown_out.nc", time_too=True)


def check(look: Looked) -> None:
    assert look.code == 0, look.said
    assert len(look.times()) == 2
    assert len(look.products()) == len(NAMES)
    for product in look.products():
        values = list(look.series(product, "--at", "46,0").values())
        assert values == pytest.approx([146, 147], abs=0.01)
    assert "unknown_out.nc cannot be read: time is compressed by" in look.said
    assert f"HDF5 filter {NOBODYS}" in look.said


CASES = [Case("several filters", write, check)]
