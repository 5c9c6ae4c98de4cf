"""A nest that moves from frame to frame: its own values and its parent's, under the cursor."""

from __future__ import annotations

import shutil
from functools import partial

import numpy as np
import pytest
from made_run import MadeRun
from playwright.sync_api import expect
from pointing import at_plane, hover, index_of, pin, series
from valued_run import WRF, publish

from burstlens.core.run.index import values_path
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.values.script import ValuesFile

KEYS = ("00010101T000300", "00010101T000400", "00010101T000500")
STARTS = ((15, 15), (5, 18), (24, 9))
"""The parent's cell (x, y), from 1, in which the nest begins, in each frame."""
RATIO, PARENT_M = 3, 2000.0


def idealised(folder, number):
    """A parent and its nest off the earth, whose files say where it begins."""
    parent, nest = folder / f"wrfout_d01_{number}", folder / f"wrfout_d02_{number}"
    for path, name in ((parent, "wrfout_d01"), (nest, "wrfout_d02")):
        shutil.copy(WRF / f"{name}_0001-01-01_00_03_00", path)
        with netCDF4.Dataset(path, "a") as data:
            data["Times"][0] = netCDF4.stringtochar(np.array(time_of(KEYS[number]), "S19"))
            data["W"][0, 4] = np.roll(data["W"][0, 4], 5 * number, axis=1) * (1 + number)
    with netCDF4.Dataset(nest, "a") as data:
        for letter, start in zip("IJ", STARTS[number], strict=True):
            data.setncattr(f"{letter}_PARENT_START", np.int32(start))
    return parent, nest


def on_the_earth(folder, number):
    """A hurricane's parent, Mercator, and a nest whose longitudes and latitudes say where it is."""
    parent, nest = folder / f"wrfout_d01_{number}", folder / f"wrfout_d02_{number}"
    shutil.copy(WRF / "wrfout_d01_2005-08-28_21_00_00", parent)
    with netCDF4.Dataset(parent, "a") as data:
        data["Times"][0] = netCDF4.stringtochar(np.array(time_of(KEYS[number]), "S19"))
        lon, lat = np.asarray(data["XLONG"][0, 0], "f8"), np.asarray(data["XLAT"][0, :, 0], "f8")
        about = {name: data.getncattr(name) for name in data.ncattrs()}
    first, size = STARTS[number], 42
    i, j = (start - 1 + (np.arange(size) + 0.5) / RATIO - 0.5 for start in first)
    height = np.arcsinh(np.tan(np.radians(lat)))  # of a row of Mercator's
    lon, height = (np.interp(at, np.arange(v.size), v) for at, v in ((i, lon), (j, height)))
    lat = np.degrees(np.arctan(np.sinh(height)))
    about |= {"GRID_ID": np.int32(2), "PARENT_ID": np.int32(1), "DX": about["DX"] / RATIO,
              "DY": about["DY"] / RATIO, "PARENT_GRID_RATIO": np.int32(RATIO),
              "WEST-EAST_GRID_DIMENSION": np.int32(size + 1),
              "SOUTH-NORTH_GRID_DIMENSION": np.int32(size + 1)}  # fmt: skip
    rows, columns = np.mgrid[0:size, 0:size]
    with netCDF4.Dataset(nest, "w") as data:
        data.setncatts(about)
        for name, length in (("Time", None), ("DateStrLen", 19), ("south_north", size),
                             ("west_east", size)):  # fmt: skip
            data.createDimension(name, length)
        times = data.createVariable("Times", "S1", ("Time", "DateStrLen"))
        times[0] = netCDF4.stringtochar(np.array(time_of(KEYS[number]), "S19"))
        mass = ("Time", "south_north", "west_east")
        for name, units, values in (
            ("XLONG", "degree_east", np.broadcast_to(lon, (size, size))),
            ("XLAT", "degree_north", np.broadcast_to(lat[:, None], (size, size))),
            ("T2", "K", 295 + 5 * np.sin(rows / 3 + number) * np.cos(columns / 4)),
        ):
            made = data.createVariable(name, "f4", mass)
            made.setncatts({"units": units, "description": name, "MemoryOrder": "XY "})
            made[0] = values
    return parent, nest


def time_of(key):
    return f"{key[:4]}-{key[4:6]}-{key[6:8]}_{key[9:11]}:{key[11:13]}:{key[13:]}"


CASES = {"idealised": (idealised, "W", 4), "on the earth": (on_the_earth, "T2", None)}


@pytest.fixture(scope="module", params=CASES)
def moving(request, tmp_path_factory):
    """Three frames of a nest that moves: run, files, facts of the maps, how to read them."""
    write, variable, level = CASES[request.param]
    folder = tmp_path_factory.mktemp("moving")
    run, files, facts = MadeRun(folder / "runs"), [], []
    for number, key in enumerate(KEYS):
        parent, nest = write(folder, number)
        line = publish(run, "map", "m", parent, key, variable=variable, level=level, coast=False,
                nests=("d02",), nest_fields=True, beside={"d02": nest})  # fmt: skip
        files.append((parent, nest))
        facts.append(line["facts"])

    def read(path, at, name=variable):
        with netCDF4.Dataset(path) as data:
            field = data[name][0] if level is None or name != variable else data[name][0, level]
        return float(field[at["south_north"], at["west_east"]])

    return run, files, facts, read


def scales(run, number):
    path = values_path(run.run.products / "m" / f"m_d01_{KEYS[number]}.png")
    return [one.scale.scale for one in ValuesFile(path).fields]


def test_the_value_is_that_of_the_grid_that_lies_on_top_also_after_the_nest_has_moved(
    moving, new_page, ways_to
):
    run, files, facts, read = moving
    page = new_page().page
    page.goto(ways_to(run.run.path.parent).file("made"))
    slider = page.get_by_role("slider", name="Valid time")
    for number in (2, 1, 0):
        expect(slider).to_have_attribute(
            "aria-valuetext", f"{label(number)}, frame {number + 1} of 3"
        )
        hover(page, 0.45, 0.5)  # its values are loaded
        grids = {False: set(), True: set()}
        for inside, x, y in points(facts[number]):
            found = at_plane(page, facts[number], x, y)
            assert found["text"].startswith("d02") == inside, found
            path, at = files[number][inside], index_of(found["index"])
            half = scales(run, number)[inside] / 2
            assert abs(float(found["value"]) - read(path, at)) <= half * 1.0001 + 1e-9, found
            near(found, at, inside, number, partial(read, path, at))
            grids[inside].add(found["index"])
        assert min(map(len, grids.values())) >= 4, grids
        page.keyboard.press("ArrowLeft")


def points(facts):
    """Five places inside the nest, and some outside, on the plane; whether they are inside."""
    nest, whole = facts["nests"][0]["extent"], facts["extent"]
    for extent in (nest, whole):
        for u, v in ((0.5, 0.5), (0.1, 0.1), (0.9, 0.2), (0.15, 0.9), (0.85, 0.9)):
            x = extent[0] + u * (extent[1] - extent[0])
            y = extent[2] + v * (extent[3] - extent[2])
            yield nest[0] < x < nest[1] and nest[2] < y < nest[3], x, y


def label(number):
    return time_of(KEYS[number]).replace("_", " ") + " UTC"


def near(found, at, inside, number, read):
    """The cursor lies within the cell of the point that it names."""
    if "x" in found:
        step = PARENT_M / (RATIO if inside else 1)
        for axis, dimension, start in zip(
            ("x", "y"), ("west_east", "south_north"), STARTS[number], strict=True
        ):
            first = PARENT_M * (start - 1) if inside else 0.0
            assert abs(first + (at[dimension] + 0.5) * step - float(found[axis])) <= 0.51 * step
    else:
        cell = 0.3 / (RATIO if inside else 1)  # 30 km, in degrees
        assert abs(read("XLONG") - float(found["lon"])) < 0.6 * cell
        assert abs(read("XLAT") - float(found["lat"])) < 0.6 * cell


@pytest.mark.parametrize("way", ["file", "serve"])
def test_a_kept_place_has_the_nest_s_value_while_the_nest_lies_on_it(
    moving, new_page, ways_to, way
):
    run, files, _, read = moving
    page = new_page().page
    page.goto(getattr(ways_to(run.run.path.parent), way)("made"))
    slider = page.get_by_role("slider", name="Valid time")
    wanted = {}
    tried = next(one for one in TRY if hover(page, *one)["index"] and "d02" in text(page))
    pin(page, *tried)
    expect(page.locator(".places li")).to_have_count(1)
    for number in (2, 1, 0):
        expect(slider).to_have_attribute(
            "aria-valuetext", f"{label(number)}, frame {number + 1} of 3"
        )
        found = hover(page, *tried)
        inside = int(text(page).startswith("d02"))
        true = read(files[number][inside], index_of(found["index"]))
        wanted[KEYS[number]] = true, scales(run, number)[inside]
        page.keyboard.press("ArrowLeft")
    found = series(page, "m")
    assert set(found) == set(KEYS)
    for key, (value, step) in wanted.items():
        assert abs(float(found[key][0]) - value) <= step, key


TRY = [(across / 20, down / 20) for across in range(7, 15) for down in range(5, 16)]


def text(page):
    return page.locator(".readout").first.inner_text()
