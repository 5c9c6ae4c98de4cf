"""Real frames, and a context to make products in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burstlens.viz.frame import netCDF4  # after HDF5 locking is switched off
from burstlens.viz.product import Context

DATA = Path(__file__).parents[1] / "data" / "wrf"


@pytest.fixture
def supercell() -> Path:
    return DATA / "wrfout_d01_0001-01-01_00_08_00"


@pytest.fixture
def nest() -> Path:
    return DATA / "wrfout_d02_0001-01-01_00_03_00"


@pytest.fixture
def katrina() -> Path:
    return DATA / "wrfout_d01_2005-08-28_12_00_00"


@pytest.fixture
def tiles() -> list[Path]:
    return [DATA / f"wrfout_d01_0001-01-01_00_04_00_{rank:04d}" for rank in (0, 1)]


@pytest.fixture
def context(tmp_path: Path) -> Context:
    files = tmp_path / "files"
    files.mkdir()
    return Context(
        run="20261121-supercell-7f3a",
        title="Supercell",
        product="w",
        stream="d01",
        time="00010101T000800",
        files=files,
        version="0.1.0",
    )


@pytest.fixture
def cf_volume(tmp_path: Path) -> Callable[..., Path]:
    """Writes a CF file of one record: vx, vy (time, z, y, x) and vz (time, y, x), in metres."""

    def write(name: str = "volume.nc", **axes: Any) -> Path:
        import numpy as np

        x = np.asarray(axes.get("x", np.arange(7) * 50.0), dtype="f4")
        y = np.asarray(axes.get("y", np.arange(6) * 50.0), dtype="f4")
        z = np.asarray(axes.get("z", np.arange(5) * 25.0), dtype="f4")
        path = tmp_path / name
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            data.createDimension("time", None)
            data.createVariable("time", "f8", ("time",)).units = "s"
            data["time"][0] = 1.5
            for axis, values in (("x", x), ("y", y), ("z", z)):
                data.createDimension(axis, values.size)
                variable = data.createVariable(axis, "f4", (axis,))
                variable.setncatts({"units": "m", "axis": axis.upper()})
                variable[:] = values
            if axes.get("depth"):
                data["z"].positive = "down"
            generator = np.random.default_rng(7)
            for field in ("vx", "vy"):
                variable = data.createVariable(field, "f4", ("time", "z", "y", "x"))
                variable.setncatts({"units": "m s-1", "long_name": "velocity"})
                variable[0] = generator.normal(size=(z.size, y.size, x.size))
            variable = data.createVariable("vz", "f4", ("time", "y", "x"))
            variable.setncatts({"units": "m s-1", "long_name": "vertical velocity"})
            variable[0] = generator.normal(size=(y.size, x.size))
        return path

    return write


@pytest.fixture
def copy_with() -> Callable[..., None]:
    """Copies some variables of a netCDF file into another format, or changes their values."""

    def copy(source: Path, target: Path, names: list[str], *, form: str = "NETCDF4", **new: Any):
        with (
            netCDF4.Dataset(os.fspath(source)) as old,
            netCDF4.Dataset(os.fspath(target), "w", format=form) as data,
        ):
            for name, dimension in old.dimensions.items():
                data.createDimension(name, None if dimension.isunlimited() else len(dimension))
            data.setncatts({key: old.getncattr(key) for key in old.ncattrs()})
            for name in names:
                stored = old[name]
                variable = data.createVariable(name, stored.dtype, stored.dimensions)
                variable.setncatts({key: stored.getncattr(key) for key in stored.ncattrs()})
                variable[:] = new.get(name, stored[:])

    return copy
