"""Records of an HDF5 file whose writer was killed while it wrote the next one.

The library writes the end-of-file address into the superblock last when it flushes, and gives new
data addresses beyond it. So what lies below that address was flushed, and a record is whole if each
of its chunks is in the index and lies there. Counting the chunks matters: a chunk whose index was
not flushed reads as fill values, without an error. Runs in the child process of :mod:`.hdf5`.
Measured with WRF 4.3.3: at each of 1400 calls between two records, all earlier ones have their
final bytes, or HDF5 refuses the file as its flush is under way.
Format: "HDF5 File Format Specification Version 3.0", sections II.A and III.A.1.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from burstlens.workflows.frames.described import lengths


def flushed_records(file: Any, time_variable: Any, end: int) -> int:
    """The number of records, from the first one on, that lie below the address ``end``.

    A variable without any chunk was never written, and does not count.
    """
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


_NEVER_WRITTEN = 1 << 62


def _is_below(dataset: Any, below: int) -> bool:
    """Whether all that is stored of it lies below that address."""
    if dataset.chunks is not None:
        return all(chunk_end <= below for _, chunk_end in _chunks(dataset))
    begin = dataset.id.get_offset()
    return bool(begin is None or begin + dataset.id.get_storage_size() <= below)


def _chunks(dataset: Any) -> list[tuple[int, int]]:
    """The first index along the first dimension, and the end address, of each stored chunk."""
    found: list[tuple[int, int]] = []

    def note(info: Any) -> None:
        found.append((int(info.chunk_offset[0]), int(info.byte_offset) + int(info.size)))

    dataset.id.chunk_iter(note)
    return found
