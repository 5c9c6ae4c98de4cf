"""What an HDF5 file holds, as netCDF-4 lays it out: names, dimensions, attributes, the times of its
records; no fields. And which records are complete if its writer was killed while it wrote the next.

Runs in the child process of :mod:`.hdf5`. Layout: netCDF documentation, "File and Format
Specifications", "The NetCDF-4 Format"; HDF5 "Dimension Scale Specification".

The library writes the end-of-file address into the superblock last when it flushes, and gives new
data addresses beyond it. So what lies below that address was flushed, and a record is whole if each
of its chunks is in the index and lies there. Counting the chunks matters: a chunk whose index was
not flushed reads as fill values, without an error. Measured with WRF 4.3.3: at each of 1400 calls
between two records, all earlier ones have their final bytes, or HDF5 refuses the file as its flush
is under way. Format: "HDF5 File Format Specification Version 3.0", sections II.A and III.A.1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from burstlens.core import time_axis
from burstlens.core.errors import FrameError, TimesError
from burstlens.core.hdf5_filters import missing_filter
from burstlens.core.packing import read_packing
from burstlens.core.printable import file_text
from burstlens.core.record_axis import no_variable, text_calendar
from burstlens.core.valid_time import counted_keys

MAX_TIMES = 4096
"""Records whose times are read at once."""
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
_NEVER_WRITTEN = 1 << 62


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
    netCDF-4 keeps a text as characters or as an array of one string."""
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


def raise_for_filter(file: Any, names: Sequence[str]) -> None:
    """Raise TimesError if one of these variables, else of all, has a filter that is not here."""
    import h5py

    chosen = [file.get(name) for name in names or file]
    datasets = [found for found in chosen if isinstance(found, h5py.Dataset)]
    for found in sorted(datasets, key=lambda found: found.ndim):  # coordinates first
        if text := missing_filter(found):
            raise TimesError(text)


def recorded(
    file: Any, first: int, variable: str, attributes: list[str], end: int | None
) -> dict[str, object]:
    """The fields of a :class:`.Reply`."""
    import h5py

    if not variable:
        if not len(file):
            raise FrameError("it has no variable yet")
        none: list[str | None] = [None]
        records, times, is_fixed, calendar = 1, none[first:], True, ""
    else:
        found = file.get(variable)
        if not isinstance(found, h5py.Dataset):
            raise TimesError(no_variable(variable, list(file)[:1000]))
        records, times, is_fixed, calendar = _times(found, first)
        if end is not None and not is_fixed:
            times = times[: max(0, flushed_records(file, found, end) - first)]
    numbers = {key: int(file.attrs[key].flat[0]) for key in attributes if key in file.attrs}
    return {
        "records": records, "times": times, "numbers": numbers, "is_fixed": is_fixed,
        "calendar": calendar,
    }  # fmt: skip


def _times(found: Any, first: int) -> tuple[int, list[str | None], bool, str]:
    """The number of records, the keys of those from ``first`` on, whether their number is fixed,
    and the calendar of their dates."""
    import numpy as np

    # A row of single characters is one time.
    single = not found.shape or (found.dtype == "S1" and found.ndim == 1)
    records = 1 if single else found.shape[0]
    is_fixed = single or found.maxshape[0] is not None
    if has_no_variable(found):
        along = lengths(found)
        begun, whole = max(along), min(along)
        keys = counted_keys(found.file.filename, first, min(whole, first + MAX_TIMES))
        return begun, [*keys, *[None] * (begun - whole)], is_fixed, ""
    begin = max(0, first - 1)  # the record before shows whether a zero is a time
    rows = np.atleast_1d(found[()] if single else found[begin : first + MAX_TIMES])

    def about(variable: Any) -> dict[str, Any]:
        there = time_axis.ATTRIBUTES & variable.attrs.keys()
        return {key: plain_attribute(variable.attrs, key) for key in there}

    def beside(name: str) -> dict[str, Any] | None:
        if not name:
            return about(found.file)
        return about(found.parent[name]) if name in found.parent else None

    attributes, calendar = about(found), ""
    if rows.dtype.kind in "SO":
        calendar = text_calendar(attributes, beside)
    if rows.dtype.kind == "S":
        width = rows.nbytes if single else rows[0].nbytes if len(rows) else 1
        times = time_axis.text_keys(rows.tobytes(), width, first - begin, calendar)
    elif rows.dtype.kind == "O":
        times = time_axis.string_keys(rows.ravel(), first - begin, calendar)
    else:
        if rows.dtype.kind not in "fiu" or rows.size != len(rows):
            raise TimesError("its times are neither texts nor numbers along one dimension")
        name = found.name.rpartition("/")[2]
        axis = time_axis.read_axis(attributes, type_code(rows.dtype), found.file.filename, name)
        if axis.may_be_digits:
            parts = time_axis.deciding_records(records)
            deciding = [rows] if single else [found[part.start : part.stop] for part in parts]
            axis = axis.decided(np.concatenate(deciding).ravel().tolist())
        times = axis.keys(rows.ravel().tolist(), first - begin, is_fixed=is_fixed)
        calendar = axis.calendar
    return records, times[first - begin :], is_fixed, calendar


def flushed_records(file: Any, time_variable: Any, end: int) -> int:
    """The number of records, from the first one on, that lie below the address ``end``. A variable
    without any chunk was never written, and does not count."""
    import h5py

    dimension = _first_dimension(file, time_variable)
    below = end - int(file.userblock_size)
    records = max(lengths(time_variable))  # a dimension without a variable has none of its own
    found: list[Any] = []
    file.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
    for dataset in found:
        if dataset.shape and _first_dimension(file, dataset) == dimension:
            records = min(records, _of_variable(dataset, below))
        elif not _is_below(dataset, below):
            return 0
    return records


def _first_dimension(file: Any, dataset: Any) -> str:
    """The path of the dimension along which its records lie; its own if it is a dimension."""
    if "DIMENSION_LIST" in dataset.attrs:
        references = dataset.attrs["DIMENSION_LIST"][0]
        return str(file[references[0]].name) if len(references) else ""
    return str(dataset.name) if dataset.is_scale else ""


def _of_variable(dataset: Any, below: int) -> int:
    """How many records of one variable, from the first one on, are complete."""
    if dataset.chunks is None:
        return int(dataset.shape[0]) if _is_below(dataset, below) else 0
    ends, length = _chunks(dataset), int(dataset.chunks[0])
    if not ends:
        return _NEVER_WRITTEN
    each: int = math.prod(
        -(-size // chunk) for size, chunk in zip(dataset.shape[1:], dataset.chunks[1:], strict=True)
    )
    good = Counter(at // length for at, chunk_end in ends if chunk_end <= below)
    whole = 0
    while good[whole] == each:
        whole += 1
    return min(int(dataset.shape[0]), whole * length)


def _is_below(dataset: Any, below: int) -> bool:
    """Whether all that is stored of it lies below that address."""
    if dataset.chunks is not None:
        return all(chunk_end <= below for _, chunk_end in _chunks(dataset))
    begin = dataset.id.get_offset()
    return bool(begin is None or begin + dataset.id.get_storage_size() <= below)


def _chunks(dataset: Any) -> list[tuple[int, int]]:
    """The first index along the first dimension, and the end address, of each stored chunk."""
    stored: list[Any] = []
    dataset.id.chunk_iter(stored.append)
    return [(int(one.chunk_offset[0]), int(one.byte_offset) + int(one.size)) for one in stored]
