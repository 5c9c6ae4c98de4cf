"""What maps, sections and peaks write beside their pictures, made of real frames."""

from __future__ import annotations

import base64
import zlib
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing import style
from burstlens.viz.drawing.maps.layers import Contours, Wind
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.place import Place as NamedPlace
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Beside
from burstlens.viz.registry import product_kind
from burstlens.viz.values.lookup import Grid, Place
from burstlens.viz.values.options import Values
from burstlens.viz.values.script import ValuesFile


@pytest.fixture
def made(context, tmp_path):
    """Makes a product; returns its picture, its values, their grid, and its facts."""

    def make(kind, path, **options):
        kind = product_kind(kind)
        asked = kind.options(**options)
        folder, out = tmp_path / "values", tmp_path / "out.png"
        with open_frame([path], 0, stream="d01", time="") as frame:
            product = kind.make(asked, frame, out, replace(context, values=folder))
        if not folder.exists():
            return out, None, None, product.facts
        values = ValuesFile(folder / "values.js")
        grid = Grid.read(folder / f"grid-{values.fields[0].grid}.js")
        return out, values, grid, product.facts

    return make


def stored(path, name, level=None):
    with netCDF4.Dataset(path) as data:
        found = data[name][0]
        return np.asarray(found if level is None else found[level], "f8")


def test_each_value_of_a_map_is_the_file_s_at_the_point_that_the_grid_names(made, cyclone):
    _, values, grid, facts = made("map", cyclone, variable="T2")
    truth, found = stored(cyclone, "T2"), values.field()
    for row, column in np.ndindex(found.shape):
        index = grid.index(row, column)
        expected = truth[index["south_north"], index["west_east"]]
        assert abs(found[row, column] - expected) <= values.fields[0].scale.scale / 2 * 1.000001
    assert values.header["extent"] == facts["extent"]
    assert grid.on_earth


def test_values_name_the_picture_that_they_belong_to(made, cyclone):
    picture, values, _, facts = made("map", cyclone, variable="T2", units="degC")
    assert values.header["picture"] == zlib.crc32(picture.read_bytes())
    assert values.header["box"] == facts["box"]
    assert values.header["colours"]["limits"] == facts["limits"]
    assert values.header["fields"][0]["units"] == "degC"


def test_the_overlay_over_plain_colours_gives_the_picture(made, cyclone):
    picture, values, grid, _ = made("map", cyclone, variable="T2", barbs=Wind())
    drawn = np.asarray(imread(picture), "f8")[..., :3]
    left, top, right, bottom = values.header["box"]
    cover = np.zeros(drawn.shape[:2])
    for (x, y, width, height), image in values.overlay:
        path = picture.with_name("over.png")
        path.write_bytes(image)
        cover[y : y + height, x : x + width] = np.maximum(
            cover[y : y + height, x : x + width], imread(path)[..., 3]
        )
    inside = cover[top:bottom, left:right]
    assert 0.02 < (inside > 0).mean() < 0.6
    # Where nothing lies over the field, the picture has the field's colour alone.
    field, table = values.field(), values.header["colours"]
    low, high = table["limits"]
    rows = ((np.arange(bottom - top) + 0.5) / (bottom - top) * grid.rows).astype(int)
    columns = ((np.arange(right - left) + 0.5) / (right - left) * grid.columns).astype(int)
    share = np.clip((field[np.ix_(rows, columns)] - low) / (high - low), 0, 1)
    ramp = np.frombuffer(base64.b64decode(table["table"]), np.uint8).reshape(-1, 3) / 255
    colours = ramp[np.minimum((share * len(ramp)).astype(int), len(ramp) - 1)]
    away = np.abs(colours - drawn[top:bottom, left:right]).max(axis=-1)
    assert np.quantile(away[inside == 0], 0.97) < 0.03


def test_a_thinned_map_keeps_the_points_themselves(made, cyclone):
    _, values, grid, facts = made("map", cyclone, variable="T2", values=Values(points=20))
    truth, found = stored(cyclone, "T2"), values.field()
    assert max(found.shape) <= 20 < max(facts["shape"])
    index = grid.index(2, 3)
    step = values.fields[0].scale.scale
    assert abs(found[2, 3] - truth[index["south_north"], index["west_east"]]) <= step / 2 * 1.001


def test_without_values_only_the_picture_is_written(made, cyclone):
    picture, values, _, _ = made("map", cyclone, variable="T2", values=False)
    assert values is None
    assert picture.is_file()


def test_a_section_s_values_lie_along_its_route(made, cyclone):
    ends = {"start": End(lat=25, lon=-92), "end": End(lat=26, lon=-89)}
    for how in ({"levels": "mass"}, {"vertical": "pressure"}, {}):
        _, values, grid, facts = made("section", cyclone, variable="W", **ends, **how)
        found = values.field()
        assert np.nanmin(found) >= facts["min"] - 1e-9
        assert np.nanmax(found) <= facts["max"] + 1e-9
        assert np.isnan(found).mean() < 0.2
        row, column = grid.rows // 2, grid.columns // 2
        place = grid.place(row, column)
        assert grid.point(place) == (row, column)
        assert place.lat == pytest.approx(25.5, abs=0.1)
        assert place.lon == pytest.approx(-90.5, abs=0.1)
        assert grid.point(Place(x=-5, y=1)) is None


def test_peaks_on_a_logarithmic_scale_are_within_half_a_step_of_their_logarithm(made, tmp_path):
    path, speed = tmp_path / "ground.nc", np.abs(np.random.default_rng(0).normal(size=(40, 50)))
    speed = speed**5 * 0.01
    speed[0, 0] = 0
    with netCDF4.Dataset(path, "w") as data:
        for name, size in (("time", None), ("y", 40), ("x", 50)):
            data.createDimension(name, size)
        data.createVariable("time", "f8", ("time",)).units = "s"
        data["time"][0] = 4.0
        for name, size in (("y", 40), ("x", 50)):
            data.createVariable(name, "f8", (name,)).setncatts({"units": "m", "axis": name.upper()})
            data[name][:] = np.arange(size) * 100.0
        data.createVariable("vx", "f8", ("time", "y", "x")).setncatts(
            {"units": "m s-1", "long_name": "ground velocity, x"}
        )
        data["vx"][0] = speed
    _, values, grid, _ = made("peak", path, components=("vx",), log=True)
    found, scale = values.field(), values.fields[0].scale
    assert scale.transform == "log"
    for row, column in ((39, 0), (0, 49), (20, 20)):
        index = grid.index(row, column)
        expected = 100 * speed[index["y"], index["x"]]
        assert abs(found[row, column] - expected) <= expected * np.expm1(scale.scale / 2) * 1.0001
    assert found[39, 0] == 0
    assert grid.place(20, 20).x == 2000


def test_a_nest_s_own_values_lie_over_its_parent_s_in_one_file(context, tmp_path, nest):
    parent, time = nest.with_name(nest.name.replace("d02", "d01")), "00010101T000300"
    options = MapOptions("W", level=4, nests=("d02",), nest_fields=True)
    beside = {"d02": Beside((nest,), 0, "d02", time)}
    asked = replace(context, time=time, values=tmp_path / "values")
    with open_frame([parent], time=time, beside=beside) as frame:
        MapKind().make(options, frame, tmp_path / "map.png", asked)
    values = ValuesFile(tmp_path / "values" / "values.js")
    assert [one["label"] for one in values.header["fields"][1:]] == ["d02"]
    for number, path in enumerate((parent, nest)):
        grid = Grid.read(tmp_path / "values" / f"grid-{values.fields[number].grid}.js")
        truth, found = stored(path, "W", 4), values.field(number)
        half = values.fields[number].scale.scale / 2 * 1.000001
        for row, column in np.ndindex(found.shape):
            index = grid.index(row, column)
            expected = truth[index["south_north"], index["west_east"]]
            assert abs(found[row, column] - expected) <= half
    # Both lie on the parent's plane: the nest's first cell begins 28 km from its corner.
    assert grid.place(grid.rows - 1, 0).x == pytest.approx(28000 + 1000 / 3, abs=1)


CROWD = {
    "variable": "T2",
    "coast": False,
    "contours": Contours("PSFC", units="hPa", interval=2),
    "cities": (NamedPlace("Gulfport", 25.3, -91.5), NamedPlace("Merida", 24.0, -92.5)),
    "vectors": Wind(spacing_px=60),
}


def test_words_over_a_map_are_text_and_its_picture_keeps_them(made, cyclone):
    picture, values, _, _ = made("map", cyclone, **CROWD)
    drawn = picture.read_bytes()
    alone, *_ = made("map", cyclone, **CROWD, values=False)
    assert drawn == alone.read_bytes()
    words = {one["text"]: one for one in values.header["words"]}
    assert {"Gulfport", "Merida", "998"} <= set(words)
    assert any(text.endswith(" km") for text in words)
    assert any(text.endswith("m s⁻¹") for text in words)
    # Beside its mark, and turned along its line.
    assert words["Gulfport"]["align"] != [0.5, 0.5]
    assert "align" not in words["998"]
    assert words["998"]["letter"] == pytest.approx(8.5 * 95 / 72, rel=0.1)
    pixels = np.asarray(imread(picture), "f8")[..., :3].min(axis=-1)
    for text in ("Gulfport", "Merida"):
        left, top, right, bottom = box_of(words[text])
        assert pixels[top:bottom, left:right].min() < 0.2  # ink
        assert cover(values, picture)[top:bottom, left:right].mean() < 0.25


def box_of(words):
    """Left, top, right, bottom, in whole pixels of the picture, of words that are not turned."""
    (x, y), (across, down), letter = words["at"], words["align"], words["letter"]
    width, height = 0.6 * letter * len(words["text"]), letter
    left, top = x - across * width, y - down * height
    return round(left), round(top), round(left + width), round(top + height)


def cover(values, picture):
    """How opaque the overlay is at each pixel of the picture."""
    found = np.zeros(values.header["size"][::-1])
    for (x, y, width, height), image in values.overlay:
        path = picture.with_name("over.png")
        path.write_bytes(image)
        part = found[y : y + height, x : x + width]
        np.maximum(part, imread(path)[..., 3], out=part)
    return found


def test_what_lies_over_words_stays_in_the_overlay(made, cyclone):
    """A name below a later place's mark: the mark is not taken out with it."""
    places = (NamedPlace("Gulfport", 25.3, -91.5), NamedPlace("", 25.3, -91.3))
    picture, values, _, _ = made("map", cyclone, variable="T2", coast=False, cities=places)
    (words,) = (one for one in values.header["words"] if one["text"] == "Gulfport")
    left, top, right, bottom = box_of(words)
    assert cover(values, picture)[top:bottom, left:right].max() > 0.9


def test_words_of_a_section_are_text_too(made, cyclone):
    ends = {"start": End(lat=25, lon=-92), "end": End(lat=26, lon=-89)}
    contours = Contours("T", interval=5)
    _, values, _, _ = made("section", cyclone, variable="W", contours=contours, **ends)
    words = values.header["words"]
    assert words
    left, top, right, bottom = values.header["box"]
    for one in words:
        assert float(one["text"].replace("−", "-")) % 5 == 0
        assert left <= one["at"][0] <= right
        assert top <= one["at"][1] <= bottom


def test_the_ground_of_a_map_has_a_colour_of_its_own(made, cyclone):
    _, values, _, _ = made("map", cyclone, variable="T2", margin_km=50)
    assert values.header["colours"]["ground"] == style.CALM
    assert values.header["colours"]["bad"] == style.MISSING
