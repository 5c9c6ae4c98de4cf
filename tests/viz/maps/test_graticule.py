"""Lines of longitude and latitude, their labels, and the scale."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.graticule import Extent, graticule, scale_length
from burstlens.viz.geometry.projection import EARTH_RADIUS_M, Projection, longitude_latitude
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context

pytestmark = pytest.mark.integration

LAMBERT = (
    Projection("+proj=lcc +lat_1=30 +lat_2=60 +lat_0=40 +lon_0=-98 +R=6370000"),
    (-2.5e6, 2.5e6, -1.6e6, 1.6e6),
)
FIJI = Projection("+proj=merc +lat_ts=0 +lon_0=178 +R=6370000"), (-1e6, 1e6, -2.6e6, -1.2e6)
ARCTIC = (
    Projection("+proj=stere +lat_0=90 +lat_ts=60 +lon_0=-10 +R=6370000"),
    (-4e6, 4e6, -4e6, 4e6),
)
ROTATED = (
    Projection("+proj=ob_tran +o_proj=eqc +o_lat_p=39.25 +o_lon_p=0 +lon_0=10 +R=6370000"),
    (-1e6, 1e6, -1e6, 1e6),
)
WORLD = longitude_latitude(0), (-180.0, 180.0, -90.0, 90.0)
TINY = longitude_latitude(11.4), (11.38, 11.42, 47.24, 47.27)
MAPS = [LAMBERT, FIJI, ARCTIC, ROTATED, WORLD, TINY]


def degrees(text: str) -> float:
    number = float(text.rstrip("NSEW").rstrip("°"))
    return -number if text.endswith(("S", "W")) else number


@pytest.mark.parametrize(("projection", "extent"), MAPS)
def test_a_label_stands_where_its_line_meets_the_frame(projection: Projection, extent: Extent):
    labels = graticule(projection, extent).labels
    assert 4 <= len(labels) <= 16
    left, right, bottom, top = extent
    edges = {"left": (0, left), "bottom": (1, bottom), "top": (1, top)}
    for label in labels:
        lon, lat = projection.inverse([label.x], [label.y])
        is_latitude = label.text[-1] in "NS" or (label.text == "0°" and label.side == "left")
        found = lat[0] if is_latitude else lon[0]
        off = (found - degrees(label.text) + 180) % 360 - 180
        assert abs(off) < 0.05 * abs(right - left) / (111e3 if projection.units == "m" else 1)
        if label.side in edges:
            axis, at = edges[label.side]
            assert (label.x, label.y)[axis] == pytest.approx(at)
        else:
            assert left < label.x < right
            assert bottom < label.y < top


def test_parallels_about_a_pole_are_labelled_on_themselves():
    labels = graticule(*ARCTIC).labels
    inside = {label.text for label in labels if label.side == "inside"}
    assert {"80°N", "70°N", "60°N"} <= inside
    texts = [label.text for label in labels]
    assert len(texts) == len(set(texts))
    assert "180°" in texts


def test_a_parallel_that_only_touches_the_top_has_no_label_on_the_frame():
    # A nest in the east of a southern cone: 37 S comes in at the top and leaves at the right.
    cone = Projection("+proj=lcc +lat_1=-30 +lat_2=-60 +lat_0=-41 +lon_0=170 +R=6370000")
    extent = (475280.0, 955280.0, -90265.0, 389735.0)
    labels = graticule(cone, extent).labels
    assert [label.text for label in labels if label.side == "left"] == [
        "41°S", "40°S", "39°S", "38°S",
    ]  # fmt: skip
    assert not [label for label in labels if label.side == "inside"]


def test_lines_follow_their_meridian_and_do_not_cross_the_map():
    for projection, extent in MAPS:
        for line in graticule(projection, extent).lines:
            steps = np.abs(np.diff(line, axis=0))
            assert np.nanmax(steps[:, 0]) <= (extent[1] - extent[0]) / 2
        first = graticule(projection, extent).lines[0]
        lon, lat = projection.inverse(*first[np.isfinite(first).all(axis=1)].T)
        turn = np.radians(lon[np.abs(lat) < 89.9])
        assert np.hypot(np.cos(turn).mean(), np.sin(turn).mean()) == pytest.approx(1, abs=1e-6)


def test_the_scale_is_that_of_the_ground():
    # At 60 N a Mercator plane that is true at the equator shows everything twice as long.
    projection = Projection("+proj=merc +lat_ts=0 +lon_0=0 +R=6370000")
    y = EARTH_RADIUS_M * np.log(np.tan(np.radians(75)))
    length_km, length = scale_length(projection, (-5.1e5, 5.1e5, y - 1e3, y + 1e3))
    assert length_km == 100
    assert length == pytest.approx(200_000, rel=1e-3)
    assert scale_length(longitude_latitude(0), (0, 10, -1, 1)) == (
        200.0,
        pytest.approx(200 / 111.18, rel=1e-3),
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", [(300, 260), (900, None), (1600, 700)])
@pytest.mark.parametrize(
    "attributes",
    [
        {"map_proj": 1, "TRUELAT1": 30.0, "TRUELAT2": 60.0, "MOAD_CEN_LAT": 40.0,
         "STAND_LON": -98.0, "spacing": 60000.0},
        {"map_proj": 2, "TRUELAT1": 71.0, "STAND_LON": -45.0, "spacing": 150000.0},
        {"map_proj": 3, "TRUELAT1": 0.0, "STAND_LON": 179.0, "middle": (0.0, -1.9e6)},
        {"map_proj": 1, "TRUELAT1": -30.0, "TRUELAT2": -60.0, "MOAD_CEN_LAT": -37.0,
         "STAND_LON": 147.0, "spacing": 200.0},
    ],
)  # fmt: skip
def test_words_lie_inside_the_picture_and_apart(
    attributes: dict[str, float],
    size: tuple[int, int | None],
    wrf_file: Callable[..., Path],
    context: Context,
    monkeypatch: pytest.MonkeyPatch,
):
    from burstlens.viz.kinds.map import draw as figure

    sheets = []
    make_sheet = figure.sheet
    monkeypatch.setattr(figure, "sheet", lambda look: sheets.append(make_sheet(look)) or sheets[-1])
    path = wrf_file(**attributes)
    options = MapOptions("T2", width_px=size[0], height_px=size[1])
    with open_frame([path]) as frame:
        MapKind().make(options, frame, context.files.parent / "map.png", context)
    drawn = sheets[0].figure
    renderer = drawn.canvas.get_renderer()
    bar = drawn.axes[-1]
    texts = [*drawn.texts, *bar.texts, *bar.get_yticklabels()]
    texts = [text for text in texts if text.get_text() and text.get_visible()]
    boxes = [text.get_window_extent(renderer) for text in texts]
    assert len(boxes) > 8
    for text, box in zip(texts, boxes, strict=True):
        assert box.x0 >= 0, text
        assert box.y0 >= 0, text
        assert box.x1 <= drawn.bbox.width, text
        assert box.y1 <= drawn.bbox.height, text
    for one, other in itertools.combinations(range(len(boxes)), 2):
        a, b = boxes[one], boxes[other]
        assert min(a.x1, b.x1) - max(a.x0, b.x0) < 1 or min(a.y1, b.y1) - max(a.y0, b.y0) < 1, (
            texts[one],
            texts[other],
        )
