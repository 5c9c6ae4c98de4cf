"""Points of further dimensions that nobody named: the same in a series' pictures, or it is said."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import netCDF4
import numpy as np
import pytest

from burstlens.core.model import Receipt
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context, Made
from burstlens.workflows.making.making import _with_points
from burstlens.workflows.making.order import Order
from burstlens.workflows.making.tasks import work
from burstlens.workflows.ordering.shown_points import ShownPoints
from burstlens.workflows.placement.buffer import BufferRef

TIMES = ("20050828T000000", "20050829T000000", "20050830T000000")


def receipt(time, number, words="", product="t2"):
    shown = {"t": {"points": {"number": number}, "words": words or f"number {number}"}}
    about = product, "output", time, 1, "u", "i", "n", 1, 1
    return Receipt(*about, facts={"shown": shown})


def test_another_point_than_in_the_first_picture_is_said_once():
    known = ShownPoints()
    assert known.note(receipt(TIMES[1], 1, "number 7 (2 of 3)")) == ""
    assert known.note(receipt(TIMES[2], 1, "number 7 (2 of 3)")) == ""
    said = known.note(receipt(TIMES[0], 0, "number 3 (1 of 3)"))
    for part in ("t2", "number 3 (1 of 3) for 2005-08-28", "number 7 (2 of 3) for 2005-08-29",
                 "t[number=...]"):  # fmt: skip
        assert part in said
    assert known.note(receipt(TIMES[0], 0)) == ""
    assert known.note(receipt(TIMES[0], 0, product="rain")) == ""
    assert known.of("t2", "output") == {"t": {"number": 1}}
    assert known.of("t2", "other") == known.of("new", "output") == {}


def test_a_product_without_further_dimensions_has_no_points():
    known = ShownPoints()
    assert known.note(Receipt("t2", "output", TIMES[0], 1, "u", "i", "n", 1, 1)) == ""
    assert known.of("t2", "output") == {}


def test_the_points_of_former_drivers_are_those_of_the_index(run_dir):
    given = receipt(TIMES[1], 1)
    about = {"product": "t2", "stream": "output", "name": "a"}
    lines = [
        about | {"product": "rain", "time": TIMES[0], "facts": {}},
        about | {"time": TIMES[1], "facts": dict(given.facts)},
        about | {"time": TIMES[2], "facts": receipt("", 2).facts},
    ]
    run_dir.index.write_text("".join(json.dumps(line) + "\n" for line in lines))
    known = ShownPoints()
    known.read(run_dir.index)
    assert known.of("t2", "output") == {"t": {"number": 1}}
    assert known.note(receipt(TIMES[0], 0)) != ""


def test_orders_name_the_point_that_the_first_picture_shows(recipe, backlog, frame):
    waiting = backlog(*recipe("product.t2.limits=[270, 310]").products)
    waiting.shown.note(receipt(TIMES[1], 1))
    waiting.add(frame(TIMES[2]))
    (sent,) = waiting.take(0.0, 10)
    assert sent.context.points == {"t": {"number": 1}}


@pytest.mark.parametrize(
    "shown", [{"a": 3}, {"a": {"points": 3}}, {"a": {"points": {"n": "x"}}}, [1], "text"]
)
def test_what_does_not_name_points_is_left_out(shown, recipe, frame, backlog, run_dir):
    known = ShownPoints()
    foreign = replace(receipt(TIMES[0], 1), facts={"shown": shown})
    line = {"product": "t2", "stream": "output", "time": TIMES[0], "name": "a",
            "facts": {"shown": shown}}  # fmt: skip
    run_dir.index.write_text(f"{json.dumps(line)}\n" + '{"facts": {"shown": {}}}\n')
    known.read(run_dir.index)
    assert known.note(foreign) == ""
    assert known.of("t2", "output") == {}
    waiting = backlog(*recipe("product.t2.limits=[270, 310]").products)
    waiting.add(frame(TIMES[0]))
    (sent,) = waiting.take(0.0, 10)
    assert not known.is_other(sent, foreign)


def test_a_fact_of_that_name_is_that_of_the_frame_alone():
    given = Made("png", {"shown": {"a": 3}, "max": 1.0})
    assert _with_points(given, SimpleNamespace(shown={})).facts == {"max": 1.0}
    own = {"t": {"points": {"number": 1}, "words": "number 1"}}
    assert _with_points(given, SimpleNamespace(shown=own)).facts["shown"] == own


@pytest.fixture
def made(tmp_path, run_dir, frame):
    """Draws the first record of members, of which these have values; returns the facts."""

    def draw(*members, points):
        folder = tmp_path / "buffer"
        (folder / "storm-1" / "1").mkdir(parents=True, exist_ok=True)
        path = folder / "storm-1" / "1" / "frame.nc"
        with netCDF4.Dataset(path, "w") as data:
            for name, values, units in (("lat", [40.0, 41, 42], "degrees_north"),
                                        ("lon", [5.0, 6, 7, 8], "degrees_east")):  # fmt: skip
                data.createDimension(name, len(values))
                data.createVariable(name, "f8", (name,))[:] = values
                data[name].units = units
            data.createDimension("number", 3)
            field = data.createVariable("t", "f4", ("number", "lat", "lon"))
            for member in range(3):
                field[member] = 100.0 + member if member in members else np.nan
        context = Context("storm-1", "Any", "t2", "output", "n0", run_dir.files, points=points)
        of = frame("n0", "output", paths=("storm-1/1/frame.nc",), bytes=path.stat().st_size)
        order = Order("map", MapOptions("t"), context, of, str(run_dir.products))
        buffer = BufferRef("posix", str(folder), "storm-1")
        return work(buffer, [order])[0].receipt.facts

    return draw


def test_a_worker_draws_the_point_of_the_series_and_says_which_it_has_drawn(made):
    facts = made(0, 1, 2, points={"t": {"number": 2}})
    assert (facts["min"], facts["shown"]["t"]["points"]) == (102.0, {"number": 2})
    facts = made(1, points={"t": {"number": 2}})
    assert (facts["min"], facts["shown"]["t"]["words"]) == (101.0, "number 1 (2 of 3)")
    assert made(0, 1, points={})["min"] == 100.0
