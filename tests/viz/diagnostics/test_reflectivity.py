"""Reflectivity against wrf-python and the size distribution it stands for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz.diagnostics import reflectivity
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.echo import factor
from burstlens.viz.frames.reader import netCDF4


def equivalent_reflectivity(species: str, mixing_ratio: Any, air_density: Any) -> Any:
    return factor(species) * (air_density * np.maximum(mixing_ratio, 0)) ** 1.75


@pytest.fixture
def water_species(supercell: Path, tmp_path: Path) -> Callable[..., Path]:
    """The supercell's state with these water species (z, y, x) instead of its own."""

    def write(**species: Any) -> Path:
        path = tmp_path / "species.nc"
        with (
            netCDF4.Dataset(os.fspath(supercell)) as old,
            netCDF4.Dataset(os.fspath(path), "w") as data,
        ):
            for name, dimension in old.dimensions.items():
                data.createDimension(name, len(dimension))
            data.setncatts({key: old.getncattr(key) for key in old.ncattrs()})
            for name in ("T", "P", "PB", "PH", "PHB", "QVAPOR"):
                data.createVariable(name, "f4", old[name].dimensions)[:] = old[name][:]
            for name, values in species.items():
                data.createVariable(name, "f4", old["T"].dimensions)[0] = values
        return path

    return write


def test_reflectivity_is_wrf_python_s(cyclone: Path, wrf_python: dict[str, Any]):
    with open_frame([cyclone]) as frame:
        found = frame.read("reflectivity")
    assert np.abs(found[wrf_python["levels"]] - wrf_python["reflectivity"]).max() < 0.5
    assert found.max() > 45
    assert found.min() == -30


@pytest.mark.parametrize(
    ("species", "density", "intercept"),
    [("QRAIN", 1000, 8e6), ("QSNOW", 100, 2e7), ("QGRAUP", 400, 4e6)],
)
def test_ze_is_the_sixth_moment_of_the_drops_that_hold_the_water(
    species: str, density: float, intercept: float
):
    # Integrated over diameters: N0 exp(-lambda D) with lambda from the mass, times D^6.
    air, water = 1.1, 2e-3
    slope = (np.pi * density * intercept / (air * water)) ** 0.25
    diameter = np.linspace(0, 60 / slope, 200001)
    number = intercept * np.exp(-slope * diameter)
    mass = np.trapezoid(number * np.pi / 6 * density * diameter**3, diameter)
    assert mass == pytest.approx(air * water, rel=1e-6)
    moment = np.trapezoid(number * diameter**6, diameter) * 1e18
    if species != "QRAIN":
        moment *= 0.224 * (density / 1000) ** 2
    found = equivalent_reflectivity(species, np.array([water]), np.array([air]))
    assert 10 * np.log10(found[0]) == pytest.approx(10 * np.log10(moment), abs=0.01)


def test_without_snow_in_the_microphysics_frozen_rain_counts_as_snow(
    cyclone: Path, add_variables: Callable[..., Path]
):
    rain = np.full((14, 48, 48), 1e-3, "f4")
    with open_frame([add_variables(cyclone, QRAIN=rain)]) as frame:
        found, t = frame.read("reflectivity"), frame.read("temperature")
        air = frame.read("pressure") / (287 * t * (1 + 0.608 * frame.read("QVAPOR")))
    cold = t < 273.15
    assert cold.any()
    for where, species in ((cold, "QSNOW"), (~cold, "QRAIN")):
        expected = 10 * np.log10(equivalent_reflectivity(species, rain[where], air[where]))
        assert np.abs(found[where] - expected).max() < 0.05


def test_snow_and_graupel_add_to_rain(supercell: Path, tmp_path: Path, water_species: Any):
    one = np.full((40, 41, 41), 1e-3, "f4")
    with open_frame([water_species(QRAIN=one, QSNOW=one, QGRAUP=2 * one)]) as frame:
        found, t = frame.read("reflectivity").astype("f8"), frame.read("temperature")
        air = frame.read("pressure") / (287 * t * (1 + 0.608 * frame.read("QVAPOR")))
    total = sum(
        equivalent_reflectivity(species, amount * one, air)
        for species, amount in (("QRAIN", 1), ("QSNOW", 1), ("QGRAUP", 2))
    )
    assert np.abs(found - 10 * np.log10(total)).max() < 0.05


def test_the_column_s_maximum_leaves_out_levels_without_a_value(
    cyclone: Path, add_variables: Callable[..., Path]
):
    with open_frame([cyclone]) as frame:
        rain = frame.read("QRAIN")
        whole = frame.read("reflectivity")
        assert np.array_equal(frame.read("reflectivity_max"), whole.max(axis=0))
    rain[3, 10, 10] = np.nan
    rain[:, 20, 20] = np.nan
    with open_frame([add_variables(cyclone, QRAIN=rain)]) as frame:
        found = frame.read("reflectivity_max")
    assert found[10, 10] == np.delete(whole[:, 10, 10], 3).max()
    assert np.isnan(found[20, 20])
    assert np.isnan(found).sum() == 1


def test_negative_amounts_from_advection_are_none(cyclone: Path, add_variables: Any):
    path = add_variables(cyclone, QRAIN=np.full((14, 48, 48), -1e-9, "f4"))
    with open_frame([path]) as frame:
        assert (frame.read("reflectivity") == -30).all()


def test_compiled_loops_give_the_same_bits(
    supercell: Path, cyclone: Path, add_variables: Callable[..., Path],
    water_species: Callable[..., Path], monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    rain = np.full((14, 48, 48), 1e-3, "f4")
    rain[3, 10, 10], rain[:, 20, 20], rain[:, 5] = np.nan, np.nan, -1e-9
    some = np.random.default_rng(1).uniform(-1e-4, 1e-2, (3, 40, 41, 41)).astype("f4")
    species = dict(zip(("QRAIN", "QSNOW", "QGRAUP"), some, strict=True))
    for path in (supercell, cyclone, add_variables(cyclone, QRAIN=rain), water_species(**species)):
        for name in ("reflectivity", "reflectivity_max"):
            found = []
            for large in (1 << 40, 0):
                monkeypatch.setattr(reflectivity, "LARGE", large)
                with open_frame([path]) as frame:
                    found.append(frame.read(name))
            assert np.array_equal(*found, equal_nan=True)
