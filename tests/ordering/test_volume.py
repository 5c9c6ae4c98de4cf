from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from burstlens.core.model import Frame, Receipt
from burstlens.viz.product import Context
from burstlens.workflows.making.order import Order
from burstlens.workflows.ordering.volume import Volume


@pytest.fixture
def volume():
    about = "d01", "20050828T120000", ("storm-1/1/frame.nc",), 0
    frame = Frame("storm-1", 1, *about, 1000, 1.0, 1.1, "header")
    context = Context("storm-1", "Any", "box", "d01", "20050828T120000", Path("files"))
    return Volume(Order("vtk", None, context, frame, "products"), 3)


def receipt(number: int) -> Receipt:
    name = f"box/pieces/d01_20050828T120000_1_{number:04d}.vts"
    about = "box", "d01", "20050828T120000", 1, f"uuid{number}", f".incoming/{number}", name
    return Receipt(*about, 10 + number, number, facts={"piece": number})


def test_each_piece_has_an_order(volume):
    assert [order.piece for order in volume.orders()] == [(0, 3), (1, 3), (2, 3)]


def test_the_table_is_ordered_with_the_last_piece_and_names_all_in_their_order(volume):
    orders = volume.orders()
    assert volume.add(orders[2], receipt(2)) is None
    assert volume.add(orders[0], receipt(0)) is None
    table = volume.add(orders[1], receipt(1))
    assert table.piece is None
    assert [piece.name for piece in table.joins] == [
        f"pieces/d01_20050828T120000_1_{number:04d}.vts" for number in range(3)
    ]
    assert [piece.made.facts for piece in table.joins] == [{"piece": n} for n in range(3)]
    assert {piece.made.extension for piece in table.joins} == {"vts"}


def test_the_receipt_of_the_table_has_its_pieces_in_their_order(volume):
    for order, number in zip(reversed(volume.orders()), (2, 1, 0), strict=True):
        volume.add(order, receipt(number))
    table = replace(receipt(0), name="box/box_d01_20050828T120000.pvts")
    assert [part.incoming for part in volume.finish(table).pieces] == [
        ".incoming/0", ".incoming/1", ".incoming/2",
    ]  # fmt: skip


def test_what_was_staged_of_one_that_failed_is_to_be_deleted(volume):
    volume.add(volume.orders()[1], receipt(1))
    assert volume.fail() == [".incoming/1"]
    assert volume.failed
