"""A volume that is larger than a worker's memory, from its order to the files that people open."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPStructuredGridReader, vtkXMLStructuredGridReader

from burstlens.core.allowance import MEMORY_VARIABLE
from burstlens.core.model import Failure
from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.product import Context
from burstlens.workflows.making.order import Order, Task
from burstlens.workflows.making.tasks import work
from burstlens.workflows.ordering.volume import Volume
from burstlens.workflows.placement.buffer import BufferRef

STORM = Path(__file__).parents[1] / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
TIME = "00010101T000800"


@pytest.fixture
def buffer(tmp_path):
    folder = tmp_path / "buffer"
    (folder / "storm-1" / "1").mkdir(parents=True)
    shutil.copy(STORM, folder / "storm-1" / "1" / "frame.nc")
    return BufferRef("posix", str(folder), "storm-1")


@pytest.fixture
def order(run_dir, frame):
    of = frame(TIME, "output", paths=("storm-1/1/frame.nc",), bytes=STORM.stat().st_size)
    context = Context("storm-1", "Any", "box", "output", TIME, run_dir.files)
    options = VtkOptions(("QVAPOR", "W"), grid="curvilinear", compress=True)
    return Order("vtk", options, context, of, str(run_dir.products))


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setenv(MEMORY_VARIABLE, str(16 << 20))  # an eighth of it is for arrays


def made(buffer, *tasks):
    results = [result for _, result in sorted(work(buffer, tasks).items())]
    return [result.receipt or result.failure or result.pieces for result in results]


def staged(buffer, order):
    """The volume with all of its pieces staged, and its table's order."""
    [pieces] = made(buffer, Task("produce", order))
    volume = Volume(order, pieces)
    orders = volume.orders()
    receipts = made(buffer, *(Task("produce", one) for one in orders))
    tables = [volume.add(one, receipt) for one, receipt in zip(orders, receipts, strict=True)]
    return volume, tables[-1]


def test_a_published_table_shows_what_one_file_would(
    buffer, order, little_memory, begin, run_dir, monkeypatch
):
    volume, table = staged(buffer, order)
    [receipt] = made(buffer, Task("join", table))
    publisher, _ = begin()
    publisher.publish([volume.finish(receipt)])
    publisher.close()
    assert volume.count > 1
    found = run_dir.products / "box" / f"box_output_{TIME}.pvts"
    assert list(run_dir.incoming.iterdir()) == []
    monkeypatch.undo()
    [whole] = made(buffer, Task("produce", order))
    one, many = vtkXMLStructuredGridReader(), vtkXMLPStructuredGridReader()
    one.SetFileName(str(run_dir.products / whole.incoming))
    many.SetFileName(str(found))
    for reader in (one, many):
        reader.Update()
    for name in ("QVAPOR", "W"):
        values = [
            vtk_to_numpy(reader.GetOutput().GetPointData().GetArray(name)) for reader in (one, many)
        ]
        assert values[0].tobytes() == values[1].tobytes()


def test_an_attempt_that_replaces_a_volume_takes_its_pieces_away(
    buffer, order, little_memory, begin, run_dir
):
    publisher, _ = begin()
    for attempt in (1, 2):
        frame = replace(order.frame, attempt=attempt)
        volume, table = staged(buffer, replace(order, frame=frame))
        [receipt] = made(buffer, Task("join", table))
        publisher.publish([volume.finish(receipt)])
    publisher.close()
    pieces = [path.name for path in (run_dir.products / "box" / "pieces").iterdir()]
    assert {name.split("_")[2] for name in pieces} == {"2"}
    assert len(pieces) == volume.count


def test_a_table_without_a_piece_is_a_failure_of_the_product(buffer, order, little_memory):
    _, table = staged(buffer, order)
    [failure] = made(buffer, Task("join", replace(table, joins=table.joins[1:])))
    assert isinstance(failure, Failure)
    assert failure.product == "box"


def test_one_file_that_replaces_a_table_takes_the_table_away(
    buffer, order, little_memory, begin, run_dir, monkeypatch
):
    publisher, _ = begin()
    volume, table = staged(buffer, order)
    [receipt] = made(buffer, Task("join", table))
    publisher.publish([volume.finish(receipt)])
    monkeypatch.undo()
    again = replace(order, frame=replace(order.frame, attempt=2))
    publisher.publish(made(buffer, Task("produce", again)))
    publisher.close()
    names = [path.name for path in (run_dir.products / "box").iterdir()]
    assert sorted(names) == [f"box_output_{TIME}.vts", "pieces"]
    assert list((run_dir.products / "box" / "pieces").iterdir()) == []
