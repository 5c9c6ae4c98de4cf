"""Where the time of a product went, from the clock of ``product.published``."""

from __future__ import annotations

from burstlens.core.run.events import ProductKept, ProductPublished

NAMES = ("wait", "queue", "read", "draw", "stage", "publish", "cpu")
"""The order of the numbers in an index line's ``clock``; timing.js relies on it."""


def phases(event: ProductPublished | ProductKept) -> list[float | None]:
    """Seconds of each phase, to the millisecond; None where the clock lacks one of its ends.

    ``wait``: the frame was written and not yet found; ``queue``: until a worker began; ``read``:
    files were opened and arrays read; ``draw``: the product was made; ``stage``: it was brought out
    and verified; ``publish``: until it had its name. ``cpu``: CPU seconds of the worker's process
    while it read and drew. ``written`` is the file server's clock, the middle is the node's, the
    end is the driver's: between clocks that differ a phase may be below zero.
    """
    clock = event.clock or {}

    def between(first: str, last: str) -> float | None:
        begin, end = clock.get(first), clock.get(last)
        return None if begin is None or end is None else end - begin

    reading = clock.get("reading_s")
    opening, making = between("started", "read"), between("read", "made")
    known = opening is not None and making is not None and reading is not None
    staged = clock.get("staged")
    found = (
        between("written", "detected"),
        between("detected", "started"),
        opening + reading if known else None,  # type: ignore[operator]
        making - reading if known else None,  # type: ignore[operator]
        between("made", "staged"),
        None if staged is None else event.t - staged,
        clock.get("cpu_s"),
    )
    return [None if value is None else round(value, 3) for value in found]
