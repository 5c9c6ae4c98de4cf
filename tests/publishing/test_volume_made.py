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
from burstlens.workflows.making.order import Order
from burstlens.workflows.making.tasks import work
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


def made(buffer, *orders):
    results = [result for _, result in sorted(work(buffer, orders).items())]
    return [result.receipt or result.failure or result.pieces for result in results]


def staged(buffer, order):
    """The order of the table of a volume, of which all pieces are staged."""
    [count] = made(buffer, order)
    pieces = made(buffer, *(replace(order, piece=(n, count)) for n in range(count)))
    return replace(order, joins=tuple(pieces))


def test_a_published_table_shows_what_one_file_would(
    buffer, order, little_memory, begin, run_dir, monkeypatch
):
    table = staged(buffer, order)
    [receipt] = made(buffer, table)
    publisher, _ = begin()
    publisher.publish([table.complete(receipt, 9.0)])
    publisher.close()
    assert len(table.joins) > 1
    found = run_dir.products / "box" / f"box_output_{TIME}.pvts"
    assert list(run_dir.incoming.iterdir()) == []
    monkeypatch.undo()
    [whole] = made(buffer, order)
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
        table = staged(buffer, replace(order, frame=frame))
        [receipt] = made(buffer, table)
        publisher.publish([table.complete(receipt, 9.0)])
    publisher.close()
    pieces = [path.name for path in (run_dir.products / "box" / "pieces").iterdir()]
    assert {name.split("_")[2] for name in pieces} == {"2"}
    assert len(pieces) == len(table.joins)


def test_a_table_without_a_piece_is_a_failure_of_the_product(buffer, order, little_memory):
    table = staged(buffer, order)
    [failure] = made(buffer, replace(table, joins=table.joins[1:]))
    assert isinstance(failure, Failure)
    assert failure.product == "box"


def test_one_file_that_replaces_a_table_takes_the_table_away(
    buffer, order, little_memory, begin, run_dir, monkeypatch
):
    publisher, _ = begin()
    table = staged(buffer, order)
    [receipt] = made(buffer, table)
    publisher.publish([table.complete(receipt, 9.0)])
    monkeypatch.undo()
    again = replace(order, frame=replace(order.frame, attempt=2))
    publisher.publish(made(buffer, again))
    publisher.close()
    names = [path.name for path in (run_dir.products / "box").iterdir()]
    assert sorted(names) == [f"box_output_{TIME}.vts", "pieces"]
    assert list((run_dir.products / "box" / "pieces").iterdir()) == []
