"""What an advice is, and what its rules share: thresholds, a source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from burstlens.workflows.iostats.summary import Summary, Traffic

TALK = "Markomanolis and Hadri, Burst Buffer: From Alpha to Omega (2018)"

MOST = 0.50
AMPLIFIED = 1.5
"""Bytes that the file system wrote, over the program's; ours."""
LEAST_BYTES = 16 << 20
"""Alignment and stripes of less do not matter; ours. It also leaves out pipes."""


@dataclass(frozen=True, slots=True)
class Advice:
    """``what`` to try about ``about``, ``because`` of a number. ``about`` is a file, with ``*`` for
    its numbers if it is several; empty, it is the run.

    ``hints`` are MPI-IO hints with the values to try, in order. ``inference``: the rule follows
    from what the number means and was not published.
    """

    rule: str
    about: str
    what: str
    because: str
    source: str
    inference: bool = False
    hints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


Rule = Callable[[Summary, Traffic], Advice | None]
"""Takes a log, and a file or stream of it."""


def percent(share: float, digits: int = 0) -> str:
    """A share from 0 to 1 in percent."""
    return f"{100 * share:.{digits}f} %"
