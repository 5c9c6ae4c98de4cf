"""Records passed between processes: frozen dataclasses of plain values, so that they pickle.

Paths on the buffer are always relative to the buffer's root (POSIX form): each job sees the
buffer under a mount path of its own.

The fact ``shown`` of a picture is here too: its points of further dimensions where its recipe
names none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Fingerprint = tuple[int, int, int, int]
"""Device, inode, bytes and mtime (ns) of a file: another one means that it was written anew."""

SHOWN = "shown"
"""The name of the fact; a user's function cannot give it."""
KnownPoints = Mapping[str, Mapping[str, int]]
"""Numbers of points along further dimensions, by variable."""


def in_model_folder(path: str) -> str:
    """A frame's path (``<run>/<attempt>/<name>``) relative to the model's own folder."""
    return path.split("/", 2)[-1]


@dataclass(frozen=True, slots=True)
class Frame:
    """One completed output time of one stream.

    ``time`` is a valid-time key (:mod:`burstlens.core.valid_time`), ``record`` the index along the
    unlimited dimension of ``paths``: one file, or one per tile in rank order. ``bytes`` is
    the frame's own share of the file. ``written`` is the file's mtime (the file server's clock) and
    ``detected`` the watcher's clock, both in Unix seconds; the two clocks are never compared to
    decide anything. ``signal`` names the evidence that the frame is whole. ``fingerprint`` is the
    state of its first file when it was declared: device, inode, bytes, mtime in ns. ``calendar`` is
    the one in which its time counts, empty where that is Gregorian (:func:`.counting_calendar`).
    """

    run: str
    attempt: int
    stream: str
    time: str
    paths: tuple[str, ...]
    record: int
    bytes: int
    written: float
    detected: float
    signal: str
    fingerprint: Fingerprint | None = None
    calendar: str = ""


@dataclass(frozen=True, slots=True)
class Damage:
    """A frame that will never be whole, and why. ``time`` is None when the file lacks it;
    ``written`` is when its file was written last."""

    run: str
    attempt: int
    stream: str
    time: str | None
    paths: tuple[str, ...]
    record: int
    reason: str
    fingerprint: Fingerprint | None = None
    written: float | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The model's progress, by its log.

    ``time`` is the valid-time key reached, ``elapsed_s`` and ``total_s`` simulated seconds,
    ``speed`` simulated seconds per second of wall time, ``eta_s`` wall seconds to the end,
    ``rate_mpps`` million point updates per second, ``phase`` one word for what the model
    does (``compiling``, ``running``, ``ended``).
    """

    time: str = ""
    elapsed_s: float | None = None
    total_s: float | None = None
    speed: float | None = None
    eta_s: float | None = None
    rate_mpps: float | None = None
    phase: str = ""

    @property
    def fraction(self) -> float | None:
        """The part done, 0 to 1, or None when the total is not known."""
        if self.elapsed_s is None or not self.total_s:
            return None
        return min(1.0, max(0.0, self.elapsed_s / self.total_s))


@dataclass(frozen=True, slots=True)
class Needed:
    """What a product needs besides its frame: state files, relative to ``products/``, and frames.
    ``previous`` are its own states of earlier frames, newest first, ``followed`` those of other
    products by name, ``beside`` the frames of other streams."""

    previous: tuple[str, ...] = ()
    followed: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, Frame] = field(default_factory=dict)


NOTHING_NEEDED = Needed()


@dataclass(frozen=True, slots=True)
class State:
    """A file beside a product, verified, in ``products/.incoming``: the state of a chained one,
    from which the next frame starts, or the values of a picture. ``incoming`` and ``name`` are
    relative to ``products/``, as those of the receipt it is part of."""

    incoming: str
    name: str
    bytes: int
    crc32: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """A product that stands, verified, in ``products/.incoming`` and waits to be published.

    ``incoming`` and ``name`` are relative to ``products/``: where it stands, and its final name.
    ``clock`` gives the Unix second at which each step ended on the worker (``started``, ``read``,
    ``made``, ``staged``); ``facts`` is what the product's kind adds to the index (range, notes).
    ``limits`` are the colour limits of its series that it is drawn with, None where they do not
    follow the frames. ``values`` are the files with a picture's values: their grids, then the
    values themselves. ``pieces`` are those that a table shows.
    """

    product: str
    stream: str
    time: str
    attempt: int
    uuid: str
    incoming: str
    name: str
    bytes: int
    crc32: int
    clock: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)
    state: State | None = None
    limits: tuple[float, float] | None = None
    values: tuple[State, ...] = ()
    pieces: tuple[State, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """Its product, stream and time."""
        return self.product, self.stream, self.time


@dataclass(frozen=True, slots=True)
class Failure:
    """A product that could not be made of a frame, and why; ``placeholder`` stands in for it.
    ``unreadable``: that is the frame's fault, and that of all its products."""

    product: str
    stream: str
    time: str
    attempt: int
    reason: str
    placeholder: Receipt | None = None
    unreadable: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """Its product, stream and time."""
        return self.product, self.stream, self.time


@dataclass(frozen=True, slots=True)
class ShownPoint:
    """The numbers of a variable's point along its further dimensions, and the point in words."""

    points: Mapping[str, int]
    words: str


def read_shown(facts: Any) -> dict[str, ShownPoint]:
    """The points that a picture's facts name, by variable; whatever else they hold is left out."""
    shown = facts.get(SHOWN) if isinstance(facts, Mapping) else None
    if not isinstance(shown, Mapping):
        return {}
    return {
        str(name): ShownPoint(dict(about["points"]), str(about.get("words", "")))
        for name, about in shown.items()
        if isinstance(about, Mapping) and _are_points(about.get("points"))
    }


def _are_points(given: Any) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and type(number) is int for name, number in given.items()
    )
