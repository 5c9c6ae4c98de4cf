"""A product that is made in pieces: its table waits for all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burstlens.core.model import Receipt
from burstlens.workflows.making.order import Order


@pytest.fixture
def order(frame):
    def make(backlog, **about) -> Order:
        context = replace(backlog.context, product="box")
        return Order("vtk", None, context, frame(**about), "products", tries=1)

    return make


def receipt(number: int, uuid: str = "") -> Receipt:
    name = f"box/pieces/d01_20050828T120000_1_{number:04d}.vts"
    about = "box", "d01", "20050828T120000", 1, uuid or f"uuid{number}", f".incoming/{number}", name
    return Receipt(*about, 10 + number, number, facts={"piece": number})


@pytest.fixture
def split(backlog, order):
    """A backlog, and the orders of three pieces that it has given."""
    waiting = backlog()
    waiting.split(order(waiting), 3)
    return waiting, sorted(waiting.take(0.0, 9), key=lambda order: order.piece)


def test_each_piece_has_an_order_without_guards_and_all_its_tries(split):
    _, orders = split
    assert [order.piece for order in orders] == [(0, 3), (1, 3), (2, 3)]
    assert {(order.guards, order.tries) for order in orders} == {((), 1)}


def test_the_table_is_ordered_with_the_last_piece_and_has_all_in_their_order(split):
    waiting, orders = split
    for number in (2, 0):
        assert waiting.take_piece(orders[number], receipt(number))
        assert list(waiting.take(0.0, 9)) == []
    assert waiting.take_piece(orders[1], receipt(1))
    [table] = waiting.take(0.0, 9)
    assert table.piece is None
    assert table.joins == (receipt(0), receipt(1), receipt(2))


def test_the_receipt_of_the_table_has_its_pieces_in_their_order(split):
    waiting, orders = split
    for number in (2, 1, 0):
        waiting.take_piece(orders[number], receipt(number))
    [table] = waiting.take(0.0, 9)
    made = table.complete(replace(receipt(0), name="box/box_d01_20050828T120000.pvts"), 9.0)
    assert [part.incoming for part in made.pieces] == [f".incoming/{n}" for n in range(3)]


def test_what_was_staged_of_one_that_failed_is_to_be_deleted_and_no_piece_is_wanted(split):
    waiting, orders = split
    waiting.take_piece(orders[1], receipt(1))
    assert list(waiting.forget_pieces(orders[0])) == [receipt(1)]
    assert waiting.is_given_up(orders[2])
    assert not waiting.take_piece(orders[2], receipt(2))
    assert list(waiting.forget_pieces(orders[2])) == []


def test_a_frame_that_is_reported_twice_is_made_in_pieces_once(split, order):
    waiting, orders = split
    waiting.take_piece(orders[1], receipt(1))
    waiting.split(order(waiting), 3)
    assert list(waiting.take(0.0, 9)) == []
    assert waiting.take_piece(orders[1], receipt(1))
    assert not waiting.take_piece(orders[1], receipt(1, uuid="another"))


def test_volumes_of_two_frames_are_apart(split, order):
    waiting, orders = split
    waiting.split(order(waiting, attempt=2), 3)
    others = list(waiting.take(0.0, 9))
    assert len(others) == 3
    waiting.forget_pieces(others[0])
    assert not any(waiting.is_given_up(one) for one in orders)
