"""What a worker does with a batch: real frames, a real buffer."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from burstlens.core.errors import StagingError
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.python.options import PythonOptions
from burstlens.viz.product import Context
from burstlens.workflows.making.order import Order
from burstlens.workflows.making.results import read_results
from burstlens.workflows.making.tasks import produce, work
from burstlens.workflows.placement.buffer import BufferRef

WRF = Path(__file__).parents[1] / "data" / "wrf" / "wrfout_d01_2005-08-28_12_00_00"
TIME = "20050828T120000"
PLOTS = """\
def reader(frame):
    while not hasattr(frame, "share"):
        frame = frame.frame
    return frame


def opened(frame, out):
    out.write_text(str(id(reader(frame))))


def fails(frame, out):
    class Odd(Exception):
        pass
    raise Odd("not foreseen")


def level(frame, out):
    level = {"bottom_top_stag": slice(3, 4)}
    frame.read("W", level)
    out.write_text(str(reader(frame)._held.get(frame.variable("W"), level) is not None))


def volume(frame, out):
    frame.read("W")
    out.write_text(str(reader(frame)._held.get(frame.variable("W"), None) is not None))


def kept(frame, out):
    first, second = frame.read("slp"), frame.read("slp")
    first[:] = 0
    out.write_text(str(second.any() and frame.read("slp").any()))
"""


@pytest.fixture
def buffer(tmp_path, run_dir):
    """A buffer with one frame of WRF."""
    folder = tmp_path / "buffer"
    (folder / "storm-1" / "1").mkdir(parents=True)
    shutil.copy(WRF, folder / "storm-1" / "1" / "frame.nc")
    (run_dir.files / "plots.py").write_text(PLOTS)
    return BufferRef("posix", str(folder), "storm-1")


@pytest.fixture
def order(run_dir, frame):
    """An order of that frame."""
    of = frame(TIME, "d01", paths=("storm-1/1/frame.nc",), bytes=WRF.stat().st_size)

    def make(kind, options, name):
        context = Context("storm-1", "Any", name, "d01", TIME, run_dir.files)
        return Order(kind, options, context, of, str(run_dir.products))

    return make


@pytest.fixture
def calls(order):
    """An order that calls a function of the recipe."""

    def make(function):
        options = PythonOptions(f"plots.py:{function}", extension="txt")
        return order("python", options, function)

    return make


@pytest.fixture
def text(run_dir):
    """The text of a staged product."""

    def read(result):
        assert result.receipt is not None, result
        return (run_dir.products / result.receipt.incoming).read_text()

    return read


def test_the_products_of_a_batch_are_those_that_are_made_alone(buffer, order):
    names = ("T2", "slp", "slp", "wind@850hPa")
    orders = [order("map", MapOptions(name), f"map{n}") for n, name in enumerate(names)]
    together = work(buffer, orders)
    alone = [produce(buffer, one) for one in orders]
    assert [together[n].receipt.crc32 for n in range(len(names))] == [
        result.receipt.crc32 for result in alone
    ]


def test_the_orders_of_one_frame_share_its_open_files(buffer, calls, text):
    found = work(buffer, [calls("opened"), calls("opened")])
    assert text(found[0]) == text(found[1])


def test_a_product_that_changes_what_it_read_changes_nothing_for_the_others(buffer, calls, text):
    found = work(buffer, [calls("kept"), calls("kept")])
    assert [text(found[n]) for n in range(2)] == ["True", "True"]


def test_a_level_is_kept_for_the_next_product_and_a_volume_is_not(buffer, calls, text):
    found = work(buffer, [calls("level"), calls("volume"), calls("opened")])
    assert [text(found[n]) for n in range(2)] == ["True", "False"]


def test_an_unforeseen_error_is_that_of_its_order_alone(buffer, calls, text):
    found = work(buffer, [calls("fails"), calls("opened")])
    assert "not foreseen" in found[0].failure.reason
    assert text(found[1])


def test_a_buffer_that_is_gone_is_an_error_of_each_order(buffer, calls):
    shutil.rmtree(buffer.path)
    found = work(buffer, [calls("opened"), calls("opened")])
    assert [type(found[n].error) for n in range(2)] == [StagingError, StagingError]


def test_what_is_made_before_the_end_is_written_and_the_rest_returned(buffer, calls, tmp_path):
    path = tmp_path / "batch.results"
    path.touch()
    returned = work(buffer, [calls("opened")] * 3, str(path))
    written, _ = read_results(path, 0)
    assert sorted([*written, *returned]) == [0, 1, 2]
    assert 0 in written
    assert 2 in returned


def test_what_an_earlier_try_has_written_is_not_made_again(buffer, calls, tmp_path, run_dir):
    path = tmp_path / "batch.results"
    path.touch()
    work(buffer, [calls("opened"), calls("opened")], str(path))
    before = set(run_dir.incoming.iterdir())
    again = work(buffer, [calls("opened"), calls("opened")], str(path))
    assert list(again) == [1]
    assert len(set(run_dir.incoming.iterdir()) - before) == 1


def test_a_placeholder_needs_no_frame(buffer, order):
    shutil.rmtree(Path(buffer.path) / "storm-1" / "1")
    damaged = replace(order("map", MapOptions("T2"), "t2"), damage="cut short")
    failure = work(buffer, [damaged])[0].failure
    assert failure.reason == "cut short"
    assert failure.placeholder.facts["placeholder"]


def test_what_cannot_be_read_of_a_frame_is_no_fault_of_its_product(buffer, order):
    path = buffer.root() / "storm-1" / "1" / "frame.nc"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert produce(buffer, order("map", MapOptions(variable="T2"), "t2")).failure.unreadable


def test_a_variable_that_is_missing_is_a_fault_of_the_product(buffer, order):
    failure = produce(buffer, order("map", MapOptions(variable="NONE"), "none")).failure
    assert not failure.unreadable
