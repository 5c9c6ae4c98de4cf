"""Meshes: how their points are joined, and fields on them, as uxarray, FVCOM and CDO leave them."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
from cases.fields import add_degrees
from cases.looked import Case, Looked

FACES, NODES = 96, 98


def mesh(folder: Path) -> None:
    """A grid file, a file of data on it, and one on degrees with bounds beside its field."""
    rng = np.random.default_rng(0)
    with netCDF4.Dataset(folder / "grid_a.nc", "w") as data:
        for name, size in (("n_face", FACES), ("n_max_face_nodes", 4), ("n_node", NODES)):
            data.createDimension(name, size)
        table = data.createVariable("face_node_connectivity", "i4", ("n_face", "n_max_face_nodes"))
        table.cf_role, table.start_index = "face_node_connectivity", 0
        table[:] = rng.integers(0, NODES, (FACES, 4))
        for name, units in (("node_lon", "degrees_east"), ("node_lat", "degrees_north")):
            data.createVariable(name, "f8", ("n_node",))[:] = np.linspace(-90, 90, NODES)
            data[name].units = units
    with netCDF4.Dataset(folder / "data_a.nc", "w") as data:
        data.createDimension("n_face", FACES)
        data.createVariable("t2m", "f4", ("n_face",))[:] = rng.random(FACES)
    with netCDF4.Dataset(folder / "regular.nc", "w") as data:
        add_degrees(data)
        data.createDimension("bnds", 2)
        for name in ("lat", "lon"):
            data[name].bounds = f"{name}_bnds"
            data.createVariable(f"{name}_bnds", "f8", (name, "bnds"))[:] = 0
        data.createVariable("tas", "f4", ("lat", "lon"))[:] = rng.random((13, 21))


def first_look(look: Looked) -> None:
    assert look.code == 0, look.said
    assert look.products() == {"tas"}
    assert "describes a mesh" in look.said
    assert "on an unstructured mesh" in look.said


def asked(look: Looked) -> None:
    assert look.code == 1, look.said
    assert "unstructured mesh (n_face)" in look.said


CASES = [
    Case("first look", mesh, first_look),
    Case("field", mesh, asked, ("--product", "t2m")),
]
