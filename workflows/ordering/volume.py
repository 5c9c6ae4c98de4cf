"""A large volume that is made in pieces, by several workers: what is there of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from burstlens.core.model import Receipt, State
from burstlens.viz.product import Made
from burstlens.workflows.making.order import Order, Piece


@dataclass(slots=True)
class Volume:
    """The pieces of one product of one frame; its table is ordered when all are staged."""

    order: Order
    count: int
    receipts: dict[int, Receipt] = field(default_factory=dict)
    failed: bool = False

    def orders(self) -> list[Order]:
        """One for each piece."""
        return [replace(self.order, piece=(n, self.count)) for n in range(self.count)]

    def add(self, order: Order, receipt: Receipt) -> Order | None:
        """Note that a piece is staged; returns the order of the table with the last one."""
        assert order.piece is not None
        self.receipts[order.piece[0]] = receipt
        if len(self.receipts) < self.count:
            return None
        pieces = tuple(
            Piece(_below(one.name), Made(one.name.rpartition(".")[2], one.facts, one.limits))
            for one in self._staged()
        )
        return replace(self.order, joins=pieces)

    def finish(self, receipt: Receipt) -> Receipt:
        """The receipt of the table with those of its pieces."""
        pieces = tuple(
            State(one.incoming, one.name, one.bytes, one.crc32) for one in self._staged()
        )
        return replace(receipt, pieces=pieces)

    def fail(self) -> list[str]:
        """Give it up; returns the staged pieces, relative to ``products/``."""
        self.failed = True
        return [one.incoming for one in self.receipts.values()]

    def _staged(self) -> list[Receipt]:
        return [self.receipts[number] for number in sorted(self.receipts)]


def _below(name: str) -> str:
    """A path relative to the product's own folder."""
    return str(PurePosixPath(*PurePosixPath(name).parts[1:]))
