"""Checkpoints of awm with chosen values, each whole by its CRCs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.workflows.awm.checkpoint import _write, read_head
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


def plant(path: Path, name: str, value: float) -> None:
    """Write a checkpoint anew, with that value in the middle of a field."""
    head, state = read_head(path), {}
    data, offset = path.read_bytes(), HEAD_BYTES
    for one in head.pop("fields"):
        count = int(np.prod(one["shape"], dtype=np.int64))
        values = np.frombuffer(data, one["type"], count, offset).reshape(one["shape"]).copy()
        state[one["name"]], offset = values, offset + values.nbytes
    state[name].reshape(-1)[state[name].size // 2] = value
    _write(path, head, state)
