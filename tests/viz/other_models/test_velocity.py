"""Winds and currents of other models: components found, averaged, turned to east and north."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.layers import Wind, components_of
from burstlens.viz.drawing.maps.wind_symbols import read_wind
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop

LAND = 4 * 6


def test_romss_current_is_averaged_to_the_centres_and_turned_to_east_and_north(roms: Any):
    with open_frame([roms()]) as frame:
        for wind in (Wind("u", "v", level=-1), Wind("ubar", "vbar"), Wind("u@-12m", "v@-12m")):
            found = read_wind(frame, "vectors", wind, Crop())
            assert found.u.shape == (18, 24)
            assert np.isnan(found.u).sum() == np.isnan(found.v).sum() == LAND
            assert np.nanmin(found.u) == pytest.approx(0.3)
            assert np.nanmax(found.u) == pytest.approx(0.3)
            assert np.nanmin(found.v) == pytest.approx(0.1)
            assert found.plane.geographic
            assert np.array_equal(found.plane.x, frame.read("lon_rho"))


def test_without_an_angle_the_rows_of_longitudes_and_latitudes_give_it(roms: Any):
    with open_frame([roms(without=("angle",))]) as frame:
        found = read_wind(frame, "vectors", Wind("ubar", "vbar"), Crop())
        # The file's longitudes are spaced for the middle latitude.
        assert np.allclose(found.u[~np.isnan(found.u)], 0.3, atol=0.002)
        assert np.allclose(found.v[~np.isnan(found.v)], 0.1, atol=0.004)


def test_components_to_earth_are_not_turned(roms: Any):
    with open_frame([roms()]) as frame:
        asked = Wind("ubar", "vbar", relative_to="earth")
        found = read_wind(frame, "vectors", asked, Crop())
        assert np.nanmax(found.u) == pytest.approx(0.3 * np.cos(0.4) + 0.1 * np.sin(0.4))


def test_a_crop_keeps_the_points_of_the_map(roms: Any):
    crop = Crop(index={"xi_rho": (8, 15), "eta_rho": (2, 7)})
    with open_frame([roms()]) as frame:
        whole = read_wind(frame, "vectors", Wind("u", "v", level=3), Crop())
        part = read_wind(frame, "vectors", Wind("u", "v", level=3), crop)
        assert part.u.shape == (5, 7)
        assert np.array_equal(part.u, whole.u[2:7, 8:15])
        assert np.array_equal(part.plane.y, whole.plane.y[2:7, 8:15])


def test_by_default_the_current_nearest_to_the_surface_is_shown(roms: Any, cam: Any):
    with open_frame([roms()]) as frame:
        found = components_of(frame, Wind())
        assert (found.u, found.v, found.level) == ("u", "v", -1)
        assert components_of(frame, Wind("ubar", "vbar")) == Wind("ubar", "vbar")
    with open_frame([cam()]) as frame:
        found = components_of(frame, Wind())
        assert (found.u, found.v, found.level) == ("U", "V", -1)  # lev rises downwards
        barbs = read_wind(frame, "barbs", Wind(), Crop())
        assert np.allclose(barbs.u, 20 * 3600 / 1852)


def test_wrfs_frames_keep_the_wind_at_10_m(cyclone: Path):
    with open_frame([cyclone]) as frame:
        assert components_of(frame, Wind()) == Wind("U10", "V10")


def test_diagnostics_give_speed_and_components(roms: Any, cam: Any):
    with open_frame([roms()]) as frame:
        about = frame.variable("current")
        assert about.dimensions == ("s_rho", "eta_rho", "xi_rho")
        assert about.units == "meter second-1"
        for name, value in (
            ("current", np.hypot(0.3, 0.1)), ("current_east", 0.3), ("current_north", 0.1),
        ):  # fmt: skip
            values = frame.read(name, {"s_rho": slice(4, 6), "xi_rho": slice(2, 9)})
            assert values.shape == (2, 18, 7)
            assert np.allclose(values[np.isfinite(values)], value)
        with pytest.raises(FrameError, match=r"wind needs both components of the wind, which his"):
            frame.read("wind")
    with open_frame([cam()]) as frame:
        assert np.allclose(frame.read("u_earth@500hPa"), 20)
        with pytest.raises(FrameError, match="current needs both components of the current"):
            frame.variable("current")


@pytest.fixture
def flow(tmp_path: Path) -> Any:
    """Writes two components with their standard names on the given dimensions of 6 by 5 cells."""

    def write(
        u: tuple[tuple[str, str], Any, str], v: tuple[tuple[str, str], Any, str], **sizes: int
    ) -> Path:
        path = tmp_path / "flow.nc"
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            for name, size in sizes.items():
                data.createDimension(name, size)
            for name, (dimensions, values, standard) in (("a", u), ("b", v)):
                variable = data.createVariable(name, "f8", dimensions)
                variable.setncatts({"units": "m s-1", "standard_name": standard})
                variable[:] = values
            data.createVariable("Depth", "f8", ("YC", "XC"))[:] = 1.0
        return path

    return write


def test_mitgcms_faces_lie_before_the_centres(flow: Any):
    rows, columns = np.mgrid[0:5, 0:6]
    path = flow(
        (("YC", "XG"), columns, "sea_water_x_velocity"),
        (("YG", "XC"), rows, "sea_water_y_velocity"),
        XC=6, XG=6, YC=5, YG=5,
    )  # fmt: skip
    with open_frame([path]) as frame:
        found = read_wind(frame, "vectors", Wind(), Crop())
        assert found.u[0].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5]
        assert found.v[:, 0].tolist() == [0.5, 1.5, 2.5, 3.5, 4]


def test_components_on_different_grids_are_an_error(flow: Any):
    path = flow(
        (("YC", "XC"), 1.0, "sea_water_x_velocity"), (("YC", "other"), 1.0, "sea_water_y_velocity"),
        XC=6, YC=5, other=6,
    )  # fmt: skip
    with open_frame([path]) as frame, pytest.raises(FrameError, match="a and b are not on the sam"):
        read_wind(frame, "vectors", Wind("a", "b"), Crop())


def test_an_expression_of_both_components_is_at_the_centres(roms: Any):
    with open_frame([roms()]) as frame:
        name = "hypot(ubar, vbar) [m s-1]"
        assert frame.variable(name).dimensions == ("eta_rho", "xi_rho")
        values = frame.read(name, {"eta_rho": slice(2, 9)})
        assert values.shape == (7, 24)
        assert np.allclose(values, np.hypot(0.3, 0.1))
        assert frame.variable("2 * ubar").dimensions == ("eta_u", "xi_u")
        with pytest.raises(FrameError, match="not on one grid"):
            frame.variable("zeta + temp")


def test_u_and_v_of_unnamed_media_are_of_the_sea_if_their_levels_lie_below_it(flow: Any):
    path = flow(
        (("YC", "XG"), 1.0, ""), (("YG", "XC"), 1.0, ""), XC=6, XG=6, YC=5, YG=5, Z=3,
    )  # fmt: skip
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        axis = data.createVariable("Z", "f8", ("Z",))
        axis.units = "m"
        axis[:] = [-5, -15, -25]
        for name, dimensions in (("U", ("Z", "YC", "XG")), ("V", ("Z", "YG", "XC"))):
            data.createVariable(name, "f8", dimensions)[:] = 1.0
            data[name].units = "m s-1"
    with open_frame([path]) as frame:
        found = components_of(frame, Wind())
        assert (found.u, found.v, found.level) == ("U", "V", 0)
        assert np.allclose(frame.read("current"), np.hypot(1, 1))
