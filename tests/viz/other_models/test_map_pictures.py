"""Maps of files that other models wrote: axes, times and values."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames import times
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context


@pytest.fixture
def draw(context: Context) -> Any:
    """Draws a map of one record; returns its facts and its words."""

    def draw(path: Path, record: int, time: str, **options: Any) -> tuple[dict[str, Any], str]:
        out = context.files.parent / "map.png"
        now = dataclasses.replace(context, time=time, title="", stream=path.stem)
        with open_frame([path], record, time=time) as frame:
            made = MapKind().make(MapOptions(**{"width_px": 700, **options}), frame, out, now)
        with Image.open(out) as image:
            return dict(made.facts), str(image.info["Source"])

    return draw


@pytest.mark.parametrize("unlimited", [False, True])
@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_64BIT_OFFSET"])
def test_a_roms_file_is_drawn_whatever_the_length_of_its_time(
    roms: Any, draw: Any, unlimited: bool, form: str
):
    path = roms(unlimited=unlimited, form=form)
    first, second = (
        draw(path, n, time, variable="zeta")[0]
        for n, time in enumerate(("20200301T000000", "20200301T010000"))
    )
    assert second["max"] == pytest.approx(2 * first["max"])
    assert first["shape"] == [18, 24]
    assert first["nan"] == 4 * 6  # land
    assert first["extent"][0] == pytest.approx(-75.4, abs=0.2)


def test_a_coards_file_is_drawn_at_each_time(coards: Any, draw: Any):
    for record in (0, 3):
        facts, source = draw(coards(), record, f"1990010{1 + record // 4}T000000", variable="sst")
        assert (facts["min"], facts["max"]) == (-20 + record, 20 + record)
        assert source.endswith("T000000")


def test_a_file_without_a_time_is_drawn_without_one(coards: Any, draw: Any):
    facts, source = draw(coards("topo.nc", times=None), 0, "", variable="sst")
    assert facts["mean"] == pytest.approx(0, abs=1e-4)
    assert source.endswith("time ")
    facts, source = draw(coards("topo.nc", times=None), 0, "topo", variable="sst")
    assert source.endswith("time topo")


def test_the_calendar_is_that_of_the_time_whatever_its_name(roms: Any, cam: Any):
    with open_frame([cam()], 1) as frame:
        assert times.calendar(frame) == "noleap"
    with open_frame([roms()], 1) as frame:
        assert times.calendar(frame) == "standard"
        assert np.array_equal(frame.read("ocean_time"), 3600)
