"""Compressed volumes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burstlens.viz.frames.reader import netCDF4


@pytest.fixture
def chunked(tmp_path: Path) -> Callable[..., Path]:
    """Writes a compressed CF volume of 12 x 40 x 30 points in chunks of that shape."""

    def write(chunks: tuple[int, int, int]) -> Path:
        path, shape = tmp_path / "chunked.nc", (12, 40, 30)
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            for axis, size in zip("zyx", shape, strict=True):
                data.createDimension(axis, size)
                data.createVariable(axis, "f4", (axis,))[:] = np.arange(size)
                data[axis].setncatts({"units": "m", "axis": axis.upper()})
            variable = data.createVariable("v", "f4", tuple("zyx"), zlib=True, chunksizes=chunks)
            variable[:] = np.random.default_rng(2).normal(size=shape)
        return path

    return write
