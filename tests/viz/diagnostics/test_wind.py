"""Wind: destaggered, turned to earth, its speed and direction."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import metpy.calc as mpcalc
import numpy as np
import pyproj
import pytest
from metpy.units import units

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.wind import convergence, direction, turned
from burstlens.viz.frames.reader import netCDF4

Q = units.Quantity


def test_speed_and_direction_are_metpy_s(cyclone: Path):
    with open_frame([cyclone]) as frame:
        for u, v, fast, whence in (
            ("u10_earth", "v10_earth", "wind10", "wind10_direction"),
            ("u_earth", "v_earth", "wind", "wind_direction"),
        ):
            east, north = (Q(frame.read(name).astype("f8"), "m/s") for name in (u, v))
            assert np.abs(frame.read(fast) - mpcalc.wind_speed(east, north).m).max() < 0.01
            expected = mpcalc.wind_direction(east, north).m_as("degrees")
            turn = (frame.read(whence) - expected + 180) % 360 - 180
            assert np.abs(turn).max() < 0.01


@pytest.mark.parametrize(
    ("u", "v", "degrees"),
    [(0, 0, 0), (0, -5, 360), (-5, 0, 90), (0, 5, 180), (5, 0, 270), (5, 5, 225)],
)
def test_direction_is_where_the_wind_comes_from(u: float, v: float, degrees: float):
    assert direction(np.array([u]), np.array([v])) == pytest.approx(degrees)


def test_components_are_averaged_from_the_faces_of_each_cell(cyclone: Path):
    with open_frame([cyclone]) as frame:
        u, v = frame.read("U"), frame.read("V")
        found = frame.read("u_earth"), frame.read("v_earth")
    # Mercator: the grid's directions are the earth's.
    assert np.abs(found[0] - 0.5 * (u[:, :, 1:] + u[:, :, :-1])).max() < 1e-5
    assert np.abs(found[1] - 0.5 * (v[:, 1:] + v[:, :-1])).max() < 1e-5


@pytest.mark.parametrize(
    "window",
    [
        {"west_east": slice(3, 20, 4), "south_north": slice(1, 47, 5)},
        {"west_east": slice(47, 48), "bottom_top": slice(2, 3)},
    ],
)
def test_a_crop_with_strides_is_that_part_of_the_whole(cyclone: Path, window: dict[str, slice]):
    index = tuple(window.get(d, slice(None)) for d in ("bottom_top", "south_north", "west_east"))
    with open_frame([cyclone]) as frame:
        assert np.array_equal(frame.read("wind", window), frame.read("wind")[index])


def test_the_earth_s_components_follow_cosalpha_and_sinalpha(
    cyclone: Path, tmp_path: Path, add_variables: Callable[..., Path]
):
    path = add_variables(
        cyclone, COSALPHA=np.full((48, 48), 0.8, "f4"), SINALPHA=np.full((48, 48), 0.6, "f4")
    )
    with open_frame([path]) as frame:
        u, v = frame.read("U10"), frame.read("V10")
        assert frame.read("u10_earth") == pytest.approx(0.8 * u - 0.6 * v, abs=1e-5)
        assert frame.read("v10_earth") == pytest.approx(0.8 * v + 0.6 * u, abs=1e-5)
        assert frame.read("wind10") == pytest.approx(np.hypot(u, v), abs=1e-4)


@pytest.mark.parametrize(
    ("number", "true", "text"),
    [
        (1, (30.0, 60.0), "+proj=lcc +lat_1=30 +lat_2=60 +lat_0=40"),
        (1, (45.0, 45.0), "+proj=lcc +lat_1=45 +lat_2=45 +lat_0=45"),
        (1, (-30.0, -60.0), "+proj=lcc +lat_1=-30 +lat_2=-60 +lat_0=-40"),
        (2, (60.0, 60.0), "+proj=stere +lat_0=90 +lat_ts=60"),
        (2, (-71.0, -71.0), "+proj=stere +lat_0=-90 +lat_ts=-71"),
    ],
)
@pytest.mark.parametrize("middle", [-98.0, 175.0])
def test_without_sinalpha_the_angle_is_that_of_north_in_the_projection(
    number: int, true: tuple[float, float], text: str, middle: float
):
    # North and east as PROJ draws them, by differences: independent of any formula for the angle.
    attributes = {"MAP_PROJ": number, "TRUELAT1": true[0], "TRUELAT2": true[1]}
    projection = pyproj.Proj(f"{text} +lon_0={middle} +R=6370000")
    latitudes = np.sign(true[0]) * np.linspace(25, 60, 5)
    longitude, latitude = np.meshgrid(middle + np.linspace(-25, 25, 7), latitudes)
    x, y = projection(longitude, latitude)
    north_x, north_y = np.subtract(projection(longitude, latitude + 1e-3), (x, y))
    length = np.hypot(north_x, north_y)
    north_x, north_y = north_x / length, north_y / length
    u, v = 7.0, -3.0
    angle = convergence((longitude + 180) % 360 - 180, attributes | {"STAND_LON": middle})
    east, north = turned(np.array(u), np.array(v), np.cos(angle), np.sin(angle))
    assert north == pytest.approx(u * north_x + v * north_y, abs=1e-3)
    assert east == pytest.approx(u * north_y - v * north_x, abs=1e-3)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (40.0, 1e20, (40.0, 40.0)),
        (40.0, None, (40.0, 40.0)),
        (0.0, -5.0, (0.0, 5.0)),
        (-5.0, 10.0, (-5.0, -10.0)),
    ],
)
def test_the_angle_is_that_of_the_cone_which_wps_makes_of_its_latitudes(
    first: float, second: float | None, same: tuple[float, float]
):
    given = {"MAP_PROJ": 1, "TRUELAT1": first, "STAND_LON": 10.0}
    given |= {} if second is None else {"TRUELAT2": second}
    longitude = np.linspace(-10, 30, 5)
    plain = {"MAP_PROJ": 1, "TRUELAT1": same[0], "TRUELAT2": same[1], "STAND_LON": 10.0}
    assert convergence(longitude, given) == pytest.approx(convergence(longitude, plain))


def test_an_unknown_angle_is_an_error(cyclone: Path, add_variables: Callable[..., Path]):
    path = add_variables(cyclone)
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data.MAP_PROJ, data.POLE_LAT = np.int32(6), 40.0
    with open_frame([path]) as frame, pytest.raises(FrameError, match="COSALPHA"):
        frame.read("u_earth")


def test_at_a_level_the_components_are_interpolated_before_speed_and_direction(
    supercell: Path, tmp_path: Path, copy_with: Callable[..., None]
):
    # West wind below, east wind above 5 km: in between it is calm, not blowing at full speed.
    with open_frame([supercell]) as frame:
        z = frame.read("height")[:, 0, 0]
    u = np.where(z < 5000, 10, -10)[:, None, None] * np.ones((40, 41, 42))
    v = np.full((40, 42, 41), 1.0)
    path = tmp_path / "shear.nc"
    names = ["U", "V", "PH", "PHB", "P", "PB"]
    copy_with(supercell, path, names, U=u[None], V=v[None])
    above = int(np.argmax(z >= 5000))
    middle = 0.5 * (z[above - 1] + z[above])
    with open_frame([path]) as frame:
        corner = {"south_north": slice(0, 1), "west_east": slice(0, 1)}
        assert frame.read(f"wind@{middle:.3f}m", corner) == pytest.approx(1, abs=0.02)
        assert frame.read(f"wind_direction@{middle:.3f}m", corner) == pytest.approx(180, abs=1)
        layer = f"{z[above - 1]:.3f}-{z[above]:.3f}m"
        assert frame.read(f"wind@{layer}", corner) == pytest.approx(1, abs=0.02)


def test_a_nan_stays_where_it_is():
    u, v = np.array([1.0, np.nan, 0.0]), np.array([1.0, 1.0, np.nan])
    assert np.array_equal(np.isnan(np.hypot(u, v)), [False, True, True])
    assert np.array_equal(np.isnan(direction(u, v)), [False, True, True])


def test_integers_are_taken_as_numbers(
    cyclone: Path, tmp_path: Path, integers: Callable[..., Path]
):
    path = integers(cyclone, "U10", "V10")
    with open_frame([path]) as frame:
        assert frame.read("U10").dtype.kind == "i"
        u, v = (frame.read(name).astype("f8") for name in ("U10", "V10"))
        assert frame.read("wind10") == pytest.approx(np.hypot(u, v))


def test_without_a_10m_wind_the_surface_wind_is_that_of_the_lowest_level(supercell: Path):
    with open_frame([supercell]) as frame:
        assert not frame.read("U10").any()
        u, v = (frame.read(name)[0] for name in ("u_earth", "v_earth"))
        assert np.abs(frame.read("surface_wind") - np.hypot(u, v)).max() < 1e-5
        part = frame.read("surface_u", {"west_east": slice(3, 20, 4)})
        assert np.abs(part - u[:, 3:20:4]).max() < 1e-5
        long_name = frame.variable("surface_wind").long_name
    assert long_name == "wind speed, lowest level (no 10 m wind)"


def test_with_a_10m_wind_the_surface_wind_is_that_wind(cyclone: Path):
    with open_frame([cyclone]) as frame:
        assert np.array_equal(frame.read("surface_wind"), frame.read("wind10"))
        assert np.array_equal(frame.read("surface_v"), frame.read("V10"))
        assert frame.variable("surface_wind").long_name == "10 m wind speed"


def test_a_10m_wind_at_one_point_is_enough(cyclone: Path, tmp_path: Path):
    still = Path(shutil.copy(cyclone, tmp_path))
    with netCDF4.Dataset(os.fspath(still), "a") as data:
        data["U10"][:] = 0
        data["V10"][:] = 0
        data["V10"][0, 5, 7] = 3
    with open_frame([still]) as frame:
        wind = frame.read("surface_wind")
        assert (wind.max(), np.count_nonzero(wind)) == (3, 1)
