"""The picture of a track: dots in the colours of their values, curves below, what is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from PIL import Image
from pydantic import TypeAdapter

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.storms.track import Point, Track
from burstlens.viz.drawing import style
from burstlens.viz.drawing.maps.track_layer import TrackLayer, track_boxes
from burstlens.viz.geometry.grid import map_plane
from burstlens.viz.geometry.projection import Projection
from burstlens.viz.kinds.map.layers import drawn
from burstlens.viz.kinds.map.read import Layers
from burstlens.viz.kinds.track_map.kind import TrackMapKind
from burstlens.viz.kinds.track_map.options import TrackMapOptions
from burstlens.viz.kinds.track_map.read import dates
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

pytestmark = pytest.mark.slow

KATRINA = Track("PSFC", "surface pressure", "min", "hPa", "kn", "degrees")
TIMES = [f"20050828T{hour}0000" for hour in (12, 15, 18, 21)]
POSITIONS = ((-92.4, 23.2, 960.0), (-91.6, 23.9, 950.0), (-90.6, 24.6, None), (-89.4, 25.4, 940.0))


def points(*places: tuple[float, float, float | None], wind: bool = True) -> tuple[Point, ...]:
    return tuple(
        Point(
            time, x, y, "found" if value else "lost", (1, 1), value,
            1000 - value if value and wind else None,
        )
        for time, (x, y, value) in zip(TIMES, places, strict=False)
    )  # fmt: skip


class Drawn:
    """The picture of a track over a frame."""

    def __init__(self, path: Path, context: Context, track: Track, **options: Any) -> None:
        state, out = context.files.parent / "state", context.files.parent / "track.png"
        track.write(state)
        asked = TypeAdapter(TrackMapOptions).validate_python({"track": "storm"} | options)
        now = dataclasses.replace(context, time=track.points[-1].time)
        with open_frame([path], followed={"storm": state}) as frame:
            self.facts = dict(TrackMapKind().make(asked, frame, out, now).facts)
        with Image.open(out) as image:
            self.pixels = np.asarray(image.convert("RGB")).astype(int)
            self.texts = dict(image.info)

    def at(self, lon: float, lat: float) -> tuple[int, int]:
        (x,), (y,) = Projection(self.facts["projection"]).forward([lon], [lat])
        left, top, right, bottom = self.facts["box"]
        low_x, high_x, low_y, high_y = self.facts["extent"]
        column = left + (x - low_x) / (high_x - low_x) * (right - left)
        return round(bottom - (y - low_y) / (high_y - low_y) * (bottom - top)), round(column)


@pytest.fixture
def whole() -> Track:
    return dataclasses.replace(KATRINA, points=points(*POSITIONS))


def test_each_dot_has_the_colour_of_its_value(cyclone: Path, context: Context, whole: Track):
    drawn = Drawn(cyclone, context, whole, limits=[940, 960], colormap="viridis", coast=False)
    colours = style.colormap("viridis")
    for x, y, value in POSITIONS:
        if value is None:
            continue
        row, column = drawn.at(x, y)
        expected = np.array(colours((value - 940) / 20)[:3]) * 255
        assert np.abs(drawn.pixels[row, column] - expected).max() < 4
    # Where the storm was not found there is nothing but a small pale dot.
    row, column = drawn.at(*POSITIONS[2][:2])
    ground = drawn.pixels[row, column]
    assert ground.min() > 200
    assert drawn.facts["limits"] == [940, 960]
    assert drawn.facts["points"] == 4
    assert drawn.facts["status"] == "found"


def test_the_curves_stand_below_and_hold_the_same_colours(
    cyclone: Path, context: Context, whole: Track
):
    drawn = Drawn(cyclone, context, whole, limits=[940, 960], colormap="viridis")
    width, height = drawn.facts["size"]
    assert drawn.pixels.shape == (height, width, 3)
    assert height % 2 == 0
    below = drawn.pixels[drawn.facts["box"][3] + 60 :]
    colours = style.colormap("viridis")
    for value in (960.0, 950.0, 940.0):
        expected = np.array(colours((value - 940) / 20)[:3]) * 255
        assert (np.abs(below - expected).max(axis=2) < 4).sum() > 14


def test_without_a_wind_there_is_one_panel(cyclone: Path, context: Context, whole: Track):
    both = Drawn(cyclone, context, whole)
    calm = dataclasses.replace(KATRINA, points=points(*POSITIONS, wind=False))
    one = Drawn(cyclone, context, calm)
    assert one.facts["size"][1] < both.facts["size"][1] - 100
    assert one.facts["box"] == both.facts["box"]


def test_the_same_track_gives_the_same_bytes(cyclone: Path, context: Context, whole: Track):
    out = context.files.parent / "track.png"
    Drawn(cyclone, context, whole)
    first = out.read_bytes()
    Drawn(cyclone, context, dataclasses.replace(whole, points=whole.points[:2]))
    Drawn(cyclone, context, whole)
    assert out.read_bytes() == first
    assert Drawn(cyclone, context, whole).texts["Title"] == "track of the min of PSFC"


@pytest.mark.parametrize("count", [1, 2])
def test_a_track_begins_with_one_point(count: int, cyclone: Path, context: Context, whole: Track):
    short = dataclasses.replace(whole, points=whole.points[:count])
    drawn = Drawn(cyclone, context, short, margin_km=100)
    left, right, bottom, top = drawn.facts["extent"]
    assert right - left >= 2e5 - 1
    assert top - bottom >= 2e5 - 1
    low, high = drawn.facts["limits"]
    assert low < high
    assert low <= 960 <= high


def test_a_storm_that_was_never_found_is_drawn_too(cyclone: Path, context: Context):
    lost = dataclasses.replace(KATRINA, points=points((-90.0, 25.0, None), (-90.0, 25.1, None)))
    drawn = Drawn(cyclone, context, lost)
    assert drawn.facts["value"] is None
    assert drawn.facts["status"] == "lost"


def test_a_storm_on_the_edge_of_the_domain_stands_clear_of_the_frame(
    cyclone: Path, context: Context
):
    # The corners of the frame; the upper one is a hundred metres beyond.
    corners = ((-88.774, 26.642, 940.0), (-93.003, 22.775, 950.0))
    drawn = Drawn(cyclone, context, dataclasses.replace(KATRINA, points=points(*corners)))
    left, top, right, bottom = drawn.facts["box"]
    for x, y, _ in corners:
        row, column = drawn.at(x, y)
        assert top + 8 < row < bottom - 8
        assert left + 8 < column < right - 8


def test_the_map_reaches_to_where_a_nest_was(cyclone: Path, context: Context, whole: Track):
    away = dataclasses.replace(whole.points[0], x=-97.0, y=20.0)
    left, _, bottom, _ = Drawn(cyclone, context, whole).facts["extent"]
    wide = Drawn(cyclone, context, dataclasses.replace(whole, points=(away, *whole.points[1:])))
    assert wide.facts["extent"][0] < left - 2e5
    assert wide.facts["extent"][2] < bottom - 2e5


def test_a_track_across_180_degrees_is_one_line(wrf_file: Callable[..., Path], context: Context):
    path = wrf_file(map_proj=3, TRUELAT1=0.0, STAND_LON=180.0, middle=(0.0, 1.6e6), size=(120, 70))
    positions = points((178.0, 13.0, 980.0), (-179.0, 14.0, 970.0))
    drawn = Drawn(path, context, dataclasses.replace(KATRINA, points=positions), coast=False)
    start, end = (np.array(drawn.at(x, y)) for x, y in ((178.0, 13.0), (-179.0, 14.0)))
    assert 0 < end[1] - start[1] < 200
    row, column = ((start + end) / 2).round().astype(int)
    assert drawn.pixels[row - 2 : row + 3, column].max(axis=1).min() < 80


def test_on_an_idealized_plane_there_are_kilometres(supercell: Path, context: Context):
    track = Track("W", "vertical wind", "max", "m s-1", "m s-1", "m")
    positions = tuple(
        Point(f"00010101T00{4 + n:02d}00", 2e4 + 2e3 * n, 3e4, "found", (1, 1), 20.0 + n)
        for n in range(5)
    )
    drawn = Drawn(supercell, context, dataclasses.replace(track, points=positions))
    assert drawn.facts["projection"] is None
    assert [place.name for place in dates(dataclasses.replace(track, points=positions))] == [
        "00:08:00", "00:04:00", "00:05:00", "00:06:00", "00:07:00",
    ]  # fmt: skip
    seconds = dataclasses.replace(positions[0], time="t00000012.500")
    assert Drawn(supercell, context, dataclasses.replace(track, points=(seconds,)))


def test_days_are_written_at_the_track():
    hours = [f"200508{day}T{hour:02d}0000" for day in (28, 29, 30) for hour in (0, 6, 12, 18)]
    positions = tuple(
        Point(t, -90.0, 20 + n / 2, "found", (1, 1), 950.0) for n, t in enumerate(hours)
    )
    track = dataclasses.replace(KATRINA, points=positions)
    assert [p.name for p in dates(track)] == [
        "30 Aug 18Z",
        "28 Aug 00Z",
        "29 Aug 00Z",
        "30 Aug 00Z",
    ]
    short = dataclasses.replace(track, points=positions[:3])
    assert [p.name for p in dates(short)] == ["28 Aug 12Z", "28 Aug 00Z", "28 Aug 06Z"]


def test_no_date_stands_on_the_track_or_on_another(cyclone: Path):
    hours = [f"200508{day:02d}T{hour:02d}0000" for day in range(20, 29) for hour in (0, 8, 16)]
    positions = tuple(
        Point(t, -93 + 0.15 * n, 24.5 + np.sin(n / 3), "found", (1, 1), 950.0 + n)
        for n, t in enumerate(hours)
    )
    track = dataclasses.replace(KATRINA, points=positions)
    with open_frame([cyclone]) as frame:
        plane = map_plane(frame, "PSFC", {})
    limits = {"xlim": plane.x[[0, -1]], "ylim": plane.y[[0, -1]]}
    axes = Figure(figsize=(8, 8)).add_axes((0, 0, 1, 1), autoscale_on=False, **limits)
    layers = Layers(storm=TrackLayer(track), dates=dates(track))
    with drawn(layers, axes, plane, ()) as added:
        words = [a.get_window_extent() for a in added.artists if isinstance(a, Annotation)]
        assert len(words) >= 9
        assert not any(w.overlaps(part) for w in words for part in track_boxes(axes, plane, track))
        assert sum(w.overlaps(other) for w in words for other in words) == len(words)


def test_a_long_track_is_one_line_of_colours(cyclone: Path, context: Context):
    times = [f"20050828T{n // 60:02d}{n % 60:02d}00" for n in range(300)]
    positions = tuple(
        Point(t, -92.5 + 0.01 * n, 24.0, "found", (1, 1), 940.0 + n / 15)
        for n, t in enumerate(times)
    )
    drawn = Drawn(
        cyclone, context, dataclasses.replace(KATRINA, points=positions), limits=[940, 960],
        colormap="viridis", coast=False,
    )  # fmt: skip
    assert len(dates(dataclasses.replace(KATRINA, points=positions))) <= 8
    colours = style.colormap("viridis")
    for point in positions[20:280:20]:
        row, column = drawn.at(point.x, point.y)
        expected = np.array(colours((point.value - 940) / 20)[:3]) * 255
        assert np.abs(drawn.pixels[row, column] - expected).max() < 40


def test_what_cannot_be_drawn_is_reported(
    cyclone: Path, supercell: Path, context: Context, whole: Track
):
    with (
        open_frame([cyclone]) as frame,
        pytest.raises(FrameError, match="the track 'storm' has no position yet"),
    ):
        TrackMapKind().make(TrackMapOptions("storm"), frame, context.files / "out", context)
    with pytest.raises(FrameError, match="longitude and latitude, which the map does not have"):
        Drawn(supercell, context, dataclasses.replace(whole, variable="W"))
    with pytest.raises(ValueError, match="there is no colour map 'viridi'; did you mean viridis"):
        Drawn(cyclone, context, whole, colormap="viridi")
    with pytest.raises(RecipeError, match=r"none.csv cannot be read"):
        Drawn(cyclone, context, whole, cities="none.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"track": "best.csv"}, "track is the name of a product"),
        ({"track": ""}, "track is the name of a product"),
        ({"limits": [3, 3]}, "the first number must be below the second"),
        ({"margin_km": 0}, "margin_km must be above 0"),
        ({"width_px": 100}, "width_px must be 200 to 8000"),
        ({"dpi": 1000}, "dpi must be 40 to 600"),
        ({"variable": "slp"}, "variable"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        TypeAdapter(TrackMapOptions).validate_python({"track": "storm"} | options)


def test_the_kind_follows_its_track():
    kind = product_kind("track-map")
    asked = TrackMapOptions("storm", cities="cities.csv")
    assert kind.wants(asked).follows == ("storm",)
    assert not kind.wants(asked).chained
    assert kind.ships(asked) == ("cities.csv",)
    assert kind.extensions(asked) == ("png",)
