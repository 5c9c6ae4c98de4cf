"""The WRF recipes that ship: each of their products, made of the real model's frames."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import pytest
from PIL import Image

from burstlens.core.errors import FrameError
from burstlens.core.valid_time import wrf_key
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.product import Beside, Context
from burstlens.workflows.recipe.load import load
from burstlens.workflows.recipe.preflight import preflight
from burstlens.workflows.recipe.recipe import Recipe

pytestmark = pytest.mark.integration

DATA = Path(__file__).parents[1] / "data"
SUPERCELL = DATA / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
CYCLONE = DATA / "wrf" / "wrfout_d01_2005-08-28_21_00_00"
RECIPES = ("wrf-live", "wrf-overview", "wrf-severe", "wrf-chem-live")
# Katrina's file reaches 5.6 km, and holds no species: water vapour stands in for dust.
OF_KATRINA = {
    "wrf-severe": ("steering=700hPa",),
    "wrf-chem-live": ("species=QVAPOR", "west=-91", "east=-89", "south=24", "north=26"),
}


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A WRF run directory with the files that are checked before a run."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    shutil.copy(DATA / "traces" / "namelist.input", folder)
    (folder / "wrf.exe").write_text("#!/bin/sh\n")
    (folder / "wrf.exe").chmod(0o755)
    return folder


@pytest.fixture
def produce(tmp_path: Path) -> Callable[..., dict[str, Path]]:
    """Makes the products of one stream of a recipe from a frame: path by name."""

    def made(recipe: Recipe, frame: Path, stream: str = "d01", **around: Any) -> dict[str, Path]:
        found = {}
        with netCDF4.Dataset(frame) as data:
            time = wrf_key(b"".join(data["Times"][0])) or ""
        for product in recipe.products:
            if product.common.stream in (None, stream):
                (extension,) = product.kind.extensions(product.options)[:1]
                out = tmp_path / f"{product.name}.{extension}"
                context = Context("run", recipe.title, product.name, stream, time, tmp_path)
                with open_frame([frame], stream=stream, time=time, **around) as reader:
                    product.kind.make(product.options, reader, out, context)
                found[product.name] = out
        return found

    return made


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_needs_nothing_but_inputs_and_can_run(name: str, inputs: Path):
    recipe, _ = load(name, (f"inputs={inputs}",))
    assert recipe.description
    assert [finding.text for finding in preflight(recipe) if finding.level == "error"] == []


def test_a_run_without_a_nest_gets_a_warning_with_the_missing_products(inputs: Path):
    recipe, _ = load("wrf-overview", (f"inputs={inputs}",))
    (warning,) = [finding.text for finding in preflight(recipe) if "'d02'" in finding.text]
    assert "no stream 'd02' (there will be d01)" in warning
    assert "not made: wind-nest; made without it: wind, rain" in warning
    text = (inputs / "namelist.input").read_text().replace("max_dom ", "max_dom = 2 ! ")
    (inputs / "namelist.input").write_text(text)
    assert not [finding for finding in preflight(recipe) if "'d02'" in finding.text]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wrf-live", "wrf-overview", "wrf-severe"])
def test_an_idealized_storm_without_ocean_or_coast_gives_every_product(
    name: str, inputs: Path, produce: Callable[..., dict[str, Path]]
):
    recipe, _ = load(name, (f"inputs={inputs}",))
    found = produce(recipe, SUPERCELL)
    assert found
    for path in found.values():
        if path.suffix == ".png":
            with Image.open(path) as picture:
                picture.verify()
        else:
            assert path.stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_a_cyclone_on_the_earth_gives_every_product(
    name: str, inputs: Path, produce: Callable[..., dict[str, Path]]
):
    recipe, _ = load(name, (f"inputs={inputs}", *OF_KATRINA.get(name, ())))
    found = produce(recipe, CYCLONE)
    assert len(found) == len([p for p in recipe.products if p.common.stream in (None, "d01")])
    if name == "wrf-chem-live":
        with netCDF4.Dataset(found["region"]) as region:
            lon, lat = region["longitude"][:], region["latitude"][:]
            assert -91 <= lon.min() < lon.max() <= -89
            assert 24 <= lat.min() < lat.max() <= 26
            assert {"QVAPOR", "T2", "U10", "V10", "PSFC"} <= set(region.variables)


@pytest.mark.slow
def test_the_nest_of_the_overview_is_shown_in_its_parent(
    inputs: Path, produce: Callable[..., dict[str, Path]]
):
    recipe, _ = load("wrf-overview", (f"inputs={inputs}", "product.wind.width_px=400"))
    alone = produce(recipe, SUPERCELL)["wind"].read_bytes()
    with netCDF4.Dataset(SUPERCELL) as data:
        assert data.GRID_ID == 1
    nest = inputs / "wrfout_d02"
    shutil.copy(SUPERCELL, nest)
    with netCDF4.Dataset(nest, "a") as data:
        data.setncatts({"GRID_ID": 2, "PARENT_ID": 1, "PARENT_GRID_RATIO": 3})
        data.setncatts({"I_PARENT_START": 10, "J_PARENT_START": 12, "DX": 2000 / 3, "DY": 2000 / 3})
    both = produce(recipe, SUPERCELL, beside={"d02": Beside((nest,), 0, "d02", "00010101T000800")})[
        "wind"
    ]
    assert both.read_bytes() != alone
    assert produce(recipe, nest, "d02")["wind-nest"].stat().st_size > 10_000


@pytest.mark.parametrize(
    ("name", "species", "message"),
    [
        ("wrf-overview", (), "needs .*QCLOUD"),
        ("wrf-severe", (), "needs .*QRAIN"),
        ("wrf-chem-live", ("species=DUST_1",), "has no variable 'DUST_1'"),
    ],
)
def test_what_a_run_does_not_write_is_named(
    name: str,
    species: tuple[str, ...],
    message: str,
    inputs: Path,
    produce: Callable[..., dict[str, Path]],
):
    bare = inputs / "wrfout_d01"
    keep = ("Times", "XLAT", "XLONG", "T2", "U10", "V10", "PSFC", "T", "P", "PB", "PH", "PHB")
    keep += ("QVAPOR", "U", "V", "W", "RAINNC", "XTIME")
    with netCDF4.Dataset(CYCLONE) as old, netCDF4.Dataset(bare, "w") as new:
        new.setncatts({key: old.getncattr(key) for key in old.ncattrs()})
        for dimension, size in old.dimensions.items():
            new.createDimension(dimension, len(size))
        for variable in keep:
            if variable in old.variables:
                copy = new.createVariable(variable, old[variable].dtype, old[variable].dimensions)
                copy.setncatts({k: old[variable].getncattr(k) for k in old[variable].ncattrs()})
                copy[:] = old[variable][:]
    recipe, _ = load(name, (f"inputs={inputs}", *species))
    with pytest.raises(FrameError, match=message):
        produce(recipe, bare)
