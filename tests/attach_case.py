"""Files as models leave them: small netCDF files with names and attributes of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"  # before HDF5 is loaded
import netCDF4
import numpy as np

from burstlens.workflows.look.folder.recognition import Found, recognise

DATA = Path(__file__).parent / "data"
SUPERCELL = DATA / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
CYCLONE = DATA / "wrf" / "wrfout_d01_2005-08-28_21_00_00"
SINCE = "days since 2000-01-01"

Variables = Mapping[str, tuple[Sequence[str], Mapping[str, Any]]]
Write = Callable[..., Path]


def write_netcdf(
    path: Path,
    sizes: Mapping[str, int | None],
    variables: Variables,
    *,
    records: int = 1,
    attributes: Mapping[str, Any] | None = None,
    format: str = "NETCDF3_64BIT_OFFSET",
    values: Mapping[str, Any] | None = None,
) -> Path:
    """A file with ramps in its variables; ``sizes`` None: unlimited, with that many records."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with netCDF4.Dataset(path, "w", format=format) as data:
        data.setncatts(dict(attributes or {}))
        for name, size in sizes.items():
            data.createDimension(name, size)
        for name, (dimensions, about) in variables.items():
            kind = about.get("kind", "f4")
            made = data.createVariable(name, kind, tuple(dimensions))
            made.setncatts({key: value for key, value in about.items() if key != "kind"})
            shape = [records if sizes[d] is None else sizes[d] for d in dimensions]
            given = (values or {}).get(name)
            if kind == "S1":
                made[:] = netCDF4.stringtochar(np.array([given] * shape[0], f"S{shape[-1]}"))
            elif given is not None:
                made[:] = given
            else:
                made[:] = np.arange(int(np.prod(shape)), dtype="f8").reshape(shape)
    return path


TIME: tuple[Sequence[str], Mapping[str, Any]] = (
    ("time",), {"units": SINCE, "standard_name": "time", "axis": "T", "kind": "f8"},
)  # fmt: skip
LONLAT: Variables = {
    "lat": (("lat",), {"units": "degrees_north", "standard_name": "latitude"}),
    "lon": (("lon",), {"units": "degrees_east", "standard_name": "longitude"}),
}


def touch(folder: Path, *names: str, content: bytes = b"") -> None:
    """Files of these names."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


NAMELIST = """&time_control
 history_interval = 60, 60,
 frames_per_outfile = 1, 1,
 auxhist2_outname = "rainfall_d<domain>_<date>",
 auxhist2_interval = 30, 30,
/
&domains
 max_dom = 2,
 e_we = 42, 43,
/
"""
FIELD = (("time", "lat", "lon"), {"units": "K", "standard_name": "air_temperature"})


def known(folder: Path, **options: Any) -> Found:
    """What is recognised in a folder, which is something."""
    found = recognise(folder, **options)
    assert found is not None
    return found


def patterns(found: Found) -> dict[str, tuple[str, int]]:
    """Glob and number of files of each stream."""
    return {one.name: (one.pattern, one.files) for one in found.streams}


def remarks(found: Found) -> str:
    """What was passed over."""
    return "; ".join(found.passed_over)


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and mtime of all that lies in a folder."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in folder.rglob("*")
    }
