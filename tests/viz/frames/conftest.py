"""Deflated files, and the bits of what is read of them by both ways."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from burstlens.viz.frames.reader import netCDF4


@pytest.fixture
def deflated_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes W (Time, z, y, x) of 2 records, float32, deflated in several chunks."""

    def write(name: str = "frame.nc", values: Any = None, **how: Any) -> Path:
        path = tmp_path / name
        if values is None:
            values = np.random.default_rng(3).normal(size=(2, 9, 20, 30)).astype("f4")
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            data.createDimension("Time", None)
            for dimension, size in zip("zyx", values.shape[1:], strict=True):
                data.createDimension(dimension, size)
            how = {"zlib": True, "chunksizes": (1, 4, 10, 16)} | how
            data.createVariable("W", "f4", ("Time", "z", "y", "x"), **how)[:] = values
        return path

    return write


@pytest.fixture
def damage() -> Callable[..., int]:
    """Changes a byte in the middle of a chunk, and returns where the chunk begins."""

    def change(path: Path, name: str, first: tuple[int, ...]) -> int:
        with h5py.File(path, "r", locking=False) as file:
            chunk = file[name].id.get_chunk_info_by_coord(first)
        with path.open("r+b") as file:
            file.seek(chunk.byte_offset + chunk.size // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 0x55]))
        return int(chunk.byte_offset)

    return change
