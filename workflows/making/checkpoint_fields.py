"""Whether the fields of a checkpoint are finite, read in slabs on the viewing block.

A model's own format is read by its adapter. Files of netCDF and HDF5 are read here: the fields that
the adapter names, else all floating-point ones. Of other files nothing is read: that they are whole
is all that is known of them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from burstlens.core.errors import BurstlensError
from burstlens.workflows.frames.writers import is_classic, superblock_of
from burstlens.workflows.models.base import Model
from burstlens.workflows.placement.buffer import BufferRef

SLAB_BYTES = 64 << 20
"""Values that are read at a time."""
_log = logging.getLogger(__name__)
_Slab = tuple[slice, ...]


def judge_checkpoint(
    buffer: BufferRef, model: Model, folder: str, files: Mapping[str, int | None]
) -> str:
    """What is wrong with a checkpoint, for users; empty for a good one. ``files`` are its names in
    that folder of the run, with their sizes where these are known. What cannot be read is wrong;
    nothing is raised."""
    base = buffer.root() / buffer.folder / folder
    for name, size in files.items():
        try:
            found = (base / name).stat().st_size
            fault = "" if size in (None, found) else f"it has {found} bytes instead of {size}"
            fault = fault or _fault(base / name, model)
        except OSError as error:
            fault = f"it cannot be read: {error.strerror or error}"
        except Exception as error:  # of the library that reads it
            if not isinstance(error, BurstlensError):
                _log.warning("%s: %s", name, error, exc_info=True)
            fault = f"it cannot be read: {error}"
        if fault:
            return f"{name}: {fault}"
    return ""


def _fault(path: Path, model: Model) -> str:
    fault = model.checkpoint_fault(path)
    if fault is not None:
        return fault
    if not (is_classic(str(path)) or superblock_of(str(path))):
        return ""
    return fields_fault(path, model.checkpoint_fields)


def fields_fault(path: Path, names: Sequence[str] = ()) -> str:
    """The first of these fields of a netCDF or HDF5 file with a value that is neither finite nor
    missing, and where; empty if there is none. That none of ``names`` is there is a fault, too;
    without ``names`` all floating-point fields are read. Raises OSError, RuntimeError,
    FrameError."""
    from burstlens.viz.frames.file import opened

    data = opened(path, 0, "")
    try:
        fields = [one for one in _fields(data) if not names or one.name in names]
        if names and not fields:
            return f"it has none of the fields {', '.join(names)}"
        for variable in fields:
            variable.set_auto_maskandscale(False)
            for part in slabs(variable.shape, variable.dtype.itemsize):
                if fault := _not_finite(variable, part):
                    return fault
    finally:
        data.close()
    return ""


def _fields(group: Any) -> Iterator[Any]:
    """The floating-point variables of a file, those of its groups among them."""
    for variable in group.variables.values():
        if getattr(variable.dtype, "kind", "") == "f":
            yield variable
    for inner in group.groups.values():
        yield from _fields(inner)


def slabs(shape: Sequence[int], itemsize: int, most: int = SLAB_BYTES) -> Iterator[_Slab]:
    """Parts of an array of that shape that follow each other, each of at most ``most`` bytes."""
    if not shape:
        yield ()
        return
    row = itemsize
    for size in shape[1:]:
        row *= size
    if row > most:
        for number in range(shape[0]):
            for rest in slabs(shape[1:], itemsize, most):
                yield (slice(number, number + 1), *rest)
        return
    count = max(1, most // max(row, 1))
    for begin in range(0, shape[0], count):
        yield (slice(begin, min(begin + count, shape[0])),)


def _not_finite(variable: Any, part: _Slab) -> str:
    """The first value of a part that is neither finite nor missing, and where; or empty."""
    import numpy as np

    values = np.asarray(variable[part or ...])
    bad = ~np.isfinite(values)
    if not bad.any():
        return ""
    for name in {"_FillValue", "missing_value"} & set(variable.ncattrs()):
        for missing in np.ravel(variable.getncattr(name)):
            if np.issubdtype(np.asarray(missing).dtype, np.number):
                bad &= ~(np.isnan(values) if np.isnan(missing) else values == missing)
    if not bad.any():
        return ""
    first = np.unravel_index(int(np.argmax(bad)), bad.shape)
    begins = [one.start for one in part] + [0] * (values.ndim - len(part))
    index = [int(at) + begin for at, begin in zip(first, begins, strict=True)]
    place = ", ".join(f"{d} {at}" for d, at in zip(variable.dimensions, index, strict=True))
    return f"{variable.name} is {values[first]}" + (f" at {place}" if place else "")
