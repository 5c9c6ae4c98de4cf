"""Files shaped like those of ROMS (by xarray), CAM, COARDS, and one without a time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz.frames.reader import netCDF4

ROWS, COLUMNS, LEVELS = 18, 24, 10
TURN = 0.4
"""Radians from east to the grid's first axis in the ROMS file."""


@pytest.fixture
def roms(tmp_path: Path) -> Callable[..., Path]:
    """Writes a ROMS history file of two times as xarray does: ``ocean_time`` of fixed length.

    The flow is 0.3 m s-1 to the east and 0.1 to the north everywhere, on a grid that is turned by
    ``TURN``; the upper left corner is land. ``temp`` is 20 K + z / 10 m at rest, C is s.
    """

    def write(
        name: str = "his.nc",
        *,
        unlimited: bool = False,
        without: tuple[str, ...] = (),
        **options: Any,
    ) -> Path:
        path = tmp_path / name
        rows, columns = np.mgrid[0:ROWS, 0:COLUMNS].astype(float)
        cos, sin = np.cos(TURN), np.sin(TURN)
        lat = 36 + 0.05 * (columns * sin + rows * cos)
        lon = -75 + 0.05 * (columns * cos - rows * sin) / np.cos(np.radians(36.5))
        h = 20 + 180.0 * columns / (COLUMNS - 1)
        land = (rows > ROWS - 5) & (columns < 6)
        s = (np.arange(LEVELS) + 0.5) / LEVELS - 1
        zeta = np.where(land, 0.0, 0.4 * np.sin(columns / 4))
        along, across = 0.3 * cos + 0.1 * sin, -0.3 * sin + 0.1 * cos
        sea = ~land
        sea_u, sea_v = sea[:, 1:] & sea[:, :-1], sea[1:] & sea[:-1]
        z = s[:, None, None] * h
        with netCDF4.Dataset(os.fspath(path), "w", format=options.get("form", "NETCDF4")) as data:
            sizes = {"ocean_time": None if unlimited else 2, "s_rho": LEVELS}
            sizes |= {"eta_rho": ROWS, "xi_rho": COLUMNS, "eta_u": ROWS, "xi_u": COLUMNS - 1}
            sizes |= {"eta_v": ROWS - 1, "xi_v": COLUMNS}
            for dimension, size in sizes.items():
                data.createDimension(dimension, size)

            def add(name: str, dimensions: tuple[str, ...], values: Any, **about: Any) -> None:
                if name in without:
                    return
                fill = 1e37 if about.pop("masked", False) else None
                variable = data.createVariable(name, "f8", dimensions, fill_value=fill)
                variable.setncatts(about)
                variable[:] = np.ma.stack(values) if fill else values

            rho, time = ("eta_rho", "xi_rho"), ("ocean_time",)
            add(
                "ocean_time",
                time,
                [0, 3600],
                standard_name="time",
                calendar="standard",
                units="seconds since 2020-03-01 00:00:00",
                long_name="time since initialization",
            )
            add("dstart", (), 0.0, units="days since 2020-03-01 00:00:00")
            add(
                "s_rho",
                ("s_rho",),
                s,
                standard_name="ocean_s_coordinate_g2",
                positive="up",
                formula_terms="s: s_rho C: Cs_r eta: zeta depth: h depth_c: hc",
            )
            add("Cs_r", ("s_rho",), s, long_name="S-coordinate stretching curves at RHO-points")
            add("hc", (), 20.0, units="meter")
            add("h", rho, h, units="meter", long_name="bathymetry at RHO-points")
            for which, dims, axis in (
                ("rho", rho, None), ("u", ("eta_u", "xi_u"), 1), ("v", ("eta_v", "xi_v"), 0),
            ):  # fmt: skip
                add(f"lon_{which}", dims, _middle(lon, axis), units="degree_east",
                    standard_name="longitude")  # fmt: skip
                add(f"lat_{which}", dims, _middle(lat, axis), units="degree_north",
                    standard_name="latitude")  # fmt: skip
            add("mask_rho", rho, sea.astype(float), flag_values=[0.0, 1.0])
            add(
                "angle",
                rho,
                np.full(h.shape, TURN),
                units="radians",
                long_name="angle between XI-axis and EAST",
            )
            add("zeta", (*time, *rho), [np.ma.array((k + 1) * zeta, mask=land) for k in (0, 1)],
                units="meter", long_name="free-surface", masked=True,
                coordinates="lon_rho lat_rho ocean_time")  # fmt: skip
            add("temp", (*time, "s_rho", *rho),
                [np.ma.array(20 + z / 10 + k, mask=np.broadcast_to(land, z.shape)) for k in (0, 1)],
                units="Celsius", long_name="potential temperature", masked=True,
                coordinates="lon_rho lat_rho s_rho ocean_time")  # fmt: skip
            for which, speed, wet, dims in (
                ("u", along, sea_u, ("eta_u", "xi_u")), ("v", across, sea_v, ("eta_v", "xi_v")),
            ):  # fmt: skip
                flat = np.ma.array(np.full(wet.shape, speed), mask=~wet)
                deep = np.ma.array(np.full((LEVELS, *wet.shape), speed),
                                   mask=np.broadcast_to(~wet, (LEVELS, *wet.shape)))  # fmt: skip
                words = {"units": "meter second-1", "masked": True}
                at = f"lon_{which} lat_{which} ocean_time"
                add(
                    f"{which}bar",
                    (*time, *dims),
                    [flat, flat],
                    coordinates=at,
                    long_name=f"vertically integrated {which}-momentum component",
                    **words,
                )
                add(
                    which,
                    (*time, "s_rho", *dims),
                    [deep, 2 * deep],
                    coordinates=at,
                    long_name=f"{which}-momentum component",
                    **words,
                )
        return path

    return write


@pytest.fixture
def cam(tmp_path: Path) -> Callable[..., Path]:
    """Writes a CAM history file of three times along a ``time`` of fixed length.

    p = a P0 + b PS with b = 1 and a = 0 at the ground; T is 3 K per 1000 Pa, U is 20 m s-1.
    """

    def write(name: str = "cam.h0.nc", **options: Any) -> Path:
        path = tmp_path / name
        lat, lon = np.linspace(-87.5, 87.5, 36), np.arange(0.0, 360, 5)
        b = np.linspace(0.0, 1, 12) ** 1.5
        a = 0.004 + 0.2 * (1 - b) * np.sqrt(b)
        a[-1] = 0.0
        ps = 100000.0 - 30000 * np.exp(-((lat[:, None] - 30) ** 2 + (lon - 90) ** 2) / 300)
        p = a[:, None, None] * 1e5 + b[:, None, None] * ps
        with netCDF4.Dataset(os.fspath(path), "w", format=options.get("form", "NETCDF4")) as data:
            for dimension, size in (("time", 3), ("lev", 12), ("lat", 36), ("lon", 72)):
                data.createDimension(dimension, size)

            def add(name: str, dimensions: tuple[str, ...], values: Any, **about: Any) -> None:
                if name not in options.get("without", ()):
                    variable = data.createVariable(name, "f8", dimensions)
                    variable.setncatts(about)
                    variable[:] = values

            add(
                "time",
                ("time",),
                [0.0, 0.25, 0.5],
                units="days since 2001-02-28 00:00:00",
                calendar="noleap",
                long_name="time",
            )
            add(
                "lev",
                ("lev",),
                1000 * (a + b),
                units="hPa",
                positive="down",
                long_name="hybrid level at midpoints (1000*(A+B))",
                formula_terms="a: hyam b: hybm p0: P0 ps: PS",
                standard_name="atmosphere_hybrid_sigma_pressure_coordinate",
            )
            add("hyam", ("lev",), a)
            add("hybm", ("lev",), b)
            add("P0", (), 1e5, units="Pa")
            add("lat", ("lat",), lat, units="degrees_north", long_name="latitude")
            add("lon", ("lon",), lon, units="degrees_east", long_name="longitude")
            add("PS", ("time", "lat", "lon"), [ps] * 3, units="Pa", long_name="Surface pressure")
            whole = ("time", "lev", "lat", "lon")
            add("T", whole, [3e-3 * p] * 3, units="K", long_name="Temperature")
            add("U", whole, [np.full(p.shape, 20.0)] * 3, units="m/s", long_name="Zonal wind")
            add("V", whole, [np.zeros(p.shape)] * 3, units="m/s", long_name="Meridional wind")
        return path

    return write


@pytest.fixture
def coards(tmp_path: Path) -> Callable[..., Path]:
    """Writes a COARDS file with a ``time`` of fixed length; sst is the latitude plus the time."""

    def write(
        name: str = "sst.nc", *, times: int | None = 4, form: str = "NETCDF3_CLASSIC"
    ) -> Path:
        path = tmp_path / name
        lat, lon = np.arange(-20.0, 21, 2), np.arange(100.0, 161, 2)
        with netCDF4.Dataset(os.fspath(path), "w", format=form) as data:
            data.createDimension("lat", lat.size)
            data.createDimension("lon", lon.size)
            dimensions: tuple[str, ...] = ("lat", "lon")
            values = np.broadcast_to(lat[:, None], (lat.size, lon.size))
            if times is not None:
                data.createDimension("time", times)
                time = data.createVariable("time", "f8", ("time",))
                time.units = "hours since 1990-1-1 00:00:0.0"
                time[:] = 6.0 * np.arange(times)
                dimensions = ("time", *dimensions)
                values = values + np.arange(times)[:, None, None]
            for axis, along, units in (("lat", lat, "degrees_north"), ("lon", lon, "degrees_east")):
                data.createVariable(axis, "f4", (axis,)).units = units
                data[axis][:] = along
            sst = data.createVariable("sst", "f4", dimensions)
            sst.setncatts({"units": "degC", "long_name": "Sea Surface Temperature"})
            sst[:] = values
        return path

    return write


def _middle(values: Any, axis: int | None) -> Any:
    if axis is None:
        return values
    size = values.shape[axis]
    low, high = (values.take(range(n, size - 1 + n), axis) for n in (0, 1))
    return (low + high) / 2
