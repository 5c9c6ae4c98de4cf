"""The pictures that README and docs show are of this version, and of today's drawing."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from burstlens.core.version import __version__
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery"
OF_MEASUREMENTS = {"awm-stability.png"}
"""Figures of measurements, which show no picture and no page of Burstlens."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PICTURES = sorted(
    {
        (page.parent / name).resolve()
        for page in PAGES
        for name in re.findall(r"!\[[^\]]*\]\(([^)\s]+\.png)\)", page.read_text())
    }
)
REDRAW = "python tools/docs_pictures.py draws them again"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_of_the_docs_has_the_stamp_of_this_version(picture: Path):
    if picture.name in OF_MEASUREMENTS:
        return
    with Image.open(picture) as image:
        assert image.info.get("Software") == f"Burstlens {__version__}", REDRAW


def test_every_picture_of_the_gallery_is_shown_on_a_page():
    assert {path.resolve() for path in GALLERY.glob("*.png")} <= set(PICTURES)


@pytest.mark.integration
@pytest.mark.parametrize("name", ["katrina-wind", "katrina-section", "supercell-sounding"])
def test_the_gallery_shows_what_is_drawn_today(name: str, tmp_path: Path):
    if name in (maps := runpy.run_path(str(GALLERY / "maps.py")))["MAPS"]:
        (files, time, title), options = maps["MAPS"][name]
        kind, file, options = "map", files[0], replace(options, width_px=800)
    else:
        columns = runpy.run_path(str(GALLERY / "columns.py"))
        (file, _, time, title), kind, options = columns["PICTURES"][name]
    context = Context("gallery", title, name, "d01", time, tmp_path, version=__version__)
    with open_frame([ROOT / "tests" / "data" / "wrf" / file], time=time) as frame:
        product_kind(kind).make(options, frame, tmp_path / "now.png", context)
    then, now = (
        np.asarray(Image.open(path).convert("L")).astype(int)
        for path in (GALLERY / f"{name}.png", tmp_path / "now.png")
    )
    assert then.shape == now.shape, REDRAW
    # Another FreeType draws edges of letters otherwise; a line of words is a fifth of a hundredth.
    assert np.mean(np.abs(then - now) > 100) < 0.0005, REDRAW
