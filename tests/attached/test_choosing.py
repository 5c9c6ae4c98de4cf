"""Products that were chosen when only a namelist was there, and the first frames of a model."""

from __future__ import annotations

import os
import re
from pathlib import Path

import netCDF4
import pytest
from look_case import TESTS, TRACES, LookCase

pytestmark = pytest.mark.integration
CYCLONE = TESTS / "data" / "wrf" / "wrfout_d01_2005-08-28_12_00_00"


def without(path: Path, *names: str) -> None:
    """A frame of WRF that lacks these variables; renamed when it is whole."""
    draft = path.with_name(".draft")
    with netCDF4.Dataset(CYCLONE) as old, netCDF4.Dataset(draft, "w", format="NETCDF4") as new:
        new.setncatts({key: old.getncattr(key) for key in old.ncattrs()})
        for name, dimension in old.dimensions.items():
            new.createDimension(name, None if dimension.isunlimited() else len(dimension))
        for name, variable in old.variables.items():
            if name not in names:
                made = new.createVariable(name, variable.dtype, variable.dimensions)
                made.setncatts({key: variable.getncattr(key) for key in variable.ncattrs()})
                made[:] = variable[:]
    os.replace(draft, path)


def shown(case: LookCase, product: str) -> list[str]:
    lines = case.events("product.published")
    return sorted({line["time"] for line in lines if line["product"] == product})


def begin(case: LookCase) -> None:
    text = (TRACES / "namelist.input").read_text()
    (case.model / "namelist.input").write_text(re.sub("max_dom .*", "max_dom = 2,", text))


@pytest.mark.slow
def test_what_the_first_frame_lacks_is_left_out_and_named_without_a_failure(
    case: LookCase,
) -> None:
    begin(case)
    look = case.start("--quiet-after", "1 h")
    case.await_event("run.attached")
    without(case.model / "wrfout_d01_2005-08-28_12:00:00", "QCLOUD", "QICE", "RAINC", "RAINNC")
    case.await_event("product.published", 1)
    case.await_that(lambda: "rain: " in (case.run / "status.json").read_text(), "remark")
    assert case.leave(look) == 0
    assert case.events("product.failed") == []
    made = {line["product"] for line in case.events("product.published")}
    assert "wind" in made
    assert not {"rain", "clouds"} & made
    assert case.faults() == []


@pytest.mark.fault
def test_a_stream_that_comes_later_is_held_against_the_products_too(case: LookCase) -> None:
    begin(case)
    recipe = case.recipe(
        "two.toml",
        '[[product]]\nname = "one"\nkind = "map"\nvariable = "T2"\n'
        "limits = [280, 310]\n"
        '[[product]]\nname = "cloud"\nkind = "map"\nstream = "d02"\nvariable = "QCLOUD"\n'
        "level = 0\n"
        '[[product]]\nname = "two"\nkind = "map"\nstream = "d02"\nvariable = "T2"\n'
        "limits = [280, 310]\n",
    )
    look = case.start("--recipe", recipe, "--quiet-after", "1 h")
    case.await_event("run.attached")
    without(case.model / "wrfout_d01_2005-08-28_12:00:00")
    case.await_event("product.published", 4)  # the file has four times
    without(case.model / "wrfout_d02_2005-08-28_12:00:00", "QCLOUD")
    case.await_that(lambda: len(shown(case, "two")) == 4, "pictures of two")
    assert case.leave(look) == 0
    assert case.events("product.failed") == []
    assert shown(case, "cloud") == []
    assert case.faults() == []
