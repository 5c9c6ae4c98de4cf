"""Series at a place: each frame's value, and each kind of gap."""

from __future__ import annotations

import base64
import json
import math
import os
import threading

import numpy as np
import pytest
from values_case import COLUMNS, LAMBERT, ROWS, ValuesRun, degrees_grid, plane_grid, ramp

from burstlens.clients.opened.pictured import Pictured
from burstlens.clients.opened.points import Files, Grids
from burstlens.clients.opened.series import Gap, reader, samples, value_label
from burstlens.clients.opened.spot import Spot
from burstlens.core.errors import RunError
from burstlens.core.run.index import grid_path, values_path

SPOT = Spot.of(27.0, -92.0)
ROW, COLUMN = 30, 30
HERE = ROW + COLUMN / 1000


@pytest.fixture
def made(tmp_path):
    return ValuesRun(tmp_path)


def series(made, spot=SPOT, product="t2", stream=None, **choice):
    pictured = Pictured(made.run, product)
    entries = pictured.entries(stream, **choice)
    return list(samples(reader(Files(made.run.products), spot, Grids()), entries, pictured.newest))


def test_each_frame_gives_its_value_at_the_nearest_point(made):
    for hour in range(5):
        made.publish(hour)
    found = series(made)
    assert [one.time for one in found] == [f"20050828T0{hour}0000" for hour in range(5)]
    for hour, one in enumerate(found):
        assert abs(one.value - (HERE + 1000 * hour)) <= one.step / 2 * 1.0001
        assert one.point.index == {"south_north": ROWS - 1 - ROW, "west_east": COLUMN}
        assert (one.facts["units"], one.gap) == ("K", Gap.NONE)


def test_the_place_is_looked_up_in_the_grid_of_each_frame(made):
    made.publish(0, (ramp(), degrees_grid()))
    made.publish(1, (ramp(), degrees_grid(west=-93.0, north=29.0)))
    made.publish(2, (ramp(), degrees_grid(west=-80.0)))
    made.publish(3, (ramp(), plane_grid(LAMBERT)))
    found = series(made)
    assert [(one.point.row, one.point.column) for one in found[:2]] == [(30, 30), (20, 10)]
    assert [one.value for one in found[:2]] == pytest.approx([30.03, 20.01], abs=2e-3)
    assert (found[2].value, found[2].gap) == (None, Gap.OUTSIDE)
    x, y = LAMBERT.forward(-92.0, 27.0)
    column, row = round(float(x + 150e3) / 3e3), round(float(120e3 - y) / 3e3)
    outside = not (0 <= row < ROWS and 0 <= column < COLUMNS)
    assert (found[3].gap is Gap.OUTSIDE) is outside


def test_of_several_nests_the_topmost_one_at_the_place_counts(made):
    nest = degrees_grid(west=-92.2, north=27.2, step=0.01)
    made.publish(0, (ramp(), degrees_grid()), (ramp(5), nest))
    inside, beside = series(made)[0], series(made, Spot.of(24.0, -90.0))[0]
    assert (inside.number, inside.facts["label"]) == (1, "d02")
    assert inside.value == pytest.approx(5020.02, abs=2e-3)
    assert (beside.number, beside.value) == (0, pytest.approx(60.05, abs=2e-3))


@pytest.mark.parametrize("harm", ["torn", "missing"])
def test_where_a_nests_grid_cannot_be_read_its_parents_value_is_not_given(made, harm):
    nest = degrees_grid(west=-92.2, north=27.2, step=0.01)
    made.publish(0, (ramp(), degrees_grid()), (ramp(5), nest))
    path = grid_path(made.run.products, nest.hash)
    if harm == "torn":
        path.write_bytes(nest.text[:-40])
    else:
        path.unlink()
    (one,) = series(made)
    assert (one.value, one.gap) == (None, Gap.UNREADABLE)


def test_a_place_that_means_nothing_on_a_plane_is_outside_of_it(made):
    made.publish(0, (ramp(), plane_grid()))
    (one,) = series(made, Spot.of(27.0, -92.0))
    assert (one.gap, one.reason) == (
        Gap.OUTSIDE, "its plane has no longitudes and latitudes: give x and y"
    )  # fmt: skip


def test_a_product_that_has_no_pictures_says_so(made):
    made.publish(0, values=False, name="t2/t2_d01_20050828T000000.nc")
    with pytest.raises(RunError, match="t2 has no pictures, whose values"):
        series(made)


@pytest.mark.parametrize(
    ("value", "gap"), [(np.nan, Gap.NAN), (np.inf, Gap.INFINITE), (-np.inf, Gap.MINUS_INFINITE)]
)
def test_what_the_model_has_not_or_has_beyond_all_numbers_is_kept_apart(made, value, gap):
    field = ramp()
    field[ROW, COLUMN] = value
    made.publish(0, (field, degrees_grid()))
    (one,) = series(made)
    assert one.gap is gap
    assert one.value == value or math.isnan(one.value)
    assert one.row() == ["20050828T000000", None, gap.value]


def test_a_step_of_a_logarithm_is_relative_and_given_in_the_units_of_the_value(made):
    field = np.exp(ramp() / 10)
    made.publish(0, (field, degrees_grid()), log=True)
    (one,) = series(made)
    assert abs(one.value - field[ROW, COLUMN]) <= one.step
    assert 0 < one.step < 1e-3 * one.value


def torn(path):
    path.write_bytes(path.read_bytes()[:-20000])


def empty(path):
    path.write_bytes(b"")


def newer(path):
    text = path.read_bytes()
    path.write_bytes(text.replace(base64.b64encode(b"BLV1"[:3]), base64.b64encode(b"BLW"), 1))


def header_of_a_list(path):
    payload = b"BLV1" + (2).to_bytes(4, "little") + b"[]" + bytes(64)
    path.write_bytes(b'burstlensFeed("' + base64.b64encode(payload) + b'");\n')


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def link_out(path):
    outside = path.parents[2] / "outside.js"
    path.rename(outside)
    path.symlink_to(outside)


def test_a_product_with_traces_of_stations_says_what_it_has(made):
    traces = {"facts": {"units": "cm s-1", "traces": 9}}
    made.publish(0, **traces)
    with pytest.raises(RunError, match="t2 have recorded traces of stations beside them, not the"):
        series(made)
    made.publish(1)
    first, second = series(made)
    assert (first.gap, first.reason) == (Gap.WITHOUT, "traces of stations, not values of a field")
    assert second.gap is Gap.NONE


@pytest.mark.parametrize(
    "harm", [torn, empty, newer, header_of_a_list, pipe, link_out, lambda path: path.unlink()],
    ids=["torn", "empty", "newer", "no header", "pipe", "link", "missing"],
)  # fmt: skip
@pytest.mark.timeout(30)
def test_values_that_cannot_be_read_are_a_gap_of_one_frame(made, harm):
    made.publish(0)
    harm(made.publish(1))
    made.publish(2)
    found = series(made, Spot.of(22.2, -85.2))  # in the last block
    assert [one.gap for one in found] == [Gap.NONE, Gap.UNREADABLE, Gap.NONE]
    assert found[1].reason


def test_a_missing_or_damaged_grid_is_a_gap(made):
    made.publish(0)
    other = degrees_grid(west=-94.0)
    made.publish(1, (ramp(), other))
    grid_path(made.run.products, other.hash).unlink()
    assert [one.gap for one in series(made)] == [Gap.NONE, Gap.UNREADABLE]
    grid_path(made.run.products, other.hash).write_bytes(other.text[:300])
    assert series(made)[1].gap is Gap.UNREADABLE
    huge = other.text.replace(b'"n":100', b'"n":999999999999')
    grid_path(made.run.products, other.hash).write_bytes(huge)
    assert series(made)[1].gap is Gap.UNREADABLE


def test_a_grid_of_another_shape_is_a_gap_and_gives_no_value_of_another_place(made):
    made.publish(0)
    other, small = degrees_grid(west=-94.0), degrees_grid(rows=ROWS // 2)
    made.publish(1, (ramp(), other))
    grid_path(made.run.products, other.hash).write_bytes(small.text)
    found = series(made)
    assert [one.gap for one in found] == [Gap.NONE, Gap.UNREADABLE]
    assert "the grid" in found[1].reason


@pytest.mark.parametrize(
    "name", ["../../secret.png", "/etc/passwd.png", "t2/../../x.png", "", "t2", "\0.png"]
)
def test_names_that_lead_out_of_the_products_are_gaps(made, name):
    values_path(made.run.path.parent / "secret.png").write_bytes(made.publish(0).read_bytes())
    made.publish(1, name=name)
    assert [one.gap for one in series(made)] == [Gap.NONE, Gap.UNREADABLE]


def test_the_name_of_a_grid_cannot_lead_elsewhere(made):
    path = made.publish(0)
    text = base64.b64decode(path.read_bytes()[15:-4])
    name = degrees_grid().hash.encode()
    harmed = text.replace(name, b"../../secret.js."[: len(name)].ljust(len(name), b"x"))
    path.write_bytes(b'burstlensFeed("' + base64.b64encode(harmed) + b'");\n')
    assert series(made)[0].gap is Gap.UNREADABLE
    assert "does not name a grid" in series(made)[0].reason


def test_values_of_another_picture_are_a_gap(made):
    made.publish(0, picture=7)
    assert [one.gap for one in series(made)] == [Gap.FOREIGN]


def test_a_frame_that_is_published_anew_while_it_is_read_gives_its_new_value(made):
    made.publish(0)
    pictured = Pictured(made.run, "t2")
    old = pictured.entries()
    made.publish(0, (ramp(3), degrees_grid()), attempt=2)
    found = samples(reader(Files(made.run.products), SPOT, Grids()), old, pictured.newest)
    assert next(found).value == pytest.approx(3030.03, abs=2e-3)


def test_pictures_without_values_and_placeholders_are_gaps(made):
    made.publish(0)
    made.publish(1, values=False)
    made.publish(2, facts={"placeholder": True, "reason": "the frame is damaged"})
    found = series(made)
    assert [one.gap for one in found] == [Gap.NONE, Gap.WITHOUT, Gap.WITHOUT]
    assert found[2].reason == "the frame is damaged"


def test_a_frame_in_other_units_is_a_gap(made):
    made.publish(0)
    made.publish(1, units="degC")
    found = series(made)
    assert [one.gap for one in found] == [Gap.NONE, Gap.OTHER]
    assert "degC" in found[1].reason


def test_a_product_without_any_values_is_an_error_that_says_why(made):
    made.publish(0, values=False)
    with pytest.raises(RunError, match="`values = false` or an older version"):
        series(made)


def test_an_unknown_product_is_an_error_with_near_names(made):
    made.publish(0)
    with pytest.raises(RunError, match="; there are t2"):
        series(made, product="t3")


def test_of_several_streams_one_must_be_named(made):
    made.publish(0)
    made.publish(0, stream="d02")
    with pytest.raises(RunError, match="name one of them: d01, d02"):
        series(made)
    assert len(series(made, stream="d02")) == 1
    with pytest.raises(RunError, match="did you mean"):
        series(made, stream="d03")


def test_frames_are_chosen_by_their_times(made):
    for hour in range(5):
        made.publish(hour)
    keys = [f"20050828T0{hour}0000" for hour in range(5)]
    assert [one.time for one in series(made, since=keys[2])] == keys[3:]
    assert [one.time for one in series(made, before=keys[2])] == keys[:2]
    assert [one.time for one in series(made, times=[keys[4], keys[1]])] == [keys[1], keys[4]]


def test_only_new_lines_of_the_index_are_read_and_a_new_index_replaces_the_old(made):
    made.publish(0)
    pictured = Pictured(made.run, "t2")
    assert len(pictured.entries()) == 1
    made.publish(1)
    made.publish(1, product="other", values=False)
    assert len(pictured.entries()) == 2
    line = made.run.index.read_bytes().splitlines(keepends=True)[1]
    fresh = made.run.index.with_suffix(".new")
    fresh.write_bytes(line)
    fresh.replace(made.run.index)
    assert [entry.time for entry in pictured.entries()] == ["20050828T010000"]


def test_foreign_lines_in_the_index_are_passed_over(made):
    made.publish(0)
    with made.run.index.open("a") as index:
        for line in ({"product": "t2"}, ["t2"], {"product": "t2", "stream": 1, "time": 2}, "t2"):
            index.write(json.dumps(line) + "\n")
        index.write('{"product":"t2","torn')
    assert len(series(made)) == 1


def test_grids_are_held_by_threads_together_and_their_number_is_bounded(made):
    for hour in range(24):
        made.publish(hour, (ramp(), degrees_grid(west=-95.0 + hour / 10)))
    grids, files = Grids(4), Files(made.run.products)
    pictured = Pictured(made.run, "t2")
    found: list[list[float | None]] = []

    def read():
        entries = pictured.entries()
        found.append([one.value for one in samples(reader(files, SPOT, grids), entries, None)])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [found[0]] * 4
    assert None not in found[0]
    assert grids._grid.cache_info().currsize == 4


def test_a_value_for_people_has_the_digits_of_its_step(made):
    made.publish(0)
    (one,) = series(made)
    assert value_label(one) == "30.030 K"
    made.publish(1, values=False)
    assert value_label(series(made)[1]) == "no value (published without values)"
