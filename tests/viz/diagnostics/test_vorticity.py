"""Vorticity, divergence and updraft helicity."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import metpy.calc as mpcalc
import numpy as np
import pytest
from metpy.units import units

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.vorticity import updraft_helicity

Q = units.Quantity
INNER = (..., slice(1, -1), slice(1, -1))


def test_absolute_vorticity_is_wrf_python_s(cyclone: Path, wrf_python: dict[str, Any]):
    with open_frame([cyclone]) as frame:
        found = frame.read("absolute_vorticity")[wrf_python["levels"]]
    assert np.abs(1e5 * found - wrf_python["absolute_vorticity"]).max() < 1e-3


def test_vorticity_is_metpy_s_with_map_factors(cyclone: Path):
    with open_frame([cyclone]) as frame:
        u, v = (Q(frame.read(name)[3].astype("f8"), "m/s") for name in ("U", "V"))
        scale = frame.read("MAPFAC_M").astype("f8")
        found = frame.read("vorticity", {"bottom_top": slice(3, 4)})[0]
    u, v = 0.5 * (u[:, 1:] + u[:, :-1]), 0.5 * (v[1:] + v[:-1])
    d = Q(10000, "m")
    expected = mpcalc.vorticity(u, v, dx=d, dy=d, parallel_scale=scale, meridional_scale=scale).m
    # MetPy differentiates the map factor by itself: 1e-6 s-1 where winds of 70 m s-1 turn.
    assert np.abs(found - expected)[INNER].max() < 2e-6
    assert expected.max() > 1e-3


def test_vorticity_of_an_idealized_case_is_metpy_s(supercell: Path):
    with open_frame([supercell]) as frame:
        u, v = (Q(frame.read(name)[8].astype("f8"), "m/s") for name in ("U", "V"))
        found = frame.read("vorticity")[8]
    u, v = 0.5 * (u[:, 1:] + u[:, :-1]), 0.5 * (v[1:] + v[:-1])
    expected = mpcalc.vorticity(u, v, dx=Q(2000, "m"), dy=Q(2000, "m")).m
    assert np.abs(found - expected)[INNER].max() < 1e-8


def test_linear_winds_turn_and_spread_alike_everywhere(
    supercell: Path, tmp_path: Path, copy_with: Callable[..., None]
):
    # u = a x - c y, v = c x + b y on the faces: divergence a + b, vorticity 2 c, exactly.
    a, b, c = 3e-4, -1e-4, 2e-4
    face, mass = np.arange(42) * 2000.0, (np.arange(41) + 0.5) * 2000
    u = np.broadcast_to(a * face[None, :] - c * mass[:, None], (1, 40, 41, 42))
    v = np.broadcast_to(c * mass[None, :] + b * face[:, None], (1, 40, 42, 41))
    path = tmp_path / "linear.nc"
    names = ["U", "V", *(f"MAPFAC_{p}" for p in ("M", "MX", "MY", "UX", "UY", "VX", "VY"))]
    copy_with(supercell, path, names, U=u, V=v)
    with open_frame([path]) as frame:
        assert np.abs(frame.read("vorticity") - 2 * c).max() < 1e-3 * c
        assert np.abs(frame.read("divergence") - (a + b)).max() < 1e-3 * c


@pytest.mark.parametrize("name", ["vorticity", "divergence", "updraft_helicity"])
@pytest.mark.parametrize(
    "window",
    [
        {"west_east": slice(0, 7, 3), "south_north": slice(20, 21)},
        {"west_east": slice(17, 41, 5), "south_north": slice(3, 41, 2)},
    ],
)
def test_a_crop_is_that_part_of_the_whole(supercell: Path, name: str, window: dict[str, slice]):
    index = (..., window["south_north"], window["west_east"])
    with open_frame([supercell]) as frame:
        assert np.array_equal(frame.read(name, window), frame.read(name)[index])


def test_a_single_row_of_points_has_no_vorticity(supercell: Path, tmp_path: Path):
    from burstlens.viz.frames.reader import netCDF4

    path = tmp_path / "row.nc"
    with netCDF4.Dataset(str(supercell)) as old, netCDF4.Dataset(str(path), "w") as data:
        sizes = {"south_north": 1, "south_north_stag": 2}
        for name, dimension in old.dimensions.items():
            data.createDimension(name, sizes.get(name, len(dimension)))
        data.setncatts({"DX": 2000.0, "DY": 2000.0})
        for name in ("U", "V", "MAPFAC_M", "MAPFAC_MX", "MAPFAC_MY", "MAPFAC_UX", "MAPFAC_VY"):
            variable = data.createVariable(name, "f4", old[name].dimensions)
            variable[:] = 1
    with (
        open_frame([path]) as frame,
        pytest.raises(FrameError, match="2 points along south_north, the frame has 1"),
    ):
        frame.read("vorticity")


def test_updraft_helicity_is_the_fine_integral_of_w_times_vorticity(supercell: Path):
    with open_frame([supercell]) as frame:
        w, turning, z = (frame.read(name).astype("f8") for name in ("W", "vorticity", "height_agl"))
        found = frame.read("updraft_helicity")
        assert frame.variable("updraft_helicity").units == "m2 s-2"
    w = 0.5 * (w[1:] + w[:-1])
    fine = np.linspace(2000, 5000, 6001)
    upward = 0
    for j, i in np.ndindex(found.shape):
        mean = np.interp(fine, z[:, j, i], w[:, j, i]).mean()
        if mean > 1e-3:
            product = np.interp(fine, z[:, j, i], (w * turning)[:, j, i])
            assert found[j, i] == pytest.approx(np.trapezoid(product, fine), abs=2e-3)
            upward += 1
        elif mean < -1e-3:
            assert found[j, i] == 0
    assert upward > 50
    assert found.max() > 3


def test_a_layer_above_the_column_has_no_helicity():
    z = np.linspace(0, 3000, 7)[:, None, None]
    assert np.isnan(updraft_helicity(z, z, z, 4000, 6000)).all()


def test_updraft_helicity_of_pressures_is_refused(supercell: Path):
    with open_frame([supercell]) as frame, pytest.raises(RecipeError, match="@2-5km agl"):
        frame.read("updraft_helicity@700-500hPa")
