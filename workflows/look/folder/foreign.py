"""Files that are not netCDF: their kinds by name and first bytes, and how they become netCDF."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burstlens.core.durable import open_descriptor
from burstlens.core.quantity import counted
from burstlens.workflows.look.folder.names import Group

MOST_OPENED = 48
"""Groups of names of which one file is opened to see what it is."""

_SUFFIXES = {
    "SAC": (".sac",),
    "SEG-Y": (".sgy", ".segy"),
    "GRIB": (".grb", ".grib", ".grb2", ".grib2"),
    "VTK": (".vtk", ".vtu", ".vti", ".vts", ".vtp", ".pvtu", ".pvd"),
}
_MAGIC = (
    (b"GRIB", "GRIB"),
    (b"\x89HDF\r\n\x1a\n", "HDF5"),
    (b"\x7fELF", ""),
    (b"\x93NUMPY", "NumPy"),
    (b"\x1f\x8b", "compressed (gzip)"),
    (b"BZh", "compressed (bzip2)"),
    (b"\xfd7zXZ", "compressed (xz)"),
    (b"\x28\xb5\x2f\xfd", "compressed (zstd)"),
    (b"PK\x03\x04", "zip"),
    (b"SIMPLE  =", "FITS"),
    (b"# vtk DataFile", "VTK"),
    (b"<?xml", ""),
    (b"\x89PNG", ""),
    (b"\xff\xd8\xff", ""),
    (b"%PDF", ""),
)
"""First bytes; "" for what no model's output is (programs, pictures, documents)."""
_SAC_VERSION = 304
"""Offset of ``nvhdr``, 6 or 7, in a SAC header (SAC manual, "SAC Data File Format")."""
_STEPS: Mapping[str, Sequence[str]] = {
    "GRIB": ("cdo", "-f", "nc", "copy", "in.grb", "out.nc"),
    "zarr": ("python3", "-c", "import xarray; xarray.open_zarr('in.zarr').to_netcdf('out.nc')"),
    "SAC": ("python3", "sac_to_netcdf.py"),
}
_HINTS = {
    "GRIB": "cdo and wgrib2 write netCDF",
    "zarr": "xarray reads zarr and writes netCDF",
    "SAC": "obspy reads SAC, xarray writes netCDF",
    "HDF5": "its root has no variables with named dimensions: a script with h5py and netCDF4 can "
    "write some",
    "raw binary": "a script with numpy and netCDF4 that knows the shape of the records",
    "compressed (gzip)": "gunzip, if these are netCDF",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """Files of one kind: how many, and the name of one."""

    name: str
    count: int
    example: str


def kind_of(path: Path) -> str:
    """The kind of a file that is not netCDF; "" for text, programs, pictures and empty files."""
    suffix = path.suffix.lower()
    try:
        with open_descriptor(str(path)) as descriptor:
            head = os.pread(descriptor, 512, 0)
    except OSError:
        return ""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    by_name = next((kind for kind, ends in _SUFFIXES.items() if suffix in ends), "")
    if by_name or not head:
        return by_name if head else ""
    version = head[_SAC_VERSION : _SAC_VERSION + 4]
    if len(version) == 4 and {int.from_bytes(version, o) for o in ("little", "big")} & {6, 7}:
        return "SAC"
    control = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in head)
    return "raw binary" if control else ""


def kinds(folder: Path, groups: Sequence[Group], stores: Sequence[str] = ()) -> list[Kind]:
    """The kinds of these files, the most frequent first; ``stores`` are folders that are zarr."""
    counts: dict[str, int] = {}
    examples: dict[str, str] = {}
    for group in sorted(groups, key=lambda group: -group.count)[:MOST_OPENED]:
        name = group.within(group.newest)
        kind = kind_of(folder / name)
        if kind:
            counts[kind] = counts.get(kind, 0) + group.count
            examples.setdefault(kind, name)
    if stores:
        counts["zarr"] = len(stores)
        examples["zarr"] = stores[0]
    return sorted(
        (Kind(name, count, examples[name]) for name, count in counts.items()),
        key=lambda kind: (-kind.count, kind.name),
    )


def is_zarr(folder: Path) -> bool:
    """Whether a folder is a zarr store (version 2 or 3)."""
    return any((folder / name).exists() for name in (".zgroup", ".zarray", "zarr.json"))


def message(folder: Path, found: Sequence[Kind]) -> str:
    """What was found instead of netCDF, and how a step of a recipe converts it."""
    listed = ", ".join(
        f"{counted(kind.count, f'{kind.name} {_noun(kind)}')} (such as {kind.example})"
        for kind in found
    )
    first = found[0].name
    hint = f" ({_HINTS[first]})" if first in _HINTS else ""
    step = _STEPS.get(first, ("python3", "to_netcdf.py"))
    words = ", ".join(f'"{word}"' for word in step)
    return (
        f"{folder} holds no netCDF: {listed}. Burstlens shows netCDF. A step of a recipe can "
        f"convert the files while the model runs{hint}: [[step]] name = "
        f'"convert", beside = "simulation", command = [{words}]'
    )


def _noun(kind: Kind) -> str:
    return "store" if kind.name == "zarr" else "file"
