"""Filters of HDF5 that compress variables: where their plugins lie, and which one is missing.

Deflate and shuffle are part of the HDF5 library; zstd, blosc, bzip2, lz4 and others are plugins,
which it looks for in the folders of HDF5_PLUGIN_PATH. netCDF4's wheel brings some, and sets that
path for processes that import it, if it is not set. h5py brings none.
Numbers: The HDF Group, "Registered Filter Plugins".
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PLUGIN_PATH = "HDF5_PLUGIN_PATH"
_DISABLED = "::"
"""The value with which HDF5 loads no plugins."""
_PACKAGES = ("netCDF4", "hdf5plugin")
"""Python packages with a folder ``plugins``."""
_PARTS = frozenset({1, 2, 3, 5, 6})
"""Parts of the library: deflate, shuffle, fletcher32, nbit, scale-offset."""
_NAMES = {
    4: "szip", 305: "lzo", 307: "bzip2", 32000: "lzf", 32001: "blosc", 32004: "lz4",
    32008: "bitshuffle", 32013: "zfp", 32014: "fpzip", 32015: "zstd", 32017: "sz",
    32018: "fcidecomp", 32019: "jpeg", 32022: "bitgroom", 32023: "granular bitround",
    32024: "sz3", 32026: "blosc2", 32028: "sperr",
}  # fmt: skip
_OF_HDF5PLUGIN = frozenset(
    {307, 32001, 32004, 32008, 32013, 32015, 32017, 32018, 32024, 32026, 32028}
)


def plugin_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """HDF5_PLUGIN_PATH with the folders of the packages that bring plugins, for a process that has
    not loaded HDF5 yet. The packages are not imported. A path that is set comes first. Empty if
    there are no folders, or no plugins are wanted."""
    given = (os.environ if environment is None else environment).get(PLUGIN_PATH, "")
    if given == _DISABLED:
        return {}
    folders = [folder for folder in given.split(os.pathsep) if folder]
    for package in _PACKAGES:
        found = importlib.util.find_spec(package)
        for place in (found.submodule_search_locations or ()) if found else ():
            folder = Path(place, "plugins")
            if str(folder) not in folders and folder.is_dir():
                folders.append(str(folder))
    return {PLUGIN_PATH: os.pathsep.join(folders)} if folders else {}


def missing_filter(dataset: Any) -> str:
    """A sentence about the filter of an open h5py dataset that cannot be applied here, with its
    number and what to install; empty if there is none."""
    import h5py

    numbers = filter_numbers(dataset)
    lacking = [number for number in numbers if not h5py.h5z.filter_avail(number)]
    return sentence(dataset.name.lstrip("/"), lacking[0]) if lacking else ""


def foreign_filter(dataset: Any) -> str:
    """The same for netCDF4, whose HDF5 library failed to find a filter: h5py's own is one more."""
    added = [number for number in filter_numbers(dataset) if number not in _PARTS]
    return missing_filter(dataset) or (
        sentence(dataset.name.lstrip("/"), added[0]) if added else ""
    )


def filter_numbers(dataset: Any) -> list[int]:
    """The numbers of a dataset's filters, in the order in which they were applied."""
    made = dataset.id.get_create_plist()
    return [made.get_filter(index)[0] for index in range(made.get_nfilters())]


def sentence(variable: str, number: int) -> str:
    """What to do about a filter that is not here."""
    name = _NAMES.get(number, "a filter without a known name")
    if number in _OF_HDF5PLUGIN:
        remedy = "pip install hdf5plugin"
    elif number == 4:
        remedy = "install an HDF5 library that was built with szip"
    else:
        remedy = (
            f"install its plugin and name the folder in {PLUGIN_PATH}, or write the file anew "
            "with deflate"
        )
    return f"{variable} is compressed by {name} (HDF5 filter {number}), which is not here: {remedy}"
