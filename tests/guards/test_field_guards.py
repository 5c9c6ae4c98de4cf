"""Field guards on real frames and on arrays in which one point is wrong."""

from __future__ import annotations

import math
import os
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import FrameReader, netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.seams import Stored
from burstlens.workflows.guards import field
from burstlens.workflows.guards.field import inspect, statistics

TESTS = Path(__file__).parents[1]
SUPERCELL = TESTS / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
KATRINA = TESTS / "data" / "wrf" / "wrfout_d01_2005-08-28_12_00_00"
TILES = [TESTS / "data" / "wrf" / f"wrfout_d01_0001-01-01_00_04_00_{n:04d}" for n in (0, 1)]


@pytest.fixture
def read(guard):
    """The reading of one guard with these keys in a frame's files."""

    def one(paths, stream="d01", shown=None, **keys):
        paths = paths if isinstance(paths, list) else [paths]
        with open_frame(paths, 0, stream=stream) as frame:
            (reading,) = inspect(frame, [guard(**keys)], 1, shown or {})
        return reading

    return one


@pytest.fixture
def planted(tmp_path):
    """A copy of a real frame with other values at some points."""

    def make(values: dict, source: Path = SUPERCELL) -> Path:
        path = tmp_path / source.name
        shutil.copy(source, path)
        with netCDF4.Dataset(os.fspath(path), "r+") as data:
            for (name, *index), value in values.items():
                data[name][(0, *index)] = value
        return path

    return make


@pytest.fixture
def written(tmp_path):
    """A frame with one variable ``q`` of these values."""

    def make(values, kind="f4", attributes=None, **creation) -> Path:
        path = tmp_path / "frame.nc"
        values = np.ma.asarray(values)
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            data.createDimension("time", None)
            names = ["z", "y", "x"][3 - values.ndim :]
            for name, size in zip(names, values.shape, strict=True):
                data.createDimension(name, size)
            variable = data.createVariable("q", kind, ("time", *names), **creation)
            variable.setncatts({"units": "1", **(attributes or {})})
            variable[0] = values
        return path

    return make


def test_the_statistics_of_a_real_frame_equal_those_of_numpy(read):
    found = read(SUPERCELL, variable="W")
    with netCDF4.Dataset(os.fspath(SUPERCELL)) as data:
        values = np.asarray(data["W"][0])
    assert found.breach is None
    assert (found.least, found.most) == (values.min(), values.max())
    assert found.mean == pytest.approx(values.mean(dtype=np.float64))
    assert (found.points, found.bad, found.units) == (values.size, 0, "m s-1")


@pytest.mark.parametrize("place", [(0, 0, 0), (40, 40, 40), (12, 20, 25)])
def test_one_nan_is_found_wherever_it_is(read, planted, place):
    found = read(planted({("W", *place): np.nan}), variable="W")
    assert (found.breach.what, found.breach.value, found.bad) == ("finite", None, 1)
    assert tuple(found.breach.place["index"].values()) == place
    assert "W is NaN at 1 of 68921 points" in found.breach.text
    assert found.most == pytest.approx(4.577, abs=1e-3)  # the statistics of the other points


def test_a_place_is_given_in_the_coordinates_of_the_file(read, planted):
    found = read(planted({("W", 12, 20, 25): 93.5}), variable="W", max=80.0).breach
    place = found.place
    assert place["index"] == {"bottom_top_stag": 12, "south_north": 20, "west_east": 25}
    assert (place["x"], place["y"], place["xy_units"]) == (51000.0, 41000.0, "m")
    with netCDF4.Dataset(os.fspath(SUPERCELL)) as data:
        height = (data["PH"][0, 12, 20, 25] + data["PHB"][0, 12, 20, 25]) / 9.81
    assert place["z"] == pytest.approx(height, abs=0.1)
    assert "(x = 51 km, y = 41 km, z = 6.37" in found.text
    assert (found.value, found.limit, found.units) == (93.5, 80.0, "m s-1")


def test_an_alarm_gives_value_and_limit_in_the_units_of_the_map(read, planted):
    frame = planted({("T2", 10, 20): 400.0}, KATRINA)
    found = read(frame, variable="T2", max=330.0, shown={"T2": "degC"})
    breach = found.breach
    assert (breach.value, breach.limit) == pytest.approx((126.85, 56.85))
    assert breach.units == "degC"
    assert "T2 = 126.9 degC, above 56.85," in breach.text
    assert breach.label == "T2 126.9 degC"
    assert (found.most, found.units) == (400.0, "K")  # the readings stay the file's


@pytest.mark.parametrize(
    ("attributes", "value", "limits", "said"),
    [
        ({"units": "K", "long_name": "temperature anomaly"}, 70.0, {"max": 1.0}, "q = 70 degC, ab"),
        ({"units": "K"}, 1.5, {"max": 1.0}, "q = 1.5 degC, above 1,"),  # as the map shows it
        ({"units": "K"}, -1.5, {"min": -1.0}, "q = -1.5 degC, below -1,"),
        ({"units": "K"}, 300.0, {"max": 290.0}, "q = 26.85 degC, above 16.85,"),
        ({"units": "K"}, 0.0, {"min": 273.15}, "q = -273.1 degC, below 0,"),  # all of it is lost
    ],
)  # fmt: skip
def test_an_alarm_of_a_difference_of_temperatures_has_no_zero_point(
    read, written, attributes, value, limits, said
):
    frame = written(np.full((2, 2), value, "f4"), attributes=attributes)
    assert said in read(frame, variable="q", shown={"q": "degC"}, **limits).breach.text


@pytest.mark.parametrize("shown", [{"T2": "hPa"}, {"PSFC": "hPa"}])
def test_units_that_do_not_fit_leave_an_alarm_in_those_of_the_file(read, planted, shown):
    frame = planted({("T2", 10, 20): 400.0}, KATRINA)
    assert (
        "T2 = 400 K, above 330," in read(frame, variable="T2", max=330.0, shown=shown).breach.text
    )


def test_a_value_just_beyond_its_limit_reads_differently_from_it(read, planted):
    frame = planted({("PSFC", 10, 20): 101326.0}, KATRINA)
    assert (
        "PSFC = 101326 Pa, above 101325," in read(frame, variable="PSFC", max=101325.0).breach.text
    )


def test_a_place_has_longitude_and_latitude_if_the_file_has_them(read, planted):
    frame = planted({("T2", 10, 20): 400.0}, KATRINA)
    place = read(frame, variable="T2", max=330.0).breach.place
    with netCDF4.Dataset(os.fspath(KATRINA)) as data:
        expected = float(data["XLONG"][0, 10, 20]), float(data["XLAT"][0, 10, 20])
    assert (place["lon"], place["lat"]) == pytest.approx(expected, abs=1e-4)


def test_the_most_severe_condition_is_reported(read, planted):
    frame = planted({("W", 1, 1, 1): np.nan, ("W", 2, 2, 2): 99.0, ("W", 3, 3, 3): -99.0})
    keys = {"variable": "W", "min": -80.0, "max": 80.0}
    assert read(frame, **keys).breach.what == "finite"
    assert read(frame, finite=False, **keys).breach.what == "max"
    assert read(frame, finite=False, variable="W", min=-80.0).breach.value == -99.0


def test_a_level_and_a_crop_limit_the_points_that_are_checked(read, planted):
    frame = planted({("W", 12, 20, 25): np.nan})
    assert read(frame, variable="W", level=11).breach is None
    assert read(frame, variable="W", level=12).breach.place["index"]["bottom_top_stag"] == 12
    outside, inside = Crop(index={"west_east": (0, 25)}), Crop(index={"west_east": (25, 30)})
    assert read(frame, variable="W", crop=outside).breach is None
    found = read(frame, variable="W", crop=inside)
    assert found.breach.place["index"]["west_east"] == 25
    assert found.points == 41 * 41 * 5


def test_tiles_are_checked_as_one_domain(read):
    found = read(TILES, variable="W")
    with open_frame(TILES, 0, stream="d01") as frame:
        values = frame.read("W")
    assert found.points == values.size
    assert found.most == values.max()


def test_an_expression_reads_several_variables_and_places_what_it_found(read, planted):
    frame = planted({("W", 12, 20, 25): -91.0})
    text = "max(abs(W)) > 80 and mean(T2) >= 0"
    found = read(frame, expression=text).breach
    assert found.what == "expression"
    assert "max(abs(W)) = 91" in found.text
    assert found.place["index"] == {"bottom_top_stag": 12, "south_north": 20, "west_east": 25}
    assert read(SUPERCELL, expression=text).breach is None


def test_an_expression_s_alarm_has_the_file_s_units_and_those_of_the_map(read, planted):
    frame = planted({("T2", 10, 12): 400.0})
    found = read(frame, expression="max(T2) > 330 and std(T2) > 0", shown={"T2": "degC"}).breach
    assert "max(T2) = 400 K (126.9 degC)" in found.text
    assert (found.value, found.units, found.label) == (400.0, "K", "T2 400 K")
    assert "max(T2) = 400 K," in read(frame, expression="max(T2) > 330").breach.text


def test_a_guard_that_cannot_read_says_why_and_the_others_continue(guard):
    with open_frame([SUPERCELL], 0, stream="d01") as frame:
        keys = [{"variable": "WW"}, {"variable": "Times"}, {"variable": "W"}]
        keys += [{"variable": "T2", "level": 3}, {"expression": "max(U + V) > 0"}]
        near, text, good, level, shapes = inspect(frame, [guard(**k) for k in keys], 1)
    assert "did you mean" in near.error
    assert text.error
    assert not good.error
    assert "T2 has no levels" in level.error
    assert "do not go together" in shapes.error


def test_a_guard_that_takes_too_long_is_ended(guard, monkeypatch):
    monkeypatch.setattr(field, "GUARD_S", 0.2)
    with open_frame([SUPERCELL], 0, stream="d01") as frame:
        monkeypatch.setattr(frame, "stored", lambda *_: time.sleep(30))
        (found,) = inspect(frame, [guard(variable="W")], 1)
    assert "took longer than 0.2 s" in found.error
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("kind", ["f4", "f8", "i2", "i4", "i8", "u1"])
def test_every_kind_of_number_is_checked(read, written, kind):
    found = read(written([[1, 2], [3, 100]], kind), variable="q", max=50.0)
    assert (found.breach.value, found.mean) == (100.0, 26.5)
    assert found.breach.place["index"] == {"y": 1, "x": 1}


def test_a_variable_without_dimensions_is_checked(read, written):
    found = read(written(7.5), variable="q", max=5.0)
    assert found.breach.value == 7.5
    assert found.breach.place == {"index": {}}
    assert found.breach.text == "q = 7.5 1, above 5"


def test_missing_values_of_the_file_do_not_trip(read, written):
    values = np.ma.masked_greater(np.array([[1.0, 2.0], [3.0, 9e9]]), 1e9)
    found = read(written(values, fill_value=1e20), variable="q", max=50.0)
    assert (found.breach, found.most, found.bad) == (None, 3.0, 0)
    default = read(written(values), variable="q", max=50.0)  # the library's own fill value
    assert (default.breach, default.most) == (None, 3.0)


def test_a_nan_beside_missing_values_trips(read, written):
    values = np.array([[1.0, np.nan], [3.0, 1e20]])
    found = read(written(values, fill_value=1e20), variable="q")
    assert (found.bad, found.breach.place["index"]) == (1, {"y": 0, "x": 1})


def test_a_nan_trips_even_if_nan_is_the_fill_value(read, written):
    found = read(written([[1.0, np.nan]], fill_value=np.nan), variable="q")
    assert found.bad == 1


def test_a_value_outside_the_valid_range_is_checked(read, written):
    path = written([[1.0, 99.0]], attributes={"valid_range": np.float32([0, 10])})
    found = read(path, variable="q", max=50.0)
    assert found.breach.value == 99.0


def test_packed_values_are_unpacked(read, written):
    path = written([[1.0, 30.0]], "i2", {"scale_factor": 0.5, "add_offset": 10.0})
    found = read(path, variable="q", max=20.0)
    assert found.breach.value == 30.0


def test_infinities_count_as_not_finite_and_without_that_check_as_large(read, written):
    path = written([[1.0, -np.inf], [2.0, np.inf]])
    assert read(path, variable="q").breach.text.startswith("q is infinite at 2 of 4")
    high = read(path, variable="q", finite=False, max=50.0).breach
    assert (high.what, high.value, high.place["index"]) == ("max", None, {"y": 1, "x": 1})
    low = read(path, variable="q", finite=False, min=-50.0).breach
    assert (low.what, low.place["index"]) == ("min", {"y": 0, "x": 1})


def test_a_frame_of_only_nan_is_a_breach_and_not_an_error(read, written):
    found = read(written(np.full((2, 3), np.nan)), variable="q", max=1.0)
    assert (found.breach.what, found.bad, found.mean, found.most) == ("finite", 6, None, None)
    unasked = read(written(np.full((2, 3), np.nan)), variable="q", finite=False, max=1.0)
    assert (unasked.error, unasked.breach) == ("", None)


def test_statistics_are_those_of_numpy_for_any_values():
    generator = np.random.default_rng(9)
    for trial in range(200):
        size = int(generator.integers(1, 40))
        values = generator.normal(size=size).astype(generator.choice(["f4", "f8"]))
        for wrong in (np.nan, np.inf, -np.inf, 7e7):
            if generator.random() < 0.4:
                values[generator.integers(size)] = wrong
        seen = statistics(Stored(values, (float(np.float32(7e7)),)))
        known = values[np.isfinite(values) & (values != 7e7)]
        assert seen.points == size, trial
        assert seen.missing == np.count_nonzero(values == 7e7)
        assert seen.bad == np.count_nonzero(~np.isfinite(values))
        assert set(seen.infinite) == set(values[np.isinf(values)].tolist())
        if known.size:
            assert (seen.least, seen.most) == (known.min(), known.max())
            assert seen.mean == pytest.approx(known.mean(dtype=np.float64), abs=1e-12)
        else:
            assert math.isnan(seen.mean)


def test_a_nan_is_found_in_any_slab(monkeypatch):
    monkeypatch.setattr(field, "_SLAB", 10)
    for place in range(35):
        values = np.zeros(35, dtype="f4")
        values[place] = np.nan
        assert statistics(Stored(values, ())).bad == 1


def test_values_that_a_guard_has_read_are_not_read_again_for_a_product(guard, monkeypatch):
    with open_frame([SUPERCELL], 0, stream="d01") as frame:
        part = {"bottom_top_stag": slice(5, 6)}
        expected = frame.read("W", part)
        inspect(frame, [guard(variable="W")], 1)
        monkeypatch.setattr(FrameReader, "_again", lambda *_: pytest.fail("the file is read again"))
        level = frame.read("W", part)
        np.testing.assert_array_equal(level, expected)
        level[:] = 0  # a product may change its values
        np.testing.assert_array_equal(frame.read("W", part), expected)


def test_a_product_still_gets_missing_values_as_nan_after_a_guard_has_read_them(guard, written):
    values = np.ma.masked_greater(np.array([[1.0, 2.0], [3.0, 9e9]]), 1e9)
    with open_frame([written(values, fill_value=1e20)], 0) as frame:
        inspect(frame, [guard(variable="q")], 1)
        assert np.isnan(frame.read("q")[1, 1])
