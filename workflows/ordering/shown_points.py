"""Which points of further dimensions (members, steps) the pictures of a product show, where the
recipe names none: the same in all of them, or it is said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from burstlens.core.model import KnownPoints, Receipt, ShownPoint, read_shown
from burstlens.core.run.follow import read_stretch
from burstlens.core.run.index import parse_entries
from burstlens.core.valid_time import label
from burstlens.workflows.making.order import Order

Series = tuple[str, str]
"""A product and a stream."""


class ShownPoints:
    """The points that the first picture of each product shows; later ones try these first."""

    def __init__(self) -> None:
        self._first: dict[Series, tuple[str, Mapping[str, ShownPoint]]] = {}
        self._reported: set[Series] = set()

    def read(self, index: Path) -> None:
        """Note what the pictures of former drivers show, by the run's index. Raises OSError."""
        for entry in read_stretch(index, marks=(b'"shown"',), parse=parse_entries).lines:
            series = entry.product, entry.stream
            # Facts are parsed when they are asked for: one line of each series is enough.
            if series not in self._first and (shown := read_shown(entry.facts)):
                self._first[series] = entry.time, shown

    def of(self, product: str, stream: str) -> KnownPoints:
        """By variable and dimension; empty where no picture is made yet."""
        _, shown = self._first.get((product, stream), ("", {}))
        return {name: about.points for name, about in shown.items()}

    def is_other(self, order: Order, receipt: Receipt) -> bool:
        """Whether a picture shows another point than the first one, which was not known when it was
        ordered: it is to be drawn again."""
        if order.context.points or order.piece is not None:
            return False
        known, shown = self.of(receipt.product, receipt.stream), read_shown(receipt.facts)
        return any(known.get(name, one.points) != one.points for name, one in shown.items())

    def note(self, receipt: Receipt) -> str:
        """Note what a picture shows; a sentence if that is another point than in the first one,
        once per product."""
        series, shown = (receipt.product, receipt.stream), read_shown(receipt.facts)
        if not shown:
            return ""
        time, known = self._first.setdefault(series, (receipt.time, shown))
        for name, about in shown.items():
            before = known.get(name, about)
            if before.points == about.points or series in self._reported:
                continue
            self._reported.add(series)
            at, first = label(receipt.time), label(time)
            return (
                f"{receipt.product} shows {name} at {about.words} for {at}, and at "
                f"{before.words} for {first}: each the first with values; "
                f"{name}[{'=...,'.join(about.points)}=...] names one"
            )
        return ""
