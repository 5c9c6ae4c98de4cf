"""Nests on their parent's map: where they lie, what they show, what the facts say."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing import style
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Beside, Context

pytestmark = pytest.mark.integration

TIME = "00010101T000300"


@pytest.fixture
def draw(context: Context) -> Callable[..., tuple[np.ndarray, dict[str, Any]]]:
    """Draws a parent's map with its nests beside: the pixels (height, width, 3), and the facts."""

    def made(
        options: MapOptions, parent: Path, time: str = "", **nests: tuple[Path, str]
    ) -> tuple[np.ndarray, dict[str, Any]]:
        out = context.files.parent / "map.png"
        beside = {
            stream: Beside((path,), 0, stream, nest_time)
            for stream, (path, nest_time) in nests.items()
        }
        with open_frame([parent], time=time, beside=beside) as frame:
            facts = MapKind().make(options, frame, out, context).facts
        with Image.open(out) as image:
            return np.asarray(image.convert("RGB")), dict(facts)

    return made


@pytest.fixture
def coarse(nest: Path) -> Path:
    """The parent of the nest."""
    return nest.with_name(nest.name.replace("d02", "d01"))


def map_of(pixels: np.ndarray, facts: dict[str, Any]) -> np.ndarray:
    """The pixels of the map alone."""
    left, top, right, bottom = facts["box"]
    return pixels[top:bottom, left:right]


def pixel(pixels: np.ndarray, facts: dict[str, Any], x: float, y: float) -> np.ndarray:
    left, top, right, bottom = facts["box"]
    x0, x1, y0, y1 = facts["extent"]
    column = left + (x - x0) / (x1 - x0) * (right - left)
    row = bottom - (y - y0) / (y1 - y0) * (bottom - top)
    return pixels[int(row), int(column)].astype(int)


def test_a_nest_s_own_values_fill_its_outline_in_the_parent_s_colours(
    draw: Callable[..., Any], coarse: Path, nest: Path
):
    options = MapOptions(
        "W", level=4, limits=(-2, 2), colormap="matplotlib.viridis", nests=("d02",),
        nest_fields=True,
    )  # fmt: skip
    pixels, facts = draw(options, coarse, TIME, d02=(nest, TIME))
    # i_parent_start = 15 and e_we = 43 at a third of 2 km: from 14 cells of the parent on, 14 long.
    assert facts["nests"][0]["extent"] == pytest.approx([28000, 56000, 28000, 56000], abs=0.01)
    colours = style.colormap("matplotlib.viridis")
    with open_frame([coarse]) as outer, open_frame([nest]) as inner:
        wide, fine = outer.read("W")[4], inner.read("W")[4]
    for j, i in ((16, 15), (20, 21), (12, 18), (30, 30)):
        x, y = (28000 + (n + 0.5) * 2000 / 3 for n in (i, j))
        expected = colours((fine[j, i] + 2) / 4, bytes=True)[:3]
        assert np.abs(pixel(pixels, facts, x, y) - expected).max() <= 3, (j, i)
    for j, i in ((5, 5), (33, 20), (20, 38)):
        expected = colours((wide[j, i] + 2) / 4, bytes=True)[:3]
        at = pixel(pixels, facts, (i + 0.5) * 2000, (j + 0.5) * 2000)
        assert np.abs(at - expected).max() <= 3, (j, i)
    assert facts["nests"][0]["max"] == fine.max()
    assert facts["max"] == wide.max()


def test_limits_hold_the_values_of_the_nests_too(
    draw: Callable[..., Any], coarse: Path, nest: Path, tmp_path: Path
):
    strong = Path(shutil.copy(nest, tmp_path))
    with netCDF4.Dataset(str(strong), "a") as data:
        data["W"][:] = 2.5 * data["W"][:]
    options = MapOptions("W", level=4, nests=("d02",), nest_fields=True)
    for path, limits in ((nest, [-2, 2]), (strong, [-5, 5])):
        _, facts = draw(options, coarse, TIME, d02=(path, TIME))
        assert facts["max"] < 2
        assert facts["limits"] == limits


PROJECTIONS: dict[str, dict[str, Any]] = {
    "lambert": {
        "map_proj": 1, "TRUELAT1": 30.0, "TRUELAT2": 60.0, "MOAD_CEN_LAT": 40.0,
        "STAND_LON": -98.0,
    },
    "polar": {"map_proj": 2, "TRUELAT1": -71.0, "STAND_LON": 20.0},
    "mercator across the date line": {"map_proj": 3, "TRUELAT1": 10.0, "STAND_LON": 180.0},
    "latitude-longitude across the date line": {"map_proj": 6, "CEN_LON": 179.5},
    "rotated": {
        "map_proj": 6, "POLE_LAT": 39.25, "POLE_LON": 180.0, "STAND_LON": -10.0,
        "from": np.pi * 6370000.0,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PROJECTIONS)
def test_a_nest_lies_where_its_own_file_says_on_every_projection(
    name: str, wrf_file: Callable[..., Path], draw: Callable[..., Any]
):
    attributes = dict(PROJECTIONS[name])
    start = attributes.pop("from", 0.0)

    def domain(stream: str, centre: tuple[float, float], **size: Any) -> Path:
        path = wrf_file(**attributes, middle=(start + centre[0], centre[1]), **size)
        return path.rename(path.with_name(f"{stream}_{centre[0]:.0f}"))

    parent = domain("d01", (0.0, 0.0), size=(61, 51), spacing=30000.0)
    options = MapOptions("T2", nests=("d02",), nest_fields=True, limits=(240, 300), coast=False)
    first = None
    # The nest moves: its frames have places of their own.
    for centre in ((-150000.0, 210000.0), (-90000.0, 240000.0)):
        inner = domain("d02", centre, size=(30, 24), spacing=10000.0)
        pixels, facts = draw(options, parent, d02=(inner, ""))
        (reported,) = facts["nests"]
        assert "missing" not in reported
        middle_x, middle_y = (sum(facts["extent"][n : n + 2]) / 2 for n in (0, 2))
        expected = [
            middle_x + centre[0] - 150000, middle_x + centre[0] + 150000,
            middle_y + centre[1] - 120000, middle_y + centre[1] + 120000,
        ]  # fmt: skip
        assert reported["extent"] == pytest.approx(expected, abs=300)
        assert first is None or not np.array_equal(first, pixels)
        first = pixels


def test_a_nest_that_has_not_begun_leaves_the_map_as_it_is(
    draw: Callable[..., Any], coarse: Path, nest: Path
):
    plain = map_of(*draw(MapOptions("W", level=4), coarse, TIME))
    options = MapOptions("W", level=4, nests=("d02",), nest_fields=True)
    pixels, facts = draw(options, coarse, TIME)
    assert np.array_equal(map_of(pixels, facts), plain)
    assert facts["nests"] == [{"stream": "d02", "missing": "it has no frame yet"}]


def test_a_nest_s_frame_of_an_earlier_time_gives_an_outline_that_says_so_and_no_values(
    draw: Callable[..., Any], coarse: Path, nest: Path, tmp_path: Path
):
    old = tmp_path / "wrfout_d02_old"
    old.write_bytes(nest.read_bytes())
    with netCDF4.Dataset(os.fspath(old), "a") as data:
        data["Times"][0] = netCDF4.stringtochar(np.array("0001-01-01_00:02:00", "S19"))
    options = MapOptions("W", level=4, nests=("d02",), nest_fields=True)
    pixels, facts = draw(options, coarse, TIME, d02=(old, "00010101T000200"))
    (reported,) = facts["nests"]
    assert reported["missing"] == "its newest frame is of 0001-01-01 00:02:00 UTC"
    assert reported["extent"][:2] == pytest.approx([28000, 56000], abs=0.01)
    assert "max" not in reported
    plain = map_of(*draw(MapOptions("W", level=4), coarse, TIME))
    assert 0 < (map_of(pixels, facts) != plain).any(axis=2).sum() < 12000


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: os.truncate(path, path.stat().st_size // 2), "cannot be read"),
        (lambda path: path.unlink(), "No such file"),
    ],
)
def test_a_nest_that_cannot_be_read_leaves_the_map_as_it_is_and_is_reported(
    draw: Callable[..., Any], coarse: Path, nest: Path, tmp_path: Path, damage: Any, message: str
):
    broken = tmp_path / "wrfout_d02_broken"
    broken.write_bytes(nest.read_bytes())
    damage(broken)
    options = MapOptions("W", level=4, nests=("d02",), nest_fields=True)
    pixels, facts = draw(options, coarse, TIME, d02=(broken, TIME))
    plain = map_of(*draw(MapOptions("W", level=4), coarse, TIME))
    assert np.array_equal(map_of(pixels, facts), plain)
    assert message in facts["nests"][0]["missing"]


def test_a_nest_without_the_variable_is_outlined_and_reported(
    draw: Callable[..., Any], coarse: Path, nest: Path, tmp_path: Path
):
    poor = tmp_path / "wrfout_d02_poor"
    poor.write_bytes(nest.read_bytes())
    with netCDF4.Dataset(os.fspath(poor), "a") as data:
        data.renameVariable("W", "W_OLD")
    options = MapOptions("W", level=4, nests=("d02",), nest_fields=True)
    _, facts = draw(options, coarse, TIME, d02=(poor, TIME))
    assert "has no variable 'W'" in facts["nests"][0]["missing"]
    assert facts["nests"][0]["extent"][:2] == pytest.approx([28000, 56000], abs=0.01)


def test_a_nest_in_a_nest_is_placed_by_both_where_there_is_no_projection(
    draw: Callable[..., Any], coarse: Path, nest: Path, tmp_path: Path
):
    inmost = tmp_path / "wrfout_d03"
    inmost.write_bytes(nest.read_bytes())
    with netCDF4.Dataset(os.fspath(inmost), "a") as data:
        changes = {"GRID_ID": 3, "PARENT_ID": 2, "I_PARENT_START": 7, "J_PARENT_START": 10}
        data.setncatts({name: np.int32(value) for name, value in changes.items()})
        data.setncatts({name: np.float32(2000 / 9) for name in ("DX", "DY")})
    options = MapOptions("W", level=4, nests=("d02", "d03"))
    _, facts = draw(options, coarse, TIME, d02=(nest, TIME), d03=(inmost, TIME))
    west, south = 28000 + 6 * 2000 / 3, 28000 + 9 * 2000 / 3
    size = 42 * 2000 / 9
    assert facts["nests"][1]["extent"] == pytest.approx(
        [west, west + size, south, south + size], abs=0.1
    )
    _, facts = draw(options, nest, TIME, d03=(inmost, TIME))
    assert facts["nests"][1]["extent"][0] == pytest.approx(west, abs=0.1)
    _, facts = draw(MapOptions("W", level=4, nests=("d03",)), coarse, TIME, d03=(inmost, TIME))
    assert "it lies in d02, which is not on this map" in facts["nests"][0]["missing"]


def test_an_outline_lies_right_on_a_crop_of_the_parent(
    draw: Callable[..., Any], coarse: Path, nest: Path
):
    beyond = Crop(index={"west_east": (0, 10), "south_north": (0, 10)})
    plain = draw(MapOptions("W", level=4, crop=beyond), coarse, TIME)
    nested = draw(
        MapOptions("W", level=4, crop=beyond, nests=("d02",)), coarse, TIME, d02=(nest, TIME)
    )
    assert np.array_equal(map_of(*plain), map_of(*nested))
    across = Crop(index={"west_east": (20, 41), "south_north": (0, 20)})
    options = MapOptions("W", level=4, crop=across, nests=("d02",), nest_fields=True)
    pixels, facts = draw(options, coarse, TIME, d02=(nest, TIME))
    assert "max" in facts["nests"][0]
    ink = pixel(pixels, facts, 56000, 34000)
    assert ink.sum() < 3 * 90


def test_streams_of_nests_are_waited_for():
    options = MapOptions("W", nests=("d02", "d03"))
    assert MapKind().wants(options).beside == ("d02", "d03")
    with pytest.raises(ValueError, match="nest_fields needs the streams of nests"):
        MapOptions("W", nest_fields=True)


def test_domains_that_cannot_lie_on_one_plane_are_reported(
    draw: Callable[..., Any], coarse: Path, nest: Path, gulf: Path
):
    for parent, inner in ((coarse, gulf), (gulf, nest)):
        variable = "W" if parent == coarse else "T2"
        options = MapOptions(variable, level=4 if variable == "W" else None, nests=("d02",))
        _, facts = draw(options, parent, d02=(inner, ""))
        assert "extent" not in facts["nests"][0]
        assert "one has a projection and the other has none" in facts["nests"][0]["missing"]
