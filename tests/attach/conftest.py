"""Writes folders of several models."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attach_case import LONLAT, SUPERCELL, TIME, Variables, Write, write_netcdf


@pytest.fixture
def regular(tmp_path: Path) -> Write:
    """Writes CF files on longitude and latitude: ``name``, the fields, and the sizes."""

    def write(name: str, fields: Variables, *, records: int = 1, lev: int = 0, **more: Any) -> Path:
        sizes: dict[str, int | None] = {"time": None, "lat": 6, "lon": 8}
        if lev:
            sizes["lev"] = lev
        return write_netcdf(
            tmp_path / name, sizes, {"time": TIME, **LONLAT, **fields}, records=records, **more
        )

    return write


@pytest.fixture
def roms(tmp_path: Path) -> Write:
    """Writes files as ROMS does, by the kind that its name says (his, avg, rst, grd)."""

    def write(name: str, *, records: int = 2, **more: Any) -> Path:
        kind = name.partition("_")[2][:3]
        east = {"units": "degree_east", "standard_name": "longitude"}
        north = {"units": "degree_north", "standard_name": "latitude"}
        horizontal: Variables = {
            "lon_rho": (("eta_rho", "xi_rho"), east),
            "lat_rho": (("eta_rho", "xi_rho"), north),
            "h": (("eta_rho", "xi_rho"), {"units": "meter", "long_name": "bathymetry"}),
            "mask_rho": (("eta_rho", "xi_rho"), {"flag_values": [0.0, 1.0]}),
            "pm": (("eta_rho", "xi_rho"), {"units": "meter-1"}),
        }  # fmt: skip
        sizes: dict[str, int | None] = {
            "xi_rho": 7, "xi_u": 6, "eta_rho": 5, "eta_u": 5, "s_rho": 4, "ocean_time": None,
        }  # fmt: skip
        at = "lon_rho lat_rho ocean_time"
        moving: Variables = {
            "ocean_time": (("ocean_time",), {"units": "seconds since 2001-01-01", "kind": "f8"}),
            "s_rho": (("s_rho",), {"positive": "up", "standard_name": "ocean_s_coordinate_g2"}),
            "zeta": (("ocean_time", "eta_rho", "xi_rho"),
                     {"units": "meter", "long_name": "free-surface", "coordinates": at}),
            "temp": (("ocean_time", "s_rho", "eta_rho", "xi_rho"),
                     {"units": "Celsius", "long_name": "potential temperature", "coordinates": at}),
            "salt": (("ocean_time", "s_rho", "eta_rho", "xi_rho"),
                     {"long_name": "salinity", "coordinates": at}),
            "u": (("ocean_time", "s_rho", "eta_u", "xi_u"),
                  {"units": "meter second-1", "long_name": "u-momentum component"}),
            "wetdry_mask_rho": (("ocean_time", "eta_rho", "xi_rho"), {"flag_values": [0.0, 1.0]}),
        }  # fmt: skip
        variables = horizontal if kind == "grd" else {**horizontal, **moving}
        return write_netcdf(
            tmp_path / name, sizes, variables, records=records,
            attributes={"type": f"ROMS/TOMS {kind} file"},
            values={"s_rho": [-0.9, -0.6, -0.3, -0.1]}, **more,
        )  # fmt: skip

    return write


@pytest.fixture
def wrf_frame(tmp_path: Path) -> Callable[..., Path]:
    """Puts a real frame of WRF there under a name."""

    def put(name: str, source: Path = SUPERCELL) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)
        return path

    return put
