"""The legend below a picture: each symbol is named, whole, and on no other words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

from burstlens.viz import live
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing import style
from burstlens.viz.drawing.legend import (
    ROW,
    LegendEntry,
    Sign,
    SignKind,
    draw_sign,
    legend,
    lowered,
    rows,
)
from burstlens.viz.drawing.maps.layers import Contours, Nest, Wind
from burstlens.viz.drawing.maps.meanings import contours_entry, flow_words
from burstlens.viz.drawing.picture import blank
from burstlens.viz.geometry.place import End
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.section.kind import SectionKind
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.product import Context


def test_the_page_has_each_sign_that_pictures_have():
    text = (Path(live.__file__).parent / "drawing" / "signs.js").read_text()
    signs = text.partition("const SIGNS = {")[2].partition("\n};")[0]
    assert set(re.findall(r"^  (\w+):", signs, re.MULTILINE)) == set(get_args(SignKind))


@dataclass(frozen=True)
class Named:
    """A field by its words."""

    name: str
    long_name: str
    units: str = ""


PRESSURE = Named("slp", "sea-level pressure", "hPa")


@pytest.mark.parametrize(
    ("asked", "field", "levels", "text"),
    [
        (Contours("slp", interval=4), PRESSURE, (), "contours: sea-level pressure, every 4 hPa"),
        (
            Contours("REFL_10CM", levels=(20, 35, 50)), Named("REFL_10CM", "x", "dBZ"), (),
            "contours: radar reflectivity, at 20, 35, 50 dBZ",
        ),
        (
            Contours("slp"), PRESSURE, (995.0, 995.5, 996.0),
            "contours: sea-level pressure, every 0.5 hPa",
        ),
        (Contours("slp"), PRESSURE, (995.5,), "contours: sea-level pressure, at 995.5 hPa"),
        (
            Contours("W", interval=2), Named("W", "z-wind component", "m s-1"), (-2.0, 2.0),
            "contours: vertical wind, every 2 m s⁻¹, dashed below 0",
        ),
    ],
)  # fmt: skip
def test_contours_say_what_they_are_of_and_how_far_apart(
    asked: Contours, field: Named, levels: tuple[float, ...], text: str
):
    entry = contours_entry(asked, field, levels)
    assert entry.text == text


@pytest.mark.parametrize(
    ("asked", "levels", "sign"),
    [
        (Contours("slp"), (990.0, 992.0), {"sign": "line"}),
        (Contours("a"), (-1.0, 1.0), {"sign": "lines"}),
        (Contours("a", colour="red"), (-2.0, -1.0), {"sign": "dashed", "colour": "#ff0000"}),
        (
            Contours("a", colour="white", levels=(-5.0,)),
            (),
            {"sign": "dashed", "colour": "#ffffff"},
        ),
        (Contours("a", levels=(5.0,)), (), {"sign": "line"}),
        (Contours("slp"), (), {"sign": "line"}),
    ],
)
def test_contours_have_the_sign_of_their_lines(
    asked: Contours, levels: tuple[float, ...], sign: dict[str, str]
):
    entry = contours_entry(asked, PRESSURE, levels)
    assert entry.facts() == {"text": entry.text} | sign


@pytest.mark.parametrize("kind", get_args(SignKind))
def test_each_sign_stands_in_its_room_and_in_its_row(kind: SignKind):
    figure = blank(200, 100, 144)
    sign = Sign(kind)
    for artist in draw_sign(figure, sign, 40, 50):
        figure.add_artist(artist)
    inked = _pixels(figure).min(axis=2) < 200
    rows_inked, columns = inked.any(axis=1).nonzero()[0], inked.any(axis=0).nonzero()[0]
    assert rows_inked.size
    assert columns.min() >= 36
    assert columns.max() < 40 + 2 * sign.room
    assert rows_inked.min() > 50 - ROW
    assert rows_inked.max() < 50 + ROW


def test_a_sign_has_the_colour_of_the_lines_and_a_pale_one_a_dark_edge():
    shown = []
    for colour in ("white", "red"):
        figure = blank(200, 100, 144)
        for artist in draw_sign(figure, Sign("line", colour, 4.0), 40, 50):
            figure.add_artist(artist)
        shown.append(_pixels(figure)[:, 50].astype(int))
    white, red = shown
    assert tuple(white[50]) == (255, 255, 255)
    assert (white.max(axis=1) < 60).any()
    assert tuple(red[50]) == (255, 0, 0)
    assert red.max(axis=1).min() == 255  # no edge


def _pixels(figure: Figure) -> NDArray[np.uint8]:
    canvas: Any = figure.canvas
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


@pytest.mark.parametrize(
    ("u", "v", "words"),
    [
        (Named("U10", "U at 10 M"), Named("V10", "V at 10 M"), "10 m wind"),
        (Named("U", "x-wind component"), Named("V", "y-wind component"), "wind"),
        (
            Named("uo", "eastward_sea_water_velocity"), Named("vo", "northward_sea_water_velocity"),
            "sea water velocity",
        ),
        (
            Named("siu", "X-component of sea-ice velocity"),
            Named("siv", "Y-component of sea-ice velocity"), "sea-ice velocity",
        ),
        (Named("u", "u"), Named("v", "v"), "u, v"),
    ],
)  # fmt: skip
def test_two_components_have_one_name(u: Named, v: Named, words: str):
    assert flow_words(u, v) == words


def test_words_within_a_sentence_keep_the_capitals_of_acronyms():
    words = ["Sea-level pressure", "CAPE", "T2", "10 m wind speed", "V"]
    assert [lowered(text)[:4] for text in words] == ["sea-", "CAPE", "T2", "10 m", "V"]


@pytest.mark.parametrize("width", [380, 500, 800, 1600])
def test_entries_stand_whole_and_on_no_other_words(width: int):
    entries = [
        LegendEntry("contours: potential temperature, every 4 K", sign=Sign("line", "red")),
        LegendEntry("barbs: 10 m wind, kn (feather 10, flag 50)", sign=Sign("barb")),
        LegendEntry("highest value", sign=Sign("highest")),
        LegendEntry("domains d02, d03, d04", sign=Sign("box")),
    ]
    figure = blank(width, 600, 72)
    count = rows(entries, width, 72)
    texts = [one for one in legend(figure, entries, count) if isinstance(one, Text)]
    assert [text.get_text() for text in texts] == [entry.text for entry in entries]
    boxes = [text.get_window_extent() for text in texts]
    assert all(0 < box.x0 < box.x1 < width for box in boxes)
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert min(box.y0 for box in boxes) > 17  # the caption stands below


def test_an_entry_longer_than_the_picture_is_cut_and_says_so():
    figure = blank(330, 600, 72)
    entry = LegendEntry("contours: " + "long words " * 20, sign=Sign("line"))
    _, text = legend(figure, [entry], 1)
    assert isinstance(text, Text)
    assert text.get_text().endswith("…")
    assert text.get_window_extent().x1 < 330


def test_levels_of_one_sign_keep_no_room_for_the_word_of_dashes():
    asked = Contours("pgv", levels=(5.0, 10.0))
    field = Named("pgv", "peak ground velocity, x component", "cm s-1")
    entry = contours_entry(asked, field, ())
    assert entry.width == replace(entry, longest="").width


def test_entries_follow_each_other_closely_whatever_room_is_kept():
    figure = blank(800, 600, 72)
    first, second = legend(figure, [LegendEntry("a", "a" * 60), LegendEntry("b")], 1)
    assert isinstance(first, Text)
    assert isinstance(second, Text)
    assert 0 < second.get_window_extent().x0 - first.get_window_extent().x1 < 20


def test_rows_do_not_depend_on_the_numbers_of_a_frame():
    few, many = (
        contours_entry(Contours("slp"), PRESSURE, levels)
        for levels in ((990.0, 992.0), (990.0, 992.125, 994.25))
    )
    assert few.width == many.width


@pytest.mark.parametrize("interval", [None, 40.0])
@pytest.mark.parametrize(
    "field", [PRESSURE, Named("zos", "sea surface height", "m"), Named("a", "anomaly", "K")]
)
def test_room_is_kept_for_dashes_of_a_later_frame(field: Named, interval: float | None):
    asked = Contours(field.name, interval=interval)
    now, later, unknown = (
        contours_entry(asked, field, levels) for levels in ((40.0, 80.0), (-40.0, 0.0, 40.0), ())
    )
    assert later.text.endswith("dashed below 0")
    assert now.width == later.width == unknown.width >= replace(later, longest="").width


@pytest.mark.parametrize("colour", ["white", "yellow", "black", "red", "#1f77b4"])
def test_numbers_on_lines_can_be_read_on_any_colour(colour: str):
    def light(of: Any) -> float:
        parts = np.array(to_rgb(of))
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    ink = light(style.legible(colour))
    for field in ("black", "white", "maroon", "navy"):
        ground = [style.LABEL["alpha"] + (1 - style.LABEL["alpha"]) * c for c in to_rgb(field)]
        assert (light(ground) + 0.05) / (ink + 0.05) >= 4.5


@pytest.mark.integration
def test_a_map_names_all_that_is_drawn_on_it(cyclone: Path, context: Context, tmp_path: Path):
    options = MapOptions(
        "wind10", units="kn", contours=Contours("slp", units="hPa", interval=4), barbs=Wind(),
        mark="min", nests=(Nest(5, 5, 3, 31, 31),),
    )  # fmt: skip
    with open_frame([cyclone]) as frame:
        made = MapKind().make(options, frame, tmp_path / "map.png", context)
    assert made.facts["legend"] == [
        {"text": "contours: sea-level pressure, every 4 hPa", "sign": "line"},
        {"text": "barbs: 10 m wind, kn (feather 10, flag 50)", "sign": "barb"},
        {"text": "lowest value", "sign": "lowest"},
        {"text": "domain d02", "sign": "box"},
    ]


@pytest.mark.integration
def test_a_legend_changes_the_strip_below_the_map_alone(cyclone: Path, context: Context):
    from PIL import Image

    pictures = []
    for mark in (None, "max"):
        out = context.files.parent / f"{mark}.png"
        with open_frame([cyclone]) as frame:
            made = MapKind().make(MapOptions("T2", mark=mark), frame, out, context)
        pictures.append(np.asarray(Image.open(out).convert("RGB")).astype(int))
    bottom = made.facts["box"][3]
    rows_changed = np.flatnonzero(np.abs(pictures[0] - pictures[1]).sum(axis=(1, 2)))
    below = rows_changed[rows_changed >= bottom]
    height = pictures[0].shape[0]
    assert below.size
    assert height - 30 * 100 / 72 < below.min() < below.max() < height - 19 * 100 / 72


@pytest.mark.integration
def test_a_section_names_its_lines_and_barbs(cyclone: Path, context: Context, tmp_path: Path):
    options = SectionOptions(
        "wind", End(lat=24.0, lon=-92.0), End(lat=26.3, lon=-89.0), wind="barbs",
        contours=Contours("theta_e", interval=4),
    )  # fmt: skip
    with open_frame([cyclone]) as frame:
        made = SectionKind().make(options, frame, tmp_path / "section.png", context)
    assert made.facts["legend"] == [
        {"text": "contours: equivalent potential temperature, every 4 K", "sign": "line"},
        {"text": "barbs: horizontal wind, kn (feather 10, flag 50)", "sign": "barb"},
    ]
