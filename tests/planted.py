"""Checkpoints of awm with chosen values, each whole by its CRCs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from deflate import crc32
from numpy.typing import NDArray

from burstlens.workflows.awm.checkpoint import _line, _write, read_head
from burstlens.workflows.awm.checkpoint_files import HEAD_BYTES

SHAPE = 4, 5, 6


def fields() -> dict[str, NDArray[Any]]:
    """A small state."""
    return {name: np.full(SHAPE, 0.5, np.float32) for name in ("vx", "vy", "sxx")}


def write(path: Path, state: dict[str, NDArray[Any]]) -> Path:
    """A whole checkpoint with these fields."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"format": 1, "awm": "any", "run": "any", "step": 1, "step_s": 0.01, "more": {}}
    _write(path, head, state)
    return path


def plant(path: Path, name: str, value: float, *places: tuple[int, ...]) -> None:
    """Give a field of a checkpoint that value at these places, by default in its middle, with the
    CRC that belongs to it: awm itself writes none that is not finite."""
    head, data, offset = read_head(path), bytearray(path.read_bytes()), HEAD_BYTES
    for one in head["fields"]:
        count = int(np.prod(one["shape"], dtype=np.int64))
        values = np.frombuffer(data, one["type"], count, offset).reshape(one["shape"])
        if one["name"] == name:
            for place in places or [np.unravel_index(count // 2, one["shape"])]:
                values[place] = value
            one["crc32"] = crc32(values.tobytes())
        offset += values.nbytes
    line = _line(head)
    data[: len(line)] = line
    path.write_bytes(data)
