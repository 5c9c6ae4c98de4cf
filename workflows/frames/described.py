"""What an HDF5 file holds, as netCDF-4 lays it out: names, dimensions, attributes; no fields.

Runs in the child process of :mod:`.hdf5`. Layout: netCDF documentation, "File and Format
Specifications", "The NetCDF-4 Format"; HDF5 "Dimension Scale Specification".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burstlens.core.packing import read_packing
from burstlens.core.printable import file_text

MOST_NAMES = 5000
MOST_VALUES = 64
"""Longer attributes are left out: none that says what a variable is has so many values."""
LONGEST_SAMPLE = 128
"""Longer texts are not times."""
_HIDDEN = frozenset(
    {"DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "_Netcdf4Dimid", "_Netcdf4Coordinates",
     "_NCProperties", "_nc3_strict"}
)  # fmt: skip
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"


def described(file: Any) -> dict[str, Any]:
    """The root group: ``sizes`` by dimension, ``attributes``, ``groups`` by name, and
    ``unlimited`` dimensions, and ``variables``: for each its dimensions (None: they have no names,
    as in HDF5 that is not netCDF), its shape, its kind (numpy's letter, ``c`` for text), its
    attributes, the first and the last value where it is a coordinate, the first of short texts,
    and the bytes of a value."""
    import h5py

    sizes: dict[str, int] = {}
    unlimited: list[str] = []
    groups: list[str] = []
    numbers: dict[int, str] = {}
    datasets: dict[str, tuple[Any, bool]] = {}
    for name in list(file)[:MOST_NAMES]:
        found = file.get(name)
        if isinstance(found, h5py.Group):
            groups.append(name)
        if not isinstance(found, h5py.Dataset):
            continue
        is_scale = "CLASS" in found.attrs and _bytes(found.attrs["CLASS"]) == b"DIMENSION_SCALE"
        if is_scale and found.shape:
            sizes[name] = int(found.shape[0])
            if found.maxshape[0] is None:
                unlimited.append(name)
            if "_Netcdf4Dimid" in found.attrs:
                numbers[int(found.attrs["_Netcdf4Dimid"])] = name
            if has_no_variable(found):
                sizes[name] = max(lengths(found))
                continue
        datasets[name] = found, is_scale
    variables = {
        name: _described(file, name, found, is_scale, numbers)
        for name, (found, is_scale) in datasets.items()
    }
    attributes = _attributes(file)
    return {
        "sizes": sizes, "unlimited": unlimited, "groups": groups, "attributes": attributes,
        "variables": variables,
    }  # fmt: skip


def _described(
    file: Any, name: str, found: Any, is_scale: bool, numbers: Mapping[int, str]
) -> list[Any]:
    shape = [int(size) for size in found.shape or ()]
    dimensions = _dimensions(file, name, found, is_scale, numbers)
    kind = {"S": "c", "O": "c", "U": "c"}.get(found.dtype.kind, found.dtype.kind)
    attributes = _attributes(found)
    ends = None
    if dimensions == [name] and kind in "fiu" and shape[0]:
        packing = read_packing(attributes, type_code(found.dtype))
        ends = [packing.value(found[at].item()) for at in (0, -1)]
    sample = _sample(found) if kind == "c" else ""
    return [dimensions, shape, kind, attributes, ends, sample, int(found.dtype.itemsize)]


def _sample(found: Any) -> str:
    """The first record of a variable of short texts; "" for any other."""
    if not 0 < found.ndim <= 2 or 0 in found.shape or found.dtype.itemsize > LONGEST_SAMPLE:
        return ""
    if found.ndim == 2 and (found.dtype != "S1" or found.shape[1] > LONGEST_SAMPLE):
        return ""
    single = found.ndim == 1 and found.dtype == "S1"
    first = found[:LONGEST_SAMPLE] if single else found[0]
    raw = first.tobytes() if hasattr(first, "tobytes") else _bytes(first)
    return file_text(raw[:LONGEST_SAMPLE]).strip()


def type_code(dtype: Any) -> str:
    """The ``struct`` letter of a numeric type of numpy."""
    return {"l": "q", "L": "Q"}.get(dtype.char, str(dtype.char))


def lengths(scale: Any) -> list[int]:
    """The lengths, by variable, of a dimension for which a dataset stands: that of the dataset is 0
    where the dimension is unlimited. Variables that were never written are left out."""
    found = [int(scale.shape[0])]
    for reference, axis in scale.attrs.get("REFERENCE_LIST", ()):
        found.append(int(scale.file[reference].shape[axis]))
    return [length for length in found if length] or [0]


def has_no_variable(found: Any) -> bool:
    """Whether a dataset only stands for a dimension."""
    return "NAME" in found.attrs and _bytes(found.attrs["NAME"]).startswith(_NO_VARIABLE)


def _dimensions(
    file: Any, name: str, found: Any, is_scale: bool, numbers: Mapping[int, str]
) -> list[str] | None:
    import h5py

    if not found.shape:
        return []
    if "_Netcdf4Coordinates" in found.attrs:  # a coordinate of several dimensions
        own = [numbers.get(int(number)) for number in found.attrs["_Netcdf4Coordinates"]]
        known = [one for one in own if one is not None]
        return known if len(known) == len(found.shape) else None
    if is_scale and len(found.shape) == 1:
        return [name]
    if "DIMENSION_LIST" not in found.attrs:
        return None
    references = found.attrs["DIMENSION_LIST"]
    if len(references) != len(found.shape) or any(len(one) == 0 for one in references):
        return None
    return [
        h5py.h5r.get_name(one[0], file.id).decode(errors="replace").rpartition("/")[2]
        for one in references
    ]


def _attributes(found: Any) -> dict[str, Any]:
    return {
        key: value
        for key in list(found.attrs)[:MOST_NAMES]
        if key not in _HIDDEN and (value := plain_attribute(found.attrs, key)) is not None
    }


def plain_attribute(attributes: Any, key: str) -> Any:
    """A text, a number or a list of numbers; None for anything else, and where it is missing.

    netCDF-4 keeps a text as characters or as an array of one string.
    """
    try:
        value = attributes[key]
    except (KeyError, OSError, TypeError, ValueError, RuntimeError):  # or a type h5py cannot read
        return None
    if isinstance(value, bytes | str):
        return file_text(_bytes(value))
    size = getattr(value, "size", None)  # None: it is empty
    if size is None or size > MOST_VALUES:
        return None
    if value.dtype.kind in "fiu":
        listed = [float(one) if value.dtype.kind == "f" else int(one) for one in value.flat]
        return listed[0] if len(listed) == 1 else listed
    if value.dtype.kind in "SO" and value.size == 1:
        return file_text(_bytes(value.flat[0]))
    return None


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return str(value).encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return str(value).encode(errors="replace")
