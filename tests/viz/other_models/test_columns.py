"""Sections, profiles and volumes of other models: their levels at the right heights."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry import columns
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.transect import transect
from burstlens.viz.kinds.profile.kind import ProfileKind
from burstlens.viz.kinds.profile.options import ProfileOptions
from burstlens.viz.kinds.section.kind import SectionKind
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.kinds.vtk.read import open_box
from burstlens.viz.product import Context

ALONG = {"start": End(i=0, j=5), "end": End(i=23, j=5)}


@pytest.fixture
def section(context: Context) -> Any:
    """Draws a section of a file's first record; returns its facts."""

    def draw(path: Path, **options: Any) -> dict[str, Any]:
        out = context.files.parent / "section.png"
        now = dataclasses.replace(context, time="20010228T000000")
        with open_frame([path]) as frame:
            made = SectionKind().make(SectionOptions(**options), frame, out, now)
        with Image.open(out) as image:
            assert image.size == (900, 560)
        return dict(made.facts)

    return draw


def test_a_section_of_a_sea_counts_depths_down_to_the_floor(roms: Any, section: Any):
    facts = section(roms(), variable="temp", **ALONG)
    assert facts["extent"][2] == pytest.approx(-0.2, abs=0.004)
    with open_frame([roms()]) as frame:
        line = transect(frame, "temp", ALONG["start"], ALONG["end"])
        found = columns.heights(frame, line, "temp")
        assert (found.units, found.words, found.down) == ("km", "depth", True)
        assert found.ground is not None
        assert found.ground[[0, -1]] == pytest.approx([-0.02, -0.2])
        assert (found.levels[0] > found.ground).all()


def test_a_section_of_a_velocity_and_of_a_diagnostic_is_drawn(roms: Any, section: Any):
    assert section(roms(), variable="current", **ALONG)["max"] == pytest.approx(np.hypot(0.3, 0.1))
    there = {"start": End(i=1, j=5), "end": End(i=21, j=5)}
    assert section(roms(), variable="u", **there)["shape"][0] == 10


def test_a_section_of_pressures_has_an_axis_of_pressure(cam: Any, section: Any):
    across = {"start": End(lat=30, lon=20), "end": End(lat=30, lon=170)}
    for options in ({}, {"vertical": "pressure"}):
        facts = section(cam(), variable="T", **across, **options)
        assert facts["extent"][2] > 1000
        assert facts["extent"][3] == pytest.approx(4)
    facts = section(cam(), variable="T", vertical="pressure", top=200.0, **across)
    assert facts["extent"][3] == pytest.approx(200)
    with pytest.raises(RecipeError, match="heights of the levels are not known: vertical = 'pres"):
        section(cam(), variable="T", top=10.0, **across)


def test_pressures_of_a_file_without_them_are_an_error(roms: Any, section: Any):
    with pytest.raises(FrameError, match="the pressure of the levels of temp is not known"):
        section(roms(), variable="temp", vertical="pressure", **ALONG)


def test_a_profile_of_an_area_lies_at_the_mean_of_its_levels(roms: Any, context: Context):
    out = context.files.parent / "profile.png"
    options = ProfileOptions(("temp",), crop=Crop(index={"xi_rho": (8, 16)}, stride=2))
    with open_frame([roms()]) as frame:
        made = ProfileKind().make(options, frame, out, context)
    assert made.extension == "png"
    assert out.stat().st_size > 5000


def test_a_volume_has_metres_above_the_sea_or_in_the_standard_atmosphere(roms: Any, cam: Any):
    with open_frame([roms()], 1) as frame:
        found = open_box(frame, ("temp", "current"), Crop(), simplest=True).read()
        assert found.height_units == "m"
        assert np.isfinite(found.points).all()
        z = found.points[..., 2]
        assert z.min() == pytest.approx(-190.02, abs=0.05)
        s, h = frame.read("s_rho"), frame.read("h")
        assert z[4, 2, 8] == pytest.approx(frame.read("zeta")[2, 8] * (1 + s[4]) + s[4] * h[2, 8])
    with open_frame([cam()]) as frame:
        found = open_box(frame, ("T",), Crop(), simplest=True).read()
        assert found.coordinates.endswith("z height in the standard atmosphere (m)")
        z = found.points[..., 2]
        assert (np.diff(z, axis=0) < 0).all()
        assert 0 < z[-1].min() < 150
