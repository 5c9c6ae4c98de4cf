"""Heights and pressures of the levels of other models, and values at a height or a pressure."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry import vertical


def z_of(frame: Any) -> Any:
    """Heights of the ROMS file by hand: its C is s, so that z = zeta (1 + s) + s h."""
    s, h, zeta = (frame.read(name) for name in ("s_rho", "h", "zeta"))
    s = s[:, None, None]
    return np.nan_to_num(zeta) * (1 + s) + s * h


def test_romss_levels_lie_where_its_formula_puts_them(roms: Any):
    with open_frame([roms()], 1) as frame:
        found = vertical.levels(frame, "temp", {})
        assert found is not None
        assert (found.quantity, found.is_sea) == ("height", True)
        assert np.allclose(found.values, z_of(frame))
        assert found.ground is not None
        assert np.array_equal(found.ground, -frame.read("h"))
        part = {"s_rho": slice(2, 9, 3), "eta_rho": slice(3, 8), "xi_rho": slice(0, 9, 2)}
        inside = vertical.levels(frame, "temp", part)
        assert inside is not None
        assert np.allclose(inside.values, z_of(frame)[2:9:3, 3:8, 0:9:2])
        assert np.allclose(frame.read("height", part), inside.values)


def test_the_levels_of_a_velocity_lie_between_those_of_the_cells(roms: Any):
    with open_frame([roms()], 1) as frame:
        z = z_of(frame)
        for name, expected in (("u", (z[:, :, 1:] + z[:, :, :-1]) / 2),
                               ("v", (z[:, 1:] + z[:, :-1]) / 2)):  # fmt: skip
            found = vertical.levels(frame, name, {})
            assert found is not None
            assert found.values.shape == expected.shape
            wet = np.isfinite(frame.read(name))
            assert np.allclose(found.values[wet], expected[wet])
        part = {"eta_u": slice(4, 6), "xi_u": slice(7, 9)}
        inside, whole = (vertical.levels(frame, "u", window) for window in (part, {}))
        assert inside is not None
        assert whole is not None
        assert np.allclose(inside.values, whole.values[:, 4:6, 7:9])


def test_a_value_at_a_depth_is_interpolated_between_the_levels(roms: Any):
    with open_frame([roms()]) as frame:
        z, temp = z_of(frame), frame.read("temp")
        found = frame.read("temp@-15m")
        row, column = 3, 12
        expected = np.interp(-15, z[:, row, column], temp[:, row, column])
        assert found[row, column] == pytest.approx(expected)
        assert np.isnan(found[-1, 0])  # land
        assert frame.variable("temp@-15m").long_name.endswith("at 15 m below sea level")
        above = frame.read("temp@10m agl")
        ground = -frame.read("h")[row, column]
        expected = np.interp(ground + 10, z[:, row, column], temp[:, row, column])
        assert above[row, column] == pytest.approx(expected)
        assert np.array_equal(frame.read("temp@3"), temp[3], equal_nan=True)


def test_a_depth_without_its_sign_gets_the_sign_in_the_message(roms: Any):
    with open_frame([roms()]) as frame:
        with pytest.raises(RecipeError, match="temp lies below the sea's surface: say @-50m"):
            frame.read("temp@50m")
        with pytest.raises(FrameError, match="the pressure of its levels is not known"):
            frame.read("temp@500hPa")
        with pytest.raises(FrameError, match="zeta has no levels"):
            frame.read("zeta@-5m")
        with pytest.raises(FrameError, match="level 10 is outside of s_rho, which has 0 to 9"):
            frame.variable("temp@10")


def test_a_missing_term_is_named_and_a_sea_without_its_surface_is_at_rest(roms: Any, cam: Any):
    with open_frame([roms(without=("zeta",))]) as frame:
        found = vertical.levels(frame, "temp", {})
        assert found is not None
        assert np.allclose(found.values, frame.read("s_rho")[:, None, None] * frame.read("h"))
    with (
        open_frame([cam(without=("PS",))]) as frame,
        pytest.raises(FrameError, match=r"levels of T: lev needs ps \(PS\), which the frame does"),
    ):
        frame.read("T@500hPa")


def test_cams_levels_are_pressures(cam: Any):
    with open_frame([cam()], 2) as frame:
        a, b, ps = (frame.read(name) for name in ("hyam", "hybm", "PS"))
        p = a[:, None, None] * 1e5 + b[:, None, None] * ps
        assert np.allclose(frame.read("pressure"), p)
        found = frame.read("T@500hPa")
        column = p[:, 20, 30]
        # Linear in the logarithm of the pressure, as for WRF.
        expected = np.interp(np.log(5e4), np.log(column), 3e-3 * column)
        assert found[20, 30] == pytest.approx(expected)
        assert np.isnan(frame.read("T@950hPa")).any()  # under the mountain
        with pytest.raises(FrameError, match="the height of its levels is not known"):
            frame.read("T@1500m")


def test_a_geopotential_height_gives_the_heights_of_pressures(cam: Any):
    path = cam()
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        z3 = data.createVariable("Z3", "f8", ("time", "lev", "lat", "lon"))
        z3.units = "km"
        z3[:] = np.arange(12.0)[::-1, None, None]
    with open_frame([path]) as frame:
        found = vertical.metres(frame, "T", {})
        assert found is not None
        assert found.values[:, 0, 0].tolist() == [1000.0 * n for n in range(11, -1, -1)]
        assert np.allclose(frame.read("T@2500m"), (frame.read("T")[8] + frame.read("T")[9]) / 2)


@pytest.fixture
def column(tmp_path: Path) -> Any:
    """Writes a variable v (z, y, x) that is its level's number, with a coordinate of its levels."""

    def write(name: str, values: list[float], **about: Any) -> Path:
        path = tmp_path / "column.nc"
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            for dimension, size in ((name, len(values)), ("y", 3), ("x", 4)):
                data.createDimension(dimension, size)
            axis = data.createVariable(name, "f8", (name,))
            axis.setncatts(about)
            axis[:] = values
            v = data.createVariable("v", "f8", (name, "y", "x"))
            v[:] = np.arange(float(len(values)))[:, None, None]
        return path

    return write


@pytest.mark.parametrize(
    ("name", "values", "about", "level", "expected"),
    [
        ("depth", [5, 15, 25], {"units": "m", "positive": "down"}, "-20m", 1.5),
        ("depth", [5, 15, 25], {"units": "m"}, "-10m", 0.5),
        ("deptht", [5, 15, 25], {"units": "m", "axis": "Z"}, "-10m", 0.5),
        ("lev", [0.005, 0.015], {"units": "km", "standard_name": "depth"}, "-10m", 0.5),
        ("Z", [-5, -15, -25], {"units": "m", "positive": "up"}, "-20m", 1.5),
        ("height", [10, 100, 1000], {"units": "m"}, "0.55km", 1.5),
        ("height", [1, 10, 100], {"units": "hectometers"}, "0.55km", 0.5),
        ("height", [0, 10, 20], {"units": "100 ft"}, "304.8m", 1.0),
        ("plev", [100000, 50000], {"units": "Pa", "positive": "down"}, "500hPa", 1.0),
        ("level", [100, 1000], {"units": "millibars"}, "1000hPa", 1.0),
    ],
)
def test_a_level_counts_along_coordinates_of_any_direction(
    column: Any, name: str, values: list[float], about: dict[str, str], level: str, expected: float
):
    with open_frame([column(name, values, **about)]) as frame:
        assert np.allclose(frame.read(f"v@{level}"), expected)


def test_an_auxiliary_coordinate_that_varies_along_the_ground_counts(column: Any):
    path = column("k", [0, 1, 2])
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        z = data.createVariable("z_mid", "f8", ("k", "y", "x"))
        z.setncatts({"units": "m", "positive": "up"})
        z[:] = np.array([10.0, 20, 30])[:, None, None] + 5 * np.arange(4)
        data["v"].coordinates = "z_mid"
    with open_frame([path]) as frame:
        assert np.allclose(frame.read("v@25m"), [[1.5, 1.0, 0.5, 0.0]] * 3)


def test_a_mean_over_a_layer_is_that_of_its_part_within_the_levels(column: Any):
    path = column("depth", [0, 10, 20, 30], units="m", positive="down")
    with open_frame([path]) as frame:
        assert np.allclose(frame.read("v@-20--10m"), 1.5)
        assert frame.variable("v@-20--10m").long_name.endswith(
            "mean from 10 to 20 m below sea level"
        )


def test_a_hybrid_height_has_its_ground(tmp_path: Path):
    path = tmp_path / "um.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        for dimension, size in (("k", 3), ("lat", 2), ("lon", 3)):
            data.createDimension(dimension, size)
        for name, dimensions, values in (
            ("k", ("k",), [0, 1, 2]), ("a", ("k",), [10, 500, 2000]), ("b", ("k",), [1, 0.5, 0]),
            ("orog", ("lat", "lon"), [[0, 100, 800]] * 2),
            ("theta", ("k", "lat", "lon"), np.arange(18).reshape(3, 2, 3)),
        ):  # fmt: skip
            data.createVariable(name, "f8", dimensions)[:] = values
        data["k"].standard_name = "atmosphere_hybrid_height_coordinate"
        data["k"].formula_terms = "a: a b: b orog: orog"
        data["a"].units = data["orog"].units = "m"
    with open_frame([path]) as frame:
        assert np.allclose(
            frame.read("height")[:, 0], [[10, 110, 810], [500, 550, 900], [2000] * 3]
        )
        assert np.allclose(frame.read("theta@10m agl")[0], [0, 1, 2])


def test_the_standard_atmosphere_is_isos():
    # ISO 2533:1975, table 5.
    p = np.array([101325.0, 89874.6, 54019.9, 26436.3, 12044.6, 5474.89])
    assert np.allclose(vertical.standard_height(p), [0, 1000, 5000, 10000, 15000, 20000], atol=8)
