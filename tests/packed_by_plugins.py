"""HDF5 files whose variables were compressed by filters that nobody has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

NOBODYS = 40000
"""A number of no registered filter."""


def write_packed(path: Path, *, number: int = NOBODYS, time_too: bool = False) -> None:
    """A file as netCDF-4 lays it out: ``tas`` is compressed by the filter, ``good`` is not."""
    with h5py.File(path, "w") as file:
        axes = {
            "time": (np.arange(3.0), "hours since 2001-01-01"),
            "lat": (np.linspace(40, 52, 13), "degrees_north"),
            "lon": (np.linspace(-10, 10, 21), "degrees_east"),
        }
        for name, (values, units) in axes.items():
            packed = time_too and name == "time"
            axis = _add_packed(file, name, values, number) if packed else None
            axis = axis or file.create_dataset(name, data=values)
            axis.attrs["units"] = units
            axis.make_scale(name)
        field = np.ones((3, 13, 21), "f4")
        for found in (
            _add_packed(file, "tas", field, number), file.create_dataset("good", data=field),
        ):  # fmt: skip
            found.attrs["units"] = "K"
            for dimension, name in enumerate(axes):
                found.dims[dimension].attach_scale(file[name])


def _add_packed(file: Any, name: str, values: np.ndarray, number: int) -> Any:
    """A variable of one chunk, whose bytes only that filter could read."""
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk(values.shape)
    how.set_filter(number, h5py.h5z.FLAG_OPTIONAL, ())
    kind, space = h5py.h5t.py_create(values.dtype), h5py.h5s.create_simple(values.shape)
    made = h5py.h5d.create(file.id, name.encode(), kind, space, how)
    made.write_direct_chunk((0,) * values.ndim, b"compressed bytes", 0)
    return file[name]
