"""What an advice is, and what its rules share: thresholds, sources, choices of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from burstlens.core.quantity import show_duration
from burstlens.workflows.iostats.summary import Summary, Traffic

TALK = "Markomanolis and Hadri, Burst Buffer: From Alpha to Omega (2018)"
DRISHTI = "thresholds of Drishti 0.8"
MEASURED = "measured for docs/io.md"

MUCH = 0.30
"""Of the time in one phase; ours. The talk calls 17 % slow already."""
MOST = 0.50
LITTLE_OF_RUN = 0.05
"""I/O that takes less of the run is not worth tuning; ours."""
LITTLE_OF_IO = 0.05
"""Files that take less of the time in I/O get no advice; ours."""
LARGE_PIECE = 512 * 1024
"""Bytes per call; ours, below the talk's 650 KB."""
SMALL = 1 << 20
MANY = 1000
AMPLIFIED = 1.5
"""Bytes that the file system wrote, over the program's; ours."""
STRAGGLER = 0.15
LEAST_SECONDS = 1.0
"""Differences between ranks of less are noise; ours."""
LEAST_BYTES = 16 << 20
"""Alignment and stripes of less do not matter; ours. It also leaves out pipes."""
META_S = 30.0
FEW_OPENS = 10
"""Fewer are not what takes the time, but what they wait for; ours."""
UNIT = 64 * 1024
"""Lustre takes stripe sizes that are multiples of this."""


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


def aggregator_choices(now: int, ranks: int | None) -> list[int]:
    """Numbers of aggregators to try: two and four times as many, that divide the ranks and leave
    two ranks or more for each. Without ``ranks`` nothing is excluded.
    """
    wanted = [now * factor for factor in (2, 4, 8, 16)]
    fit = [one for one in wanted if ranks is None or (ranks % one == 0 and ranks >= 2 * one)]
    return fit[:2]


def aggregators_for(ranks: int | None) -> list[int]:
    """Numbers of aggregators to try where it is unknown how many there are: the two largest powers
    of 2 that divide the ranks and are no more than an eighth of them; 1 is never one.
    """
    if ranks is None:
        return []
    most = max(2, ranks // 8)
    powers = [2**at for at in range(1, 11)]
    return [one for one in powers if one <= most and ranks % one == 0 and ranks >= 2 * one][-2:]


def unit_near(size: float) -> int:
    """The power of two next to ``size``, at least 64 KiB: a stripe size that Lustre takes."""
    unit = UNIT
    while unit * 2**0.5 < size:
        unit *= 2
    return unit


def percent(share: float, digits: int = 0) -> str:
    """A share from 0 to 1 in percent."""
    return f"{100 * share:.{digits}f} %"


def shown(seconds: float | None) -> str:
    """A duration, 0 s for an unknown one."""
    return show_duration(seconds or 0.0)
