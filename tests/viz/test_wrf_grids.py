"""Synthetic WRF files: every projection, poles, seams, and missing variables."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from wrf_domains import CIRCUMFERENCE, DOMAINS

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.layers import Contours, Wind
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.netcdf.kind import NetcdfKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.kinds.vtk.kind import VtkKind
from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.product import Context

pytestmark = pytest.mark.slow


@pytest.fixture
def state(wrf_file: Callable[..., Path]) -> Callable[..., Path]:
    """A WRF-like frame with a standard atmosphere on ``levels`` levels, and a wind of 20 m/s."""

    def write(levels: int = 12, absent: tuple[str, ...] = (), **domain: Any) -> Path:
        without = (*domain.pop("without", ()), "U", "V")
        path = wrf_file(**domain, without=without)
        with netCDF4.Dataset(os.fspath(path), "a") as data:
            shape = len(data.dimensions["south_north"]), len(data.dimensions["west_east"])
            data.createDimension("bottom_top", levels)
            data.createDimension("bottom_top_stag", levels + 1)
            faces = np.linspace(0.0, 16000.0, levels + 1)
            z = (faces[1:] + faces[:-1]) / 2
            kelvin = np.maximum(288.15 - 0.0065 * z, 216.65)
            pascal = 101325 * np.exp(-z / 7600)
            fields = {
                "PB": pascal, "P": 0 * z, "T": kelvin * (1e5 / pascal) ** (2 / 7) - 300,
                "QVAPOR": 0.012 * np.exp(-z / 2500), "QCLOUD": 1e-4 * (abs(z - 3000) < 1500),
                "QRAIN": 5e-4 * (z < 4000), "PHB": 9.81 * faces, "PH": 0 * faces, "W": 0 * faces,
            }  # fmt: skip
            for name, profile in fields.items():
                if name not in absent:
                    level = "bottom_top_stag" if profile.size > levels else "bottom_top"
                    dimensions = ("Time", level, "south_north", "west_east")
                    variable = data.createVariable(name, "f4", dimensions)
                    variable[0] = np.broadcast_to(profile[:, None, None], (profile.size, *shape))
            for name, axis in (("U", "west_east"), ("V", "south_north")):
                rows = [f"{d}_stag" if d == axis else d for d in ("south_north", "west_east")]
                variable = data.createVariable(name, "f4", ("Time", "bottom_top", *rows))
                variable.units = "m s-1"
                variable[:] = 20.0 if name == "U" else 0.0
            data.createVariable("RAINNC", "f4", ("Time", "south_north", "west_east"))[0] = 3.0
            data["RAINNC"].units = "mm"
            for suffix, rows in (
                ("M", ("south_north", "west_east")),
                ("U", ("south_north", "west_east_stag")),
                ("V", ("south_north_stag", "west_east")),
            ):
                data.createVariable(f"MAPFAC_{suffix}", "f4", ("Time", *rows))[:] = 1.0
        return path

    return write


def picture(options: MapOptions, path: Path, context: Context) -> dict[str, Any]:
    out = context.files / "map.png"
    with open_frame([path]) as frame:
        facts = dict(MapKind().make(options, frame, out, context).facts)
    with Image.open(out) as image:
        image.verify()
    return facts


OVERVIEW = MapOptions(
    "wind10", units="kn", contours=Contours("slp", units="hPa", interval=4), barbs=Wind(),
    width_px=500,
)  # fmt: skip


@pytest.mark.parametrize("name", DOMAINS)
def test_a_forecaster_s_maps_are_made_on_every_plane(
    name: str, state: Callable[..., Path], context: Context
):
    path = state(**DOMAINS[name])
    facts = picture(OVERVIEW, path, context)
    assert facts["projection"] is not None
    left, right, bottom, top = facts["extent"]
    with open_frame([path]) as frame:
        nx, ny = frame.dimensions["west_east"], frame.dimensions["south_north"]
        dx = float(frame.attributes["DX"])
    assert (right - left, top - bottom) == pytest.approx((nx * dx, ny * dx), rel=2e-3)
    upper = MapOptions(
        "temperature@500hPa", units="degC", streamlines=Wind("U@500hPa", "V@500hPa"), width_px=500
    )
    assert picture(upper, path, context)["mean"] == pytest.approx(-21, abs=2.5)


@pytest.mark.parametrize("name", DOMAINS)
def test_volumes_and_crops_are_made_on_every_plane(
    name: str, state: Callable[..., Path], context: Context
):
    path = state(**DOMAINS[name])
    with open_frame([path]) as frame:
        lon, lat = frame.read("XLONG"), frame.read("XLAT")
        row, column = lat.shape[0] // 2, lat.shape[1] // 2
        west, south = float(lon[row, column]) - 4, float(lat[row, column]) - 4
        crop = Crop(range={"lon": (west, west + 8), "lat": (south, south + 8)})
        inside = ((lon - west) % 360 <= 8) & (lat >= south) & (lat <= south + 8)
        where = VtkKind().make(
            VtkOptions(("QVAPOR",), crop=crop), frame, context.files / "v.vts", context
        )
        assert where.extension in ("vts", "vtr", "vti")
        NetcdfKind().make(
            NetcdfOptions(("T2", "QVAPOR"), crop=crop), frame, context.files / "c.nc", context
        )
    with netCDF4.Dataset(context.files / "c.nc") as kept:
        assert kept["T2"].shape[1:] == (inside.any(axis=1).sum(), inside.any(axis=0).sum())


def test_a_frame_of_one_level_has_maps_volumes_and_diagnostics(
    state: Callable[..., Path], context: Context
):
    path = state(levels=1, **DOMAINS["lambert"])
    for variable in ("temperature", "QVAPOR", "wind"):
        assert picture(MapOptions(variable, level=0), path, context)["nan"] == 0
    with open_frame([path]) as frame:
        assert frame.read("precipitable_water").shape == (50, 60)
        for name in ("cape", "reflectivity_max", "cloud_top_temperature", "updraft_helicity"):
            try:
                values = frame.read(name)
            except FrameError:
                continue
            assert values.shape == (50, 60), name
        VtkKind().make(VtkOptions(("QVAPOR",)), frame, context.files / "v.vts", context)
    with pytest.raises(FrameError, match="all values are NaN"):
        picture(MapOptions("temperature@500hPa"), path, context)


def test_a_frame_without_xlat_is_drawn_on_the_plane_of_its_attributes(
    state: Callable[..., Path], context: Context
):
    with_them = picture(OVERVIEW, state(**DOMAINS["lambert"]), context)
    bare = state(**DOMAINS["lambert"], without=("XLAT", "XLONG"))
    assert picture(OVERVIEW, bare, context)["extent"] == pytest.approx(with_them["extent"], abs=500)


@pytest.mark.parametrize(
    ("absent", "variable"),
    [("PHB", "slp"), ("QVAPOR", "cape"), ("QRAIN", "reflectivity_max"), ("PB", "wind@500hPa")],
)
def test_what_a_diagnostic_lacks_is_named_with_what_is_there(
    absent: str, variable: str, state: Callable[..., Path], context: Context
):
    path = state(absent=(absent,), **DOMAINS["lambert"])
    with pytest.raises(FrameError, match=rf"needs .*{absent}.*the frame"):
        picture(MapOptions(variable), path, context)


@pytest.mark.parametrize("dx", [None, 0.0, np.nan])
def test_a_grid_without_a_distance_of_its_points_is_still_drawn(
    dx: float | None, state: Callable[..., Path], context: Context
):
    path = state(**DOMAINS["lambert"])
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        for name in ("DX", "DY"):
            if dx is None:
                data.delncattr(name)
            else:
                data.setncattr(name, np.float32(dx))
    assert picture(MapOptions("T2"), path, context)["nan"] == 0


def test_holes_reach_no_further_than_their_columns(state: Callable[..., Path], context: Context):
    path = state(**DOMAINS["the north pole"])
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        for name in ("T", "QVAPOR", "PHB"):
            data[name][0, :, 10, 10] = np.nan
        data["U10"][0, 20, 20] = np.nan
    facts = picture(OVERVIEW, path, context)
    assert facts["nan"] == 1
    assert picture(MapOptions("slp"), path, context)["nan"] == 1


def test_winds_at_a_pole_are_turned_with_its_meridians(state: Callable[..., Path]):
    with open_frame([state(**DOMAINS["the north pole"])]) as frame:
        east, north = frame.read("u10_earth"), frame.read("v10_earth")
        assert np.hypot(east, north) == pytest.approx(10.0, abs=1e-3)
        # The wind blows along x: on the standard meridian, below the pole, that is to the east.
        assert east[5, 30] == pytest.approx(10.0, abs=0.3)
        assert east[44, 30] == pytest.approx(-10.0, abs=0.3)


def test_degrees_without_a_direction_are_those_of_wrf_2(
    wrf_file: Callable[..., Path], context: Context
):
    path = wrf_file(**DOMAINS["lambert"])
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        for name in data.variables:
            if name.startswith("XL"):
                data[name].units = "degree"
    crop = Crop(range={"lon": (-100, -95), "lat": (37, 41)})
    out = context.files.parent / "crop.nc"
    with open_frame([path]) as frame:
        NetcdfKind().make(NetcdfOptions(("T2",), crop), frame, out, context)
    with netCDF4.Dataset(os.fspath(out)) as data:
        assert -101 < data["longitude"][:].min() < data["longitude"][:].max() < -94


@pytest.mark.parametrize("real", [True, False])
def test_fire_lies_on_cells_that_divide_those_of_the_air(
    wrf_file: Callable[..., Path], context: Context, real: bool
):
    # WRF-Fire: sr_x cells in each atmospheric cell, and a row of such cells beyond the domain.
    cells, (nx, ny) = 4, (30, 20)
    domain = DOMAINS["lambert"] | {"size": (nx, ny), "spacing": 100.0}
    path = wrf_file(**domain)
    at = {"west_east_subgrid": 4 * 11 + 2, "south_north_subgrid": 4 * 7 + 1}
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        if not real:
            data.MAP_PROJ = np.int32(0)
        data.createDimension("south_north_subgrid", cells * (ny + 1))
        data.createDimension("west_east_subgrid", cells * (nx + 1))
        fire = data.createVariable("FGRNHFX", "f4", ("Time", *reversed(at)))
        fire.units = "W/m^2"
        fire[0] = 100
        fire[0, ny * cells :], fire[0, :, nx * cells :] = 0, 0
        fire[0, at["south_north_subgrid"], at["west_east_subgrid"]] = 5e4
    out = context.files.parent / "fire.png"
    crop = Crop(follow="max:FGRNHFX", half_width_km=0.2)
    with open_frame([path]) as frame:
        air, of_fire = (grid.map_plane(frame, name, {}) for name in ("T2", "FGRNHFX"))
        facts = MapKind().make(MapOptions("FGRNHFX", crop=crop), frame, out, context).facts
        whole = MapKind().make(MapOptions("FGRNHFX"), frame, out, context).facts
    assert (of_fire.units, of_fire.projection) == ("m", air.projection)
    assert np.diff(of_fire.x) == pytest.approx(25)
    # The third fire cell of the twelfth atmospheric cell is 12.5 m east of that cell's centre.
    assert of_fire.x[at["west_east_subgrid"]] - air.x[11] == pytest.approx(12.5)
    assert of_fire.y[at["south_north_subgrid"]] - air.y[7] == pytest.approx(-12.5)
    assert facts["max_at"] == at
    assert facts["shape"] == [17, 17]
    assert (whole["shape"], whole["min"]) == ([ny * cells, nx * cells], 100)


def test_the_title_of_a_pressure_level_names_the_pressure(
    wrf_file: Callable[..., Path], context: Context
):
    path = wrf_file(**DOMAINS["lambert"])
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data.createDimension("num_press_levels_stag", 2)
        pressure = data.createVariable("P_PL", "f4", ("Time", "num_press_levels_stag"))
        pressure.units = "Pa"
        pressure[0] = [85000, 50000]
        levels = ("Time", "num_press_levels_stag", *data["T2"].dimensions[1:])
        data.createVariable("T_PL", "f4", levels)[:] = np.stack([data["T2"][:]] * 2, axis=1)
    out = context.files.parent / "level.png"
    with open_frame([path]) as frame:
        facts = MapKind().make(MapOptions("T_PL", level=1), frame, out, context).facts
    assert facts["level"] == "P_PL = 50000 Pa"


@pytest.mark.parametrize("middle", [0.0, 90.0, 180.0])
def test_longitudes_of_a_volume_continue_around_the_globe(
    wrf_file: Callable[..., Path], middle: float
):
    path = wrf_file(map_proj=6, CEN_LON=middle, size=(72, 36), spacing=CIRCUMFERENCE / 72)
    with open_frame([path]) as frame:
        lon = grid.plane(frame, "T2", {}).x
        part = grid.plane(frame, "T2", {"west_east": slice(20, 60, 1)}).x
    assert np.diff(lon, axis=1) == pytest.approx(5, abs=0.01)
    assert np.diff(lon, axis=0) == pytest.approx(0, abs=0.01)
    assert np.diff(part, axis=1) == pytest.approx(5, abs=0.01)
