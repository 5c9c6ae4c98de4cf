"""Whether a checkpoint of awm is undamaged and finite, read in slabs: its fields need not fit in
memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from deflate import crc32

from burstlens.workflows.awm.checkpoint import read_head
from burstlens.workflows.awm.checkpoint_files import HEAD_BYTES

SLAB_BYTES = 32 << 20


def checkpoint_fault(path: Path) -> str:
    """The first field that is cut, was changed since it was written, or has a value that is not
    finite; empty for a good checkpoint. Raises RecipeError where the file is none, OSError."""
    head = read_head(path)
    with path.open("rb", buffering=0) as file:
        file.seek(HEAD_BYTES)
        for field in head["fields"]:
            if fault := _field_fault(file, field):
                return fault
    return ""


def _field_fault(file: Any, field: dict[str, Any]) -> str:
    name, shape, kind = field["name"], tuple(field["shape"]), np.dtype(field["type"])
    left, crc, bad = int(np.prod(shape, dtype=np.int64)) * kind.itemsize, 0, None
    done = 0
    while left:
        data = file.read(min(left, SLAB_BYTES))
        if not data or len(data) % kind.itemsize:
            return f"it ends in the field {name}"
        crc, left = crc32(data, crc), left - len(data)
        values = np.frombuffer(data, kind)
        if bad is None and kind.kind == "f" and not (finite := np.isfinite(values)).all():
            first = int(np.argmin(finite))
            bad = values[first], np.unravel_index(done + first, shape)
        done += values.size
    if crc != field["crc32"]:
        return f"its field {name} was changed since it was written"
    if bad is None:
        return ""
    return f"{name} is {bad[0]} at {', '.join(str(int(at)) for at in bad[1])}"
